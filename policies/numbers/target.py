"""As many units as the load asks for: Kubernetes' horizontal autoscaler, without its memory.

The rules are HPA's (`pkg/controller/podautoscaler`, KEP-853), computed from what CloudWatch remembers:

- A size outside min..max is brought inside whatever the metrics say: clamping comes before tolerance and holding.
- `average` wants `ceil(present * metric / of)`, `load` wants `ceil(load / perUnit)`.
- While the ratio is within `tolerance` of 1 the present size is right.
- Scaling out happens at once. Scaling in goes to the highest recommendation of the last `scaleInAfter`, which HPA
  keeps in memory; here each is computed again, minute by minute. For an `average` the size of those minutes is unknown
  and the present one stands in: after a step out that overstates the past, which delays a scale-in and causes none.
- Of several ways the largest wins. One that is unknown forbids scaling in and permits scaling out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field, model_validator

from policies.amount import AmountField
from policies.duration import Duration
from policies.grammar import Grammar, Some, mistake
from policies.numbers.metric import Failed, Metric, MetricQuery, answer, reach, readings
from policies.numbers.number import Bound, Hold, Number, check_bounds
from policies.numbers.recommendation import Recommendation
from policies.world import Observation

TICK = timedelta(minutes=1)


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
