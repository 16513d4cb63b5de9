"""Replicas whose count moves: how many are wanted follows the number, and a number that holds changes nothing."""

from typing import Any

import pytest

from policies.numbers.metric import Failed, Series
from policies.strategy import Decision
from policies.world import Observation
from tests.numbers.given import METRIC, steady
from tests.strategies.given import NOW, mistakes, policy, removed, wanted, workers, world

HOURS = {
    "type": "schedule",
    "timezone": "UTC",
    "windows": [{"from": "08:00", "to": "18:00", "value": 3}],
    "otherwise": 1,
}
LOAD = {"type": "target", "load": METRIC, "perUnit": 100, "min": 2, "max": 5}
EDGE = {"for": "1m", "step": 1, "cooldown": "1m"}
BAND = {
    "type": "band",
    "metric": METRIC,
    "min": 1,
    "max": 9,
    "up": {**EDGE, "above": 70},
    "down": {**EDGE, "below": 30},
}


def decide(count: Any, there: str, answer: Any = None) -> Decision:
    built = policy(workers(), type="replicas", count=count)
    signals = {query.signal_key: answer for query in built.strategy.signals()}
    return built.strategy.decide(built.blueprint, Observation(world(there), signals=signals), NOW)


@pytest.mark.parametrize(
    ("count", "there", "answer", "slots", "gone"),
    [
        (HOURS, "", None, "0 1 2", ""),
        (HOURS, "0, 1, 2, 3", None, "0 1 2", "3"),
        (LOAD, "", steady(401), "0 1 2 3 4", ""),
        (LOAD, "0, 1, 2", steady(100), "0 1", "2"),
        (BAND, "0, 1, 2", steady(90), "0 1 2 3", ""),
        (BAND, "0, 1, 2", steady(10), "0 1", "2"),
        (BAND, "0, 1, 2", steady(50), "0 1 2", ""),
        # two in one slot are one, and those in no slot are none
        (BAND, "0, 1, 1, 2, x", steady(90), "0 1 2 3", "x"),
        # what is missing or failed holds what is there, and brings it inside
        (LOAD, "0, 1, 3", Series(), "0 1 3", ""),
        (LOAD, "0, 1, 3", Failed("denied"), "0 1 3", ""),
        (LOAD, "", Failed("denied"), "0 1", ""),
        (LOAD, "0, 1, 2, 3, 4, 5", Series(), "0 1 2 3 4", "5"),
    ],
)
def test_how_many_are_wanted(count: Any, there: str, answer: Any, slots: str, gone: str) -> None:
    decision = decide(count, there, answer)
    assert (wanted(decision), removed(decision)) == (slots, gone)


def test_a_number_that_holds_says_why() -> None:
    (missing,), (failed,) = (decide(LOAD, "0, 1, 2", answer).troubles for answer in (Series(), Failed("denied")))
    assert (missing.condition, missing.message) == (
        "Held",
        "count stays as it is: nothing is reported of AWS/SQS Visible",
    )
    assert (failed.condition, failed.message[-6:]) == ("Degraded", "denied")


def test_repair_goes_on_while_the_number_holds() -> None:
    decision = decide(LOAD, "0, 1 unhealthy, 2", Failed("denied"))
    assert removed(decision) == "1"


@pytest.mark.parametrize(
    ("count", "problem"),
    [
        ({**LOAD, "max": 10_001}, "strategy.count: found 10001; allowed: at most 10000"),
        ({**HOURS, "otherwise": 10_001}, "strategy.count: found 10001"),
        (
            {**LOAD, "load": {**METRIC, "dimensions": {"A": "${match.Id}"}}},
            "strategy.count: ${match} stands for a matched",
        ),
    ],
)
def test_mistakes(count: Any, problem: str) -> None:
    (found,) = mistakes(workers(), type="replicas", count=count)
    assert found.startswith(problem)
