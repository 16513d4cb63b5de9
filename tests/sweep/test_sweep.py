"""Every scenario, broken at its calls: it recovers by itself, and nothing bad happens on the way.

This is the part that there is time for with every test; `make sweep` does the rest.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from infra.kinds.registry import KINDS
from strategies.registry import STRATEGIES
from tests.sweep.campaign import FEWEST, few, violations
from tests.sweep.catalogue import SCENARIOS, pairs
from tests.sweep.points import Point
from tests.sweep.trial import attempt, reference


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_it_converges_whatever_goes_wrong(scenario: str, record_property: Callable[[str, object], None]) -> None:
    points = few(scenario)
    found = violations(scenario, points)
    record_property("sweep", (len(reference(scenario).calls), len(points), len(found)))
    assert not found, "\n\n".join(str(one)[:3000] for one in found[:5])


@pytest.mark.parametrize("scenario", ["queues-new", "tables-edited", "groups-leaving", "agents-createFirst"])
def test_the_same_misfortune_gives_the_same_history(scenario: str) -> None:
    calls = reference(scenario).calls
    last = max(place for place, call in enumerate(calls, 1) if call.mutating)
    first, second = (attempt(SCENARIOS[scenario], Point("lost", last)) for _ in range(2))
    assert first == second, "Replayable"


def test_every_strategy_and_every_kind_has_a_scenario() -> None:
    found = set().union(*(pairs(name) for name in SCENARIOS))
    assert {strategy for strategy, _ in found} == {word for word, one in STRATEGIES.items() if one.supported}
    assert {kind for _, kind in found} == set(KINDS)


def test_there_are_enough_points() -> None:
    """A few scenarios tell: counting all of them costs as much as trying some."""
    some = list(SCENARIOS)[::11]
    assert sum(len(few(name)) for name in some) >= FEWEST * len(some) / len(SCENARIOS)
