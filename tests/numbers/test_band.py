"""Bands: one step at the right moment, found again from the history alone; never too close, never back and forth."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.numbers.metric import LAG, Failed, Series
from policies.numbers.number import Hold
from policies.numbers.steps import Steps, streaks
from tests.numbers.given import EPOCH, METRIC, MINUTE, from_minute, minutes_ago, parse, said, seen, steady, value

START = datetime.fromisoformat("2026-03-02T00:07:00Z")
UP: dict[str, Any] = {"above": 70, "for": "5m", "step": 1, "cooldown": "20m"}
DOWN: dict[str, Any] = {"below": 30, "for": "10m", "step": 1, "cooldown": "30m"}
BAND: dict[str, Any] = {"type": "band", "metric": METRIC, "min": 1, "max": 50, "up": UP, "down": DOWN}
SHARED = {**BAND, "per": 1, "min": 3, "max": 50}


def sizes(number: Any, values: Sequence[float], present: int = 10, lost: Sequence[int] = ()) -> list[int]:
    """The size after each tick, a tick a minute, `LAG` behind the metric; lost ticks change nothing."""
    built = parse(number) if isinstance(number, dict) else number
    series, found = from_minute(values, START), []
    for place in range(len(values)):
        now = START + MINUTE * (place + 1) + LAG
        told = built.value(present, seen(built, series, now), now)
        if place not in lost and not isinstance(told, Hold):
            present = told
        found.append(present)
    return found


def moves(number: Any, values: Sequence[float], **words: Any) -> list[tuple[int, int]]:
    """(minute, change) of every step, counted from the first point."""
    told = [words.get("present", 10), *sizes(number, values, **words)]
    return [(place, after - before) for place, (before, after) in enumerate(pairwise(told), 1) if after != before]


def flat(*parts: tuple[float, int]) -> list[float]:
    return [value for value, minutes in parts for _ in range(minutes)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (flat((50, 90)), []),
        (flat((50, 10), (80, 4), (50, 40)), []),  # four minutes are not five
        (flat((50, 10), (80, 5), (50, 40)), [(15, 1)]),
        (flat((50, 10), (80, 14), (50, 40)), [(15, 1)]),
        (flat((50, 30), (20, 9), (50, 40)), []),
        (flat((50, 30), (20, 10), (50, 40)), [(40, -1)]),
        (flat((50, 10), (70, 60)), []),  # on the edge is inside
        (flat((50, 10), (80, 3), (50, 1), (80, 4), (50, 30)), []),  # the five minutes begin anew
        # after the first step, at the multiples of the cooldown: minutes 33, 53, 73, 93 are 00:40, 01:00, ...
        (flat((50, 10), (80, 90)), [(15, 1), (53, 1), (73, 1), (93, 1)]),
        (flat((50, 6), (80, 60)), [(11, 1), (33, 1), (53, 1)]),
        # the second run is too close to the first step
        (flat((50, 6), (80, 6), (50, 2), (80, 12), (50, 40)), [(11, 1)]),
        (flat((50, 6), (80, 6), (50, 30), (80, 6), (50, 40)), [(11, 1), (47, 1)]),
        (flat((80, 5), (50, 1), (20, 10), (50, 30)), [(5, 1), (16, -1)]),
    ],
)
def test_when_steps_are_made(values: list[float], expected: Any) -> None:
    assert moves(BAND, values) == expected


@pytest.mark.parametrize(
    ("step", "present", "expected"),
    [(1, 10, 11), (5, 10, 15), ("20%", 10, 12), ("20%", 2, 3), ("20%", 14, 16), (60, 10, 50), (1, 50, 50), (1, 80, 50)],
)
def test_how_far_a_step_up_goes(step: Any, present: int, expected: int) -> None:
    number = {**BAND, "up": {**UP, "step": step}}
    assert sizes(number, flat((50, 6), (80, 5)), present)[-1] == expected


@pytest.mark.parametrize(
    ("step", "present", "expected"), [(1, 10, 9), ("20%", 10, 8), ("20%", 2, 1), (20, 10, 1), (1, 1, 1), (1, 0, 1)]
)
def test_how_far_a_step_down_goes(step: Any, present: int, expected: int) -> None:
    number = {**BAND, "down": {**DOWN, "step": step}}
    assert sizes(number, flat((50, 6), (20, 10)), present)[-1] == expected


@pytest.mark.parametrize(
    ("answer", "present", "expected"),
    [
        (Failed("denied"), 10, "hold"),
        (Series(), 10, "hold"),
        (Failed("denied"), 90, "50"),
        (Series(), 0, "1"),
        (minutes_ago({40: 99}), 10, "10"),
        (steady(99), None, "hold"),
    ],
)
def test_what_is_missing_or_failed_holds(answer: Any, present: Any, expected: str) -> None:
    assert said(BAND, present, answer) == expected


def test_what_is_missing_may_count_as_a_number() -> None:
    sparse = {**BAND, "metric": {**METRIC, "missing": 0}}
    now = EPOCH + 30 * MINUTE * ((START - EPOCH) // (30 * MINUTE) + 1) + LAG  # a multiple of the cooldown of down
    assert value(sparse, 10, Series(), now) == 9
    assert said(sparse, 10, Failed("denied"), now) == "hold"
    assert value(BAND, 10, minutes_ago({20: 20, 40: 20}, now), now) == 10


def test_with_per_the_value_is_shared_by_the_present_size() -> None:
    assert sizes(SHARED, flat((500, 10), (800, 100)))[-1] == 12  # 800 / 12 is 66.7
    assert moves(SHARED, flat((500, 10), (800, 100))) == [(33, 1), (53, 1)]  # at multiples of the cooldown alone
    assert sizes(SHARED, flat((500, 10), (100, 400)))[-1] == 3
    assert said(SHARED, 0, Failed("denied")) == "3"


def test_with_per_nothing_is_shared_by_no_one() -> None:
    from_zero = {**BAND, "per": 1, "min": 0, "down": {**DOWN, "below": 10}}
    assert sizes(from_zero, flat((40, 60)), present=0)[-1] == 1
    assert sizes(from_zero, flat((0, 60)), present=0)[-1] == 0


@pytest.mark.parametrize("period", ["10s", "1m", "5m"])
def test_points_of_any_period(period: str) -> None:
    number = parse({**BAND, "metric": {**METRIC, "period": period}, "up": {**UP, "for": "10m"}})
    start, step = START + 3 * MINUTE, number.metric.period  # 00:10
    series = Series(tuple((start + step * place, 99.0) for place in range(int(timedelta(hours=2) / step))))
    present, at = 10, []
    for minute in range(120):
        now = start + MINUTE * minute + LAG
        told = number.value(present, seen(number, series, now), now)
        at += [minute] if told != present else []
        present = told
    assert at == [10, 30, 50, 70, 90, 110]  # 00:20, and every twenty minutes


_shapes = st.lists(st.tuples(st.sampled_from([10, 28, 50, 72, 95]), st.integers(1, 25)), min_size=1, max_size=14)
_times = st.sampled_from(["0s", "3m", "5m", "12m"])
_cooldowns = st.sampled_from(["90s", "4m", "7m", "20m"])


@st.composite
def _bands(draw: Any, per: Any = None) -> dict[str, Any]:
    up = {**UP, "for": draw(_times), "cooldown": draw(_cooldowns)}
    down = {**DOWN, "for": draw(_times), "cooldown": draw(_cooldowns)}
    return {**BAND, "up": up, "down": down, **({"per": per, "min": 3} if per else {})}


def cooldowns(number: dict[str, Any]) -> dict[int, float]:
    built = parse(number)
    return {1: built.up.cooldown / MINUTE, -1: built.down.cooldown / MINUTE}


def check_spacing(steps: Sequence[tuple[int, int]], apart: dict[int, float]) -> None:
    for direction in (1, -1):
        at = [minute for minute, change in steps if change * direction > 0]
        assert all(later - earlier >= apart[direction] for earlier, later in pairwise(at))
    for (first, up), (_, down), (last, again) in zip(steps, steps[1:], steps[2:], strict=False):
        if up * down < 0 and down * again < 0:
            assert last - first >= apart[1 if again > 0 else -1], "reversed twice within a cooldown"


@settings(deadline=None)
@given(_bands(), _shapes)
def test_two_steps_in_one_direction_are_a_cooldown_apart(number: Any, parts: Any) -> None:
    steps = moves(number, flat(*parts), present=25)
    check_spacing(steps, cooldowns(number))
    assert all(abs(change) == 1 for _, change in steps)


@settings(deadline=None)
@given(_bands(per=5), _shapes)
def test_in_a_closed_loop_as_well(number: Any, parts: Any) -> None:
    steps = moves(number, [value * 50 for value in flat(*parts)])
    check_spacing(steps, cooldowns(number))


@settings(deadline=None)
@given(_bands(), _shapes, st.lists(st.integers(0, 200), max_size=40))
def test_a_lost_tick_costs_its_step_and_no_other_moves(number: Any, parts: Any, lost: Any) -> None:
    values, number = flat(*parts), {**number, "max": 9_999}
    whole = moves(number, values, present=5_000)
    assert moves(number, values, present=5_000, lost=lost) == [step for step in whole if step[0] - 1 not in lost]


@settings(deadline=None)
@given(_shapes, st.integers(1, 6), st.integers(1, 15), st.integers(0, 100))
def test_where_history_begins_does_not_matter(parts: Any, enough: int, cooldown: int, start: int) -> None:
    values = dict(enumerate(flat(*parts), start))
    whole = Steps(streaks(values, lambda value: value > 70), enough, cooldown)
    for moment in values:
        seen_of = {at: value for at, value in values.items() if moment - enough - 2 * cooldown - 2 <= at < moment}
        cut = Steps(streaks(seen_of, lambda value: value > 70), enough, cooldown)
        assert cut.is_due(moment) == whole.is_due(moment)


@given(_bands(), st.integers(0, 60), st.dictionaries(st.integers(0, 70), st.integers(0, 99)))
def test_never_outside_min_and_max_twice_is_once_and_order_is_nothing(number: Any, present: int, points: Any) -> None:
    built, series = parse(number), minutes_ago(points)
    found = value(built, present, series)
    shuffled = list(series.points)
    random.Random(present).shuffle(shuffled)
    assert found == value(built, present, series) == value(built, present, Series(tuple(shuffled)))
    assert 1 <= (present if isinstance(found, Hold) else found) <= 50
