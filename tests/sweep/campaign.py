"""Which points are tried: a part of them with every test, all of them when there is time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.sweep.catalogue import SCENARIOS
from tests.sweep.points import Point, every_point, pairs_of, some_points
from tests.sweep.trial import attempt, reference
from tests.sweep.weather import FAIR, WEATHERS

ALWAYS = (FAIR.name, "lag 1")
IN_TURN = tuple(weather for weather in WEATHERS if weather not in ALWAYS)
FEWEST = 2_000
"""Points that the tests try at least. `test_there_are_enough_points` holds them to it."""

MOST = 45
"""Points of one scenario among these: more would be more of the same."""

PAIRS = 20
"""Pairs of faults a scenario, in the long run."""

AGAIN = 50
"""Of so many points one is tried twice in the long run, and must give the same history."""


@dataclass(frozen=True)
class Violation:
    """What did not hold, and where."""

    scenario: str
    point: Point
    message: str

    def __str__(self) -> str:
        calls = reference(self.scenario, self.point.weather).calls
        call = f", which is {calls[self.point.place - 1]}" if self.point.place else ""
        return f"{self.scenario}, {self.point}{call}: {self.message}"


def few(name: str) -> Sequence[Point]:
    """The points of a scenario that are tried with every test."""
    place = list(SCENARIOS).index(name)
    weathers = (*ALWAYS, IN_TURN[place % len(IN_TURN)])
    points = [point for sky in weathers for point in some_points(reference(name, sky).calls, sky, place)]
    count = min(len(points), MOST)
    return [points[at * len(points) // count] for at in range(count)]


def many(name: str) -> Sequence[Point]:
    """All points of a scenario, and pairs of faults at a sample of places."""
    single = [point for sky in WEATHERS for point in every_point(reference(name, sky).calls, sky)]
    return [*single, *pairs_of(reference(name).calls, PAIRS, name)]


def violations(name: str, points: Sequence[Point], again: int = 0) -> list[Violation]:
    """Try these points; what did not hold. `again`: of so many one is tried twice."""
    found = []
    for number, point in enumerate(points):
        try:
            history = attempt(SCENARIOS[name], point)
            if again and number % again == 0:
                assert attempt(SCENARIOS[name], point) == history, "Replayable: it went differently the second time"
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told with the point
            found.append(Violation(name, point, f"{type(error).__name__}: {error}"))
    return found
