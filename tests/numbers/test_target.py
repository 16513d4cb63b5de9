"""Targets: HPA's formula and stabilisation, without HPA's memory."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.numbers.metric import Failed, Series
from policies.numbers.number import Hold
from policies.numbers.recommendation import round_up
from tests.numbers.given import METRIC, MINUTE, NOW, OTHER, minutes_ago, parse, said, steady, value

AVERAGE = {"type": "target", "average": METRIC, "of": 50, "min": 1, "max": 100}
LOAD = {"type": "target", "load": METRIC, "perUnit": 100, "min": 0, "max": 50}


@pytest.mark.parametrize(
    ("present", "metric", "of", "expected"),
    [
        # out: ceil(present * metric / of)
        (1, 100, 50, 2),
        (3, 100, 50, 6),
        (3, 75, 50, 5),  # 4.5
        (4, 60, 50, 5),  # 4.8
        (10, 55.1, 50, 12),  # 11.02
        (1, 50.1, 1, 51),  # 50.1
        (7, 200, 30, 47),  # 46.67
        (9, 100, 90, 10),
        (2, 0.3, 0.1, 6),  # three times, whatever floats make of it
        (3, 70, 30, 7),
        # in: the same formula
        (4, 25, 50, 2),
        (5, 25, 50, 3),  # 2.5
        (10, 5, 50, 1),
        (10, 44, 50, 9),  # 8.8
        (100, 10, 50, 20),
        (6, 30, 60, 3),
        (3, 10, 90, 1),  # 0.33
        (8, 0, 50, 1),  # never below min
        # within a tenth of 1 nothing changes
        (4, 50, 50, 4),
        (4, 55, 50, 4),  # 1.1 exactly
        (4, 45, 50, 4),  # 0.9 exactly
        (20, 52, 50, 20),
        (20, 47.5, 50, 20),
        (10, 33, 30, 10),
        (10, 27, 30, 10),
        (4, 55.01, 50, 5),
        (10, 44.9, 50, 9),
        # bounds
        (60, 100, 50, 100),
        (100, 100, 50, 100),
        (1, 10000, 50, 100),
        (1, 1, 50, 1),
        (150, 50, 50, 100),  # more than max: brought inside, tolerance or not
        (150, 10, 50, 30),
        (0, 50, 50, 1),  # less than min
    ],
)
def test_hpas_formula(present: int, metric: float, of: float, expected: int) -> None:
    assert value({**AVERAGE, "of": of}, present, steady(metric)) == expected
    hpa = present if abs(1 - metric / of) <= 0.1 + 1e-12 else math.ceil(round(present * metric / of, 9))
    assert expected == min(max(hpa, 1), 100)


@pytest.mark.parametrize(
    ("present", "history", "expected"),
    [
        # minutes ago -> metric; the target is 50
        (4, {1: 100, 2: 25}, 8),  # out at once
        (4, {1: 25, 2: 25, 3: 25, 4: 25, 5: 25, 6: 25}, 2),
        (4, {1: 25, 2: 25, 3: 25, 4: 37, 5: 25, 6: 25}, 3),  # the highest of five minutes: 2.96
        (4, {1: 25, 2: 25, 3: 25, 4: 25, 5: 25, 6: 50}, 4),  # what was known five minutes ago counts
        (4, {1: 25, 2: 25, 3: 25, 4: 25, 5: 25, 6: 25, 7: 50}, 2),  # and nothing before
        (4, {1: 25, 2: 100, 3: 25, 4: 25, 5: 25, 6: 25}, 4),  # the past holds, it does not scale out
        (4, {1: 46, 2: 25, 3: 25, 4: 25, 5: 25, 6: 25}, 4),  # within tolerance now
        (10, {1: 30, 2: 31, 3: 32, 4: 33, 5: 34, 6: 35}, 7),
        (120, {1: 10, 2: 10, 3: 10, 4: 10, 5: 10, 6: 60}, 100),
    ],
)
def test_stabilisation(present: int, history: Any, expected: int) -> None:
    assert value(AVERAGE, present, minutes_ago(history)) == expected


@pytest.mark.parametrize(
    ("present", "load", "expected"),
    [
        (3, 0, 0),
        (3, 1, 1),
        (3, 300, 3),
        (3, 301, 4),
        (0, 1, 1),
        (0, 0, 0),
        (5, 4_999, 50),
        (5, 10_000, 50),
        (7, 99.9, 1),
    ],
)
def test_a_load_is_divided_and_rounded_up(present: int, load: float, expected: int) -> None:
    assert value(LOAD, present, steady(load)) == expected


def test_an_exact_count_is_not_lost_in_a_tolerance() -> None:
    assert value(LOAD, 20, steady(2001)) == 21
    assert value({**LOAD, "tolerance": 0.1}, 20, steady(2001)) == 20


@pytest.mark.parametrize(
    ("load", "unit", "expected"),
    [
        (0.3, 0.1, 3),
        (0.7, 0.1, 7),
        (33.333333333333336 * 3, 50, 2),
        (1.1, 1.1, 1),
        (1_000_000_001, 1, 1_000_000_001),
        (1.0000001, 1, 2),
    ],
)
def test_what_floats_make_of_an_integer_is_that_integer(load: float, unit: float, expected: int) -> None:
    assert value({**LOAD, "perUnit": unit, "max": 10**10}, 0, steady(load)) == expected


@given(st.integers(0, 10**9), st.integers(1, 10**6))
def test_rounding_up_is_exact(load: int, unit: int) -> None:
    assert round_up(Fraction(load, unit)) == -(-load // unit)


def test_several_metrics_are_added_by_us() -> None:
    number = {**LOAD, "load": [METRIC, OTHER]}
    assert value(number, 1, {"Visible": steady(250), "Other": steady(60)}) == 4
    assert said(number, 1, {"Visible": steady(250), "Other": Series()}) == "hold"
    assert said(number, 1, {"Visible": steady(250), "Other": Failed("denied")}) == "hold"
    generous = {**LOAD, "load": [METRIC, {**OTHER, "missing": 50}]}
    assert value(generous, 1, {"Visible": steady(250), "Other": Series()}) == 3
    assert said(generous, 1, {"Visible": steady(250), "Other": Failed("denied")}) == "hold"


ANY = {"type": "target", "any": [{"load": METRIC, "perUnit": 100}, {"average": OTHER, "of": 50}], "min": 1, "max": 50}


@pytest.mark.parametrize(
    ("visible", "other", "expected"),
    [
        (steady(100), steady(100), "8"),
        (steady(600), steady(10), "6"),
        (steady(100), steady(25), "2"),
        (Failed("x"), steady(100), "8"),  # a failed one permits scaling out
        (Failed("x"), steady(10), "hold"),  # and forbids scaling in
        (steady(600), Series(), "6"),
        (steady(100), Series(), "hold"),
        (Failed("x"), Failed("y"), "hold"),
    ],
)
def test_the_largest_of_several_ways_wins(visible: Any, other: Any, expected: str) -> None:
    assert said(ANY, 4, {"Visible": visible, "Other": other}) == expected


@pytest.mark.parametrize(
    ("number", "present", "answer", "expected"),
    [
        (LOAD, 3, Series(), "hold"),
        (LOAD, 3, Failed("denied"), "hold"),
        ({**LOAD, "load": {**METRIC, "missing": 0}}, 3, Series(), "0"),
        ({**LOAD, "load": {**METRIC, "missing": 0}}, 3, Failed("denied"), "hold"),
        ({**LOAD, "load": {**METRIC, "missing": 500}}, 3, Series(), "5"),
        (LOAD, 60, Series(), "50"),  # clamping comes before holding
        ({**LOAD, "min": 2}, 0, Failed("denied"), "2"),
        (LOAD, 3, minutes_ago({1: 50}), "hold"),  # too little of the past to scale in by
        (LOAD, 3, minutes_ago({1: 350}), "4"),
        (LOAD, 3, minutes_ago({1: 300}), "3"),
        (LOAD, 3, minutes_ago({9: 900}), "hold"),  # too old to be now
        (LOAD, 3, minutes_ago({4: 900}), "9"),  # late, and not missing yet
        (LOAD, 3, minutes_ago({0: 0, **dict.fromkeys(range(1, 9), 300)}), "3"),  # this minute is not over
        (LOAD, None, steady(300), "hold"),
    ],
)
def test_what_is_missing_or_failed_holds(number: Any, present: Any, answer: Any, expected: str) -> None:
    assert said(number, present, answer) == expected


def test_only_a_failure_is_somebodys_business() -> None:
    missing, failed = value(LOAD, 3, Series()), value(LOAD, 3, Failed("denied"))
    assert isinstance(missing, Hold)
    assert isinstance(failed, Hold)
    assert (missing.failed, failed.failed) == (False, True)
    assert "denied" in failed.reason


@pytest.mark.parametrize(
    ("step", "present", "load", "expected"),
    [
        ({"out": 2}, 3, 1000, 5),
        ({"out": "50%"}, 4, 1000, 6),
        ({"out": "10%"}, 4, 1000, 5),  # a share is at least one
        ({"out": "10%"}, 0, 1000, 1),
        ({"in": 1}, 9, 0, 8),
        ({"in": "50%"}, 9, 0, 5),
        ({"in": 0}, 9, 0, 9),
        ({"in": 1}, 60, 0, 49),  # from max on
    ],
)
def test_one_run_takes_one_step(step: Any, present: int, load: float, expected: int) -> None:
    assert value({**LOAD, "maxStep": step}, present, steady(load)) == expected


def test_it_asks_for_as_much_of_the_past_as_it_looks_at() -> None:
    queries = parse({**LOAD, "load": [METRIC, {**OTHER, "period": "5m"}, METRIC], "scaleInAfter": "1h"}).signals()
    assert [(query.metric.name, query.window / MINUTE) for query in queries] == [("Visible", 65), ("Other", 73)]


_history = st.dictionaries(st.integers(1, 8), st.one_of(st.integers(0, 9000), st.floats(0, 9000)), max_size=8)
_answers = st.one_of(_history.map(minutes_ago), st.just(Failed("denied")))
_numbers = st.builds(
    lambda base, least, room, step: {**base, "min": least, "max": least + room, **step},
    st.sampled_from([AVERAGE, LOAD, ANY]),
    st.integers(1, 20),
    st.integers(0, 30),
    st.sampled_from([{}, {"maxStep": {"out": 3, "in": "10%"}}, {"tolerance": 0.3}, {"scaleInAfter": "0s"}]),
)


@given(_numbers, st.integers(0, 60), _answers, _answers)
def test_never_outside_min_and_max_and_twice_is_once(number: Any, present: int, one: Any, other: Any) -> None:
    answers = {"Visible": one, "Other": other}
    found = value(number, present, answers)
    assert found == value(number, present, answers)
    assert number["min"] <= (present if isinstance(found, Hold) else found) <= number["max"]


@given(_numbers, st.integers(0, 60), st.sampled_from([Failed("denied"), Series()]), _answers)
def test_what_is_missing_never_shrinks_anything(number: Any, present: int, one: Any, other: Any) -> None:
    for answers in ({"Visible": one, "Other": one}, {"Visible": one, "Other": other}):
        found = value(number, present, answers)
        assert isinstance(found, Hold) or found >= min(present, number["max"])


def test_at_another_second_of_the_minute_it_says_the_same() -> None:
    told = {value(LOAD, 3, steady(100), NOW.replace(second=second)) for second in (0, 1, 30, 59)}
    assert told == {1}
