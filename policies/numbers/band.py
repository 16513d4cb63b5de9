"""A band: inside it nothing happens; outside for long enough, one step.

Which steps were due is found again from the metric's history, since nothing remembers that they were made. A moment is
*ripe* in a direction if the tested value was outside for the whole of `for` before it. Steps are due

- at the first ripe moment of a run of points outside, unless another moment at which a step could have been due lies
  less than a cooldown before it; and
- at each ripe multiple of the cooldown since the epoch, unless a step of the first sort was due less than a cooldown
  before it.

Every two steps in one direction are therefore at least a cooldown apart, and so are the first and the last of up, down
and up again: it never reverses twice within a cooldown. Whether a step is due at a moment depends on the metric
between two cooldowns and `for` before it and that moment, and on nothing else. So it does not matter when the window of
history begins, and a lost tick costs a step of its own (the next one comes a cooldown later, or two) and never doubles
one.

With `per` the tested value depends on the size, and the sizes of the past are unknown: all of history is tested with
the present one. A step changes it, and with it which runs there seem to have been. The multiples of the cooldown stay
where they are, so with `per` only they count: no two steps can be closer.

CloudWatch shows a point some minutes late. A step is made `LAG` after it was due, in the tick whose minute that is,
when everything it rests on has arrived. Times count in whole periods of the metric: `for` and cooldowns are rounded up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from policies.amount import Amount, AmountField
from policies.duration import Duration
from policies.grammar import Grammar, mistake
from policies.numbers.metric import LAG, Answer, Failed, Metric, MetricQuery, Series, answer
from policies.numbers.number import Bound, Hold, Number, Quantity
from policies.numbers.target import TICK, check_bounds
from policies.world import Observation

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _moves(step: Amount) -> Amount:
    if step.number == 0:
        raise mistake(f"found {step}; a step is at least 1")
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
            raise mistake(f"down.below {_plain(self.down.below)} is not under up.above {_plain(self.up.above)}")
        overshoot = next(_overshoots(self), None) if self.per is not None else None
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
        """Whether a step is due in this tick: see the top of the file."""
        period, cooldown = self.metric.period, self._cooldown(edge)
        enough = max(1, _periods(edge.for_, period))
        streaks = _streaks(values, outside)

        def is_first(moment: int) -> bool:
            return streaks.get(moment, 0) == enough

        def is_ripe_multiple(moment: int) -> bool:
            return moment % cooldown == 0 and streaks.get(moment, 0) >= enough

        def starts(moment: int) -> bool:
            before = range(moment - cooldown + 1, moment)
            return is_first(moment) and not any(is_first(one) or is_ripe_multiple(one) for one in before)

        def is_due(moment: int) -> bool:
            if self.per is not None:
                return is_ripe_multiple(moment)
            before = range(moment - cooldown + 1, moment)
            return starts(moment) or (is_ripe_multiple(moment) and not any(map(starts, before)))

        begin = _minute(now) - LAG - _EPOCH
        return any(map(is_due, range(-(-begin // period), -(-(begin + TICK) // period))))


def _streaks(values: Mapping[int, float], outside: Callable[[float], bool]) -> Mapping[int, int]:
    """By moment, how many periods in a row before it were outside; only where there were some."""
    streaks: dict[int, int] = {}
    for moment in sorted(values):
        if outside(values[moment]):
            streaks[moment + 1] = streaks.get(moment, 0) + 1
    return streaks


def _periods(span: timedelta, period: timedelta) -> int:
    """Rounded up."""
    return -(-span // period)


def _minute(now: datetime) -> datetime:
    return now.replace(second=0, microsecond=0)


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
