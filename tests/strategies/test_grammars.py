"""Rotation, scale and expire: their grammar is known, what they do is not built yet."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from policies.names import matches
from policies.strategy import Strategy
from policies.template import Placeholder
from strategies.registry import STRATEGIES
from tests.strategies.given import agents, mistakes

MONTHLY = {"type": "rotation", "period": "month", "timezone": "UTC", "format": "%Y-%m", "ahead": 1, "keep": 12}
SCALE = {"type": "scale", "property": "Size", "to": 3}
EXPIRE = {"type": "expire", "after": "14d", "grace": "7d"}
MATCHED = {"type": "Test::Agent", "match": {"namePrefix": ""}}
SECTIONS = {"rotation": agents("a-${period}"), "scale": MATCHED, "expire": MATCHED}


def read(**words: Any) -> Strategy:
    return STRATEGIES[words["type"]].model_validate(json.loads(json.dumps(words)))


def said(words: dict[str, Any]) -> list[str]:
    found = mistakes(SECTIONS[words["type"]], **words)
    return [problem.removeprefix("strategy.") for problem in found]


@pytest.mark.parametrize("words", [MONTHLY, SCALE, EXPIRE], ids=lambda words: words["type"])
def test_a_policy_without_mistakes(words: dict[str, Any]) -> None:
    assert said(words) == []


@pytest.mark.parametrize(
    "words",
    [
        MONTHLY,
        {**MONTHLY, "keep": "all", "ahead": 0},
        {**MONTHLY, "items": {"source": "list", "values": ["a"]}},
        {**MONTHLY, "overrides": {"past": {"Size": 1}, "current": {}, "future": {"Note": None}}},
        {**MONTHLY, "period": "hour", "format": "%Y%m%d%H"},
        {**MONTHLY, "period": "hour", "format": "%Y-%j-%H%M%S"},
        {**MONTHLY, "period": "day", "format": "%Y-%m-%d", "timezone": "Europe/Berlin"},
        {**MONTHLY, "period": "day", "format": "%G-W%V-%u"},
        {**MONTHLY, "period": "day", "format": "%Y%m%d-%a"},
        {**MONTHLY, "period": "week", "format": "%G-W%V"},
        {**MONTHLY, "period": "week", "format": "%Y%m%d"},
        {**MONTHLY, "period": "quarter", "format": "%YQ%q"},
        {**MONTHLY, "period": "quarter", "format": "%Y%m"},
        {**MONTHLY, "period": "year", "format": "%Y"},
        {**SCALE, "property": "ScalableTarget.MinCapacity"},
        {**EXPIRE, "after": {"tag": "expires"}},
        {**EXPIRE, "grace": "0s", "meanwhile": {"Size": 0}},
    ],
)
def test_what_is_grammar(words: dict[str, Any]) -> None:
    read(**words)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"period": "fortnight"}, "period: found 'fortnight'; allowed: 'hour', 'day', 'week'"),
        ({"timezone": "Europe/Berln"}, "timezone: 'Europe/Berln' is no IANA time zone; did you mean 'Europe/Berlin'?"),
        ({"ahead": -1}, "ahead: found -1; allowed: a whole number from 0"),
        ({"keep": -1}, 'keep: found -1; allowed: a whole number from 0, or "all"'),
        ({"keep": "everything"}, "keep: found 'everything'; allowed: a whole number from 0, or \"all\""),
        ({"items": {"source": "list"}}, "items.values: 'values' is required here"),
        ({"overrides": {"old": {}}}, "overrides.old: unknown key 'old'"),
        ({"overrides": {"past": 3}}, "overrides.past: found 3; allowed: an object"),
        ({"format": "%Y-%f"}, "format: '%f' is nothing that a format knows (allowed: %Y, "),
        ({"format": "%Y-%-m"}, "format: '%-' is nothing that a format knows"),
        ({"format": "%Y%m%"}, "format: '%' is nothing that a format knows"),
        # each period differently, and in order
        ({"format": "orders"}, "the month from 2018-01-01 as 'orders' and the next one as 'orders'"),
        ({"format": "%m"}, "the month from 2018-12-01 as '12' and the next one as '01'"),
        ({"format": "%Y"}, "the month from 2018-01-01 as '2018' and the next one as '2018'"),
        ({"format": "%m-%Y"}, "the month from 2018-12-01 as '12-2018' and the next one as '01-2019'"),
        ({"format": "%Y-%b"}, "the month from 2018-01-01 as '2018-Jan' and the next one as '2018-Feb'"),
        ({"format": "%Y-%q"}, "the month from 2018-01-01 as '2018-1' and the next one as '2018-1'"),
        (
            {"period": "week", "format": "%Y-W%V"},
            "the week from 2018-12-24 as '2018-W52' and the next one as '2018-W01'",
        ),
        (
            {"period": "day", "format": "%G-%m-%d"},
            "the day from 2018-12-31 as '2019-12-31' and the next one as '2019-01-01'",
        ),
        ({"period": "quarter", "format": "%Y-%%q"}, "the quarter from 2018-01-01 as '2018-%q'"),
        (
            {"period": "hour", "format": "%Y%m%d%I"},
            "the hour from 2018-12-01 as '2018120112' and the next one as '2018120101'",
        ),
        ({"period": "hour", "format": "%Y%m%d%H", "timezone": "Europe/Berlin"}, "hours need the timezone 'UTC'"),
    ],
)
def test_mistakes_in_a_rotation(words: dict[str, Any], problem: str) -> None:
    (found,) = said({**MONTHLY, **words})
    assert problem in found


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({**SCALE, "to": -1}, "to: found -1; allowed: a whole number from 0"),
        ({**SCALE, "to": {"type": "gauge"}}, "to.type: 'gauge' is no number"),
        ({**SCALE, "property": "a..b"}, "property: found 'a..b'"),
        ({**EXPIRE, "after": 14}, 'after: found 14; allowed: a duration such as "14d", or an object with "tag"'),
        ({**EXPIRE, "after": "a while"}, 'after: found "a while"; allowed: a whole number followed by'),
        ({**EXPIRE, "after": {"tga": "x", "tag": "y"}}, "after.tga: unknown key 'tga'; did you mean 'tag'?"),
        ({**EXPIRE, "after": {"tag": ""}}, "after.tag: found ''"),
        ({**EXPIRE, "meanwhile": []}, "meanwhile: found a list; allowed: an object"),
        ({"type": "expire", "after": "14d"}, "grace: 'grace' is required here"),
    ],
)
def test_mistakes_in_scale_and_expire(words: dict[str, Any], problem: str) -> None:
    (found,) = said(words)
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("words", "roots", "matched"),
    [
        (MONTHLY, {"period"}, False),
        ({**MONTHLY, "items": {"source": "list", "values": ["a"]}}, {"period", "item"}, False),
        (SCALE, {"match"}, True),
        (EXPIRE, {"match"}, True),
    ],
)
def test_the_placeholders(words: dict[str, Any], roots: set[str], matched: bool) -> None:
    strategy = read(**words)
    assert (set(strategy.roots), strategy.matches) == (roots, matched)
    assert strategy.varies_by() == (frozenset() if matched else roots)


def test_names_need_the_period_and_the_item() -> None:
    found = mistakes(agents("a-${item}"), **MONTHLY, items={"source": "list", "values": ["a"]})
    assert any("AgentName needs ${period}" in problem for problem in found)


def test_a_period_is_a_text() -> None:
    found = mistakes(agents("a-${period}", Size="${period}"), **MONTHLY)
    assert "resource.properties.Size: found '20260101'; allowed: a whole number" in found


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d", "%y%m%d%H%M%S", "%G-W%V-%u", "%Y.%j+%U_%W", "%a %d %b %Y, %I %p", "%A %B %w", "100%% [%Y%m%d]"]
)
def test_the_language_of_a_period_holds_all_that_it_renders(form: str) -> None:
    language = read(**{**MONTHLY, "period": "day", "format": "%Y%m%d" + form}).language(Placeholder("period"))
    start = datetime(2023, 1, 1, tzinfo=UTC)
    for hours in range(0, 24 * 1500, 23):
        text = (start + timedelta(hours=hours)).replace(minute=0).strftime("%Y%m%d" + form)
        assert matches(language.pattern, text)


def test_a_format_is_printable_and_short() -> None:
    for form in ("%Y-%m-ü", "%Y-%m" + "x" * 60, ""):
        with pytest.raises(ValidationError, match="format"):
            read(**{**MONTHLY, "format": form})


def test_quarters_count_from_one_to_four() -> None:
    language = read(**{**MONTHLY, "period": "quarter", "format": "%YQ%q"}).language(Placeholder("period"))
    assert [bool(re.fullmatch(language.pattern, f"2026Q{quarter}")) for quarter in range(6)] == [
        False,
        True,
        True,
        True,
        True,
        False,
    ]
