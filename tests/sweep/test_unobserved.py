"""What happens where nobody looks: between two runs, between sensing and acting, and to the sources of the items."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from handler.loop.run import RunReport
from tests.sweep import invariants
from tests.sweep.harness import conditions, heal, last_number, run_once, settle, tick, told, written
from tests.sweep.scenarios import (
    GONE,
    GROUP,
    INSTANCE,
    QUEUE,
    QUICK,
    SCENARIOS,
    TABLE,
    TAGS,
    agents,
    alarm,
    document,
    foreign_instance,
    group,
    of,
    policy,
    queue,
    renamed,
    table,
)
from tests.sweep.trial import Trial, reference
from tests.world import Fault, World, operation

OURS = invariants.OWNER_TAGS | {"team"}


@pytest.fixture
def world() -> Iterator[World]:
    with World() as opened:
        opened.outside.sqs.create_queue(QueueName="dead")
        yield opened


def url(world: World, name: str) -> str:
    return str(world.outside.sqs.get_queue_url(QueueName=name)["QueueUrl"])


def tags(world: World, name: str) -> dict[str, str]:
    return dict(world.outside.sqs.list_queue_tags(QueueUrl=url(world, name)).get("Tags", {}))


def from_parameter(**more: Any) -> Any:
    items = {"type": "forEach", "items": {"source": "ssmParameter", "name": "/tenants", **more.pop("items", {})}}
    properties = {"QueueName": "tenant-${item}", "Tags": TAGS}
    return policy("tenants", QUEUE, properties, items, removal="delete", grace="0s", **more)


def put_items(world: World, text: str) -> None:
    world.outside.ssm.put_parameter(Name="/tenants", Value=text, Type="String", Overwrite=True)


def runs(world: World, documents: Any, count: int) -> RunReport:
    """Some runs, a minute apart; the last one's report."""
    report = None
    for _ in range(count):
        report = tick(world, documents)
    assert report is not None
    return report


# Tags that somebody else writes or takes away.


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


def test_an_instance_whose_tags_were_taken_away_is_not_started_again_and_again(world: World) -> None:
    documents = of(agents(2))
    settle(world, documents)
    one = instances(world)[0]
    world.outside.ec2.delete_tags(Resources=[one["InstanceId"]], Tags=[{"Key": tag["Key"]} for tag in one["Tags"]])
    report = runs(world, documents, 8)
    since = world.tick + 1
    report = runs(world, documents, 4)
    assert len(world.resources()[INSTANCE]) == 2
    invariants.quiet(written(world, since))
    assert not conditions(world, documents, report)["agents"]["Ready"]


def instances(world: World) -> list[dict[str, Any]]:
    reservations = world.outside.ec2.describe_instances()["Reservations"]
    return [one for reservation in reservations for one in reservation["Instances"]]


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


# What happens between sensing and acting.


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


# What happens between two runs.


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
            words = ("AlarmName", "Namespace", "MetricName", "Statistic", "Period", "EvaluationPeriods", "ComparisonOperator")
            outside.cloudwatch.put_metric_alarm(**{word: old[word] for word in words}, Threshold=1)
        case "group":
            arn = outside.logs.describe_log_groups()["logGroups"][0]["arn"].removesuffix(":*")
            outside.logs.untag_resource(resourceArn=arn, tagKeys=sorted(OURS))  # moto keeps the tags of what is gone
            outside.logs.delete_log_group(logGroupName="/orders/a")
            outside.logs.create_log_group(logGroupName="/orders/a")


# Sources of items that lie for a while.

TEN = [f"t{number}" for number in range(10)]


@pytest.mark.parametrize("text", ['["t0","t1"]', '["t0","t1","t', "", "[]", '{"t0": 1}', "null"])
def test_a_source_that_is_cut_short_for_an_hour_deletes_nothing(world: World, text: str) -> None:
    documents = of(from_parameter())
    put_items(world, json.dumps(TEN))
    settle(world, documents)
    world.advance(minutes=61)
    before, since = world.resources(), world.tick + 1
    if text:
        put_items(world, text)
    else:
        world.outside.ssm.delete_parameter(Name="/tenants")
    for _ in range(12):
        report = tick(world, documents, minutes=5)
    assert report is not None
    assert not conditions(world, documents, report)["tenants"]["Ready"]
    put_items(world, json.dumps(TEN))
    report = runs(world, documents, 7)
    assert conditions(world, documents, report)["tenants"]["Ready"], told(report)
    invariants.quiet(written(world, since))
    assert world.resources() == before


def test_items_that_are_all_renamed_at_once_are_made_and_the_old_ones_held(world: World) -> None:
    documents = of(from_parameter())
    put_items(world, json.dumps(TEN))
    settle(world, documents)
    world.advance(minutes=61)
    put_items(world, json.dumps([f"x{name}" for name in TEN]))
    report = runs(world, documents, 7)
    assert conditions(world, documents, report)["tenants"]["Held"], told(report)
    assert len(world.resources()[QUEUE]) == 1 + 20
    assert not world.calls(operation="DeleteQueue")


