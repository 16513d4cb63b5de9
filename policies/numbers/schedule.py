"""Schedules: what should hold now, so that a missed run or a change of the clocks loses nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Generic, Literal, TypeVar
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema, model_validator

from policies.grammar import Grammar, Some, brief, mistake, nearest
from policies.numbers.number import Number, Whole
from policies.world import Observation

V = TypeVar("V")


@cache
def _zones() -> frozenset[str]:
    """What tzdata ships, not what this machine has: a document means the same everywhere."""
    return frozenset(files("tzdata").joinpath("zones").read_text("utf-8").split())


def _zone(name: str) -> str:
    if name not in _zones():
        raise mistake(f"{name!r} is no IANA time zone{nearest(name, sorted(_zones()))}")
    return name


Timezone = Annotated[str, AfterValidator(_zone)]
"""The name of an IANA time zone: "Europe/Berlin", "UTC"."""


@cache
def zone_of(name: Timezone) -> ZoneInfo:
    """The rules of a zone, from tzdata as well: machines disagree on them."""
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as rules:
        return ZoneInfo.from_file(rules, key=name)


def _clock(value: Any) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]|24:00", value):
        raise mistake(f'found {brief(value)}; allowed: a time of day from "00:00" to "24:00"')
    return int(value[:2]) * 60 + int(value[3:])


_CLOCK_SCHEMA = WithJsonSchema({"type": "string", "pattern": r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"})
Clock = Annotated[int, PlainValidator(_clock), _CLOCK_SCHEMA]
"""A time on the clock on the wall, in minutes since midnight."""


def _date(value: Any) -> date:
    try:
        if isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            return date.fromisoformat(value)
    except ValueError:  # looks like a date, and is none
        pass
    raise mistake(f'found {brief(value)}; allowed: a date of the calendar, such as "2026-12-24"')


DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
Date = Annotated[date, PlainValidator(_date), WithJsonSchema({"type": "string", "format": "date"})]


class Window(Grammar, Generic[V]):
    """Part of some days, and the value that holds in it. No `days` and no `dates`: every day; both: either."""

    days: Some[Day] | None = None
    dates: Some[Date] | None = None
    from_: Annotated[Clock, Field(alias="from", description="Inclusive; later than `to`: crosses midnight.")]
    to: Annotated[Clock, Field(description='Exclusive; "24:00" is the end of the day.')]
    value: V

    @model_validator(mode="after")
    def _lasts(self) -> Window[V]:
        if self.from_ == self.to:
            raise mistake('from and to are equal; for the whole day write "00:00" and "24:00"')
        if self.from_ == 24 * 60:
            raise mistake('from "24:00" is the next day; write "00:00", and name that day')
        return self

    def holds(self, today: date, minute: int) -> bool:
        """Whether it is now; what crosses midnight belongs to the day on which it began."""
        if self.from_ < self.to:
            return self.from_ <= minute < self.to and self._is_on(today)
        if minute >= self.from_:
            return self._is_on(today)
        return minute < self.to and self._is_on(today - timedelta(days=1))

    def _is_on(self, day: date) -> bool:
        if self.days is None and self.dates is None:
            return True
        return DAYS[day.weekday()] in (self.days or ()) or day in (self.dates or ())


class Schedule(Grammar, Generic[V]):
    """What should hold now, by the local clock of the zone. The first window that matches wins."""

    type: Literal["schedule"]
    timezone: Timezone
    windows: Some[Window[V]]
    otherwise: V

    def at(self, now: datetime) -> V:
        """What should hold at a moment. An hour that comes twice counts twice, one that is skipped never comes."""
        local = now.astimezone(zone_of(self.timezone))
        today, minute = local.date(), local.hour * 60 + local.minute
        return next((window.value for window in self.windows if window.holds(today, minute)), self.otherwise)

    def values(self) -> Iterator[tuple[tuple[str | int, ...], V]]:
        """Every value that it can have, with its place."""
        yield from ((("windows", place, "value"), window.value) for place, window in enumerate(self.windows))
        yield ("otherwise",), self.otherwise


class WholeSchedule(Schedule[Whole], Number):
    """What should hold now, by the local clock of the zone. The first window that matches wins."""

    def bounds(self) -> tuple[int, int]:
        found = [value for _, value in self.values()]
        return min(found), max(found)

    def value(self, present: int | None, seen: Observation, now: datetime) -> int:
        return self.at(now)
