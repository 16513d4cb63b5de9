"""Numbers that move: what is grammar, and what is said about mistakes."""

import json
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from policies.grammar import Grammar
from policies.numbers.band import Band
from policies.numbers.number import AnyNumber
from policies.numbers.schedule import Schedule
from policies.numbers.target import Target
from policies.problems import problems_of


class Known(Grammar):
    """Takes the numbers that the language knows."""

    number: AnyNumber


def parse(value: Any) -> Any:
    return Known.model_validate(json.loads(json.dumps({"number": value}))).number


def said(value: Any, model: type[Grammar] = Known) -> list[str]:
    raw = json.loads(json.dumps({"number": value}))
    try:
        model.model_validate(raw)
    except ValidationError as error:
        return [str(problem).removeprefix("$.number") for problem in problems_of(error, model, raw=raw, context={})]
    return []


OFFICE = {"days": ["mon", "fri"], "from": "08:00", "to": "18:00", "value": 5}
SCHEDULE = {"type": "schedule", "timezone": "Europe/Berlin", "windows": [OFFICE], "otherwise": 0}
METRIC = {"namespace": "AWS/SQS", "name": "Visible", "statistic": "Maximum", "period": "1m"}
TARGET = {"type": "target", "load": METRIC, "perUnit": 100, "min": 1, "max": 10}
AVERAGE = {"type": "target", "average": METRIC, "of": 60, "min": 1, "max": 10}
UP = {"above": 70, "for": "5m", "step": 1, "cooldown": "10m"}
DOWN = {"below": 30, "for": "30m", "step": 1, "cooldown": "10m"}
BAND = {"type": "band", "metric": METRIC, "min": 1, "max": 10, "up": UP, "down": DOWN}


@pytest.mark.parametrize("value", [0, 1, 10_000])
def test_a_whole_number_is_itself(value: int) -> None:
    assert parse(value) == value


@pytest.mark.parametrize("value", ["3", 3.0, True, None, [3]])
def test_nothing_else_is_a_number(value: Any) -> None:
    (found,) = said(value)
    assert found.endswith("allowed: a whole number from 0, or an object with type: band, schedule, target")
    assert found.startswith(": found ")


@pytest.mark.parametrize("value", [SCHEDULE, TARGET, AVERAGE, BAND])
def test_a_number_that_moves(value: Any) -> None:
    assert said(value) == []


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (-1, ": found -1; allowed: a whole number from 0"),
        ({}, ": found an object without 'type'; number has one of: band, schedule, target"),
        (
            {"type": "shedule"},
            ".type: 'shedule' is no number; did you mean 'schedule'? (allowed: band, schedule, target)",
        ),
    ],
)
def test_which_number_is_meant(value: Any, problem: str) -> None:
    assert said(value) == [problem]


def test_what_a_schedule_becomes() -> None:
    christmas = {"dates": ["2026-12-24"], "from": "22:00", "to": "06:30", "value": 1}
    parsed = parse({**SCHEDULE, "windows": [christmas, {"from": "00:00", "to": "24:00", "value": 2}]})
    assert isinstance(parsed, Schedule)
    assert [(one.days, one.dates, one.from_, one.to, one.value) for one in parsed.windows] == [
        (None, (date(2026, 12, 24),), 22 * 60, 6 * 60 + 30, 1),
        (None, None, 0, 24 * 60, 2),
    ]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"days": ["monday"]}, ".windows[0].days[0]: found 'monday'; allowed: 'mon', 'tue'"),
        ({"days": []}, ".windows[0].days: found an empty list; allowed: at least one"),
        ({"dates": ["24.12.2026"]}, ".windows[0].dates[0]: found '24.12.2026'; allowed: a date of the calendar"),
        ({"dates": ["2026-02-30"]}, ".windows[0].dates[0]: found '2026-02-30'; allowed: a date of the calendar"),
        ({"from": "8:00"}, '.windows[0].from: found \'8:00\'; allowed: a time of day from "00:00" to "24:00"'),
        ({"to": "24:01"}, ".windows[0].to: found '24:01'; allowed: a time of day"),
        ({"to": 18}, ".windows[0].to: found 18; allowed: a time of day"),
        ({"to": "08:00"}, ".windows[0]: from and to are equal; for the whole day write"),
        ({"from": "24:00"}, '.windows[0]: from "24:00" is the next day'),
        ({"value": 1.5}, ".windows[0].value: found 1.5; allowed: a whole number from 0"),
        ({"value": SCHEDULE}, ".windows[0].value: found an object; allowed: a whole number from 0"),
        ({"until": "18:00"}, ".windows[0].until: unknown key 'until'"),
    ],
)
def test_mistakes_in_a_window(words: Any, problem: str) -> None:
    (found,) = said({**SCHEDULE, "windows": [{**OFFICE, **words}]})
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"timezone": "CEST"}, ".timezone: 'CEST' is no IANA time zone"),
        (
            {"timezone": "europe/berlin"},
            ".timezone: 'europe/berlin' is no IANA time zone; did you mean 'Europe/Berlin'?",
        ),
        ({"timezone": "../UTC"}, ".timezone: '../UTC' is no IANA time zone"),
        ({"timezone": "localtime"}, ".timezone: 'localtime' is no IANA time zone"),
        ({"windows": []}, ".windows: found an empty list; allowed: at least one"),
        ({"otherwise": None}, ".otherwise: found null; allowed: a whole number from 0"),
    ],
)
def test_mistakes_in_a_schedule(words: Any, problem: str) -> None:
    (found,) = said({**SCHEDULE, **words})
    assert found.startswith(problem)


