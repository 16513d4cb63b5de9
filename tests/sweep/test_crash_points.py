"""Every scenario, broken at every call in every way: it recovers by itself, and nothing bad happens on the way.

By default every write is struck in every way, and every third of the reads (a crash after a call is a crash before the
next one, so that both are struck at reads alternately). `SWEEP=full` strikes every call.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.sweep.scenarios import SCENARIOS
from tests.sweep.trial import lagged, reference, struck
from tests.world import FaultKind

KINDS: tuple[FaultKind, ...] = ("crash_before", "crash_after", "lost", "throttled", "denied", "unavailable")
STRIDE = 1 if os.environ.get("SWEEP") == "full" else 3


def places(scenario: str, kind: FaultKind) -> Iterator[int]:
    """The numbers of the calls to strike: all writes, and of the reads those whose turn it is with this kind."""
    reads = 0
    for place, call in enumerate(reference(scenario).calls, 1):
        reads += not call.mutating
        if call.mutating or (reads + KINDS.index(kind)) % STRIDE == 0:
            yield place


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


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_same_misfortune_gives_the_same_history(scenario: str) -> None:
    last = max(place for place, call in enumerate(reference(scenario).calls, 1) if call.mutating)
    first, second = (struck(SCENARIOS[scenario], "lost", last) for _ in range(2))
    assert first == second
