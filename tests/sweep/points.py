"""Where and how a scenario is broken: every call, in every way, in every weather."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import cast, get_args

from tests.sweep.weather import FAIR
from tests.world import Call, FaultKind

NOTHING, DEADLINE, SECOND_RUN, PAIR = "nothing", "deadline", "second run", "pair"
FAULTS: tuple[FaultKind, ...] = get_args(FaultKind)
REFUSALS: tuple[FaultKind, ...] = ("throttled", "refused", "denied", "unavailable")
LAGS = ("lag 1", "lag 2", "lag 3")


@dataclass(frozen=True)
class Point:
    """One misfortune: a fault at the call with that number after the edit, or what else can happen there.

    deadline    the run's time is over after that call
    second run  another run begins and ends just before that call
    pair        two faults, the second at some later call
    nothing     the weather is all that is wrong
    """

    what: str
    place: int = 0
    weather: str = FAIR.name
    pair: tuple[tuple[FaultKind, int], ...] = ()

    def __str__(self) -> str:
        faults = " and ".join(f"{kind} at {place}" for kind, place in self.pair) or f"{self.what} at {self.place}"
        return f"{faults} in {self.weather} weather" if self.weather != FAIR.name else faults

    @property
    def faults(self) -> tuple[tuple[FaultKind, int], ...]:
        return self.pair or (((cast("FaultKind", self.what), self.place),) if self.what in FAULTS else ())


def every_point(calls: Sequence[Call], weather: str) -> Iterator[Point]:
    """All that can go wrong with these calls, which are the reference's in that weather."""
    if weather != FAIR.name:
        yield Point(NOTHING, 0, weather)
    for place, call in enumerate(calls, 1):
        for what in _ways(call, weather, place):
            yield Point(what, place, weather)


def _ways(call: Call, weather: str, place: int) -> Iterator[str]:
    """In bad weather, of the crashes at reads only a fourth: each is one after the write before it, seen as late."""
    if call.notes.get("more"):
        yield "partial_page"
    if weather == FAIR.name:
        yield from (kind for kind in FAULTS if kind != "partial_page")
        yield from (DEADLINE, SECOND_RUN)
    elif call.mutating or (weather in LAGS and place % 4 == 1):
        yield "crash_after"
    if weather != FAIR.name and call.mutating:
        yield "lost"


def some_points(calls: Sequence[Call], weather: str, turn: int = 0) -> Iterator[Point]:
    """The part of them that the engine can tell apart, of the reads a sample: what `make test` has time for.

    A crash at a read, or before a write, is a crash after the write before it; so a crash after each write, and one
    before the first call, are all there are. The refusals take turns at the writes, and everything at the reads.
    """
    if weather != FAIR.name:
        yield Point(NOTHING, 0, weather)
    writes = reads = turn
    for place, call in enumerate(calls, 1):
        if weather != FAIR.name:
            yield from _some_in_weather(call, place, weather, writes)
            writes += call.mutating
        elif call.mutating:
            ways = ("crash_after", "lost", REFUSALS[writes % 4], DEADLINE, SECOND_RUN)
            yield from (Point(way, place) for way in ways)
            writes += 1
        else:
            yield Point((*REFUSALS, "lost", SECOND_RUN)[reads % 6], place)
            reads += 1
    if weather == FAIR.name:
        yield Point("crash_before", 1)


def _some_in_weather(call: Call, place: int, weather: str, writes: int) -> Iterator[Point]:
    if call.notes.get("more") and place % 3 == 0:
        yield Point("partial_page", place, weather)
    if call.mutating and (weather in LAGS[:1] or writes % 2):
        yield Point("crash_after", place, weather)


def pairs_of(calls: Sequence[Call], count: int, seed: str) -> Iterator[Point]:
    """Two faults, at a sample of places: the second where the engine is recovering from the first, if it gets there."""
    chance = Random(seed)
    kinds = [kind for kind in FAULTS if kind != "partial_page"]
    for _ in range(count):
        first = chance.randint(1, len(calls))
        second = first + chance.randint(1, len(calls))
        faults = ((chance.choice(kinds), first), (chance.choice(kinds), second))
        yield Point(PAIR, first, pair=faults)
