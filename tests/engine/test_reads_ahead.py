"""Deep reads that begin while the tag index is still on its way: the same run, a wait less."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep
from typing import Any

import pytest

from handler.loop.reconcile import Moment
from handler.loop.run import run as run_loop
from infra.cloud import AwsCloud
from policies.errors import SenseError
from tests.engine.given import VOCABULARY, Told, document, names, parse, queues, run, settle
from tests.world import Fault, World, operation

ITEMS = "abcdef"
EVERY_MINUTE = {"driftCheck": "1m"}
MAIN = {"main": document(queues(*ITEMS, **EVERY_MINUTE))}
PATIENCE = 5


class LateIndex(AwsCloud):
    """An AWS whose tag index answers only once so many reads were made, or when patience ends."""

    reads = 0
    patience = PATIENCE
    fails = False
    before_index = 0

    def index(self, type_: Any, scope: Any) -> Any:
        end = monotonic() + self.patience
        while self.made() < self.reads and monotonic() < end:
            sleep(0.002)
        self.before_index = self.made()
        if self.fails:
            raise SenseError("the index is not there")
        return super().index(type_, scope)

    made: Callable[[], int] = staticmethod(lambda: 0)


class Paced(LateIndex):
    """One in which every call waits for a documented rate."""

    def lane(self, *_: Any) -> str:
        return "rate"


def read(world: World) -> list[str]:
    calls = world.calls(operation="GetQueueAttributes")
    return sorted(str(call.params["QueueUrl"]).rpartition("-")[2] for call in calls)


def late(world: World, documents: Any, reads: int, fails: bool = False, kind: type[LateIndex] = LateIndex) -> Told:
    """A run on a pool whose index comes after so many reads."""
    world.history.clear()
    estate = parse(documents)
    cloud = kind(world.session, VOCABULARY.kinds)  # type: ignore[arg-type]
    cloud.fails, cloud.made = fails, lambda: len(read(world))
    cloud.reads, cloud.patience = (reads, PATIENCE) if reads else (1, 0.2)
    world.tick_started()
    with ThreadPoolExecutor(4) as executor:
        begun = monotonic()
        report = run_loop(estate, VOCABULARY, cloud, executor, Moment(world.now))
        assert monotonic() - begun < PATIENCE, "the reads waited for the index"
    assert cloud.before_index == reads
    return Told(estate, report, world.now)


def test_they_are_made_once_and_what_they_show_counts(world: World) -> None:
    settle(world, MAIN)
    url = world.outside.sqs.get_queue_url(QueueName="orders-b")["QueueUrl"]
    world.outside.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "99"})
    wanted = {"main": document(queues(*ITEMS, properties={"VisibilityTimeout": 30}, **EVERY_MINUTE))}
    settle(world, wanted)
    world.outside.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "99"})
    told = late(world, wanted, reads=len(ITEMS))
    assert told.done("queues") == ["update orders-b: done"]
    assert read(world) == sorted(f"{ITEMS}b"), "each once, and b once more before it was written"
    assert [call.params["QueueUrl"] for call in world.calls(operation="ListQueueTags")] == [url]
    assert world.resources()["AWS::SQS::Queue"]["orders-b"]["VisibilityTimeout"] == "30"


def test_only_what_is_wanted_is_read_when_it_is_its_turn(world: World) -> None:
    settle(world, MAIN)
    world.outside.sqs.create_queue(QueueName="orders-z")
    late(world, MAIN, reads=len(ITEMS))
    assert read(world) == sorted(ITEMS)
    at_night = {"main": document(queues(*ITEMS, driftCheck="1d"))}
    late(world, at_night, reads=0)
    assert read(world) == []


def test_the_end_is_the_same_as_without(world: World) -> None:
    """Also under names that somebody else holds: tags come from the index, not from the read ahead."""
    settle(world, MAIN)
    world.outside.sqs.create_queue(QueueName="orders-y", tags={"team": "theirs"})
    more = {"main": document(queues(*ITEMS, "y", **EVERY_MINUTE))}
    told = late(world, more, reads=len(ITEMS) + 1)
    again = run(world, more)
    assert told.done("queues") == again.done("queues") == []
    assert told.message("queues", "Conflict") == again.message("queues", "Conflict") != ""
    assert told.true("queues") == again.true("queues")


def test_an_index_that_fails_ends_the_policy_and_no_read_goes_on_for_it(world: World) -> None:
    settle(world, MAIN)
    told = late(world, MAIN, reads=len(ITEMS), fails=True)
    assert [str(error) for error in told.errors] == ["the index is not there"] * len(told.errors)
    assert told.of("queues").error is not None
    assert world.calls(mutating=True) == []
    assert names(world) == {f"orders-{item}" for item in ITEMS}


def test_a_region_that_does_not_even_list_is_asked_nothing_more(world: World) -> None:
    settle(world, MAIN)
    world.inject(Fault(at=operation("sqs", "ListQueues"), kind="unavailable", times=None))
    told = late(world, MAIN, reads=0)
    assert told.of("queues").error is not None
    assert read(world) == []


def test_a_read_that_fails_is_unknown_and_nothing_else(world: World) -> None:
    settle(world, MAIN)
    world.inject(Fault(at=lambda call: str(call.params.get("QueueUrl")).endswith("-c"), kind="denied", times=None))
    told = late(world, MAIN, reads=len(ITEMS))
    assert [type(one).__name__ for one in told.of("queues").unread] == ["DeniedError"]
    assert told.done("queues") == []


@pytest.mark.parametrize("change", [{"mode": "paused"}, {"ensure": "absent", "removal": "delete", "grace": "0s"}])
def test_what_wants_nothing_reads_nothing_ahead(world: World, change: dict[str, Any]) -> None:
    settle(world, MAIN)
    wanted = {"main": document(queues(*ITEMS, **{**EVERY_MINUTE, **change}))}
    late(world, wanted, reads=0)


def test_where_calls_wait_for_a_documented_rate_none_is_made_in_vain(world: World) -> None:
    settle(world, MAIN)
    told = late(world, MAIN, reads=0, kind=Paced)
    assert json.dumps(told.done("queues")) == "[]"
    assert read(world) == sorted(ITEMS)
