"""S3 buckets. ListBuckets shows names and birthdays; everything else is a call of its own, to read as to write.

Names are global: what another account has is a conflict. In us-east-1 CreateBucket answers with the bucket that is
there already. Only an empty bucket can be deleted, and nothing here empties one: a full one waits. PutBucketTagging
replaces all tags, so a write sends those that were read just now, merged; it is refused where ABAC is enabled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infra.aws import Aws
from infra.kinds.kind import Kind
from infra.kinds.s3_bucket_properties import BucketProperties, problems
from infra.kinds.s3_calls import Calls, arn_of, check_ours, listed, settings, tag_list, tags_of, write
from policies.action import Change, Desired, Progress
from policies.errors import ConflictError
from policies.frozen import Json
from policies.kind import Creation
from policies.world import Resource

_HOME = "us-east-1"
"""The region that CreateBucket must not be told."""

_LATER = frozenset(
    {"BucketEncryption", "LifecycleConfiguration", "PublicAccessBlockConfiguration", "VersioningConfiguration"}
)


class S3Bucket(Kind):
    """`AWS::S3::Bucket`, general purpose, in the shared namespace."""

    type = "AWS::S3::Bucket"
    properties = BucketProperties
    identifier = "BucketName"
    facts = frozenset({"CreateTime"})
    read_only = frozenset({"Arn", "DomainName", "DualStackDomainName", "RegionalDomainName", "WebsiteURL"})
    not_supported = frozenset(
        {
            "AbacStatus",
            "AccelerateConfiguration",
            "AccessControl",
            "AnalyticsConfigurations",
            "BucketEncryption.ServerSideEncryptionConfiguration.BlockedEncryptionTypes",
            "BucketNamePrefix",
            "BucketNamespace",
            "CorsConfiguration",
            "IntelligentTieringConfigurations",
            "InventoryConfigurations",
            "LifecycleConfiguration.Rules.NoncurrentVersionExpirationInDays",
            "LifecycleConfiguration.Rules.NoncurrentVersionTransition",
            "LifecycleConfiguration.Rules.Transition",
            "LoggingConfiguration",
            "MetadataConfiguration",
            "MetadataTableConfiguration",
            "MetricsConfigurations",
            "NotificationConfiguration",
            "ObjectLockConfiguration",
            "ObjectLockEnabled",
            "ReplicationConfiguration",
            "WebsiteConfiguration",
        }
    )
    holds_data = True
    creation = Creation.RETURNS_EXISTING
    index = "s3"
    absent_codes = frozenset({"404", "NoSuchBucket"})
    exists_codes = frozenset({"BucketAlreadyOwnedByYou"})
    wait_codes = frozenset({"BucketNotEmpty", "OperationAborted"})
    deletes_without_tags = frozenset({"s3:DeleteBucket"})  # honoured only on buckets with ABAC
    iam = {
        "survey": frozenset({"s3:ListAllMyBuckets"}),
        "read": frozenset(
            {
                "s3:GetBucketOwnershipControls",
                "s3:GetBucketPublicAccessBlock",
                "s3:GetBucketTagging",
                "s3:GetBucketVersioning",
                "s3:GetEncryptionConfiguration",
                "s3:GetLifecycleConfiguration",
                "s3:ListAllMyBuckets",
                "s3:ListBucket",
            }
        ),
        "create": frozenset({"s3:CreateBucket", "s3:PutBucketOwnershipControls", "s3:TagResource"}),
        "update": frozenset(
            {
                "s3:GetEncryptionConfiguration",
                "s3:PutBucketOwnershipControls",
                "s3:PutBucketPublicAccessBlock",
                "s3:PutBucketTagging",
                "s3:PutBucketVersioning",
                "s3:PutEncryptionConfiguration",
                "s3:PutLifecycleConfiguration",
            }
        ),
        "delete": frozenset({"s3:DeleteBucket"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        return next(problems(properties), None)

    def single_call(self, desired: Mapping[str, Json]) -> bool:
        return not any(desired.get(word) for word in _LATER)

    def has_arn(self, arn: str) -> bool:
        return arn.split(":", 5)[2] == "s3" and "/" not in arn and arn.count(":") == 5

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        for prefix in prefixes:
            for bucket in listed(aws, prefix):
                name, created = bucket["Name"], bucket["CreationDate"]
                arn = arn_of(aws, name)
                yield Resource(type=self.type, id=name, name=name, handle=name, arn=arn, created=created)

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        return self.look(aws, seen, self.words)

    def look(self, aws: Aws, seen: Resource, words: frozenset[str]) -> Resource | None:
        call = Calls(aws, seen.id)
        check_ours(aws, call)
        created = seen.created or next(
            (one["CreationDate"] for one in listed(aws, seen.id) if one["Name"] == seen.id), None
        )
        found = dict(settings(call, words))
        return Resource(
            type=self.type,
            id=seen.id,
            name=seen.id,
            handle=seen.id,
            arn=arn_of(aws, seen.id),
            tags=tags_of(call) if seen.tags is None else seen.tags,
            properties={"BucketName": seen.id, **found},
            facts={"CreateTime": created and created.isoformat()},
            created=created,
        )

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        s3 = aws.client("s3")
        declared = {**desired.initial, **desired.properties}
        place: dict[str, Any] = {} if aws.region == _HOME else {"LocationConstraint": aws.region}
        ownership = declared.get("OwnershipControls")
        more = {"ObjectOwnership": ownership["Rules"][0]["ObjectOwnership"]} if ownership else {}
        try:
            s3.create_bucket(
                Bucket=desired.name, CreateBucketConfiguration={**place, "Tags": tag_list(desired.tags)}, **more
            )
        except s3.exceptions.BucketAlreadyExists as error:
            raise ConflictError(f"the bucket name {desired.name} is taken by another account") from error
        return Progress.COMPLETE if self.single_call(declared) else Progress.PARTIAL

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        call = Calls(aws, seen.id)
        for word, value in change.properties.items():
            write(call, word, value)
        if change.tags or change.untag:
            tags = {key: value for key, value in (seen.tags or {}).items() if key not in change.untag}
            call("put_bucket_tagging", Tagging={"TagSet": tag_list({**tags, **change.tags})})
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        Calls(aws, seen.id)("delete_bucket")
