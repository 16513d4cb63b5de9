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

from policies.action import Desired, Trouble
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
from policies.template import Placeholder, Template, compile_template
from policies.world import Observation, Resource, State
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
        filled = _filled(seen)
        kept = _Kept()
        for start in self._starts(here, filled):
            phase = "past" if start < here else "current" if start == here else "future"
            fitted = self._fit(blueprint, start, phase, seen.signal(self.items) if self.items else ())
            kept.add(start, phase, fitted, filled, blueprint)
        removals, troubles = self._rest(seen, kept, here)
        emptied = self.items is not None and not self.items.allow_empty and not kept.desired and bool(seen.owned)
        return Decision(
            desired=tuple(kept.desired),
            removals=tuple(removals),
            spared=kept.spared,
            hold="no item is usable, and something is owned; set allowEmpty to delete everything" if emptied else None,
            troubles=(*kept.troubles, *troubles),
            lasting=frozenset(kept.lasting),
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

    def _rest(self, seen: Observation, kept: _Kept, here: datetime) -> tuple[list[Removal], list[Trouble]]:
        """What becomes of everything else: past its time, without its item, or not ours to judge."""
        removals, troubles = [], []
        wanted = {tag_value(one.key) for one in kept.desired} | {tag_value(key) for key in kept.spared}
        for resource in sorted(seen.owned, key=lambda resource: resource.id):
            key = (resource.tags or {}).get(KEY, "")
            start = self._start(key)
            if start is None and resource.alive:
                what = f"{resource.name or resource.id} has the key {key!r}, which is no {self.period} of this policy"
                troubles.append(Trouble("Held", "PeriodUnknown", f"{what}: it stays"))
            elif start is not None and key not in wanted and resource.name not in kept.spared:
                removals.append(Removal(resource, self._why(start, here)))
        return removals, troubles

    def _why(self, start: datetime, here: datetime) -> str:
        if self._is_over(start, here):
            return f"its {self.period} is over, and {self.keep} are kept"
        return "further ahead than wanted" if distance(self.period, here, start) > self.ahead else "no longer wanted"


class _Kept:
    """What is wanted of all periods."""

    def __init__(self) -> None:
        self.desired: list[Desired] = []
        self.lasting: list[str] = []
        self.spared: frozenset[str] = frozenset()
        self._skipped: dict[str, Trouble] = {}

    @property
    def troubles(self) -> tuple[Trouble, ...]:
        return tuple(self._skipped.values())

    def add(
        self, start: datetime, phase: str, fitted: Fitted, filled: Mapping[str, Resource], blueprint: Blueprint
    ) -> None:
        """Past ones only where they exist; what exists keeps its name, and past ones what they were born with."""
        self.spared |= fitted.spared
        for skipped in fitted.skipped:
            self._skipped.setdefault(str(skipped), Trouble("Degraded", "ItemSkipped", str(skipped)))
        for one in fitted.desired:
            there = filled.get(tag_value(one.key))
            if there is None and phase != "past":
                self.desired.append(one)
            elif there is not None:
                self.desired.append(_named(one, there, blueprint, phase))
                self.lasting += [one.key] if phase == "past" else []


def _filled(seen: Observation) -> Mapping[str, Resource]:
    """By the key in their tags, what is owned."""
    there = (one for one in sorted(seen.owned, key=lambda one: one.id) if one.state is not State.DEAD)
    return {(one.tags or {}).get(KEY, ""): one for one in there}


def _named(one: Desired, there: Resource, blueprint: Blueprint, phase: str) -> Desired:
    """The desired resource under the name that exists; of the past without what only a new resource could have."""
    kind, properties = blueprint.kind, dict(one.properties)
    if phase == "past":
        properties = {word: value for word, value in properties.items() if not kind.create_only(word)}
    parts = (there.name or "").split("/", len(kind.identifiers) - 1) if kind.named else []
    named = {word: part for word, part in zip(kind.identifiers, parts, strict=False) if word in one.properties}
    return replace(one, name=there.name if kind.named else one.name, properties=freeze(properties | named), spec="")


def patched(target: Template, patch: Template) -> Template:
    """RFC 7386: objects are merged, null takes a member away, everything else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    under = dict(target) if isinstance(target, Mapping) else {}
    for word, value in patch.items():
        if value is None:
            under.pop(word, None)
        else:
            under[word] = patched(under.get(word), value)
    return freeze(under)
