"""What a warm process reads ahead: the same calls, sooner; and nothing is believed that the lists do not show again."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from handler.compose import vocabulary
from handler.loop.conductor import InlineExecutor
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport, run
from infra.cloud import AwsCloud
from infra.kinds.registry import KINDS
from policies.estate import Estate, parse_estate
from policies.world import Resource, Scope
from tests.world import World
from tests.world.documents import body, document, policy

COUNT = 40


class Warm:
    """One process over a world, from one minute to the next."""

    def __init__(self, world: World, drift_check: str = "1m") -> None:
        self.world, self.cloud = world, AwsCloud(world.session, KINDS)
        self.words = vocabulary(world.account, world.region)
        items = {"source": "list", "values": [f"t{number}" for number in range(COUNT)]}
        queues = policy("q", "AWS::SQS::Queue", {"QueueName": "q-${item}", "VisibilityTimeout": 45}, items)
        limits = {"guardrails": {"maxCreates": COUNT}, "driftCheck": drift_check}
        self.estate: Estate = parse_estate([("main", "1", body(document({**queues, **limits})))], self.words, full=True)
        self.tick()

    def tick(self, cloud: AwsCloud | None = None, executor: Any = None) -> tuple[RunReport, Counter[str]]:
        begun = len(self.world.history)
        self.world.tick_started()
        moment = Moment(self.world.now)
        report = run(self.estate, self.words, cloud or self.cloud, executor or InlineExecutor(), moment)
        self.world.advance(minutes=1)
        return report, Counter(call.operation for call in self.world.history[begun:])

    def url(self, name: str) -> str:
        return str(self.world.session.client("sqs").get_queue_url(QueueName=name)["QueueUrl"])

    def timeout(self, name: str) -> str:
        found = self.world.session.client("sqs").get_queue_attributes(
            QueueUrl=self.url(name), AttributeNames=["VisibilityTimeout"]
        )
        return str(found["Attributes"]["VisibilityTimeout"])


class _IndexComesLast(AwsCloud):
    """Its tag index answers only when something was read."""

    read_something = threading.Event()

    def index(self, type_: str | None, scope: Scope) -> Any:
        assert self.read_something.wait(10), "nothing was read while the index was on its way"
        return super().index(type_, scope)

    def read(self, scope: Scope, resource: Resource, words: frozenset[str] | None = None) -> Resource | None:
        self.read_something.set()
        return super().read(scope, resource, words)


def test_reads_do_not_wait_for_the_tag_index(world: World) -> None:
    warm = Warm(world)
    warm.tick()
    with ThreadPoolExecutor(4) as pool:
        report, _ = warm.tick(_IndexComesLast(world.session, KINDS), pool)
    assert not report.errors
    assert not report.policies[0].plan.actions
    assert report.policies[0].error is None


@pytest.mark.parametrize("drift_check", ["1m", "5m"])
def test_a_warm_process_makes_the_calls_that_a_cold_one_makes(world: World, drift_check: str) -> None:
    warm = Warm(world, drift_check)
    for _ in range(5):
        warm.tick()
    reads: Sequence[int] = [warm.tick()[1]["GetQueueAttributes"] for _ in range(10)]
    minutes = 1 if drift_check == "1m" else 5
    assert sum(reads) == pytest.approx(10 * COUNT / minutes, rel=0.35)
    assert warm.tick()[1].keys() <= {"ListQueues", "GetResources", "GetQueueAttributes"}


def test_what_others_changed_is_seen_ahead_and_mended(world: World) -> None:
    warm = Warm(world)
    warm.tick()
    sqs = world.session.client("sqs")
    sqs.set_queue_attributes(QueueUrl=warm.url("q-t3"), Attributes={"VisibilityTimeout": "7"})
    report, _ = warm.tick()
    assert [outcome.action.key for outcome in report.policies[0].outcomes] == ["t3"]
    assert warm.timeout("q-t3") == "45"


def test_what_went_in_the_meantime_is_made_again_and_not_missed_twice(world: World) -> None:
    warm = Warm(world)
    warm.tick()
    world.session.client("sqs").delete_queue(QueueUrl=warm.url("q-t3"))
    world.advance(minutes=2)
    report, _ = warm.tick()
    assert [(one.action.verb.value, one.result.value) for one in report.policies[0].outcomes] == [("create", "done")]
    assert not report.policies[0].unread


def test_tags_are_those_of_this_run(world: World) -> None:
    """Somebody takes the owner tags away: what was read ahead with the old ones is not taken for ours."""
    warm = Warm(world)
    warm.tick()
    sqs = world.session.client("sqs")
    url = warm.url("q-t3")
    sqs.untag_queue(QueueUrl=url, TagKeys=list(sqs.list_queue_tags(QueueUrl=url)["Tags"]))
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "7"})
    report, _ = warm.tick()
    assert [trouble.reason for trouble in report.policies[0].plan.troubles] == ["NameTaken"]
    assert warm.timeout("q-t3") == "7"