def test_a_table_of_items_that_cannot_be_read_to_its_end_deletes_nothing(world: World) -> None:
    dynamodb = world.outside.dynamodb
    definition = [{"AttributeName": "id", "AttributeType": "S"}]
    key = [{"AttributeName": "id", "KeyType": "HASH"}]
    dynamodb.create_table(
        TableName="tenants", KeySchema=key, AttributeDefinitions=definition, BillingMode="PAY_PER_REQUEST"
    )
    for name in TEN:
        dynamodb.put_item(TableName="tenants", Item={"id": {"S": name}})
    strategy = {"type": "forEach", "items": {"source": "dynamodbTable", "name": "tenants", "key": "id"}}
    documents = of(policy("tenants", QUEUE, {"QueueName": "tenant-${item.id}"}, strategy, **GONE))
    settle(world, documents)
    world.advance(minutes=61)
    since = world.tick + 1
    world.page_size = 3
    world.inject(Fault(at=operation("dynamodb", "Scan"), kind="partial_page", times=None))
    report = runs(world, documents, 3)
    assert conditions(world, documents, report)["tenants"]["Degraded"]
    heal(world)
    runs(world, documents, 7)
    invariants.quiet(written(world, since))


# What a policy that is gone leaves behind, and what a replacement cannot cure.


@pytest.mark.parametrize("kind", ["queues", "tables", "groups", "alarms", "agents"])
def test_what_a_policy_that_is_gone_leaves_is_reported_and_deleted_where_that_was_said(world: World, kind: str) -> None:
    gone = {"queues": queue("a"), "tables": table("a"), "groups": group("a"), "alarms": alarm("a"), "agents": agents(1)}
    documents = {"main": document(gone[kind], renamed("others", group("z")), orphans="delete")}
    left = {"main": document(renamed("others", group("z")), orphans="delete")}
    settle(world, documents)
    report = tick(world, left)
    assert report is not None
    assert [one.policy.name for one in report.orphans] == [gone[kind]["name"]]
    world.advance(minutes=25 * 60)
    runs(world, left, 3)
    world.advance(minutes=25 * 60)
    runs(world, left, 3)
    types = {"queues": QUEUE, "tables": TABLE, "alarms": "AWS::CloudWatch::Alarm", "agents": INSTANCE}
    assert not set(world.resources().get(types.get(kind, ""), ())) - {"dead"}
    assert set(world.resources()[GROUP]) == {"/orders/z"}


def test_a_replacement_that_does_not_help_is_not_repeated(world: World) -> None:
    """moto forgets the class of a log group: every new one differs again, which no further one cures."""
    rare = group("a", replace="deleteFirst", **GONE)
    rare["resource"]["properties"]["LogGroupClass"] = "INFREQUENT_ACCESS"
    settle(world, of(group("a")))
    runs(world, of(rare), 12)
    assert len(world.calls(operation="DeleteLogGroup")) <= 1


# Deadlines and second runs, at every call.

SOME = ("queues-new", "groups-new", "tables-new", "queues-leaving", "alarms-edited", "agents-new", "agents-deleteFirst", "agents-createFirst")  # fmt: skip


@pytest.mark.parametrize("scenario", SOME)
def test_a_run_whose_time_is_over_is_carried_on_by_the_next(scenario: str) -> None:
    for place in range(len(reference(scenario).calls)):
        with World() as world:
            trial = Trial(world, SCENARIOS[scenario], reference(scenario))
            limit = last_number(world) + place
            report = trial.run(over=lambda world=world, limit=limit: last_number(world) >= limit)
            assert report is not None
            trial.recover()


@pytest.mark.parametrize("scenario", SOME)
def test_a_second_run_at_the_same_time_does_no_harm(scenario: str) -> None:
    for place in range(1, len(reference(scenario).calls) + 1):
        with World() as world:
            trial = Trial(world, SCENARIOS[scenario], reference(scenario))
            world.on_call(last_number(world) + place, lambda world=world: run_once(world, SCENARIOS[scenario].documents))
            for _ in range(trial.normal.ticks):
                trial.run()
            trial.recover()


# A failure stays where it is.

EVERYTHING: Mapping[str, Any] = of(queue("a"), group("a"), alarm("a"), table("a"), agents(1))


@pytest.mark.parametrize("service", ["sqs", "logs", "cloudwatch", "dynamodb", "ec2"])
@pytest.mark.parametrize("kind", ["denied", "throttled", "unavailable", "lost"])
def test_a_service_that_fails_stops_only_its_own_policies(world: World, service: str, kind: Any) -> None:
    names = {"sqs": "queues", "logs": "groups", "cloudwatch": "alarms", "dynamodb": "tables", "ec2": "agents"}
    world.inject(Fault(at=lambda call: call.service == service, kind=kind, times=None))
    report = runs(world, EVERYTHING, 8)
    ready = {name for name, held in conditions(world, EVERYTHING, report).items() if held["Ready"]}
    assert ready == set(names.values()) - {names[service]}, told(report)
    heal(world)
    settle(world, EVERYTHING)
