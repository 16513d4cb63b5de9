"""What exists: a bulk survey and the tag index, joined; unknown is not untagged."""

from __future__ import annotations

from typing import Any

import pytest

from infra import census
from infra.aws import Aws
from infra.kinds.registry import KINDS
from infra.tag_index import Indexed, read_index
from policies.errors import DeniedError, SenseError
from policies.identity import POLICY
from policies.world import Resource, Scope
from tests.world import Fault, World, operation

QUEUE, GROUP, ALARM, TABLE, INSTANCE = (
    "AWS::SQS::Queue",
    "AWS::Logs::LogGroup",
    "AWS::CloudWatch::Alarm",
    "AWS::DynamoDB::Table",
    "AWS::EC2::Instance",
)


def aws(world: World) -> Aws:
    return Aws(world.session, Scope(world.account, world.region))


def queues(world: World, *names: str, **tags: str) -> None:
    for name in names:
        world.outside.sqs.create_queue(QueueName=name, tags=tags)


def surveyed(world: World, *prefixes: str, type_: str = QUEUE) -> list[str]:
    return [one.id for one in census.survey(aws(world), KINDS[type_], prefixes)]


@pytest.mark.parametrize(
    ("prefixes", "found"),
    [
        (("",), ["orders-a", "orders-b", "payments"]),
        (("orders-",), ["orders-a", "orders-b"]),
        (("orders-a", "pay"), ["orders-a", "payments"]),
        (("orders-", "orders-a"), ["orders-a", "orders-b"]),  # once, however many prefixes show it
        (("x",), []),
        ((), []),
    ],
)
def test_a_survey_is_everything_under_its_prefixes_once(world: World, prefixes: Any, found: list[str]) -> None:
    queues(world, "orders-a", "orders-b", "payments")
    assert sorted(surveyed(world, *prefixes)) == found


def test_a_survey_is_every_page(world: World) -> None:
    for number in range(7):
        world.outside.logs.create_log_group(logGroupName=f"/orders/{number}")
    world.page_size = 2
    assert len(surveyed(world, "/orders", type_=GROUP)) == 7


@pytest.mark.parametrize(
    ("type_", "make", "operation_"),
    [
        (GROUP, lambda world, name: world.outside.logs.create_log_group(logGroupName=name), "DescribeLogGroups"),
        (QUEUE, queues, "ListQueues"),
        (INSTANCE, lambda world, _: world.outside.ec2.run_instances(MinCount=1, MaxCount=1), "DescribeInstances"),
    ],
)
def test_a_survey_asks_for_a_page_when_it_comes_to_it(world: World, type_: str, make: Any, operation_: str) -> None:
    """So no more than a page stands in memory as the service sent it."""
    for number in range(7):
        make(world, f"orders-{number}")
    world.page_size = 2
    survey = iter(KINDS[type_].survey(aws(world), ["orders-"]))
    pages = []
    for _ in range(3):
        next(survey)
        pages.append(sum(call.operation == operation_ for call in world.history))
    assert pages == [1, 1, 2]


def test_a_survey_that_breaks_off_raises(world: World) -> None:
    for number in range(7):
        world.outside.logs.create_log_group(logGroupName=f"/orders/{number}")
    world.page_size = 2
    world.inject(Fault(at=operation("logs", "DescribeLogGroups"), kind="partial_page"))
    with pytest.raises(SenseError):
        surveyed(world, "/orders", type_=GROUP)


def test_a_survey_that_is_denied_names_the_action(world: World) -> None:
    world.inject(Fault(at=operation("sqs", "ListQueues"), kind="denied"))
    with pytest.raises(DeniedError) as raised:
        surveyed(world, "")
    assert raised.value.action == "sqs:ListQueues"


def test_the_index_of_a_type_and_of_everything_owned(world: World) -> None:
    queues(world, "ours", **{POLICY: "setpoint/p"})
    queues(world, "theirs", team="x")
    queues(world, "untagged")
    world.outside.logs.create_log_group(logGroupName="/ours", tags={POLICY: "setpoint/p"})
    of_type = read_index(aws(world), "sqs:queue")
    owned = read_index(aws(world), None)
    assert sorted(one.arn.rpartition(":")[2] for one in of_type) == ["ours", "theirs"]
    assert len(owned) == 2
    assert all(one.tags == {POLICY: "setpoint/p"} for one in owned)


