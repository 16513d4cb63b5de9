"""The models of an S3 bucket's properties, and what they must not say together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from policies.frozen import Json
from policies.properties import CreateOnly, Default, Keyed, Name, Properties, Tag, Unordered

PLAIN_ENCRYPTION = {
    "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
}
BLOCKED = {
    "BlockPublicAcls": True,
    "BlockPublicPolicy": True,
    "IgnorePublicAcls": True,
    "RestrictPublicBuckets": True,
}
"""What new buckets have since April 2023: nothing is public."""

OWNER_ENFORCED = {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
SUSPENDED = {"Status": "Suspended"}
SMALLEST = "all_storage_classes_128K"

_Class = Literal["DEEP_ARCHIVE", "GLACIER", "GLACIER_IR", "INTELLIGENT_TIERING", "ONEZONE_IA", "STANDARD_IA"]
_Size = Annotated[str, Field(max_length=20, pattern=r"^[0-9]+$")]
_Midnight = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT00:00:00Z$")]
_Days = Annotated[int, Field(ge=0)]


class TagFilter(Properties):
    """One tag that an object must have."""

    Key: str
    Value: str


class Transition(Properties):
    """To which class objects go, and when: after days, or at a midnight in UTC."""

    StorageClass: _Class
    TransitionInDays: _Days | None = None
    TransitionDate: _Midnight | None = None


class NoncurrentTransition(Properties):
    """The same for versions that are not the latest."""

    StorageClass: _Class
    TransitionInDays: _Days
    NewerNoncurrentVersions: Annotated[int | None, Field(ge=1, le=100)] = None


class NoncurrentExpiration(Properties):
    """When versions that are not the latest go, and how many stay."""

    NoncurrentDays: Annotated[int, Field(ge=1)]
    NewerNoncurrentVersions: Annotated[int | None, Field(ge=1, le=100)] = None


class AbortUploads(Properties):
    """When uploads that nobody completed go."""

    DaysAfterInitiation: _Days


class LifecycleRule(Properties):
    """One rule. Its Id, which CloudFormation can leave to the service, tells it from the others."""

    Id: Annotated[str, Field(min_length=1, max_length=255)]
    Status: Literal["Enabled", "Disabled"]
    Prefix: Annotated[str | None, Default("")] = None
    TagFilters: Annotated[list[TagFilter] | None, Unordered, Default(())] = None
    ObjectSizeGreaterThan: _Size | None = None
    ObjectSizeLessThan: _Size | None = None
    ExpirationInDays: Annotated[int | None, Field(ge=1)] = None
    ExpirationDate: _Midnight | None = None
    ExpiredObjectDeleteMarker: Annotated[bool | None, Default(False)] = None
    Transitions: Annotated[list[Transition] | None, Unordered, Default(())] = None
    NoncurrentVersionExpiration: NoncurrentExpiration | None = None
    NoncurrentVersionTransitions: Annotated[list[NoncurrentTransition] | None, Unordered, Default(())] = None
    AbortIncompleteMultipartUpload: AbortUploads | None = None


class Lifecycle(Properties):
    """All rules of a bucket, and the size below which objects do not move by default."""

    Rules: Annotated[list[LifecycleRule], Field(min_length=1, max_length=1000), Keyed("Id")]
    TransitionDefaultMinimumObjectSize: Annotated[
        Literal["varies_by_storage_class", "all_storage_classes_128K"] | None, Default(SMALLEST)
    ] = None


class Versioning(Properties):
    """Once enabled, versioning can only be suspended."""

    Status: Literal["Enabled", "Suspended"]


class EncryptionByDefault(Properties):
    """With what objects are encrypted that say nothing else."""

    SSEAlgorithm: Literal["aws:kms", "AES256", "aws:kms:dsse"]
    KMSMasterKeyID: str | None = None


class EncryptionRule(Properties):
    """There is one. The bucket key saves calls to KMS."""

    ServerSideEncryptionByDefault: EncryptionByDefault
    BucketKeyEnabled: bool | None = None


class Encryption(Properties):
    """Every bucket is encrypted; the default is S3's own key."""

    ServerSideEncryptionConfiguration: Annotated[list[EncryptionRule], Field(min_length=1, max_length=1)]


class PublicAccessBlock(Properties):
    """Four bars against the public."""

    BlockPublicAcls: Annotated[bool | None, Default(True)] = None
    BlockPublicPolicy: Annotated[bool | None, Default(True)] = None
    IgnorePublicAcls: Annotated[bool | None, Default(True)] = None
    RestrictPublicBuckets: Annotated[bool | None, Default(True)] = None


class OwnershipRule(Properties):
    """Whose objects are that others upload."""

    ObjectOwnership: Literal["ObjectWriter", "BucketOwnerPreferred", "BucketOwnerEnforced"]


class Ownership(Properties):
    """There is one rule."""

    Rules: Annotated[list[OwnershipRule], Field(min_length=1, max_length=1)]


class BucketProperties(Properties):
    """`AWS::S3::Bucket`. Defaults as for new buckets; null never makes one public."""

    BucketName: Annotated[str, CreateOnly, Name(r"[a-z0-9][a-z0-9.-]*[a-z0-9]", 63)]
    BucketEncryption: Annotated[Encryption | None, Default(PLAIN_ENCRYPTION)] = None
    LifecycleConfiguration: Lifecycle | None = None
    OwnershipControls: Annotated[Ownership | None, Default(OWNER_ENFORCED)] = None
    PublicAccessBlockConfiguration: Annotated[PublicAccessBlock | None, Default(BLOCKED)] = None
    VersioningConfiguration: Annotated[Versioning | None, Default(SUSPENDED)] = None
    Tags: list[Tag] | None = None


def problems(properties: Mapping[str, Json]) -> Iterator[str]:
    """What the service would refuse, or shows in another form than it was written."""
    if len(str(properties["BucketName"])) < 3:
        yield "BucketName has fewer than 3 characters"
    for rule in (properties.get("BucketEncryption") or {}).get("ServerSideEncryptionConfiguration", ()):
        encryption = rule["ServerSideEncryptionByDefault"]
        if encryption.get("KMSMasterKeyID") and encryption["SSEAlgorithm"] == "AES256":
            yield "KMSMasterKeyID needs an SSEAlgorithm of aws:kms or aws:kms:dsse"
        if rule.get("BucketKeyEnabled") is False:
            yield "BucketKeyEnabled: leave it out instead of false"
    rules = (properties.get("LifecycleConfiguration") or {}).get("Rules", ())
    ids = [rule["Id"] for rule in rules]
    if len(set(ids)) < len(ids):
        yield "two lifecycle Rules have the same Id"
    for rule in rules:
        if rule.get("ExpirationInDays") is not None and rule.get("ExpirationDate") is not None:
            yield f"lifecycle rule {rule['Id']}: ExpirationInDays and ExpirationDate exclude each other"
