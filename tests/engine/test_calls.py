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
