"""EBS snapshots of this account: matched, never made. DescribeSnapshots shows all there is, tags included.

CloudFormation has no such type; the words are those of DescribeSnapshots. Nothing of a snapshot changes but its tags.
The snapshots of an image cannot be deleted before the image is deregistered: until then a delete waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infra.aws import Aws
from infra.kinds.kind import Kind
from policies.action import Change, Desired, Progress
from policies.errors import RefusedError
from policies.properties import Properties, Tag
from policies.world import Resource, State

_STATES = {
    "pending": State.PENDING,
    "completed": State.READY,
    "error": State.UNHEALTHY,
    "recoverable": State.DELETING,  # in the Recycle Bin
    "recovering": State.PENDING,
}
_SHOWN = (
    "Description",
    "Encrypted",
    "FullSnapshotSizeInBytes",
    "KmsKeyId",
    "OutpostArn",
    "OwnerId",
    "Progress",
    "SnapshotId",
    "State",
    "StateMessage",
    "StorageTier",
    "VolumeId",
    "VolumeSize",
)
_TIMES = ("CompletionTime", "RestoreExpiryTime", "StartTime")


class SnapshotProperties(Properties):
    """`AWS::EC2::Snapshot`: all else is as it was when the snapshot was taken."""

    Tags: list[Tag] | None = None


class Ec2Snapshot(Kind):
    """`AWS::EC2::Snapshot`, matched only, and only this account's own. `CreateTime` is its StartTime."""

    type = "AWS::EC2::Snapshot"
    properties = SnapshotProperties
    facts = frozenset({*_SHOWN, *_TIMES, "CreateTime"})
    read_only = frozenset({*_SHOWN, *_TIMES})
    holds_data = True
    match_only = True
    complete_survey = True
    absent_codes = frozenset({"InvalidSnapshot.NotFound"})
    wait_codes = frozenset({"ConcurrentTagAccess", "IncorrectState", "InvalidSnapshot.InUse"})
    iam = {
        "survey": frozenset({"ec2:DescribeSnapshots"}),
        "read": frozenset({"ec2:DescribeSnapshots"}),
        "create": frozenset(),
        "update": frozenset({"ec2:CreateTags", "ec2:DeleteTags"}),
        "delete": frozenset({"ec2:DeleteSnapshot"}),
    }

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        # Without an owner the call lists the public snapshots of the whole region.
        pages = aws.pages(
            "ec2", "describe_snapshots", "Snapshots", OwnerIds=["self"], PaginationConfig={"PageSize": 1000}
        )
        for snapshot in pages:
            yield _parse(aws, snapshot)

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        found = aws.client("ec2").describe_snapshots(OwnerIds=["self"], SnapshotIds=[seen.id])["Snapshots"]
        return _parse(aws, found[0]) if found else None

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        raise RefusedError(f"{self.type} can only be matched: it has neither a name nor a client token")

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        ec2 = aws.client("ec2")
        if change.tags:
            tags = [{"Key": key, "Value": value} for key, value in sorted(change.tags.items())]
            ec2.create_tags(Resources=[seen.id], Tags=tags)
        if change.untag:
            ec2.delete_tags(Resources=[seen.id], Tags=[{"Key": key} for key in sorted(change.untag)])
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        aws.client("ec2").delete_snapshot(SnapshotId=seen.id)


def _parse(aws: Aws, snapshot: Mapping[str, Any]) -> Resource:
    snapshot_id, created = snapshot["SnapshotId"], snapshot["StartTime"]
    facts = {word: snapshot.get(word) for word in _SHOWN}
    facts |= {word: snapshot[word].isoformat() for word in _TIMES if word in snapshot}
    return Resource(
        type=Ec2Snapshot.type,
        id=snapshot_id,
        handle=snapshot_id,
        # The ARN of a snapshot names no account.
        arn=f"arn:{aws.client('ec2').meta.partition}:ec2:{aws.region}::snapshot/{snapshot_id}",
        tags={tag["Key"]: tag["Value"] for tag in snapshot.get("Tags", ()) if not tag["Key"].startswith("aws:")},
        properties={},
        facts={"CreateTime": created.isoformat(), **{word: it for word, it in facts.items() if it not in (None, "")}},
        state=_STATES.get(snapshot["State"], State.PENDING),
        created=created,
    )
