"""What happens where nobody looks: to tags, between two runs, and between sensing and acting."""

from __future__ import annotations

import json

import pytest

from tests.sweep import invariants
from tests.sweep.hands import OURS, instances, runs, tags, url
from tests.sweep.harness import conditions, last_number, settle, tick, told, written
from tests.sweep.scenarios import (
    GONE,
    GROUP,
    INSTANCE,
    QUEUE,
    QUICK,
    agents,
    alarm,
    foreign_instance,
    group,
    of,
    queue,
    renamed,
    table,
)
from tests.world import World


def test_a_queue_whose_tags_were_taken_away_is_not_ours_any_more(world: World) -> None:
    documents = of(queue("a", "b", **GONE))
    settle(world, documents)
    world.outside.sqs.untag_queue(QueueUrl=url(world, "orders-a"), TagKeys=list(tags(world, "orders-a")))
    before, since = world.resources(), world.tick + 1
    report = runs(world, documents, 7)
    assert conditions(world, documents, report)["queues"]["Conflict"], told(report)
    report = runs(world, of(queue("b", "c", **GONE)), 7)
    invariants.quiet([call for call in written(world, since) if call.operation != "CreateQueue"])
    assert world.resources()[QUEUE]["orders-a"] == before[QUEUE]["orders-a"]


def test_an_instance_whose_tags_were_taken_away_is_known_by_its_token(world: World) -> None:
    """Its token is the proof: it is not started again and again, and Ready means that it carries our tags again."""
    documents = of(agents(2))
    settle(world, documents)
    before = instances(world)
    ids = {one["InstanceId"] for one in before}
    keys = [{"Key": tag["Key"]} for tag in before[0]["Tags"]]
    world.outside.ec2.delete_tags(Resources=[before[0]["InstanceId"]], Tags=keys)
    runs(world, documents, 8)
    since = world.tick + 1
    report = runs(world, documents, 4)
    invariants.quiet(written(world, since))
    assert {one["InstanceId"] for one in instances(world)} == ids
    owned = all({tag["Key"] for tag in one.get("Tags", ())} >= OURS for one in instances(world))
    assert conditions(world, documents, report)["agents"]["Ready"] == owned


def test_owner_tags_copied_to_another_queue_prove_nothing(world: World) -> None:
    settle(world, of(queue("a", "b", **GONE)))
    world.outside.sqs.create_queue(QueueName="orders-copy", tags=tags(world, "orders-b"))
    before = world.resources()[QUEUE]["orders-copy"]
    documents = of(queue("a", "c", **GONE))
    settle(world, documents)
    assert set(world.resources()[QUEUE]) == {"dead", "orders-a", "orders-c", "orders-copy"}
    assert world.resources()[QUEUE]["orders-copy"] == before


def test_owner_tags_copied_to_another_instance_prove_nothing(world: World) -> None:
    settle(world, of(agents(2, strategy=QUICK)))
    copied = instances(world)[0]["Tags"]
    foreign_instance(world)
    theirs = next(one for one in instances(world) if one["ImageId"] == "ami-9")
    world.outside.ec2.create_tags(Resources=[theirs["InstanceId"]], Tags=copied)
    world.advance(minutes=61)
    settle(world, of(agents(1, strategy=QUICK)))
    alive = [one["InstanceId"] for one in instances(world) if one["State"]["Name"] == "running"]
    assert len(alive) == 2
    assert theirs["InstanceId"] in alive


def test_a_mark_of_somebody_else_does_not_keep_what_should_go(world: World) -> None:
    """A renamed policy finds the mark of its old name: that is none of its own, so it marks anew."""
    day = {"removal": "delete", "grace": "24h", "guardrails": {"maxDeletes": "100%"}}
    settle(world, of(queue("a", "b", "c", **day)))
    settle(world, of(queue("a", "b", **day)))
    documents = of(renamed("tenants", queue("a", "b", **day), formerly=["queues"]))
    settle(world, documents)
    world.advance(minutes=25 * 60)
    runs(world, documents, 3)
    assert set(world.resources()[QUEUE]) == {"dead", "orders-a", "orders-b"}


def test_renamed_instances_stay_and_stay_owned(world: World) -> None:
    settle(world, of(agents(2)))
    before = {one["InstanceId"] for one in instances(world)}
    workers = renamed("workers", agents(2, strategy=QUICK), formerly=["agents"])
    settle(world, of(workers))
    assert {one["InstanceId"] for one in instances(world)} == before
    settle(world, of({**workers, "formerly": []}))
    assert {one["InstanceId"] for one in instances(world)} == before
    world.advance(minutes=61)
    settle(world, of(renamed("workers", agents(1, strategy=QUICK))))
    assert len(world.resources()[INSTANCE]) == 1


