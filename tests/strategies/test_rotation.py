"""Rotation: which periods exist, against a calendar that is counted day by day; and what becomes of the rest."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.document import Policy
from policies.frozen import freeze
from policies.identity import tag_value
from policies.strategy import Decision
from policies.world import Observation, Resource, State
from strategies.period import key_of, parse_key, shift, start_of
from tests.strategies.given import Agent, agents, mistakes, policy, resource

ZONES = ("Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia")
FORMATS = {"day": "%Y%m%d", "week": "%G-w%V", "month": "%Y-%m", "quarter": "%Y-q%q", "year": "%Y"}


def monthly(**words: Any) -> dict[str, Any]:
    found = {
        "type": "rotation",
        "period": "month",
        "timezone": "UTC",
        "format": "%Y-%m",
        "ahead": 1,
        "keep": 2,
        **words,
    }
    return {**found, "format": words.get("format", FORMATS.get(found["period"]))}


def made(*, name: str = "a-${period}", properties: Any = None, **words: Any) -> Policy:
    return policy(agents(name, **(properties or {})), **monthly(**words))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def there(*keys: str, state: State = State.READY, names: str = "a-") -> list[Resource]:
    """What exists, by key; named as the format says."""
    return [
        resource(
            tag_value(key), state, type="Test::Agent", name=names + key.partition(":")[2].replace("/", "-"), id=key
        )
        for key in keys
    ]


def decide(built: Policy, now: str, owned: Sequence[Resource] = (), items: Any = None) -> Decision:
    source = built.strategy.signals()
    signals = {source[0].signal_key: freeze(items)} if source else {}
    return built.strategy.decide(built.blueprint, Observation(tuple(owned), signals=signals), at(now))


def keys(decision: Decision) -> list[str]:
    return [one.key for one in decision.desired]


def gone(decision: Decision) -> dict[str, str]:
    return {removal.resource.id: removal.reason for removal in decision.removals or ()}


# --- the calendar --------------------------------------------------------------------------------------------------


def periods(kind: str, first: date, last: date) -> Iterator[tuple[date, date]]:
    """Every period of a kind: its first day and the day after its last, found by walking from day to day."""
    names = {
        "day": lambda day: day,
        "week": lambda day: day.isocalendar()[:2],
        "month": lambda day: (day.year, day.month),
        "quarter": lambda day: (day.year, (day.month + 2) // 3),
        "year": lambda day: day.year,
    }
    start, day = first, first
    while day <= last:
        day += timedelta(days=1)
        if names[kind](day) != names[kind](start):
            yield start, day
            start = day


CALENDAR = {kind: dict(periods(kind, date(2015, 1, 1), date(2035, 1, 10))) for kind in FORMATS}
"""By kind, the end of the period that starts on a day. 2015 began with a partial week, which is left out below."""


@given(st.sampled_from(sorted(FORMATS)), st.sampled_from(ZONES), st.integers(0, 15 * 366 * 24 * 60))
def test_the_current_period_holds_now_and_the_next_one_begins_where_it_ends(kind: str, zone: str, minutes: int) -> None:
    now = datetime(2016, 1, 5, tzinfo=UTC) + timedelta(minutes=minutes)
    start, today = start_of(kind, zone, now), now.astimezone(ZoneInfo(zone)).date()
    assert start.date() <= today < CALENDAR[kind][start.date()]
    assert shift(kind, start, 1).date() == CALENDAR[kind][start.date()]
    assert shift(kind, shift(kind, start, 1), -1) == start
    assert parse_key(kind, key_of(kind, start)) == start


@given(st.sampled_from(sorted(FORMATS)), st.integers(0, 4 * 366 * 24), st.integers(0, 5), st.integers(0, 5))
def test_what_exists_after_a_walk_through_the_calendar(kind: str, hours: int, ahead: int, keep: int) -> None:
    built = made(period=kind, ahead=ahead, keep=keep)
    now = datetime(2023, 12, 25, tzinfo=UTC) + timedelta(hours=hours)
    starts = sorted(CALENDAR[kind])
    here = max(place for place, start in enumerate(starts) if start <= now.date())
    every = [key_of(kind, datetime.combine(start, datetime.min.time())) for start in starts[here - 6 : here + 7]]
    decision = decide(built, now.isoformat()[:19], there(*every))
    assert keys(decision) == every[6 - keep : 6 + ahead + 1]
    assert set(gone(decision)) == set(every) - set(keys(decision))
    assert keys(decide(built, now.isoformat()[:19])) == every[6 : 6 + ahead + 1]  # past ones are never created


@pytest.mark.parametrize(
    ("kind", "zone", "now", "key", "name"),
    [
        ("month", "UTC", "2024-02-29T23:59:59", "month:2024-02", "2024-02"),
        ("month", "UTC", "2024-03-01T00:00:00", "month:2024-03", "2024-03"),
        ("month", "Europe/Paris", "2024-02-29T23:00:00", "month:2024-03", "2024-03"),
        ("month", "America/New_York", "2026-01-01T04:59:59", "month:2025-12", "2025-12"),
        ("year", "America/New_York", "2026-01-01T05:00:00", "year:2026", "2026"),
        ("week", "UTC", "2027-01-03T12:00:00", "week:2026-12-28", "2026-w53"),
        ("week", "UTC", "2027-01-04T00:00:00", "week:2027-01-04", "2027-w01"),
        ("week", "UTC", "2024-12-30T00:00:00", "week:2024-12-30", "2025-w01"),
        ("quarter", "UTC", "2026-03-31T23:59:00", "quarter:2026-01", "2026-q1"),
        ("quarter", "UTC", "2026-11-15T00:00:00", "quarter:2026-10", "2026-q4"),
        ("day", "Europe/Paris", "2026-03-29T00:30:00", "day:2026-03-29", "20260329"),  # a day of 23 hours
        ("day", "Europe/Paris", "2026-03-29T21:59:59", "day:2026-03-29", "20260329"),
        ("day", "Europe/Paris", "2026-03-29T22:00:00", "day:2026-03-30", "20260330"),
        ("day", "Europe/Paris", "2026-10-25T22:59:59", "day:2026-10-25", "20261025"),  # and one of 25
        ("day", "Europe/Paris", "2026-10-25T23:00:00", "day:2026-10-26", "20261026"),
        ("day", "Pacific/Apia", "2011-12-30T10:00:00", "day:2011-12-31", "20111231"),  # the 30th never came
        ("hour", "UTC", "2026-12-31T23:59:59", "hour:2026-12-31T23", "2026123123"),
    ],
)
def test_edges(kind: str, zone: str, now: str, key: str, name: str) -> None:
    built = made(period=kind, timezone=zone, format=FORMATS.get(kind, "%Y%m%d%H"), ahead=0)
    (desired,) = decide(built, now).desired
    assert (desired.key, desired.name) == (key, f"a-{name}")


# --- what is wanted, and what not ----------------------------------------------------------------------------------

PAST = ("month:2025-11", "month:2025-12", "month:2026-01", "month:2026-02")


@pytest.mark.parametrize(
    ("words", "wanted", "leaving"),
    [
        ({"keep": 2}, "month:2026-01 month:2026-02 month:2026-03 month:2026-04", {"month:2025-11", "month:2025-12"}),
        ({"keep": 0}, "month:2026-03 month:2026-04", set(PAST)),
        ({"keep": "all"}, " ".join([*PAST, "month:2026-03", "month:2026-04"]), set()),
        ({"keep": 10_000, "ahead": 0}, " ".join([*PAST, "month:2026-03"]), set()),
    ],
)
def test_how_many_are_kept(words: Any, wanted: str, leaving: set[str]) -> None:
    decision = decide(made(**words), "2026-03-02T09:00:00", there(*PAST))
    assert " ".join(keys(decision)) == wanted
    assert set(gone(decision)) == leaving


def test_why_something_goes() -> None:
    built = made(items={"source": "ssmParameter", "name": "/x"}, name="a-${item}-${period}")
    owned = there("month:2025-11/x", "month:2026-09/x", "month:2026-02/y")
    assert gone(decide(built, "2026-03-02T09:00:00", owned, ["x"])) == {
        "month:2025-11/x": "its month is over, and 2 are kept",
        "month:2026-02/y": "no longer wanted",
        "month:2026-09/x": "further ahead than wanted",
    }


@pytest.mark.parametrize("key", ["day:2025-01-01", "month:2025-1", "month:2025-13", "2025-01", "", "month:2025-01/x"])
def test_a_period_that_is_not_known_is_never_deleted(key: str) -> None:
    decision = decide(made(keep=0), "2026-03-02T09:00:00", there(key, names="old-"))
    assert gone(decision) == {}
    (trouble,) = decision.troubles
    assert (trouble.condition, trouble.reason) == ("Held", "PeriodUnknown")


def test_overrides_by_phase_are_merged_as_rfc_7386() -> None:
    over = {"past": {"Size": 1, "Note": None}, "future": {"Note": "soon"}}
    built = made(properties={"Size": 9, "Note": "of ${period}"}, overrides=over, keep=1)
    decision = decide(built, "2026-03-02T09:00:00", there("month:2026-02"))
    assert [
        {word: value for word, value in one.properties.items() if word != "AgentName"} for one in decision.desired
    ] == [
        {"Size": 1},
        {"Size": 9, "Note": "of 2026-03"},
        {"Size": 9, "Note": "soon"},
    ]


def test_what_exists_keeps_its_name_when_the_format_changes() -> None:
    decision = decide(made(format="%Y.%m"[:2] + "%m"), "2026-03-02T09:00:00", there("month:2026-02", "month:2026-03"))
    assert [(one.key, one.name, one.properties["AgentName"]) for one in decision.desired] == [
        ("month:2026-02", "a-2026-02", "a-2026-02"),
        ("month:2026-03", "a-2026-03", "a-2026-03"),
        ("month:2026-04", "a-202604", "a-202604"),
    ]
    assert gone(decision) == {}


def test_past_periods_are_never_replaced() -> None:
    decision = decide(made(), "2026-03-02T09:00:00", there("month:2026-02", "month:2026-03"))
    assert decision.lasting == {"month:2026-02"}


def test_what_is_being_deleted_is_waited_for_and_what_is_dead_is_not_there() -> None:
    owned = there("month:2026-02", state=State.DELETING) + there("month:2026-01", state=State.DEAD)
    assert keys(decide(made(), "2026-03-02T09:00:00", owned)) == ["month:2026-02", "month:2026-03", "month:2026-04"]


# --- with items ----------------------------------------------------------------------------------------------------

ITEMS = {"source": "ssmParameter", "name": "/tenants", "key": "id"}


def test_a_resource_for_each_period_and_item() -> None:
    built = made(items=ITEMS, name="${item.id}-${period}", properties={"Size": "${item.size}"})
    tenants = [{"id": "x", "size": 1}, {"id": "y", "size": 2}]
    owned = there("month:2026-02/x", names="x-") + there("month:2025-12/x", names="x-")
    decision = decide(built, "2026-03-02T09:00:00", owned, tenants)
    assert [(one.key, one.properties["Size"]) for one in decision.desired] == [
        ("month:2026-02/x", 1),
        ("month:2026-03/x", 1),
        ("month:2026-03/y", 2),
        ("month:2026-04/x", 1),
        ("month:2026-04/y", 2),
    ]
    assert set(gone(decision)) == {"month:2025-12/x"}


def test_an_empty_source_deletes_nothing() -> None:
    built = made(items=ITEMS, name="${item.id}-${period}")
    decision = decide(built, "2026-03-02T09:00:00", there("month:2026-02/x"), [])
    assert decision.hold is not None
    allowed = made(items={**ITEMS, "allowEmpty": True}, name="${item.id}-${period}")
    assert decide(allowed, "2026-03-02T09:00:00", there("month:2026-02/x"), []).hold is None


def _owned(*names: str) -> list[Resource]:
    return [resource(f"month:{name[2:]}/{name[0]}", type="Test::Agent", name=name) for name in names]


def test_two_items_of_one_identity_are_skipped_and_what_they_have_stays() -> None:
    built = made(items=ITEMS, name="${item.id}-${period}")
    twins = [{"id": "x", "n": 1}, {"id": "x", "n": 2}, {"id": "y"}]
    decision = decide(built, "2026-03-02T09:00:00", _owned("x-2026-03", "x-2026-02"), twins)
    assert keys(decision) == ["month:2026-03/y", "month:2026-04/y"]
    assert gone(decision) == {}
    assert len(decision.troubles) == len({trouble.message for trouble in decision.troubles})


# --- parsing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("section", "words", "problem"),
    [
        (
            {},
            {"overrides": {"past": {"Siz": 1}}},
            "strategy.overrides.past.Siz: unknown key 'Siz'; did you mean 'Size'?",
        ),
        (
            {},
            {"overrides": {"past": {"AgentName": "x"}}},
            "strategy.overrides.past.AgentName: AgentName is create-only",
        ),
        ({}, {"overrides": {"past": {"Note": "${item}"}}}, "strategy.overrides.past.Note: unknown placeholder ${item}"),
        ({}, {"ahead": 1_001}, "strategy.ahead: found 1001; allowed: at most 1000"),
    ],
)
def test_mistakes(section: Any, words: Any, problem: str) -> None:
    (found,) = mistakes(agents("a-${period}", **section), **monthly(**words))
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("words", "problems"), [({}, 0), ({"keep": "all"}, 0), ({"holds": True}, 1), ({"holds": True, "keep": "all"}, 0)]
)
def test_on_data_a_number_to_keep_needs_removal_in_words(words: Any, problems: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(Agent, "holds_data", words.pop("holds", False))
    found = mistakes(agents("a-${period}"), **monthly(**words))
    assert len(found) == problems
    assert all(
        "holds data, and time alone makes this policy want one no more: write 'removal' out" in one for one in found
    )


_kinds = st.sampled_from(sorted(FORMATS))


@given(
    _kinds,
    st.integers(0, 5),
    st.one_of(st.just("all"), st.integers(0, 5)),
    st.lists(st.integers(-12, 12)),
    st.randoms(),
)
def test_order_does_not_matter_twice_is_once_and_nothing_is_both(
    kind: str, ahead: int, keep: Any, offsets: list[int], mixer: random.Random
) -> None:
    built, now = made(period=kind, ahead=ahead, keep=keep), at("2026-03-02T09:00:00")
    here = start_of(kind, "UTC", now)
    owned = there(*sorted({key_of(kind, shift(kind, here, offset)) for offset in offsets}))
    decision = decide(built, "2026-03-02T09:00:00", owned)
    mixed = list(owned)
    mixer.shuffle(mixed)
    assert decision == decide(built, "2026-03-02T09:00:00", owned) == decide(built, "2026-03-02T09:00:00", mixed)
    assert set(keys(decision)).isdisjoint(gone(decision))
    assert {one.id for one in owned} <= set(keys(decision)) | set(gone(decision))
