"""EBS volumes: matched, never made. DescribeVolumes shows all that is compared, tags included.

They have no name, and though CreateVolume takes a client token, no call ever shows it again: nothing would prove which
volume is ours. A volume only grows. While a modification is `modifying` the old values may still show and no other one
is accepted; while `optimizing`, which takes hours, the new ones hold. AWS lets six hours pass before the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from infra.aws import Aws
from infra.kinds.kind import Kind
from policies.action import Change, Desired, Progress
from policies.diff import Difference
from policies.errors import RefusedError
from policies.frozen import Json
from policies.properties import Default, Properties, Tag
from policies.world import Resource, State

_PAGE = {"PageSize": 500}
_STATES = {
    "creating": State.PENDING,
    "available": State.READY,
    "in-use": State.READY,
    "deleting": State.DELETING,
    "deleted": State.DEAD,
    "error": State.UNHEALTHY,
}
_WITH_IOPS = ("gp3", "io1", "io2")
_SHOWN = (
    "AvailabilityZone",
    "AvailabilityZoneId",
    "Encrypted",
    "KmsKeyId",
    "OutpostArn",
    "SnapshotId",
    "SourceVolumeId",
    "State",
    "VolumeId",
    "VolumeInitializationRate",
)


class VolumeProperties(Properties):
    """`AWS::EC2::Volume`: what ModifyVolume changes. Defaults as that call and CreateVolume have them."""

    Size: Annotated[int | None, Field(ge=1, le=65_536)] = None
    VolumeType: Annotated[
        Literal["gp2", "gp3", "io1", "io2", "sc1", "st1", "standard"] | None,
        Default("gp2"),
    ] = None
    Iops: Annotated[int | None, Field(ge=100, le=256_000), Default(3000)] = None
    Throughput: Annotated[int | None, Field(ge=125, le=2000), Default(125)] = None
    MultiAttachEnabled: Annotated[bool | None, Default(False)] = None
    Tags: list[Tag] | None = None


class Ec2Volume(Kind):
    """`AWS::EC2::Volume`, matched only. `Attachments` is their number, `InstanceId` the first one's instance."""

    type = "AWS::EC2::Volume"
    properties = VolumeProperties
    facts = frozenset({*_SHOWN, "Attachments", "CreateTime", "InstanceId", "ModificationProgress", "ModificationState"})
    read_only = frozenset({"VolumeId"})
    not_supported = frozenset(
        {
            "AutoEnableIO",
            "AvailabilityZone",
            "AvailabilityZoneId",
            "Encrypted",
            "KmsKeyId",
            "OutpostArn",
            "SnapshotId",
            "SourceVolumeId",
            "VolumeInitializationRate",
        }
    )
    holds_data = True
    match_only = True
    complete_survey = True
    absent_codes = frozenset({"InvalidVolume.NotFound"})
    wait_codes = frozenset(
        {
            "ConcurrentTagAccess",
            "IncorrectModificationState",
            "IncorrectState",
            "VolumeInUse",
            "VolumeModificationRateExceeded",
        }
    )
    iam = {
        "survey": frozenset({"ec2:DescribeVolumes", "ec2:DescribeVolumesModifications"}),
        "read": frozenset({"ec2:DescribeVolumes", "ec2:DescribeVolumesModifications"}),
        "create": frozenset(),
        "update": frozenset({"ec2:CreateTags", "ec2:DeleteTags", "ec2:ModifyVolume"}),
        "delete": frozenset({"ec2:DeleteVolume"}),
    }

    def locked(self, differences: Iterable[Difference], actual: Resource) -> tuple[str, ...]:
        """A smaller size: only another volume has it."""
        return tuple(str(one) for one in differences if one.path == ("Size",) and _shrinks(one.before, one.after))

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        states = [{"Name": "modification-state", "Values": ["modifying", "optimizing"]}]
        under_way = _modifications(aws, states)
        for volume in aws.pages("ec2", "describe_volumes", "Volumes", PaginationConfig=_PAGE):
            yield _parse(aws, volume, under_way)

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        volumes = aws.client("ec2").describe_volumes(VolumeIds=[seen.id])["Volumes"]
        # A filter, not VolumeIds: those make a volume that was never modified an error.
        of_it = [{"Name": "volume-id", "Values": [seen.id]}]
        return _parse(aws, volumes[0], _modifications(aws, of_it)) if volumes else None

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        raise RefusedError(f"{self.type} can only be matched: nothing would prove whose a volume is")

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        ec2 = aws.client("ec2")
        if change.properties:
            wanted = {word: _settled(word, value) for word, value in change.properties.items()}
            ec2.modify_volume(VolumeId=seen.id, **wanted)
        if change.tags:
            tags = [{"Key": key, "Value": value} for key, value in sorted(change.tags.items())]
            ec2.create_tags(Resources=[seen.id], Tags=tags)
        if change.untag:
            ec2.delete_tags(Resources=[seen.id], Tags=[{"Key": key} for key in sorted(change.untag)])
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        aws.client("ec2").delete_volume(VolumeId=seen.id)


