"""Numbers that move: a literal, a schedule, a target or a band.

All of its grammar is read, so that every mistake in it is told; what is not built yet is refused in `_literal` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import (
    AfterValidator,
    Field,
    PlainValidator,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)

from policies.amount import Amount, AmountField
from policies.duration import Duration
from policies.frozen import Json, freeze, nothing
from policies.grammar import Dispatch, Frozen, Grammar, Some, brief, mistake, nearest

PropertyObject = Annotated[Mapping[str, Any], AfterValidator(freeze)]
"""Properties in CloudFormation's words, as they stand in the policy."""

Quantity = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Bound = Annotated[int, Field(ge=0)]
T = TypeVar("T")
V = TypeVar("V")


# Schedules: what should hold now, so that a missed run or a change of the clocks loses nothing.


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


class Schedule(Grammar, Generic[V]):
    """What should hold now, by the local clock of the zone. The first window that matches wins."""

    supported: ClassVar[bool] = False

    type: Literal["schedule"]
    timezone: Timezone
    windows: Some[Window[V]]
    otherwise: V


# Metrics, and the numbers that follow them.


def _seconds(value: timedelta) -> timedelta:
    seconds = int(value.total_seconds())
    if seconds not in (1, 5, 10, 20, 30) and (seconds == 0 or seconds % 60):
        raise mistake(f"found {seconds}s; allowed: what CloudWatch takes, 1s, 5s, 10s, 20s, 30s or whole minutes")
    return value


def _missing(value: Any) -> Any:
    if value == "hold" or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise mistake(f'found {brief(value)}; allowed: "hold", or the number that counts where nothing was reported')


_STATISTICS = ["Average", "IQM", "Maximum", "Minimum", "SampleCount", "Sum"]
_FINE_STATISTIC = r"(p|tm|wm|tc|ts)[0-9]{1,3}(\.[0-9]{1,10})?|(TM|WM|TC|TS|PR)\([0-9.]*%?:[0-9.]*%?\)"


def _statistic(value: str) -> str:
    if value not in _STATISTICS and not re.fullmatch(_FINE_STATISTIC, value):
        shown = ", ".join(_STATISTICS)
        raise mistake(f"found {value!r}{nearest(value, _STATISTICS)} (allowed: {shown}, or one like p99 or tm90)")
    return value


class Metric(Grammar):
    """One CloudWatch metric. `missing` counts only if the query succeeded and returned nothing."""

    namespace: Annotated[str, Field(min_length=1, max_length=255)]
    name: Annotated[str, Field(min_length=1, max_length=255)]
    dimensions: Annotated[Frozen[str], Field(max_length=30)] = Field(default_factory=nothing)
    statistic: Annotated[str, AfterValidator(_statistic)]
    period: Annotated[Duration, AfterValidator(_seconds)]
    missing: Annotated[
        Literal["hold"] | float,
        PlainValidator(_missing),
        WithJsonSchema({"anyOf": [{"const": "hold"}, {"type": "number"}]}),
    ] = "hold"


