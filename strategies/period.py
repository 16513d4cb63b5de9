"""Periods of time on the calendar of a zone: hours, days, ISO weeks, months, quarters and years.

A period is its kind and the local time at which it starts. Its key (`month:2026-11`) says both, whatever the format of
names is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice, pairwise
from typing import Literal

from policies.grammar import mistake
from policies.numbers.schedule import Timezone, zone_of

Period = Literal["hour", "day", "week", "month", "quarter", "year"]

_STEPS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_KEYS = {
    "hour": "%Y-%m-%dT%H",
    "day": "%Y-%m-%d",
    "week": "%Y-%m-%d",
    "month": "%Y-%m",
    "quarter": "%Y-%m",
    "year": "%Y",
}
_SPAN = {"hour": 1_500, "day": 1_500, "week": 530, "month": 130, "quarter": 50, "year": 30}
"""Periods in a row that a format has to tell apart: past the end of every larger one, and through odd years."""

_TWO = "[0-9][0-9]"
_WORDS = {
    "Y": _TWO + _TWO,
    "G": _TWO + _TWO,
    "y": _TWO,
    "m": "(0[1-9]|1[0-2])",
    "d": "(0[1-9]|[12][0-9]|3[01])",
    "j": "[0-3]" + _TWO,
    "H": "([01][0-9]|2[0-3])",
    "I": "(0[1-9]|1[0-2])",
    "p": "(AM|PM)",
    "M": "00",
    "S": "00",
    "V": "[0-5][0-9]",
    "U": "[0-5][0-9]",
    "W": "[0-5][0-9]",
    "u": "[1-7]",
    "w": "[0-6]",
    "q": "[1-4]",
    "a": "(Mon|Tue|Wed|Thu|Fri|Sat|Sun)",
    "A": "(Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)",
    "b": "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)",
    "B": "(January|February|March|April|May|June|July|August|September|October|November|December)",
    "%": "%",
}
"""What each word of a format may become, as item patterns. Words that depend on machine, place or zone are left out."""

_WORD = re.compile(r"%(.?)")


def start_of(period: str, zone: Timezone, now: datetime) -> datetime:
    """The local start of the period that it is now in the zone; without offset, since a start has only one name."""
    local = now.astimezone(zone_of(zone)).replace(tzinfo=None, minute=0, second=0, microsecond=0)
    if period == "hour":
        return local
    day = local.replace(hour=0)
    if period == "day":
        return day
    if period == "week":
        return day - timedelta(days=day.weekday())
    months = _MONTHS[period]
    return day.replace(day=1, month=(day.month - 1) // months * months + 1)


def shift(period: str, start: datetime, count: int) -> datetime:
    """The start of the period so many later (earlier, if negative)."""
    if period in _STEPS:
        return start + count * _STEPS[period]
    months = start.year * 12 + start.month - 1 + count * _MONTHS[period]
    return start.replace(year=months // 12, month=months % 12 + 1)


def distance(period: str, start: datetime, end: datetime) -> int:
    """How many periods lie from one start to another."""
    if period in _STEPS:
        return (end - start) // _STEPS[period]
    return ((end.year - start.year) * 12 + end.month - start.month) // _MONTHS[period]


def key_of(period: str, start: datetime) -> str:
    """`month:2026-11`; a week goes by its Monday, a quarter by its first month."""
    return f"{period}:{start:{_KEYS[period]}}"


def parse_key(period: str, key: str) -> datetime | None:
    """The start that a key of this kind of period names; None for every other text."""
    kind, _, text = key.partition(":")
    try:
        start = datetime.strptime(text, _KEYS[period]) if kind == period else None
    except ValueError:
        return None
    return start if start and key_of(period, start) == key else None


def legal_format(text: str) -> str:
    """The format, if every word of it has a meaning."""
    wrong = [found.group() for found in _WORD.finditer(text) if found.group(1) not in _WORDS]
    if wrong:
        shown = ", ".join(f"%{word}" for word in _WORDS)
        raise mistake(f"{wrong[0]!r} is nothing that a format knows (allowed: {shown})")
    return text


def pattern_of(text: str) -> str:
    """The item pattern of everything that a format renders."""
    pattern, at = "", 0
    for found in _WORD.finditer(text):
        pattern += _literally(text[at : found.start()]) + _WORDS[found.group(1)]
        at = found.end()
    return pattern + _literally(text[at:])


def _literally(text: str) -> str:
    return "".join(char if char.isalnum() or char == " " else f"\\{char}" for char in text)


@lru_cache(maxsize=256)
def confusion(period: str, text: str) -> str | None:
    """The first two neighbours that a format renders alike or in the wrong order."""
    for before, after in pairwise(islice(_starts(period), _SPAN[period])):
        first, second = spell(before, text), spell(after, text)
        if first >= second:
            shown = f"the {period} from {_moment(before)} as {first!r} and the next one as {second!r}"
            return f"format {text!r} renders {shown}; each must differ and sort after the one before (year first)"
    return None


def _starts(period: str) -> Iterator[datetime]:
    """Starts of periods, without end: hours from a month before a new year, the others from Monday, 2018-01-01."""
    start = datetime(2018, 12 if period == "hour" else 1, 1)
    while True:
        yield start
        start = shift(period, start, 1)


def spell(start: datetime, text: str) -> str:
    """A period in a format: strftime, and %q for the quarter."""
    return start.strftime(_WORD.sub(lambda found: _quarter(found, start), text))


def _quarter(found: re.Match[str], start: datetime) -> str:
    return str((start.month + 2) // 3) if found.group(1) == "q" else found.group()


def _moment(start: datetime) -> str:
    return f"{start:%Y-%m-%d %H:%M}" if start.hour else f"{start:%Y-%m-%d}"
