"""How many API calls a run costs: the existence of everything by bulk calls, deep reads spread over `driftCheck`."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from handler.compose import vocabulary
from handler.loop.conductor import InlineExecutor
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport, run
from infra.cloud import AwsCloud
from infra.kinds.registry import KINDS
from policies.estate import parse_estate
from tests.world import World
from tests.world.documents import body, document, policy

QUEUES = 1_000
ONE_ITEM = {"source": "list", "values": ["a"]}


def tick(world: World, cloud: AwsCloud, documents: dict[str, Any]) -> tuple[RunReport, Counter[str]]:
    """One run, and its calls by operation."""
    words = vocabulary(world.account, world.region)
    estate = parse_estate([(name, "1", body(one)) for name, one in documents.items()], words, full=True)
    assert not estate.failures
    begun = len(world.history)
    world.tick_started()
    report = run(estate, words, cloud, InlineExecutor(), Moment(world.now))
    world.advance(minutes=1)
    return report, Counter(f"{call.service}.{call.operation}" for call in world.history[begun:])


@pytest.fixture
def queues() -> dict[str, Any]:
    items = {"source": "list", "values": [f"t{number}" for number in range(QUEUES)]}
    wanted = policy("orders", "AWS::SQS::Queue", {"QueueName": "orders-${item}", "VisibilityTimeout": 45}, items)
    return {"orders": document({**wanted, "guardrails": {"maxCreates": QUEUES}})}


def test_a_thousand_queues_in_the_steady_state(world: World, queues: dict[str, Any]) -> None:
    cloud = AwsCloud(world.session, KINDS)
    tick(world, cloud, queues)
    assert len(world.resources()["AWS::SQS::Queue"]) == QUEUES
    spread = []
    for _ in range(10):
        report, calls = tick(world, cloud, queues)
        assert not report.policies[0].plan.actions
        assert calls.pop("sqs.ListQueues") == 1
        # moto counts 500 tags to a page, and five of ours are on each: 99 to a page where AWS gives 100.
        assert calls.pop("resourcegroupstaggingapi.GetResources") <= QUEUES / 100 + 1
        spread.append(calls.pop("sqs.GetQueueAttributes"))
        assert not calls, "nothing else is asked, and nothing is written"
    assert sum(spread) == pytest.approx(2 * QUEUES, rel=0.05)
    assert all(0.15 * QUEUES < reads < 0.25 * QUEUES for reads in spread), spread


def test_kinds_whose_bulk_call_shows_everything_are_never_read_one_by_one(world: World) -> None:
    items = {"source": "list", "values": [f"g{number}" for number in range(120)]}
    groups = policy("groups", "AWS::Logs::LogGroup", {"LogGroupName": "/app/${item}", "RetentionInDays": 30}, items)
    documents = {"groups": document({**groups, "guardrails": {"maxCreates": 200}})}
    cloud = AwsCloud(world.session, KINDS)
    tick(world, cloud, documents)
    _, calls = tick(world, cloud, documents)
    assert calls == {"logs.DescribeLogGroups": 3, "resourcegroupstaggingapi.GetResources": 2}


KEYS = {
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
EXPIRY = {"TimeToLiveSpecification": {"AttributeName": "expires", "Enabled": True}}
RECOVERY = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}


@pytest.mark.parametrize(
    ("declared", "asked"),
    [
        ({}, {"DescribeTable"}),
        (EXPIRY, {"DescribeTable", "DescribeTimeToLive"}),
        (RECOVERY, {"DescribeTable", "DescribeContinuousBackups"}),
        ({**EXPIRY, **RECOVERY}, {"DescribeTable", "DescribeTimeToLive", "DescribeContinuousBackups"}),
    ],
)
def test_a_look_asks_for_what_is_declared_and_sees_what_others_changed(
    world: World, declared: dict[str, Any], asked: set[str]
) -> None:
    tables = policy("tables", "AWS::DynamoDB::Table", {"TableName": "t-${item}", **KEYS, **declared}, ONE_ITEM)
    documents, cloud = {"tables": document({**tables, "driftCheck": "1m"})}, AwsCloud(world.session, KINDS)
    for _ in range(6):
        report, calls = tick(world, cloud, documents)
    assert not report.policies[0].plan.actions
    assert {name.partition(".")[2] for name in calls if name.startswith("dynamodb.Describe")} == asked
    assert all(count == 1 for count in calls.values())


def test_a_guardrail_asks_for_the_words_of_its_conditions(world: World) -> None:
    tables = policy("tables", "AWS::DynamoDB::Table", {"TableName": "t-${item}", **KEYS}, ONE_ITEM)
    rails = {"protect": {"TimeToLiveStatus": "ENABLED"}, "maxDeletes": "100%"}
    guarded = {**tables, "driftCheck": "1m", "guardrails": rails}
    cloud = AwsCloud(world.session, KINDS)
    for _ in range(4):
        _, calls = tick(world, cloud, {"tables": document(guarded)})
    assert calls["dynamodb.DescribeTimeToLive"] == 1


def recovery(world: World, table: str) -> str:
    found = world.outside.dynamodb.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
    return str(found["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"])


@pytest.mark.parametrize("wanted", [True, False])
def test_a_look_asks_for_what_only_an_override_declares(world: World, wanted: bool) -> None:
    override = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": wanted}}
    monthly = {
        "name": "months",
        "resource": {"type": "AWS::DynamoDB::Table", "properties": {"TableName": "m-${period}", **KEYS}},
        "strategy": {
            "type": "rotation", "period": "month", "timezone": "UTC", "format": "%Y-%m", "ahead": 0, "keep": "all",
            "overrides": {"current": override},
        },
        "driftCheck": "1m",
        "removal": "retain",
    }  # fmt: skip
    documents, cloud = {"months": document(monthly)}, AwsCloud(world.session, KINDS)
    for _ in range(6):
        report, _ = tick(world, cloud, documents)
    assert not report.policies[0].plan.actions
    (name,) = world.resources()["AWS::DynamoDB::Table"]
    other = {"PointInTimeRecoveryEnabled": not wanted}
    world.outside.dynamodb.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=other)
    for _ in range(6):
        report, _ = tick(world, cloud, documents)
    assert recovery(world, name) == ("ENABLED" if wanted else "DISABLED")
    assert not report.policies[0].plan.actions


def test_policies_on_one_type_share_one_survey(world: World) -> None:
    pairs = [
        policy(
            f"p{number}", "AWS::SQS::Queue", {"QueueName": f"p{number}-${{item}}"}, {"source": "list", "values": ["a"]}
        )
        for number in range(4)
    ]
    cloud = AwsCloud(world.session, KINDS)
    tick(world, cloud, {"all": document(*pairs)})
    _, calls = tick(world, cloud, {"all": document(*pairs)})
    assert calls["resourcegroupstaggingapi.GetResources"] == 1
    assert calls["sqs.ListQueues"] == 4, "one call for each of a few prefixes"


def test_every_queue_is_read_once_in_each_drift_check(world: World, queues: dict[str, Any]) -> None:
    cloud = AwsCloud(world.session, KINDS)
    tick(world, cloud, queues)
    world.advance(timedelta(minutes=-world.now.minute % 5))
    begun = len(world.history)
    for _ in range(5):
        tick(world, cloud, queues)
    read = [call.params["QueueUrl"] for call in world.history[begun:] if call.operation == "GetQueueAttributes"]
    assert len(read) == len(set(read)) == QUEUES
