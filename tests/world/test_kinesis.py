"""The traps of Kinesis streams."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.world import World


def create(world: World, shards: int = 2, **more: Any) -> Any:
    kinesis = world.session.client("kinesis")
    kinesis.create_stream(StreamName="stream", ShardCount=shards, **more)
    return kinesis


def summary(kinesis: Any) -> Any:
    return kinesis.describe_stream_summary(StreamName="stream")["StreamDescriptionSummary"]


def resize(kinesis: Any, shards: int) -> None:
    kinesis.update_shard_count(StreamName="stream", TargetShardCount=shards, ScalingType="UNIFORM_SCALING")


def settle(world: World) -> None:
    for _ in range(2):
        world.tick_started()


def test_a_stream_takes_a_round_to_be_made_and_has_its_tags_and_record_size(world: World) -> None:
    world.tick_started()
    kinesis = create(world, Tags={"team": "orders"}, MaxRecordSizeInKiB=2048)
    seen = [summary(kinesis)["StreamStatus"]]
    for _ in range(2):
        world.tick_started()
        seen.append(summary(kinesis)["StreamStatus"])
    assert seen == ["CREATING", "CREATING", "ACTIVE"]
    assert summary(kinesis)["MaxRecordSizeInKiB"] == 2048
    assert kinesis.list_tags_for_stream(StreamName="stream")["Tags"] == [{"Key": "team", "Value": "orders"}]


def test_nothing_is_changed_or_deleted_meanwhile(world: World) -> None:
    kinesis = create(world)
    for attempt in (
        lambda: resize(kinesis, 4),
        lambda: kinesis.delete_stream(StreamName="stream"),
        lambda: kinesis.add_tags_to_stream(StreamName="stream", Tags={"a": "b"}),
        lambda: kinesis.increase_stream_retention_period(StreamName="stream", RetentionPeriodHours=48),
    ):
        with pytest.raises(kinesis.exceptions.ResourceInUseException):
            attempt()


def test_a_resize_takes_a_round_in_which_the_old_shards_show(world: World) -> None:
    kinesis = create(world)
    settle(world)
    resize(kinesis, 4)
    assert (summary(kinesis)["StreamStatus"], summary(kinesis)["OpenShardCount"]) == ("UPDATING", 2)
    with pytest.raises(kinesis.exceptions.ResourceInUseException):
        resize(kinesis, 8)
    settle(world)
    assert (summary(kinesis)["StreamStatus"], summary(kinesis)["OpenShardCount"]) == ("ACTIVE", 4)


@pytest.mark.parametrize("shards", [2, 11])
def test_a_resize_at_most_doubles_or_halves(world: World, shards: int) -> None:
    kinesis = create(world, 5)
    settle(world)
    with pytest.raises(ClientError, match="between 3 and 10"):
        resize(kinesis, shards)


def test_there_are_ten_resizes_in_24_hours(world: World) -> None:
    kinesis = create(world)
    for number in range(10):
        settle(world)
        resize(kinesis, 2 + number % 2)
    settle(world)
    with pytest.raises(kinesis.exceptions.LimitExceededException):
        resize(kinesis, 2)
    world.advance(hours=24)
    resize(kinesis, 2)


def test_a_record_size_can_be_changed(world: World) -> None:
    kinesis = create(world)
    settle(world)
    kinesis.update_max_record_size(StreamARN=summary(kinesis)["StreamARN"], MaxRecordSizeInKiB=4096)
    assert summary(kinesis)["StreamStatus"] == "UPDATING"
    settle(world)
    assert summary(kinesis)["MaxRecordSizeInKiB"] == 4096


def test_a_stream_takes_a_round_to_go(world: World) -> None:
    kinesis = create(world)
    settle(world)
    assert world.resources()["AWS::Kinesis::Stream"]["stream"]["OpenShardCount"] == 2
    kinesis.delete_stream(StreamName="stream")
    assert (summary(kinesis)["StreamStatus"], world.resources()) == ("DELETING", {})
    kinesis.delete_stream(StreamName="stream")
    with pytest.raises(kinesis.exceptions.ResourceInUseException):
        create(world)
    settle(world)
    with pytest.raises(kinesis.exceptions.ResourceNotFoundException):
        summary(kinesis)
    create(world)
