"""Every scenario, broken at every call in every way: it recovers by itself, and nothing bad happens on the way.

`SWEEP=full` strikes every call in every way. By default those are left out that the engine cannot tell apart: a crash
at a read, or before a write, is a crash after the write before it, so that a crash after each write and one before the
first are all there are; the three refusals take turns at the writes. Of the reads every fourth one is struck, each in
one of the four ways that are left.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.sweep.catalogue import SCENARIOS
from tests.sweep.trial import lagged, reference, struck
from tests.world import FaultKind

KINDS: tuple[FaultKind, ...] = ("crash_before", "crash_after", "lost", "throttled", "denied", "unavailable")
FULL = os.environ.get("SWEEP") == "full"
REFUSALS: tuple[FaultKind, ...] = ("throttled", "denied", "unavailable")
FAILURES: tuple[FaultKind, ...] = ("lost", *REFUSALS)


def places(scenario: str, kind: FaultKind) -> Iterator[int]:
    """The numbers of the calls to strike in this way."""
    turns = {True: 0, False: 0}
    for place, call in enumerate(reference(scenario).calls, 1):
        if FULL or _has_turn(kind, call.mutating, turns[call.mutating]):
            yield place
        turns[call.mutating] += 1


def _has_turn(kind: FaultKind, mutating: bool, turn: int) -> bool:
    """Whether this kind strikes the write, or the read, with this number."""
    match kind:
        case "crash_before":
            return turn == 0
        case "crash_after":
            return mutating
        case "lost" if mutating:
            return True
        case _ if mutating:
            return REFUSALS[turn % 3] == kind
        case _:
            return turn % 4 == 0 and FAILURES[turn // 4 % 4] == kind


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_one_call_fails(scenario: str, kind: FaultKind) -> None:
    for place in places(scenario, kind):
        try:
            struck(SCENARIOS[scenario], kind, place)
        except AssertionError as error:
            raise AssertionError(f"{kind} at {reference(scenario).calls[place - 1]} (call {place}): {error}") from error


@pytest.mark.parametrize("lag", [1, 2])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_reads_lag(scenario: str, lag: int) -> None:
    lagged(SCENARIOS[scenario], lag)


@pytest.mark.parametrize("scenario", ["queues-new", "tables-edited", "groups-leaving", "agents-createFirst"])
def test_the_same_misfortune_gives_the_same_history(scenario: str) -> None:
    last = max(place for place, call in enumerate(reference(scenario).calls, 1) if call.mutating)
    first, second = (struck(SCENARIOS[scenario], "lost", last) for _ in range(2))
    assert first == second
