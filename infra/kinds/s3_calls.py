"""The calls that read and write one S3 bucket: each setting has its own, and its own word for "not set"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from infra.aws import Aws
from infra.kinds import s3_lifecycle
from infra.kinds.s3_bucket_properties import BLOCKED, OWNER_ENFORCED, SUSPENDED
from policies.errors import ConflictError
from policies.frozen import Json, thaw

_UNENCRYPTED = "ServerSideEncryptionConfigurationNotFoundError"


class Calls:
    """Calls about one bucket. They fail where it is another account's: names are global, and change hands."""

    def __init__(self, aws: Aws, name: str) -> None:
        self._s3, self.name = aws.client("s3"), name
        self._place = {"Bucket": name, "ExpectedBucketOwner": aws.account}

    def __call__(self, operation: str, **arguments: Any) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = getattr(self._s3, operation)(**self._place, **arguments)
        return answer

    def found(self, operation: str, absent: str) -> Mapping[str, Any]:
        """What the bucket has set, or nothing."""
        try:
            return self(operation)
        except ClientError as error:
            if error.response["Error"]["Code"] != absent:
                raise
            return {}


def listed(aws: Aws, prefix: str) -> Iterator[Mapping[str, Any]]:
    """The account's buckets of this region whose names start so."""
    arguments = {"Prefix": prefix} if prefix else {}
    page = {"PageSize": 1000}
    return aws.pages("s3", "list_buckets", "Buckets", BucketRegion=aws.region, PaginationConfig=page, **arguments)


def arn_of(aws: Aws, name: str) -> str:
    return f"arn:{aws.client('s3').meta.partition}:s3:::{name}"


def check_ours(aws: Aws, call: Calls) -> None:
    """Raises ConflictError where the name belongs to another account, or to another region of this one."""
    try:
        region = call("head_bucket").get("BucketRegion", aws.region)
    except ClientError as error:
        # A HEAD has no body to say more. What is ours is listed, so 403 is then a missing permission.
        taken = error.response["Error"]["Code"] == "403" and all(
            one["Name"] != call.name for one in listed(aws, call.name)
        )
        if taken:
            raise ConflictError(f"the bucket {call.name} is another account's: names are global") from error
        raise
    if region != aws.region:
        raise ConflictError(f"the bucket {call.name} is in {region}, not in {aws.region}: names are global")


def tags_of(call: Calls) -> Mapping[str, str]:
    return {tag["Key"]: tag["Value"] for tag in call.found("get_bucket_tagging", "NoSuchTagSet").get("TagSet", ())}


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def settings(call: Calls, words: frozenset[str]) -> Iterator[tuple[str, Json]]:
    """The properties that these words name, as far as they are set; each takes a call."""
    for word, ask in _READERS.items():
        if word in words and (value := ask(call)) is not None:
            yield word, value


def _shown_encryption(call: Calls) -> Json:
    rules = [_parse_encryption(rule) for rule in _encryption(call)]
    return {"ServerSideEncryptionConfiguration": rules} if rules else None


def _lifecycle(call: Calls) -> Json:
    found = call.found("get_bucket_lifecycle_configuration", "NoSuchLifecycleConfiguration")
    return s3_lifecycle.parse(found) if found else None


def _ownership(call: Calls) -> Json:
    """Without controls a bucket is as buckets were once."""
    found = call.found("get_bucket_ownership_controls", "OwnershipControlsNotFoundError").get("OwnershipControls")
    return {"Rules": (found or {"Rules": [{"ObjectOwnership": "ObjectWriter"}]})["Rules"]}


def _public_access(call: Calls) -> Json:
    found = call.found("get_public_access_block", "NoSuchPublicAccessBlockConfiguration")
    return {word: found.get("PublicAccessBlockConfiguration", {}).get(word, False) for word in BLOCKED}


def _versioning(call: Calls) -> Json:
    status = call("get_bucket_versioning").get("Status")
    return {"Status": status} if status else None


_READERS: Mapping[str, Callable[[Calls], Json]] = {
    "BucketEncryption": _shown_encryption,
    "LifecycleConfiguration": _lifecycle,
    "OwnershipControls": _ownership,
    "PublicAccessBlockConfiguration": _public_access,
    "VersioningConfiguration": _versioning,
}


def _encryption(call: Calls) -> list[Mapping[str, Any]]:
    found = call.found("get_bucket_encryption", _UNENCRYPTED).get("ServerSideEncryptionConfiguration", {})
    rules: list[Mapping[str, Any]] = found.get("Rules", [])
    return rules


def _parse_encryption(rule: Mapping[str, Any]) -> dict[str, Json]:
    key = {"BucketKeyEnabled": True} if rule.get("BucketKeyEnabled") else {}
    return {"ServerSideEncryptionByDefault": dict(rule["ApplyServerSideEncryptionByDefault"]), **key}


def write(call: Calls, word: str, value: Json) -> None:
    """Set one property; None resets it. Each has its own call, so none can leave another half done."""
    match word, value:
        case "BucketEncryption", None:
            call("delete_bucket_encryption")
        case "BucketEncryption", encryption:
            call("put_bucket_encryption", ServerSideEncryptionConfiguration=_spell_encryption(call, encryption))
        case "LifecycleConfiguration", None:
            call("delete_bucket_lifecycle")
        case "LifecycleConfiguration", lifecycle:
            call("put_bucket_lifecycle_configuration", **s3_lifecycle.spell(lifecycle))
        case "OwnershipControls", controls:
            call("put_bucket_ownership_controls", OwnershipControls=thaw(controls or OWNER_ENFORCED))
        case "PublicAccessBlockConfiguration", block:
            told = {bar: value for bar, value in (block or {}).items() if value is not None}
            call("put_public_access_block", PublicAccessBlockConfiguration={**BLOCKED, **told})
        case "VersioningConfiguration", versioning:
            call("put_bucket_versioning", VersioningConfiguration=thaw(versioning or SUSPENDED))


def _spell_encryption(call: Calls, encryption: Mapping[str, Json]) -> dict[str, Any]:
    """The rule as declared; the encryption types that somebody blocked stay blocked."""
    (wanted,) = encryption["ServerSideEncryptionConfiguration"]
    default = {word: value for word, value in wanted["ServerSideEncryptionByDefault"].items() if value is not None}
    rule: dict[str, Any] = {
        "ApplyServerSideEncryptionByDefault": default,
        "BucketKeyEnabled": bool(wanted.get("BucketKeyEnabled")),
    }
    if blocked := next(
        (one["BlockedEncryptionTypes"] for one in _encryption(call) if "BlockedEncryptionTypes" in one), None
    ):
        rule["BlockedEncryptionTypes"] = blocked
    return {"Rules": [rule]}
