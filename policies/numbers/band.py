"""A band: inside it nothing happens; outside for long enough, one step.

When a step is due is found in the metric's history (`steps.py`), since nothing remembers the last one. With `per` the
tested value depends on the size, and the sizes of the past are unknown: all of history is tested with the present one.
A step changes that, and with it which runs there seem to have been; only the multiples of the cooldown stay where they
are, so with `per` only they count, and no two steps can be closer.

CloudWatch shows a point some minutes late. A step is made `LAG` after it was due, in the tick whose minute that is,
when everything it rests on has arrived. Times count in whole periods of the metric: `for` and cooldowns are rounded up.
A second run within the minute of a step would make it again: the size has moved, and nothing says by whom.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from policies.amount import Amount, AmountField
from policies.duration import Duration
from policies.grammar import Grammar, mistake
from policies.numbers.metric import LAG, Answer, Failed, Metric, MetricQuery, Series, answer
from policies.numbers.number import Bound, Hold, Number, Quantity, check_bounds
from policies.numbers.stability import overshoots, plain
from policies.numbers.steps import Steps, streaks
from policies.world import Observation

TICK = timedelta(minutes=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _moves(step: Amount) -> Amount:
    if step.number == 0:
        raise mistake(f'found {step}; allowed: a whole number from 1, or "1%" to "100%"')
    return step


def _lasts(span: timedelta) -> timedelta:
    if not span:
        raise mistake("found 0s; a cooldown is at least 1s, or it would step with every point")
    return span


class _Edge(Grammar):
    for_: Annotated[Duration, Field(alias="for", description="How long it must be outside before a step.")]
    step: Annotated[AmountField, AfterValidator(_moves)]
    cooldown: Annotated[Duration, AfterValidator(_lasts)]

    def of(self, size: int) -> int:
        """The step from a size, at least 1."""
        return max(1, self.step.of(size))


class Up(_Edge):
    """When to add a step."""

    above: Annotated[float, Field(allow_inf_nan=False)]


class Down(_Edge):
    """When to take a step away."""

    below: Annotated[float, Field(allow_inf_nan=False)]


class Band(Number):
    """Inside the band nothing happens; outside for long enough, one step. With `per` the value is per unit."""

    type: Literal["band"]
    metric: Metric
    per: Quantity | None = None
    min: Bound
    max: Bound
    up: Up
    down: Down

    @model_validator(mode="after")
    def _is_stable(self) -> Band:
        check_bounds(self.min, self.max)
        if self.down.below >= self.up.above:
            raise mistake(f"down.below {plain(self.down.below)} is not under up.above {plain(self.up.above)}")
        edges = (self.up.above, self.down.below, self.up.step, self.down.step)
        overshoot = None if self.per is None else next(overshoots(*edges, (self.min, self.max)), None)
        if overshoot:
            raise mistake(f"{overshoot}: it would swing; take smaller steps, a wider band, or another min")
        return self

    def bounds(self) -> tuple[int, int]:
        return self.min, self.max

    def signals(self) -> tuple[MetricQuery, ...]:
        return (self._query,)

    @property
    def _query(self) -> MetricQuery:
        period = self.metric.period
        back = max(_periods(edge.for_, period) + 2 * self._cooldown(edge) for edge in (self.up, self.down))
        return MetricQuery(self.metric, (back + 2) * period + LAG + TICK)

    def _cooldown(self, edge: Up | Down) -> int:
        """In periods, and in whole ticks: between two ticks nothing can be made."""
        unit = max(self.metric.period, TICK)
        return _periods(edge.cooldown, unit) * (unit // self.metric.period)

    def value(self, present: int | None, seen: Observation, now: datetime) -> int | Hold:
        if present is None:
            return Hold("the present size is not known")
        base, found = min(max(present, self.min), self.max), answer(self._query, seen)
        unknown = self._unknown(found)
        if unknown or not isinstance(found, Series):
            return unknown if unknown and base == present else base
        values = {moment: self._tested(value, present) for moment, value in self._points(found, now).items()}
        if self._is_due(self.up, values, lambda value: value > self.up.above, now):
            return min(base + self.up.of(base), self.max)
        if self._is_due(self.down, values, lambda value: value < self.down.below, now):
            return max(base - self.down.of(base), self.min)
        return base

    def _unknown(self, found: Answer) -> Hold | None:
        if isinstance(found, Failed):
            return Hold(f"the metric could not be read: {self.metric}: {found.reason}", failed=True)
        silent = not found.points and self.metric.missing == "hold"
        return Hold(f"nothing is reported of {self.metric}") if silent else None

    def _tested(self, value: float, present: int) -> float:
        """The value that is tested: with `per`, shared by the units that there are now."""
        if self.per is None:
            return value
        return value / (self.per * present) if present else float("inf") if value > 0 else 0.0

    def _points(self, found: Series, now: datetime) -> Mapping[int, float]:
        """The value of each period, counted since the epoch; what is missing has the value that `missing` gives."""
        period = self.metric.period
        points = {(start - _EPOCH) // period: value for start, value in found.points}
        if isinstance(self.metric.missing, int | float):
            first, last = now - self._query.window, _minute(now) + TICK - LAG
            for moment in range((first - _EPOCH) // period + 1, (last - _EPOCH) // period):
                points.setdefault(moment, self.metric.missing)
        return points

    def _is_due(
        self, edge: Up | Down, values: Mapping[int, float], outside: Callable[[float], bool], now: datetime
    ) -> bool:
        period = self.metric.period
        steps = Steps(streaks(values, outside), max(1, _periods(edge.for_, period)), self._cooldown(edge))
        begin = _minute(now) - LAG - _EPOCH
        this_tick = range(-(-begin // period), -(-(begin + TICK) // period))
        return any(map(steps.is_due if self.per is None else steps.is_ripe_multiple, this_tick))


def _periods(span: timedelta, period: timedelta) -> int:
    """Rounded up."""
    return -(-span // period)


def _minute(now: datetime) -> datetime:
    return now.replace(second=0, microsecond=0)