@pytest.mark.parametrize("at", ["GetQueueUrl", "CreateQueue"])
@pytest.mark.parametrize("wait", ["120", "7"])
def test_a_name_that_is_taken_meanwhile_stays_with_who_took_it(world: World, at: str, wait: str) -> None:
    documents = of(queue("a"))
    dead_arn = "arn:aws:sqs:eu-west-1:123456789012:dead"
    attributes = {
        "VisibilityTimeout": wait,
        "MessageRetentionPeriod": "3600",
        "RedrivePolicy": json.dumps({"deadLetterTargetArn": dead_arn, "maxReceiveCount": 5}, sort_keys=True),
    }
    place = {"GetQueueUrl": 3, "CreateQueue": 4}[at]
    world.on_call(place, lambda: world.outside.sqs.create_queue(QueueName="orders-a", Attributes=attributes))
    tick(world, documents)
    assert world.history[place - 1].operation == at
    before = world.resources()[QUEUE]["orders-a"]
    assert before["Tags"] == {}
    report = runs(world, documents, 7)
    assert conditions(world, documents, report)["queues"]["Conflict"], told(report)
    assert world.resources()[QUEUE]["orders-a"] == before


def test_a_log_group_that_is_made_meanwhile_stays_with_who_made_it(world: World) -> None:
    documents = of(group("a"))
    world.on_call(3, lambda: world.outside.logs.create_log_group(logGroupName="/orders/a"))
    tick(world, documents)
    assert world.history[2].operation == "CreateLogGroup"
    report = runs(world, documents, 2)
    assert conditions(world, documents, report)["groups"]["Conflict"], told(report)
    assert world.resources()[GROUP]["/orders/a"] == {"logGroupName": "/orders/a", "Tags": {}}


def test_an_item_that_loses_its_tags_before_the_delete_is_spared(world: World) -> None:
    settle(world, of(queue("a", "b", "c", **GONE)))
    start, keys = last_number(world), list(tags(world, "orders-c"))
    world.on_call(start + 3, lambda: world.outside.sqs.untag_queue(QueueUrl=url(world, "orders-c"), TagKeys=keys))
    runs(world, of(queue("a", "b", **GONE)), 3)
    assert "orders-c" in world.resources()[QUEUE]


@pytest.mark.parametrize("kind", ["queue", "table", "alarm", "group"])
def test_what_somebody_put_in_the_place_of_ours_is_theirs(world: World, kind: str) -> None:
    documents = of({"queue": queue, "table": table, "alarm": alarm, "group": group}[kind]("a", **GONE))
    settle(world, documents)
    replace_by_hand(world, kind)
    before = world.resources()
    report = runs(world, documents, 8)
    (held,) = conditions(world, documents, report).values()
    assert held["Conflict"], told(report)
    assert not held["Ready"]
    assert world.resources() == before


def test_what_was_not_looked_at_is_not_ready(world: World) -> None:
    """Matched resources carry no spec hash: until each was read, nobody knows whether it is as desired.

    A resize at most doubles the shards, so that there is a step in between.
    """
    for name in "abc":
        world.outside.kinesis.create_stream(StreamName=f"clicks-{name}", ShardCount=2)
    for _ in range(3):
        world.tick_started()
    strategy = {"type": "scale", "property": "ShardCount", "to": 8}
    type_ = "AWS::Kinesis::Stream"
    resources = {name: {"type": type_, "match": {"names": [f"clicks-{name}"]}} for name in "abc"}
    policies = ({"name": name, "driftCheck": "5m", "resource": one} for name, one in resources.items())
    documents = of(*({**one, "strategy": strategy} for one in policies))
    for _ in range(6):
        report = tick(world, documents)
        assert report is not None
        streams = world.resources()[type_]
        ready = {name for name, held in conditions(world, documents, report).items() if held["Ready"]}
        assert all(streams[f"clicks-{name}"]["OpenShardCount"] == 8 for name in ready)


def replace_by_hand(world: World, kind: str) -> None:
    outside = world.outside
    match kind:
        case "queue":
            outside.sqs.delete_queue(QueueUrl=url(world, "orders-a"))
            world.advance(minutes=2)
            outside.sqs.create_queue(QueueName="orders-a", tags={"owner": "them"})
        case "table":
            outside.dynamodb.delete_table(TableName="orders-a")
            key = {"AttributeName": "other", "KeyType": "HASH"}
            kept = {"AttributeDefinitions": [{"AttributeName": "other", "AttributeType": "S"}]}
            outside.dynamodb.create_table(TableName="orders-a", KeySchema=[key], BillingMode="PAY_PER_REQUEST", **kept)
        case "alarm":
            old = outside.cloudwatch.describe_alarms(AlarmNames=["orders-a"])["MetricAlarms"][0]
            outside.cloudwatch.delete_alarms(AlarmNames=["orders-a"])
            outside.cloudwatch.untag_resource(ResourceARN=old["AlarmArn"], TagKeys=sorted(OURS))
            words = (
                "AlarmName",
                "Namespace",
                "MetricName",
                "Statistic",
                "Period",
                "EvaluationPeriods",
                "ComparisonOperator",
            )
            outside.cloudwatch.put_metric_alarm(**{word: old[word] for word in words}, Threshold=1)
        case "group":
            arn = outside.logs.describe_log_groups()["logGroups"][0]["arn"].removesuffix(":*")
            outside.logs.untag_resource(resourceArn=arn, tagKeys=sorted(OURS))  # moto keeps the tags of what is gone
            outside.logs.delete_log_group(logGroupName="/orders/a")
            outside.logs.create_log_group(logGroupName="/orders/a")
