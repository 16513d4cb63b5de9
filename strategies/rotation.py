"""One resource per time period: some ahead, some kept, with overrides by phase. A table per month."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice, pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema, model_validator

from policies.blueprint import Blueprint
from policies.errors import RefusedError
from policies.frozen import Json, freeze
from policies.grammar import Grammar, brief, mistake
from policies.items import Items, ItemSource
from policies.names import Blank
from policies.numbers import PropertyObject, Timezone, Whole
from policies.strategy import Decision, Strategy
from policies.template import Placeholder
from policies.world import Observation

Period = Literal["hour", "day", "week", "month", "quarter", "year"]

_STEPS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
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


def _legal_format(text: str) -> str:
    wrong = [found.group() for found in _WORD.finditer(text) if found.group(1) not in _WORDS]
    if wrong:
        shown = ", ".join(f"%{word}" for word in _WORDS)
        raise mistake(f"{wrong[0]!r} is nothing that a format knows (allowed: {shown})")
    return text


def _keep(value: Any) -> Any:
    if value == "all" or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise mistake(f'found {brief(value)}; allowed: a whole number from 0, or "all"')


class Overrides(Grammar):
    """What differs by phase: merged into the properties as RFC 7386."""

    future: PropertyObject | None = None
    current: PropertyObject | None = None
    past: PropertyObject | None = None


class Rotation(Strategy):
    """Want one resource for the current period, and for those ahead; keep the past ones."""

    supported: ClassVar[bool] = False
    stand_ins: ClassVar[Mapping[str, Json]] = freeze({"period": "20260101"})

    type: Literal["rotation"]
    period: Period
    timezone: Timezone
    format: Annotated[
        str,
        Field(min_length=1, max_length=64, pattern="^[ -~]*$", description="strftime, and %q for the quarter."),
        AfterValidator(_legal_format),
    ]
    ahead: Annotated[Whole, Field(description="Periods after the current one.")]
    keep: Annotated[
        Literal["all"] | int,
        PlainValidator(_keep),
        WithJsonSchema({"anyOf": [{"const": "all"}, {"type": "integer", "minimum": 0}]}),
        Field(description="Periods before the current one."),
    ]
    items: Annotated[Items | None, Field(description="One resource per period and item.")] = None
    overrides: Overrides = Field(default_factory=Overrides)

    @model_validator(mode="after")
    def _tells_periods_apart(self) -> Rotation:
        if self.period == "hour" and self.timezone != "UTC":
            raise mistake(f"hours need the timezone 'UTC'; in {self.timezone} one may come twice")
        confusion = _confusion(self.period, self.format)
        if confusion:
            raise mistake(confusion)
        return self

    @property
    def roots(self) -> frozenset[str]:
        return frozenset({"period"}) if self.items is None else frozenset({"period", "item"})

    def varies_by(self) -> frozenset[str]:
        return self.roots

    def signals(self) -> tuple[ItemSource, ...]:
        return () if self.items is None else (self.items,)

    def language(self, placeholder: Placeholder) -> Blank:
        if placeholder.root == "item" and self.items is not None:
            field = ".".join(placeholder.path)
            return Blank(self.items.pattern_of(field), self.items.longest(field))
        return Blank(_pattern(self.format))

    def decide(self, blueprint: Blueprint, seen: Observation, now: datetime) -> Decision:
        raise RefusedError(
            "strategy 'rotation' is not yet supported: its policies do not parse, and nothing is decided"
        )


def _pattern(text: str) -> str:
    """The item pattern of everything that a format renders."""
    pattern, at = "", 0
    for found in _WORD.finditer(text):
        pattern += _literally(text[at : found.start()]) + _WORDS[found.group(1)]
        at = found.end()
    return pattern + _literally(text[at:])


def _literally(text: str) -> str:
    return "".join(char if char.isalnum() or char == " " else f"\\{char}" for char in text)


@lru_cache(maxsize=256)
def _confusion(period: str, text: str) -> str | None:
    """The first two neighbours that a format renders alike or in the wrong order."""
    for before, after in pairwise(islice(_starts(period), _SPAN[period])):
        first, second = _spell(before, text), _spell(after, text)
        if first >= second:
            shown = f"the {period} from {_moment(before)} as {first!r} and the next one as {second!r}"
            return f"format {text!r} renders {shown}; each must differ and sort after the one before (year first)"
    return None


def _starts(period: str) -> Iterator[datetime]:
    """Starts of periods, without end: hours from a month before a new year, the others from Monday, 2018-01-01."""
    start = datetime(2018, 12 if period == "hour" else 1, 1)
    while True:
        yield start
        if period in _STEPS:
            start += _STEPS[period]
        else:
            months = start.year * 12 + start.month - 1 + _MONTHS[period]
            start = start.replace(year=months // 12, month=months % 12 + 1)


def _spell(start: datetime, text: str) -> str:
    return start.strftime(_WORD.sub(lambda found: _quarter(found, start), text))


def _quarter(found: re.Match[str], start: datetime) -> str:
    return str((start.month + 2) // 3) if found.group(1) == "q" else found.group()


def _moment(start: datetime) -> str:
    return f"{start:%Y-%m-%d %H:%M}" if start.hour else f"{start:%Y-%m-%d}"