def test_the_index_is_every_page(world: World) -> None:
    queues(world, *(f"q{number:02}" for number in range(12)), **{POLICY: "setpoint/p"})
    world.page_size = 5
    assert len(read_index(aws(world), None)) == 12
    assert len(world.calls(operation="GetResources")) == 3


def test_an_index_that_breaks_off_raises(world: World) -> None:
    queues(world, *(f"q{number:02}" for number in range(12)), **{POLICY: "setpoint/p"})
    world.page_size = 5
    world.inject(Fault(at=operation("resourcegroupstaggingapi", "GetResources"), kind="partial_page"))
    with pytest.raises(SenseError):
        read_index(aws(world), None)


def arn(service: str, rest: str) -> str:
    return f"arn:aws:{service}:eu-west-1:123456789012:{rest}"


def named(type_: str, name: str, **words: Any) -> Resource:
    return Resource(type_, name, name, **words)


def test_joined_means_the_tags_that_the_index_knows_and_unknown_otherwise() -> None:
    index = [Indexed(arn("sqs", "a"), {"team": "x"}), Indexed(arn("sns", "b"), {"team": "sns"})]
    found = census.join(
        KINDS[QUEUE], [named(QUEUE, "a"), named(QUEUE, "b"), named(QUEUE, "c", tags={"old": "1"})], index
    )
    assert [one.tags for one in found] == [{"team": "x"}, None, None]


def test_a_kind_whose_survey_brings_the_tags_keeps_them() -> None:
    (found,) = census.join(KINDS[INSTANCE], [Resource(INSTANCE, "i-1", tags={"a": "b"})], [])
    assert found.tags == {"a": "b"}


def test_the_name_can_be_asked_for_before_anything_is_read() -> None:
    (found,) = census.join(KINDS[QUEUE], [named(QUEUE, "a")], [])
    assert found.facts["QueueName"] == "a"
    assert found.properties is None


@pytest.mark.parametrize(
    ("type_", "of", "name"),
    [
        (QUEUE, arn("sqs", "orders-a"), "orders-a"),
        (GROUP, arn("logs", "log-group:/orders/a"), "/orders/a"),
        (GROUP, arn("logs", "log-group:/orders/a:*"), "/orders/a"),
        (ALARM, arn("cloudwatch", "alarm:orders-a"), "orders-a"),
        (ALARM, arn("cloudwatch", "alarm:with:colons"), "with:colons"),
        (TABLE, arn("dynamodb", "table/orders"), "orders"),
        (INSTANCE, arn("ec2", "instance/i-0123"), "i-0123"),
    ],
)
def test_a_kind_knows_its_arns(type_: str, of: str, name: str) -> None:
    assert KINDS[type_].has_arn(of)
    assert KINDS[type_].name_of_arn(of) == name
    assert [word for word, kind in KINDS.items() if kind.has_arn(of)] == [type_]


@pytest.mark.parametrize(
    "other",
    [
        arn("dynamodb", "global-table/orders"),
        arn("ec2", "security-group/sg-1"),
        arn("cloudwatch", "dashboard/x"),
        arn("sns", "orders-a"),
        "arn:aws:s3:::bucket",
    ],
)
def test_and_not_those_of_others(other: str) -> None:
    of_tables = [word for word in (QUEUE, GROUP, ALARM, TABLE, INSTANCE) if KINDS[word].has_arn(other)]
    assert of_tables == []


def test_owners_are_told_by_type() -> None:
    ours = {POLICY: "setpoint/p"}
    index = [
        Indexed(arn("sqs", "a"), ours),
        Indexed(arn("logs", "log-group:/b"), ours),
        Indexed(arn("sqs", "untold"), {"team": "x"}),
        Indexed(arn("glue", "job/unknown-to-us"), ours),
    ]
    found = census.owners(KINDS, index)
    assert {type_: [one.id for one in resources] for type_, resources in found.items()} == {QUEUE: ["a"], GROUP: ["/b"]}
    assert found[QUEUE][0].tags == ours
