"""Volumes: matched only; they grow, change type, and wait while a modification is under way."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.ec2.models import ec2_backends
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.ec2_volume import Ec2Volume
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.errors import RefusedError
from policies.frozen import freeze
from policies.world import Resource, State

KIND = Ec2Volume()
ZONE = "eu-west-1a"


def make(aws: Aws, **more: Any) -> Resource:
    arguments = {"AvailabilityZone": ZONE, "Size": 100, "VolumeType": "gp3", "Throughput": 125, **more}
    tags = [{"ResourceType": "volume", "Tags": [{"Key": "team", "Value": "ci"}, {"Key": "old", "Value": "1"}]}]
    volume_id = aws.client("ec2").create_volume(TagSpecifications=tags, **arguments)["VolumeId"]
    return read(aws, volume_id)


def read(aws: Aws, volume_id: str) -> Resource:
    found = KIND.read(aws, Resource(KIND.type, volume_id))
    assert found is not None
    return found


def update(aws: Aws, seen: Resource, tags: Any = None, untag: Any = frozenset(), **wanted: Any) -> Resource:
    change = Change(freeze(wanted), freeze(tags or {}), frozenset(untag))
    assert KIND.update(aws, seen, change) is Progress.COMPLETE
    return read(aws, seen.id)


def differences(wanted: dict[str, Any], seen: Resource) -> list[str]:
    return [str(one) for one in diff(freeze(wanted), seen.properties or {}, KIND.shape)]


def answering(session: boto3.Session, operation: str, *answers: dict[str, Any]) -> None:
    """Let the service answer these, one after the other."""
    left = list(answers)
    session.events.register(f"before-call.ec2.{operation}", lambda **_: (SimpleNamespace(status_code=200), left.pop(0)))


def described(volume_id: str, state: str = "available", **more: Any) -> dict[str, Any]:
    created = datetime(2026, 3, 1, tzinfo=UTC)
    return {"VolumeId": volume_id, "State": state, "Size": 8, "VolumeType": "gp2", "CreateTime": created, **more}


def modification(volume_id: str, state: str, day: int = 1) -> dict[str, Any]:
    started = datetime(2026, 3, day, tzinfo=UTC)
    return {"VolumeId": volume_id, "ModificationState": state, "Progress": 7, "StartTime": started}


# Seeing


def test_what_was_made_is_what_is_read(aws: Aws) -> None:
    seen = make(aws, Iops=4000)
    assert differences({"Size": 100, "VolumeType": "gp3", "Iops": 4000, "Throughput": 125}, seen) == []
    assert (seen.name, seen.token, seen.state, seen.tags) == (None, None, State.READY, {"team": "ci", "old": "1"})
    assert seen.arn == f"arn:aws:ec2:eu-west-1:123456789012:volume/{seen.id}"
    assert seen.created is not None
    assert seen.facts["CreateTime"] == seen.created.isoformat()
    assert (seen.facts["State"], seen.facts["Attachments"], seen.facts["Encrypted"]) == ("available", 0, False)
    assert seen.facts.keys() <= KIND.facts


def test_an_attached_one_tells_to_what(aws: Aws) -> None:
    seen, ec2 = make(aws), aws.client("ec2")
    instance = ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1)["Instances"][0]["InstanceId"]
    ec2.attach_volume(VolumeId=seen.id, InstanceId=instance, Device="/dev/sdh")
    facts = read(aws, seen.id).facts
    assert (facts["State"], facts["Attachments"], facts["InstanceId"]) == ("in-use", 1, instance)


def test_a_survey_shows_all_that_a_read_shows(aws: Aws) -> None:
    made = [make(aws, Size=size) for size in (1, 2)]
    assert sorted(KIND.survey(aws, ()), key=lambda one: one.id) == sorted(made, key=lambda one: one.id)


def test_a_survey_follows_every_page(session: boto3.Session, aws: Aws) -> None:
    pages = [{"Volumes": [described(f"vol-{page}")], "NextToken": f"more-{page}"} for page in range(3)]
    answering(session, "DescribeVolumes", *pages, {"Volumes": [described("vol-3")]})
    assert [one.id for one in KIND.survey(aws, ("",))] == ["vol-0", "vol-1", "vol-2", "vol-3"]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("creating", State.PENDING),
        ("available", State.READY),
        ("in-use", State.READY),
        ("deleting", State.DELETING),
        ("deleted", State.DEAD),
        ("error", State.UNHEALTHY),
        ("something-new", State.PENDING),
    ],
)
def test_states(session: boto3.Session, aws: Aws, state: str, expected: State) -> None:
    answering(session, "DescribeVolumes", {"Volumes": [described("vol-1", state)]})
    (seen,) = KIND.survey(aws, ())
    assert (seen.state, seen.facts["State"]) == (expected, state)


@pytest.mark.parametrize(
    ("modified", "expected"),
    [
        ("modifying", State.PENDING),
        ("optimizing", State.READY),
        ("completed", State.READY),
        ("failed", State.READY),
    ],
)
def test_the_newest_modification_counts(session: boto3.Session, aws: Aws, modified: str, expected: State) -> None:
    newest_first = [modification("vol-1", modified, 2), modification("vol-1", "completed", 1)]
    answering(session, "DescribeVolumes", {"Volumes": [described("vol-1", "in-use")]})
    answering(session, "DescribeVolumesModifications", {"VolumesModifications": newest_first})
    seen = read(aws, "vol-1")
    assert (seen.state, seen.facts["ModificationState"], seen.facts["ModificationProgress"]) == (expected, modified, 7)


def test_the_iops_of_a_gp2_volume_are_not_a_property(session: boto3.Session, aws: Aws) -> None:
    answering(session, "DescribeVolumes", {"Volumes": [described("vol-1", Iops=100)]})
    (seen,) = KIND.survey(aws, ())
    assert seen.properties == {"Size": 8, "VolumeType": "gp2", "MultiAttachEnabled": False}


def test_one_that_is_not_there(aws: Aws) -> None:
    with pytest.raises(ClientError) as caught:
        read(aws, "vol-0123456789abcdef0")
    assert caught.value.response["Error"]["Code"] in KIND.absent_codes


# Changing


@pytest.mark.parametrize(
    "wanted",
    [
        {"Size": 200},
        {"Throughput": 500},
        {"Iops": 6000},
        {"VolumeType": "io2", "Iops": 5000},
        {"VolumeType": "st1", "Size": 500},
    ],
)
def test_a_changed_property_reads_back(aws: Aws, wanted: dict[str, Any]) -> None:
    seen = make(aws)
    assert differences(wanted, seen)
    assert differences(wanted, update(aws, seen, **wanted)) == []


@pytest.mark.parametrize(
    ("made", "reset"),
    [({"Iops": 9000}, {"Iops": None}), ({"Throughput": 900}, {"Throughput": None}), ({}, {"VolumeType": None})],
)
def test_null_resets(aws: Aws, made: dict[str, Any], reset: dict[str, None]) -> None:
    seen = make(aws, **made)
    assert differences(reset, seen) == list(reset)
    assert differences(reset, update(aws, seen, **reset)) == []


def test_a_size_has_no_default(aws: Aws) -> None:
    with pytest.raises(RefusedError, match="Size"):
        update(aws, make(aws), Size=None)


def test_only_another_volume_is_smaller(aws: Aws) -> None:
    seen = make(aws)
    for size, locked in ((99, ("Size",)), (101, ())):
        found = diff({"Size": size, "Throughput": 500}, seen.properties or {}, KIND.shape)
        assert KIND.locked(found, seen) == locked


def test_tags_are_merged(aws: Aws) -> None:
    after = update(aws, make(aws), {"setpoint:marked": "now", "team": "web"}, {"old"})
    assert after.tags == {"team": "web", "setpoint:marked": "now"}


def test_deleted_is_gone(aws: Aws) -> None:
    seen = make(aws)
    KIND.delete(aws, seen)
    assert list(KIND.survey(aws, ())) == []


def test_an_attached_one_waits(aws: Aws) -> None:
    seen, ec2 = make(aws), aws.client("ec2")
    instance = ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1)["Instances"][0]["InstanceId"]
    ec2.attach_volume(VolumeId=seen.id, InstanceId=instance, Device="/dev/sdh")
    with pytest.raises(ClientError) as caught:
        KIND.delete(aws, seen)
    assert caught.value.response["Error"]["Code"] in KIND.wait_codes


def test_none_is_made(aws: Aws) -> None:
    with pytest.raises(RefusedError, match="only be matched"):
        KIND.create(aws, Desired("0", None, {"Size": 1}), None)
    assert ec2_backends["123456789012"]["eu-west-1"].volumes == {}


@pytest.mark.parametrize(
    "properties",
    [{"Size": 0}, {"Throughput": 124}, {"VolumeType": "gp4"}, {"Encrypted": True}, {"AvailabilityZone": ZONE}],
)
def test_what_cannot_be_changed_is_refused(properties: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate(properties)


def test_the_iam_listing_is_what_is_called(aws: Aws, recorded: set[str]) -> None:
    seen, calls = make(aws), {"create": set[str]()}
    steps: dict[str, Any] = {
        "survey": lambda: list(KIND.survey(aws, ())),
        "read": lambda: read(aws, seen.id),
        "update": lambda: KIND.update(aws, seen, Change({"Size": 200}, {"a": "b"}, frozenset({"old"}))),
        "delete": lambda: KIND.delete(aws, seen),
    }
    for verb, step in steps.items():
        recorded.clear()
        step()
        calls[verb] = set(recorded)
    assert calls == KIND.iam