def _one_or_more(value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """A single metric is read as itself, so that its mistakes keep their paths."""
    return (Metric.model_validate(value, context=info.context),) if isinstance(value, Mapping) else read(value)


Load = Annotated[Some[Metric], WrapValidator(_one_or_more, json_schema_input_type=Metric | Some[Metric])]


class Recommendation(Grammar):
    """One way to a number: a load shared by units, or an average that should stay where it is."""

    load: Annotated[Load | None, Field(description="A metric, or several, which are added.")] = None
    per_unit: Annotated[Quantity | None, Field(description="The load that one unit can carry.")] = None
    average: Annotated[Metric | None, Field(description="A metric per unit.")] = None
    of: Annotated[Quantity | None, Field(description="Where the average should be.")] = None

    @model_validator(mode="after")
    def _has_one_way(self) -> Recommendation:
        given = {word: getattr(self, name) is not None for name, word in self._ways().items()}
        whole = [ways for ways in _WAYS if all(given.get(word) for word in ways)]
        if len(whole) != 1 or sum(given.values()) != len(whole[0]):
            found = ", ".join(word for word, there in given.items() if there) or "none of them"
            legal = ", ".join(" with ".join(ways) for ways in _WAYS if ways[0] in given)
            raise mistake(f"found {found}; exactly one is needed of: {legal}")
        return self

    @classmethod
    def _ways(cls) -> Mapping[str, str]:
        """The fields that say where the number comes from, and their words."""
        return {"load": "load", "per_unit": "perUnit", "average": "average", "of": "of"}


_WAYS = (("load", "perUnit"), ("average", "of"), ("any",))


class MaxStep(Grammar):
    """The most that one run may add or take away."""

    out: AmountField | None = None
    in_: Annotated[AmountField | None, Field(alias="in")] = None


class Target(Recommendation):
    """As many units as the load asks for."""

    supported: ClassVar[bool] = False

    type: Literal["target"]
    any_: Annotated[Some[Recommendation] | None, Field(alias="any", description="The largest wins.")] = None
    min: Bound
    max: Bound
    scale_in_after: Duration = timedelta(minutes=5)
    tolerance: Annotated[float | None, Field(ge=0, lt=1, description="Default 0 with load, 0.1 with average.")] = None
    max_step: MaxStep = Field(default_factory=MaxStep)

    @model_validator(mode="after")
    def _has_room(self) -> Target:
        _check_bounds(self.min, self.max)
        return self

    @classmethod
    def _ways(cls) -> Mapping[str, str]:
        return {**super()._ways(), "any_": "any"}


def _check_bounds(least: int, most: int) -> None:
    if least > most:
        raise mistake(f"min {least} is above max {most}")


def _moves(step: Amount) -> Amount:
    if step.number == 0:
        raise mistake(f"found {step}; a step is at least 1")
    return step


class _Edge(Grammar):
    for_: Annotated[Duration, Field(alias="for", description="How long it must be outside before a step.")]
    step: Annotated[AmountField, AfterValidator(_moves)]
    cooldown: Duration


class Up(_Edge):
    """When to add a step."""

    above: Annotated[float, Field(allow_inf_nan=False)]


class Down(_Edge):
    """When to take a step away."""

    below: Annotated[float, Field(allow_inf_nan=False)]


class Band(Grammar):
    """Inside the band nothing happens; outside for long enough, one step. With `per` the value is per unit."""

    supported: ClassVar[bool] = False

    type: Literal["band"]
    metric: Metric
    per: Quantity | None = None
    min: Bound
    max: Bound
    up: Up
    down: Down

    @model_validator(mode="after")
    def _is_stable(self) -> Band:
        _check_bounds(self.min, self.max)
        if self.down.below >= self.up.above:
            raise mistake(f"down.below {_plain(self.down.below)} is not under up.above {_plain(self.up.above)}")
        overshoot = next(_overshoots(self), None) if self.per is not None else None
        if overshoot:
            raise mistake(f"{overshoot}: it would swing; take smaller steps, a wider band, or another min")
        return self


def _overshoots(band: Band) -> Iterator[str]:
    """Every step from one edge that lands beyond the other, among the sizes where the steps weigh most."""
    high, low = (Fraction(str(edge)) for edge in (band.up.above, band.down.below))
    first = max(band.min, 1)
    for size in _heavy_sizes(first, band.max, band.down.step):
        larger = min(size + max(1, band.up.step.of(size)), band.max)
        smaller = max(size - max(1, band.down.step.of(size)), first)
        after_up, after_down = high * size / larger, low * size / smaller
        if after_up < low and larger > size:
            taken = f"from {size}, one step of {larger - size} takes {_plain(high)} to {_plain(after_up)}"
            yield f"{taken}, below low {_plain(low)}"
        if after_down > high and smaller < size:
            taken = f"from {size}, one step of {size - smaller} takes {_plain(low)} to {_plain(after_down)}"
            yield f"{taken}, above high {_plain(high)}"


def _heavy_sizes(first: int, last: int, down: Amount) -> Iterator[int]:
    """The smallest sizes, those from which a full step down is just possible, and the largest: a hundred of each.

    In a hundred there is one where a percentage comes without rounding, which is where it weighs most.
    """
    unrounded = max(100 - down.number, 1)
    full = first * 100 // unrounded if down.percent else first + down.number
    runs = (range(start, start + 101) for start in (first, full, max(first, last - 100)))
    yield from sorted({size for run in runs for size in run if size <= last})


def _plain(value: float | Fraction) -> str:
    number = float(value)
    return f"{number:.3g}" if abs(number) < 100 else f"{number:.1f}".removesuffix(".0")


# What stands where a number is expected.


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise mistake(f"found {brief(value)}; allowed: a whole number from 0")
    return value


Whole = Annotated[int, PlainValidator(_whole), WithJsonSchema({"type": "integer", "minimum": 0})]

NUMBERS: Mapping[str, type[Grammar]] = {"schedule": Schedule[Whole], "target": Target, "band": Band}


class NumberDispatch(Dispatch):
    """Reads a whole number as itself, and an object by its type."""

    def __call__(self, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, Mapping | Grammar):
            return super().__call__(value, info)
        if isinstance(value, int) and not isinstance(value, bool):
            return _whole(value)
        legal = ", ".join(sorted(self.legal({})))
        raise mistake(f"found {brief(value)}; allowed: a whole number from 0, or an object with type: {legal}")


def _literal(value: Json) -> int:
    if isinstance(value, int):
        return value
    raise mistake(f"a number of type {value.type!r} is not yet supported; write a whole number")


AnyNumber = Annotated[
    int | Schedule[Whole] | Target | Band, PlainValidator(NumberDispatch("type", "number", lambda _: NUMBERS))
]
"""Every number that the language knows."""

Number = Annotated[
    int,
    PlainValidator(NumberDispatch("type", "number", lambda _: NUMBERS)),
    AfterValidator(_literal),
    WithJsonSchema({"type": "integer", "minimum": 0}),
]
"""Every number that works already: becomes AnyNumber once the others do."""