def _modifications(aws: Aws, filters: list[dict[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The newest modification of each volume."""
    pages = aws.pages(
        "ec2", "describe_volumes_modifications", "VolumesModifications", Filters=filters, PaginationConfig=_PAGE
    )
    return {one["VolumeId"]: one for one in sorted(pages, key=lambda one: one["StartTime"])}


def _parse(aws: Aws, volume: Mapping[str, Any], modifications: Mapping[str, Mapping[str, Any]]) -> Resource:
    volume_id, created = volume["VolumeId"], volume["CreateTime"]
    modification = modifications.get(volume_id, {})
    state = _STATES.get(volume["State"], State.PENDING)
    if state is State.READY and modification.get("ModificationState") == "modifying":
        state = State.PENDING
    return Resource(
        type=Ec2Volume.type,
        id=volume_id,
        handle=volume_id,
        arn=f"arn:{aws.client('ec2').meta.partition}:ec2:{aws.region}:{aws.account}:volume/{volume_id}",
        tags={tag["Key"]: tag["Value"] for tag in volume.get("Tags", ()) if not tag["Key"].startswith("aws:")},
        properties=_properties(volume),
        facts=_facts(volume, modification, created),
        state=state,
        created=created,
    )


def _properties(volume: Mapping[str, Any]) -> dict[str, Json]:
    """What ModifyVolume can change: the IOPS that a gp2 volume shows come with its size."""
    kind = volume["VolumeType"]
    shown = {
        "Size": volume["Size"],
        "VolumeType": kind,
        "Iops": volume.get("Iops") if kind in _WITH_IOPS else None,
        "Throughput": volume.get("Throughput") if kind == "gp3" else None,
        "MultiAttachEnabled": volume.get("MultiAttachEnabled", False),
    }
    return {word: value for word, value in shown.items() if value is not None}


def _facts(volume: Mapping[str, Any], modification: Mapping[str, Any], created: datetime) -> dict[str, Json]:
    attached = [one for one in volume.get("Attachments", ()) if one.get("State") != "detached"]
    known = {
        **{word: volume.get(word) for word in _SHOWN},
        "Attachments": len(attached),
        "CreateTime": created.isoformat(),
        "InstanceId": attached[0].get("InstanceId") if attached else None,
        "ModificationProgress": modification.get("Progress"),
        "ModificationState": modification.get("ModificationState"),
    }
    return {word: value for word, value in known.items() if value not in (None, "")}


def _settled(word: str, value: Json) -> Json:
    """The value to write, with the service's default in place of null."""
    if value is not None:
        return value
    if word == "Size":
        raise RefusedError("Size of a volume cannot be null: it has no default")
    return Ec2Volume().shape.inner(word).default


def _shrinks(before: Json, after: Json) -> bool:
    return before is not None and after is not None and after < before