def test_every_mistake_is_told_at_once() -> None:
    window = {"days": ["monday"], "from": "9", "to": "24:00", "value": -1, "dys": []}
    found = said({"type": "schedule", "timezone": "Mars", "windows": [window]})
    assert [problem.split(":")[0] for problem in found] == [
        ".timezone",
        ".windows[0].days[0]",
        ".windows[0].from",
        ".windows[0].value",
        ".windows[0].dys",
        ".otherwise",
    ]


def test_what_a_target_becomes() -> None:
    parsed = parse({**TARGET, "maxStep": {"out": 4, "in": "10%"}})
    assert isinstance(parsed, Target)
    assert parsed.load is not None
    assert [metric.missing for metric in parsed.load] == ["hold"]
    assert (parsed.scale_in_after, str(parsed.max_step.in_), parsed.tolerance) == (timedelta(minutes=5), "10%", None)


@pytest.mark.parametrize(
    "words",
    [
        {"load": [METRIC, {**METRIC, "missing": 0, "dimensions": {"QueueName": "a"}}]},
        {"load": {**METRIC, "statistic": "p99.9", "period": "10s"}},
        {"scaleInAfter": "1h", "tolerance": 0, "min": 0, "max": 0},
    ],
)
def test_a_target_may_say_more(words: Any) -> None:
    assert said({**TARGET, **words}) == []


def test_the_largest_of_several_wins() -> None:
    ways = [{"load": METRIC, "perUnit": 100}, {"average": METRIC, "of": 60}]
    assert said({"type": "target", "any": ways, "min": 1, "max": 10}) == []


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (
            {**TARGET, "perUnit": None},
            ": found load; exactly one is needed of: load with perUnit, average with of, any",
        ),
        ({**TARGET, "average": METRIC, "of": 1}, ": found load, perUnit, average, of; exactly one is needed of"),
        ({**TARGET, "of": 60}, ": found load, perUnit, of; exactly one is needed of"),
        ({**TARGET, "any": [{"load": METRIC, "perUnit": 1}]}, ": found load, perUnit, any; exactly one is needed of"),
        ({"type": "target", "min": 1, "max": 2}, ": found none of them; exactly one is needed of"),
        (
            {"type": "target", "any": [{"load": METRIC}], "min": 1, "max": 2},
            ".any[0]: found load; exactly one is needed of: load with perUnit, average with of",
        ),
        ({"type": "target", "any": [], "min": 1, "max": 2}, ".any: found an empty list; allowed: at least one"),
        ({**TARGET, "min": 11}, ": min 11 is above max 10"),
        ({**AVERAGE, "min": 0}, ": min 0 with an average could never be left"),
        (
            {**TARGET, "load": {**METRIC, "dimensions": {"A": "${item}"}}},
            ".load.dimensions.A: unknown placeholder ${item}; a dimension knows ${match}",
        ),
        ({**TARGET, "load": {**METRIC, "dimensions": {"A": "${"}}}, ".load.dimensions.A: found '${': '${' opens a"),
        ({**TARGET, "perUnit": 0}, ".perUnit: found 0; allowed: more than 0"),
        ({**TARGET, "min": -1}, ".min: found -1"),
        ({**TARGET, "tolerance": 1}, ".tolerance: found 1; allowed: less than 1"),
        ({**TARGET, "maxStep": {"up": 1}}, ".maxStep.up: unknown key 'up'"),
        ({**TARGET, "load": []}, ".load: found an empty list; allowed: at least one"),
        ({**TARGET, "load": 3}, ".load: found 3; allowed: a list"),
        ({**TARGET, "load": {**METRIC, "period": "90s"}}, ".load.period: found 90s; allowed: what CloudWatch takes"),
        ({**TARGET, "load": {**METRIC, "period": "0s"}}, ".load.period: found 0s; allowed: what CloudWatch takes"),
        ({**TARGET, "load": {**METRIC, "statistic": "sum"}}, ".load.statistic: found 'sum'; did you mean 'Sum'?"),
        (
            {**TARGET, "load": {**METRIC, "missing": "zero"}},
            ".load.missing: found 'zero'; allowed: \"hold\", or the number",
        ),
        ({**TARGET, "load": {**METRIC, "dimensions": {"A": 1}}}, ".load.dimensions.A: found 1; allowed: a text"),
        ({**TARGET, "load": [METRIC, {**METRIC, "nam": 1}]}, ".load[1].nam: unknown key 'nam'; did you mean 'name'?"),
    ],
)
def test_mistakes_in_a_target(value: Any, problem: str) -> None:
    (found,) = said(value)
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"min": 11}, ": min 11 is above max 10"),
        ({"down": {**DOWN, "below": 70}}, ": down.below 70 is not under up.above 70"),
        ({"up": {**UP, "step": 0}}, ".up.step: found 0; allowed: a whole number from 1"),
        ({"up": {**UP, "step": "0%"}}, ".up.step: found 0%; allowed: a whole number from 1"),
        ({"up": {**UP, "below": 3}}, ".up.below: unknown key 'below'"),
        ({"down": {**DOWN, "for": 5}}, ".down.for: found 5; allowed: a whole number followed by"),
        ({"up": {**UP, "cooldown": "0s"}}, ".up.cooldown: found 0s; a cooldown is at least 1s"),
        ({"per": 0}, ".per: found 0; allowed: more than 0"),
    ],
)
def test_mistakes_in_a_band(words: Any, problem: str) -> None:
    (found,) = said({**BAND, **words})
    assert found.startswith(problem)


