"""A schedule equals a calendar that somebody painted by hand, in every minute of a year."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numbers.given import parse, value

ZONES = ("Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
WORKDAYS = ["mon", "tue", "wed", "thu", "fri"]
WINDOWS: Sequence[Any] = (
    {"dates": ["2026-12-24", "2026-12-31", "2026-07-14"], "from": "00:00", "to": "24:00", "value": 1},
    {"days": ["fri", "sat"], "from": "21:30", "to": "02:15", "value": 9},
    {"days": ["sun"], "dates": ["2026-04-06"], "from": "01:45", "to": "02:30", "value": 7},
    {"days": WORKDAYS, "from": "08:00", "to": "18:00", "value": 5},
    {"from": "23:30", "to": "00:30", "value": 3},
)


def schedule(zone: str, windows: Sequence[Any] = WINDOWS, otherwise: int = 0) -> dict[str, Any]:
    return {"type": "schedule", "timezone": zone, "windows": list(windows), "otherwise": otherwise}


def minute(text: str) -> int:
    return int(text[:2]) * 60 + int(text[3:])


def painted(windows: Sequence[Any], otherwise: int, first: date, last: date) -> Mapping[date, list[int]]:
    """For each day the value of each minute on the wall, painted over from the last window to the first."""
    days = [first + timedelta(days=count) for count in range((last - first).days + 1)]
    calendar = {day: [otherwise] * 1440 for day in days}
    for window in reversed(windows):
        begin, end = minute(window["from"]), minute(window["to"])
        for day in days:
            every = "days" not in window and "dates" not in window
            if every or DAYS[day.weekday()] in window.get("days", ()) or day.isoformat() in window.get("dates", ()):
                spans = [(day, begin, end)] if begin < end else [(day, begin, 1440), (day + timedelta(days=1), 0, end)]
                for on, since, until in spans:
                    if on in calendar:
                        calendar[on][since:until] = [window["value"]] * (until - since)
    return calendar


@pytest.mark.parametrize("zone", ZONES)
def test_every_minute_of_a_year_is_as_in_the_calendar(zone: str) -> None:
    number, local = parse(schedule(zone)), ZoneInfo(zone)
    calendar = painted(WINDOWS, 0, date(2025, 12, 30), date(2027, 1, 3))
    now, end, wrong = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC), []
    while now < end:
        wall = now.astimezone(local)
        if number.at(now) != calendar[wall.date()][wall.hour * 60 + wall.minute]:
            wrong.append(now)
        now += timedelta(minutes=1)
    assert wrong == []


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-03-02T06:59:59Z", 0),  # Monday in Paris, one second to eight
        ("2026-03-02T07:00:00Z", 5),
        ("2026-03-02T16:59:59Z", 5),
        ("2026-03-02T17:00:00Z", 0),
        ("2026-03-06T20:30:00Z", 9),  # Friday night
        ("2026-03-07T01:14:59Z", 9),  # still Friday's
        ("2026-03-07T01:15:00Z", 0),
        ("2026-03-08T01:00:00Z", 9),  # Saturday's, and before Sunday's own
        ("2026-03-09T00:45:00Z", 0),  # Sunday is over, and had no night
        ("2026-03-29T00:50:00Z", 9),  # an hour before the clocks go forward
        ("2026-03-29T01:00:00Z", 0),  # it is three, and no minute of two came
        ("2026-10-25T00:10:00Z", 9),  # ten past two, the first time
        ("2026-10-25T01:10:00Z", 9),  # ten past two, the second time
        ("2026-12-24T22:59:59Z", 1),
        ("2026-12-24T23:00:00Z", 3),
    ],
)
def test_edges(now: str, expected: int) -> None:
    assert parse(schedule("Europe/Paris")).at(datetime.fromisoformat(now)) == expected


def test_the_first_window_that_matches_wins() -> None:
    both = [{"from": "08:00", "to": "20:00", "value": 1}, {"from": "10:00", "to": "12:00", "value": 2}]
    noon = datetime(2026, 3, 2, 11, tzinfo=UTC)
    assert [parse(schedule("UTC", order)).at(noon) for order in (both, both[::-1])] == [1, 2]


def test_it_needs_no_metric_and_no_present_value() -> None:
    number = parse(schedule("UTC"))
    assert (number.signals(), number.bounds()) == ((), (0, 9))
    assert value(number, None, {}) == 5


_times = st.integers(0, 1439).map(lambda at: f"{at // 60:02}:{at % 60:02}")
_windows = st.lists(
    st.fixed_dictionaries(
        {"from": _times, "to": st.one_of(_times, st.just("24:00")), "value": st.integers(1, 9)},
        optional={"days": st.lists(st.sampled_from(DAYS), min_size=1, unique=True)},
    ).filter(lambda window: window["from"] != window["to"]),
    min_size=1,
    max_size=4,
)


@given(_windows, st.sampled_from(ZONES), st.integers(0, 3 * 1440))
def test_any_windows_are_as_in_their_calendar(windows: Any, zone: str, after: int) -> None:
    now = datetime(2026, 3, 27, tzinfo=UTC) + timedelta(minutes=after)  # around the last Sunday of March
    wall = now.astimezone(ZoneInfo(zone))
    calendar = painted(windows, 0, date(2026, 3, 20), date(2026, 4, 5))
    assert parse(schedule(zone, windows)).at(now) == calendar[wall.date()][wall.hour * 60 + wall.minute]
