"""The way does not matter, only where it leads: what was there before leaves no trace in what is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from tests.sweep import invariants
from tests.sweep.harness import Documents, heal, last_number, parse, settle, strike, tick, written
from tests.sweep.scenarios import GONE, IMAGES, QUICK, agents, alarm, document, group, instance, of, queue, table
from tests.world import World

HOUR = 61
FREELY = {"guardrails": {"maxDeletes": "100%"}}
PAIRS: Mapping[str, tuple[Documents, Documents]] = {
    "queue edited": (of(queue("a", "b")), of(queue("a", "b", wait=30))),
    "queue added": (of(queue("a", **GONE)), of(queue("a", "b", **GONE))),
    "queue gone": (of(queue("a", "b", "c", **GONE)), of(queue("a", "b", **GONE))),
    "queue kept": (of(queue("a", "b", "c")), of(queue("a", "b"))),
    "group edited": (of(group("a")), of(group("a", days=7))),
    "alarm edited": (of(alarm("a")), of(alarm("a", threshold=9))),
    "table with another expiry": (of(table("a", expiry="until")), of(table("a", expiry="end"))),
    "table with another key": tuple(of(table("a", key=key, replace="deleteFirst", **GONE)) for key in ("id", "sku")),
    "more agents": (of(agents(1, strategy=QUICK)), of(agents(3, strategy=QUICK))),
    "other agents": tuple(of(agents(2, image, QUICK, replace="createFirst", **FREELY)) for image in IMAGES),
    "other type": (of(instance("a"), queue("b")), of(instance("a"), group("b"))),
}  # fmt: skip
RETURNS = [pair for pair in PAIRS if pair != "other type"]
"""What a policy that is gone leaves behind is an orphan, and stays."""

BROKEN: Mapping[str, Any] = {
    "not JSON": b'{"version": 1, "policies": [',
    "a misspelt key": document({**queue("a"), "strategie": {}}),
    "an empty file": b"",
    "the wrong version": {"version": 2, "policies": []},
}


@contextmanager
def opened() -> Iterator[World]:
    """A world with the dead-letter queue that the queues name."""
    with World() as world:
        world.outside.sqs.create_queue(QueueName="dead")
        yield world


def reached(*way: Documents) -> Mapping[str, Any]:
    """The world after each of these held for an hour."""
    with opened() as world:
        for documents in way:
            settle(world, documents)
            world.advance(minutes=HOUR)
        return invariants.settled(world)


@pytest.mark.parametrize("pair", PAIRS)
def test_from_nothing_and_from_something_else_is_the_same(pair: str) -> None:
    first, second = PAIRS[pair]
    straight, roundabout = reached(second), reached(first, second)
    for kind, things in straight.items():
        there = roundabout[kind]
        same = there == things if isinstance(things, list) else things.items() <= there.items()
        assert same, invariants.differences(roundabout, straight)


@pytest.mark.parametrize("pair", RETURNS)
def test_there_and_back_changes_nothing(pair: str) -> None:
    first, second = PAIRS[pair]
    invariants.converges(reached(first, second, first), reached(first))


@pytest.mark.parametrize("kind", ["crash_before", "crash_after", "lost"])
@pytest.mark.parametrize("pair", RETURNS)
def test_there_not_quite_and_back_changes_nothing(pair: str, kind: Any) -> None:
    first, second = PAIRS[pair]
    wanted = reached(first)
    for place in writes(first, second):
        with opened() as world:
            settle(world, first)
            world.advance(minutes=HOUR)
            world.inject(strike(world, place, kind))
            for _ in range(8):
                tick(world, second)
                if world.mishaps.faults[0].fired:
                    break
            assert world.mishaps.faults[0].fired
            heal(world)
            for _ in range(12):
                tick(world, first)
            settle(world, first)
            invariants.converges(invariants.settled(world), wanted)


def writes(first: Documents, second: Documents) -> list[int]:
    """The places of the writes that lead from one to the other."""
    with opened() as world:
        settle(world, first)
        world.advance(minutes=HOUR)
        start = last_number(world)
        settle(world, second)
        return [call.number - start for call in world.calls(mutating=True) if call.number > start]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_document_that_does_not_parse_changes_nothing(broken: str) -> None:
    good = {"main": document(queue("a", "b", **GONE), agents(1, guardrails={"maxDeletes": "100%"}), orphans="delete")}
    other = {"other": document(group("a"))}
    with opened() as world:
        settle(world, {**good, **other})
        world.advance(minutes=HOUR)
        before, since = invariants.settled(world), world.tick + 1
        assert parse({"main": BROKEN[broken], **other}).failures
        for documents in ({"main": BROKEN[broken], **other}, good | other):
            for _ in range(6):
                tick(world, documents)
        invariants.quiet(written(world, since))
        assert invariants.settled(world) == before


def test_the_other_documents_go_on_while_one_is_broken() -> None:
    with opened() as world:
        settle(world, {"main": document(queue("a")), "other": document(group("a"))})
        settle(world, {"main": b"[", "other": document(group("a", days=7))})
        assert world.resources()["AWS::Logs::LogGroup"]["/orders/a"]["retentionInDays"] == 7