def band(least: int, most: int, low: float, up: Any, high: float, down: Any, per: float | None = 1) -> dict[str, Any]:
    edges = {"up": {**UP, "above": high, "step": up}, "down": {**DOWN, "below": low, "step": down}}
    return {**BAND, "min": least, "max": most, "per": per, **edges}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (band(2, 10, 50, 1, 70, 1), "from 2, one step of 1 takes 70 to 46.7, below low 50"),
        (band(3, 10, 50, 1, 70, 1), None),
        (band(2, 2, 50, 1, 70, 1), None),  # no step is possible
        (band(1, 10, 50, 1, 100, 1), None),  # it lands on the edge, and not beyond
        (band(2, 10, 30, 1, 50, 1), None),
        (band(2, 10, 30, 1, 50, 2), "from 4, one step of 2 takes 30 to 60, above high 50"),
        (band(10, 90, 50, "50%", 70, 1), "from 10, one step of 5 takes 70 to 46.7, below low 50"),
        (band(150, 250, 50, 1, 70, "34%"), "from 211, one step of 61 takes 50 to 70.3, above high 70"),
        (band(2, 10**9, 30, 1, 50, 500), "from 4, one step of 2 takes 30 to 60, above high 50"),
        (band(0, 10, 0.5, 1, 0.7, 1), "from 1, one step of 1 takes 0.7 to 0.35, below low 0.5"),
        (band(2, 10, 50, 1, 70, 1, per=None), None),
    ],
)
def test_a_band_whose_steps_land_beyond_the_other_edge_would_swing(value: Any, problem: str | None) -> None:
    found = said(value)
    assert [text.split(": it would swing")[0] for text in found] == ([f": {problem}"] if problem else [])


@given(
    least=st.integers(1, 300),
    room=st.integers(0, 2000),
    step=st.one_of(st.integers(1, 50), st.integers(1, 100).map(lambda percent: f"{percent}%")),
    low=st.integers(1, 99),
)
def test_a_band_that_parses_never_swings(least: int, room: int, step: Any, low: int) -> None:
    value = band(least, least + room, low, step, 100, step)
    if said(value):
        return
    parsed = parse(value)
    assert isinstance(parsed, Band)
    for size in range(parsed.min, parsed.max + 1):
        larger = min(size + max(1, parsed.up.step.of(size)), parsed.max)
        smaller = max(size - max(1, parsed.down.step.of(size)), parsed.min)
        assert 100 * size >= low * larger
        assert low * size <= 100 * smaller
