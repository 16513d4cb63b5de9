"""Stale reads and the lagging tag index."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.world import World, operation


def queues(world: World) -> list[str]:
    urls = world.session.client("sqs").list_queues().get("QueueUrls", [])
    return [url.rsplit("/", 1)[-1] for url in urls]


def indexed(world: World) -> set[str]:
    pages = world.session.client("resourcegroupstaggingapi").get_paginator("get_resources").paginate()
    return {r["ResourceARN"].rsplit(":", 1)[-1] for page in pages for r in page["ResourceTagMappingList"]}


def test_reads_see_the_start_of_an_earlier_tick(world: World) -> None:
    sqs = world.session.client("sqs")
    world.stale(lag=1)
    seen = []
    for name in "abcd":
        world.tick_started()
        sqs.create_queue(QueueName=name)
        seen.append(queues(world))
    assert seen == [[], [], ["a"], ["a", "b"]]
    world.stale(lag=0)
    assert queues(world) == ["a", "b", "c", "d"]


def test_a_stale_world_is_stale_for_every_read(world: World) -> None:
    world.tick_started()
    sqs = world.session.client("sqs")
    url = sqs.create_queue(QueueName="a", tags={"k": "v"})["QueueUrl"]
    world.tick_started()
    world.stale(lag=1)
    for read in (
        lambda: sqs.get_queue_url(QueueName="a"),
        lambda: sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"]),
        lambda: sqs.list_queue_tags(QueueUrl=url),
    ):
        with pytest.raises(sqs.exceptions.QueueDoesNotExist):
            read()
    assert indexed(world) == set()
    assert list(world.resources()["AWS::SQS::Queue"]) == ["a"]


def test_writes_meet_the_present(world: World) -> None:
    world.tick_started()
    sqs = world.session.client("sqs")
    url = sqs.create_queue(QueueName="a")["QueueUrl"]
    world.stale(lag=1)
    sqs.tag_queue(QueueUrl=url, Tags={"k": "v"})
    sqs.delete_queue(QueueUrl=url)
    assert world.resources() == {}


def test_only_chosen_reads_are_stale(world: World) -> None:
    world.tick_started()
    sqs = world.session.client("sqs")
    sqs.create_queue(QueueName="a")
    world.stale(lag=1, only=operation("sqs", "ListQueues"))
    assert queues(world) == []
    sqs.get_queue_url(QueueName="a")


def test_traps_are_as_old_as_the_data(world: World) -> None:
    """An instance and a table show the state they had then, and a dead instance is seen alive."""
    world.tick_started()
    ec2 = world.session.client("ec2")
    instance = ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1, ClientToken="t")["Instances"][0]["InstanceId"]
    for _ in range(2):
        world.tick_started()
    ec2.terminate_instances(InstanceIds=[instance])

    def state() -> str:
        found: dict[str, Any] = ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
        return str(found["State"]["Name"])

    assert state() == "shutting-down"
    world.stale(lag=1)
    assert state() == "pending"
    world.tick_started()
    assert state() == "running"
    with pytest.raises(ClientError, match="IdempotentInstanceTerminated"):
        ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1, ClientToken="t")


def test_set_up_by_hand_is_visible_from_the_first_tick(world: World) -> None:
    world.outside.sqs.create_queue(QueueName="a")
    world.stale(lag=3)
    world.tick_started()
    assert queues(world) == ["a"]


def test_changes_by_hand_are_late_too(world: World) -> None:
    world.stale(lag=1)
    world.tick_started()
    world.outside.sqs.create_queue(QueueName="a")
    world.tick_started()
    assert queues(world) == []
    world.tick_started()
    assert queues(world) == ["a"]


def test_the_index_lags_alone(world: World) -> None:
    world.index_lag = 1
    world.tick_started()
    world.session.client("sqs").create_queue(QueueName="a", tags={"k": "v"})
    world.tick_started()
    assert (queues(world), indexed(world)) == (["a"], set())
    world.tick_started()
    assert indexed(world) == {"a"}


def test_the_index_omits_what_was_never_tagged(world: World) -> None:
    sqs = world.session.client("sqs")
    sqs.create_queue(QueueName="untagged")
    sqs.create_queue(QueueName="tagged", tags={"k": "v"})
    assert indexed(world) == {"tagged"}


def test_s3_is_never_stale(world: World) -> None:
    world.stale(lag=1)
    world.tick_started()
    s3 = world.session.client("s3")
    s3.create_bucket(Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    s3.put_object(Bucket="bucket", Key="k", Body=b"x")
    world.tick_started()
    assert s3.get_object(Bucket="bucket", Key="k")["Body"].read() == b"x"
