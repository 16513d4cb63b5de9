"""One resource per time period: some ahead, some kept, with overrides by phase. A table per month.

What a resource is the period of stands in its key, and its name follows from the format only when it is made: with
another format what exists keeps its name, and is still the resource of its period.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema, model_validator

from policies.action import Trouble
from policies.blueprint import Blueprint, UnfitError
from policies.fitting import Fitted, fit
from policies.frozen import NOTHING, Json, freeze
from policies.grammar import Grammar, brief, mistake
from policies.identity import KEY, tag_value
from policies.items import Items
from policies.leaves import dotted_leaves
from policies.names import Blank
from policies.numbers.number import PropertyObject, Whole
from policies.numbers.schedule import Timezone
from policies.strategy import Decision, Removal, Signal, Strategy
from policies.template import Placeholder, compile_template
from policies.world import Observation, Resource
from strategies.period import (
    Period,
    confusion,
    distance,
    key_of,
    legal_format,
    parse_key,
    pattern_of,
    shift,
    spell,
    start_of,
)
from strategies.phases import Wanted, filled_by, patched

MOST = 1_000
"""Periods ahead: all of them are made."""


def _keep(value: Any) -> Any:
    if value == "all" or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise mistake(f'found {brief(value)}; allowed: a whole number from 0, or "all"')


class Overrides(Grammar):
    """What differs by phase: merged into the properties as RFC 7386, so null leaves a property out."""

    future: PropertyObject | None = None
    current: PropertyObject | None = None
    past: PropertyObject | None = None


class Rotation(Strategy):
    """Want one resource for the current period, and for those ahead; keep the past ones.

    Past periods are kept and never created. What carries the key of a period that this policy does not know (of another
    kind of period, say) is reported and never deleted.
    """

    stand_ins: ClassVar[Mapping[str, Json]] = freeze({"period": "20260101"})

    type: Literal["rotation"]
    period: Period
    timezone: Timezone
    format: Annotated[
        str,
        Field(min_length=1, max_length=64, pattern="^[ -~]*$", description="strftime, and %q for the quarter."),
        AfterValidator(legal_format),
    ]
    ahead: Annotated[Whole, Field(le=MOST, description="Periods after the current one.")]
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
        confused = confusion(self.period, self.format)
        if confused:
            raise mistake(confused)
        return self

    @property
    def roots(self) -> frozenset[str]:
        return frozenset({"period"}) if self.items is None else frozenset({"period", "item"})

    @property
    def forgets(self) -> bool:
        return self.keep != "all"

    def varies_by(self) -> frozenset[str]:
        return self.roots

    def signals(self) -> tuple[Signal, ...]:
        return () if self.items is None else (self.items,)

    def language(self, placeholder: Placeholder) -> Blank:
        if placeholder.root == "item" and self.items is not None:
            field = ".".join(placeholder.path)
            return Blank(self.items.pattern_of(field), self.items.longest(field))
        return Blank(pattern_of(self.format))

    def extra_leaves(self) -> frozenset[str]:
        return frozenset().union(*(dotted_leaves(section) for _, section in self.sections()))

    def sections(self) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Json]]]:
        for phase in Overrides.model_fields:
            if getattr(self.overrides, phase) is not None:
                yield ("overrides", phase), getattr(self.overrides, phase)

    def misfits(self, blueprint: Blueprint) -> Iterator[tuple[tuple[str | int, ...], str]]:
        known = self.items.known if self.items else ()
        told: set[tuple[int, str]] = set()
        for phase in Overrides.model_fields if known is not None else ():
            try:
                fitted = self._fit(blueprint, datetime(2026, 1, 1), phase, known)
            except UnfitError as error:
                yield (), f"in {phase} periods: {error}"
            else:
                new = {(skipped.place, skipped.reason) for skipped in fitted.skipped} - told
                yield from ((("items", "values", place), reason) for place, reason in sorted(new))
                told |= new

    def decide(self, blueprint: Blueprint, seen: Observation, now: datetime) -> Decision:
        here = start_of(self.period, self.timezone, now)
        filled = filled_by(seen)
        wanted = Wanted()
        for start in self._starts(here, filled):
            phase = "past" if start < here else "current" if start == here else "future"
            fitted = self._fit(blueprint, start, phase, seen.signal(self.items) if self.items else ())
            wanted.add(phase, fitted, filled, blueprint.kind)
        removals, troubles = self._rest(seen, wanted, here)
        emptied = self.items is not None and not self.items.allow_empty and not wanted.desired and bool(seen.owned)
        nothing = "no item is usable, and something is owned; set allowEmpty to delete everything"
        return Decision(
            desired=tuple(wanted.desired),
            removals=tuple(removals),
            spared=wanted.spared,
            hold=nothing if emptied else wanted.hold,
            troubles=(*wanted.troubles, *troubles),
            lasting=frozenset(wanted.lasting),
        )

    def _starts(self, here: datetime, filled: Mapping[str, Resource]) -> Sequence[datetime]:
        """The periods that are wanted: those that there are of the past, the current one, those ahead."""
        there = {start for key in filled if (start := self._start(key)) is not None}
        past = sorted(start for start in there if start < here and not self._is_over(start, here))
        return [*past, *(shift(self.period, here, count) for count in range(self.ahead + 1))]

    def _is_over(self, start: datetime, here: datetime) -> bool:
        return isinstance(self.keep, int) and distance(self.period, start, here) > self.keep

    def _start(self, key: str) -> datetime | None:
        """The period of a key, if this policy could have given it."""
        period, slash, _ = key.partition("/")
        return parse_key(self.period, period) if bool(slash) == (self.items is not None) else None

    def _fit(self, blueprint: Blueprint, start: datetime, phase: str, values: Any) -> Fitted:
        """What is wanted of one period, keys included."""
        text, key = spell(start, self.format), key_of(self.period, start)
        over = compile_template(getattr(self.overrides, phase) or NOTHING)
        shaped = replace(blueprint, properties=patched(blueprint.properties, over))
        if self.items is None:
            return Fitted((shaped.render(key, period=text),), (), frozenset())
        fitted = fit(shaped, self.items, values, period=text)
        desired = tuple(replace(one, key=f"{key}/{one.key}") for one in fitted.desired)
        spared = frozenset(f"{key}/{one}" for one in fitted.spared) | fitted.spared
        return replace(fitted, desired=desired, spared=spared)

    def _rest(self, seen: Observation, wanted: Wanted, here: datetime) -> tuple[list[Removal], list[Trouble]]:
        """What becomes of everything else: past its time, without its item, or not ours to judge."""
        removals, troubles = [], []
        meant = {tag_value(key) for key in (*(one.key for one in wanted.desired), *wanted.spared)}
        for resource in sorted(seen.owned, key=lambda resource: resource.id):
            key = (resource.tags or {}).get(KEY, "")
            start = self._start(key)
            if start is None and resource.alive:
                what = f"{resource.name or resource.id} has the key {key!r}, which is no {self.period} of this policy"
                troubles.append(Trouble("Held", "PeriodUnknown", f"{what}: it stays"))
            elif start is not None and key not in meant and resource.name not in wanted.spared:
                removals.append(Removal(resource, self._why(start, here)))
        return removals, troubles

    def _why(self, start: datetime, here: datetime) -> str:
        if self._is_over(start, here):
            return f"its {self.period} is over, and {self.keep} are kept"
        return "further ahead than wanted" if distance(self.period, here, start) > self.ahead else "no longer wanted"
