"""As many units as the load asks for: Kubernetes' horizontal autoscaler, without its memory.

The rules are HPA's (`pkg/controller/podautoscaler`, KEP-853), computed from what CloudWatch remembers:

- A size outside min..max is brought inside whatever the metrics say: clamping comes before tolerance and holding.
- `average` wants `ceil(present * metric / of)`, `load` wants `ceil(load / perUnit)`.
- While the ratio is within `tolerance` of 1 the present size is right.
- Scaling out happens at once. Scaling in goes to the highest recommendation of the last `scaleInAfter`, which HPA
  keeps in memory; here each is computed again, minute by minute. For an `average` the size of those minutes is unknown
  and the present one stands in: after a step out that overstates the past, which delays a scale-in and causes none.
- Of several ways the largest wins. One that is unknown forbids scaling in and permits scaling out.

Numbers are compared as the decimals that people read: what floating point could make of an integer is that integer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, WrapValidator, model_validator

from policies.amount import AmountField
from policies.duration import Duration
from policies.grammar import Grammar, Some, mistake
from policies.numbers.metric import Failed, Metric, MetricQuery, answer, reach, readings
from policies.numbers.number import Bound, Hold, Number, Quantity
from policies.world import Observation

TICK = timedelta(minutes=1)

_NOISE = Fraction(1, 10**12)
"""Relative; a float errs by a ten-thousandth of that."""


def exact(value: float) -> Fraction:
    """The decimal that a float is written as."""
    return Fraction(str(value))


def round_up(value: Fraction) -> int:
    """The smallest integer that is not below, but for what is a rounding error above one."""
    nearest = round(value)
    return nearest if abs(value - nearest) <= _NOISE * max(1, abs(nearest)) else math.ceil(value)


def check_bounds(least: int, most: int) -> None:
    if least > most:
        raise mistake(f"min {least} is above max {most}")


def _one_or_more(value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """A single metric is read as itself, so that its mistakes keep their paths."""
    return (Metric.model_validate(value, context=info.context),) if isinstance(value, Mapping) else read(value)


Load = Annotated[Some[Metric], WrapValidator(_one_or_more, json_schema_input_type=Metric | Some[Metric])]
_WAYS = (("load", "perUnit"), ("average", "of"), ("any",))


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

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return self.load or ((self.average,) if self.average else ())

    def units(self, value: float, present: int, tolerance: float | None) -> int | None:
        """How many units the value asks for; None: as many as there are. Before clamping."""
        if self.load:
            wanted, slack = exact(value) / exact(self.per_unit or 1), tolerance or 0
            ratio = wanted / present if present else None
        else:
            ratio = exact(value) / exact(self.of or 1)
            wanted, slack = present * ratio, 0.1 if tolerance is None else tolerance
        near = ratio is not None and abs(1 - ratio) <= exact(slack)
        return None if near else round_up(wanted)


class MaxStep(Grammar):
    """The most that one run may add or take away."""

    out: AmountField | None = None
    in_: Annotated[AmountField | None, Field(alias="in")] = None


@dataclass(frozen=True, slots=True)
class _View:
    """What one way says: now, and at most since `scaleInAfter` ago. None: unknown, for the reason."""

    now: int | None
    most: int | None
    unknown: Hold | None = None


class Target(Recommendation, Number):
    """As many units as the load asks for."""

    type: Literal["target"]
    any_: Annotated[Some[Recommendation] | None, Field(alias="any", description="The largest wins.")] = None
    min: Bound
    max: Bound
    scale_in_after: Duration = timedelta(minutes=5)
    tolerance: Annotated[float | None, Field(ge=0, lt=1, description="Default 0 with load, 0.1 with average.")] = None
    max_step: MaxStep = Field(default_factory=MaxStep)

    @model_validator(mode="after")
    def _has_room(self) -> Target:
        check_bounds(self.min, self.max)
        if self.min == 0 and self.max > 0 and not any(way.load for way in self._each()):
            raise mistake("min 0 with an average could never be left, since nothing has an average; write at least 1")
        return self

    @classmethod
    def _ways(cls) -> Mapping[str, str]:
        return {**super()._ways(), "any_": "any"}

    def _each(self) -> Sequence[Recommendation]:
        return self.any_ or (self,)

    def bounds(self) -> tuple[int, int]:
        return self.min, self.max

    def signals(self) -> tuple[MetricQuery, ...]:
        found = (self._query(metric) for way in self._each() for metric in way.metrics)
        return tuple({query.signal_key: query for query in found}.values())

    def _query(self, metric: Metric) -> MetricQuery:
        return MetricQuery(metric, reach(metric, self.scale_in_after))

    def value(self, present: int | None, seen: Observation, now: datetime) -> int | Hold:
        if present is None:
            return Hold("the present size is not known")
        base = self._clamp(present)
        views = [self._view(way, present, seen, now) for way in self._each()]
        wanted = max((view.now for view in views if view.now is not None), default=base)
        if wanted > base:
            return min(wanted, base + self._most_out(base))
        unknown = next((view.unknown for view in views if view.unknown and (view.now is None or wanted < base)), None)
        if unknown:
            return unknown if base == present else base
        most = max(view.most for view in views if view.most is not None)
        return max(min(base, most), base - self._most_in(base))

    def _view(self, way: Recommendation, present: int, seen: Observation, now: datetime) -> _View:
        failed = next((f"{one}: {why}" for one in way.metrics if (why := self._failure(one, seen))), None)
        if failed:
            return _View(None, None, Hold(f"the metric could not be read: {failed}", failed=True))
        values = list(self._values(way, seen, now))
        names, known = ", ".join(map(str, way.metrics)), [value for value in values if value is not None]
        if values[-1] is None:
            return _View(None, None, Hold(f"nothing is reported of {names}"))
        gap = None if len(known) == len(values) else Hold(f"not all of scaleInAfter is known of {names}")
        return _View(self._units(way, values[-1], present), self._units(way, max(known), present), gap)

    def _failure(self, metric: Metric, seen: Observation) -> str | None:
        found = answer(self._query(metric), seen)
        return found.reason if isinstance(found, Failed) else None

    def _values(self, way: Recommendation, seen: Observation, now: datetime) -> Iterator[float | None]:
        """What each tick of the last `scaleInAfter` knew, this one last: several metrics are added."""
        back = int(self.scale_in_after / TICK)
        moments = [now - TICK * minutes for minutes in range(back, -1, -1)]
        found = (readings(one, answer(self._query(one), seen), moments) for one in way.metrics)  # type: ignore[arg-type]
        for values in zip(*found, strict=True):
            yield None if None in values else math.fsum(values)

    def _units(self, way: Recommendation, value: float, present: int) -> int:
        units = way.units(value, present, self.tolerance)
        return self._clamp(present if units is None else units)

    def _clamp(self, size: int) -> int:
        return min(max(size, self.min), self.max)

    def _most_out(self, base: int) -> int:
        return self.max - base if self.max_step.out is None else self.max_step.out.of(base)

    def _most_in(self, base: int) -> int:
        return base - self.min if self.max_step.in_ is None else self.max_step.in_.of(base)
