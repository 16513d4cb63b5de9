"""Snapshots: this account's own, matched only, tagged and deleted."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")

import boto3
import pytest
from botocore.exceptions import ClientError
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.ec2_snapshot import Ec2Snapshot
from policies.action import Change, Desired
from policies.errors import RefusedError
from policies.frozen import freeze
from policies.world import Resource, State

KIND = Ec2Snapshot()


def make(aws: Aws, size: int = 8) -> Resource:
    ec2 = aws.client("ec2")
    volume = ec2.create_volume(AvailabilityZone="eu-west-1a", Size=size)["VolumeId"]
    tags = [{"ResourceType": "snapshot", "Tags": [{"Key": "team", "Value": "ci"}, {"Key": "old", "Value": "1"}]}]
    made = ec2.create_snapshot(VolumeId=volume, Description="nightly", TagSpecifications=tags)
    return read(aws, made["SnapshotId"])


def read(aws: Aws, snapshot_id: str) -> Resource:
    found = KIND.read(aws, Resource(KIND.type, snapshot_id))
    assert found is not None
    return found


def answering(session: boto3.Session, *pages: dict[str, Any]) -> list[dict[str, Any]]:
    """Let DescribeSnapshots answer these, one after the other, and tell what was asked."""
    left, asked = list(pages), []

    def answer(params: dict[str, Any], **_: Any) -> Any:
        asked.append(params["body"])
        return SimpleNamespace(status_code=200), left.pop(0)

    session.events.register("before-call.ec2.DescribeSnapshots", answer)
    return asked


def described(snapshot_id: str, state: str = "completed") -> dict[str, Any]:
    return {"SnapshotId": snapshot_id, "State": state, "StartTime": datetime(2026, 3, 1, tzinfo=UTC)}


def test_what_was_taken_is_what_is_read(aws: Aws) -> None:
    seen = make(aws)
    assert (seen.name, seen.token, seen.state, seen.properties) == (None, None, State.READY, {})
    assert seen.tags == {"team": "ci", "old": "1"}
    assert seen.arn == f"arn:aws:ec2:eu-west-1::snapshot/{seen.id}"
    assert seen.created is not None
    assert seen.facts["CreateTime"] == seen.facts["StartTime"] == seen.created.isoformat()
    facts = {"Description": "nightly", "State": "completed", "VolumeSize": 8, "Progress": "100%", "Encrypted": False}
    assert seen.facts.items() >= facts.items()
    assert seen.facts.keys() <= KIND.facts


def test_a_survey_shows_all_that_a_read_shows(aws: Aws) -> None:
    made = [make(aws, size) for size in (1, 2, 3)]
    assert sorted(KIND.survey(aws, ()), key=lambda one: one.id) == sorted(made, key=lambda one: one.id)


def test_a_survey_follows_every_page_and_asks_for_our_own_only(session: boto3.Session, aws: Aws) -> None:
    pages = [{"Snapshots": [described(f"snap-{page}")], "NextToken": f"more-{page}"} for page in range(3)]
    asked = answering(session, *pages, {"Snapshots": [described("snap-3")]})
    assert [one.id for one in KIND.survey(aws, ("",))] == ["snap-0", "snap-1", "snap-2", "snap-3"]
    assert {one["Owner.1"] for one in asked} == {"self"}


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("pending", State.PENDING),
        ("completed", State.READY),
        ("error", State.UNHEALTHY),
        ("recoverable", State.DELETING),
        ("recovering", State.PENDING),
        ("something-new", State.PENDING),
    ],
)
def test_states(session: boto3.Session, aws: Aws, state: str, expected: State) -> None:
    answering(session, {"Snapshots": [described("snap-1", state)]})
    (seen,) = KIND.survey(aws, ())
    assert (seen.state, seen.facts["State"]) == (expected, state)


def test_one_that_is_not_there(aws: Aws) -> None:
    with pytest.raises(ClientError) as caught:
        read(aws, "snap-0123456789abcdef0")
    assert caught.value.response["Error"]["Code"] in KIND.absent_codes


def test_tags_are_merged(aws: Aws) -> None:
    seen = make(aws)
    KIND.update(aws, seen, Change(tags=freeze({"setpoint:marked": "now", "team": "web"}), untag=frozenset({"old"})))
    assert read(aws, seen.id).tags == {"team": "web", "setpoint:marked": "now"}


def test_deleted_is_gone(aws: Aws) -> None:
    KIND.delete(aws, make(aws))
    assert list(KIND.survey(aws, ())) == []


def test_that_of_an_image_waits_until_the_image_is_gone(aws: Aws) -> None:
    ec2 = aws.client("ec2")
    instance = ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1)["Instances"][0]["InstanceId"]
    image = ec2.create_image(InstanceId=instance, Name="agents")["ImageId"]
    (seen,) = KIND.survey(aws, ())
    with pytest.raises(ClientError) as caught:
        KIND.delete(aws, seen)
    assert caught.value.response["Error"]["Code"] in KIND.wait_codes
    ec2.deregister_image(ImageId=image)
    KIND.delete(aws, seen)
    assert list(KIND.survey(aws, ())) == []


def test_none_is_made(aws: Aws) -> None:
    with pytest.raises(RefusedError, match="only be matched"):
        KIND.create(aws, Desired("0", None, {}), None)


def test_nothing_but_tags_can_be_said(aws: Aws) -> None:
    KIND.properties.model_validate({"Tags": [{"Key": "a", "Value": "b"}]})
    with pytest.raises(ValidationError):
        KIND.properties.model_validate({"Description": "another"})


def test_the_iam_listing_is_what_is_called(aws: Aws, recorded: set[str]) -> None:
    seen, calls = make(aws), {"create": set[str]()}
    steps: dict[str, Any] = {
        "survey": lambda: list(KIND.survey(aws, ())),
        "read": lambda: read(aws, seen.id),
        "update": lambda: KIND.update(aws, seen, Change({}, {"a": "b"}, frozenset({"old"}))),
        "delete": lambda: KIND.delete(aws, seen),
    }
    for verb, step in steps.items():
        recorded.clear()
        step()
        calls[verb] = set(recorded)
    assert calls == KIND.iam
