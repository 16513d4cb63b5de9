"""Where a number wants its metric to be: what is measured while it is replayed. The rules are the number's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Protocol

from policies.numbers.band import Band
from policies.numbers.metric import Metric
from policies.numbers.number import Number
from policies.numbers.recommendation import Recommendation
from policies.numbers.target import Target

Values = Mapping[str, float | None]
"""By the name of a metric, what it shows now."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The value that is watched (None: there is no unit that could have one), and on which side it is outside."""

    value: float | None
    above: bool
    below: bool


class Gauge(Protocol):
    """What is watched, and between which edges it should be."""

    @property
    def title(self) -> str: ...
    @property
    def edges(self) -> tuple[float, float]: ...
    def read(self, values: Values, size: int) -> Reading | None:
        """Where it is; None while that is unknown."""


def name_of(metric: Metric) -> str:
    """One name for one metric and statistic."""
    return f"{metric} {metric.statistic} {int(metric.period.total_seconds())}s"


def gauge_of(number: int | Number) -> Gauge | None:
    """How well a number does can be measured where it has edges; a literal and a schedule have none."""
    if isinstance(number, Band):
        return _BandGauge(number)
    return _TargetGauge(number) if isinstance(number, Target) else None


def loads_of(number: int | Number) -> Iterator[Metric]:
    """The metrics that the number shares among its units itself: no plant has to."""
    if isinstance(number, Band) and number.per is not None:
        yield number.metric
    if isinstance(number, Target):
        for way in number.any_ or (number,):
            yield from way.load or ()


@dataclass(frozen=True, slots=True)
class _BandGauge:
    band: Band

    @property
    def title(self) -> str:
        return self.band.metric.name + ("" if self.band.per is None else " per unit")

    @property
    def edges(self) -> tuple[float, float]:
        return self.band.down.below, self.band.up.above

    def read(self, values: Values, size: int) -> Reading | None:
        value, (low, high) = values[name_of(self.band.metric)], self.edges
        if value is None:
            return None
        if self.band.per is not None:
            if not size:
                return Reading(None, value > 0, below=False)
            value /= self.band.per * size
        return Reading(value, value > high, value < low)


@dataclass(frozen=True, slots=True)
class _TargetGauge:
    target: Target

    @property
    def title(self) -> str:
        if self.target.any_:
            return "share of the goal"
        names = " + ".join(metric.name for metric in self.target.metrics)
        return f"{names} per unit" if self.target.load else names

    @property
    def edges(self) -> tuple[float, float]:
        goal = 1.0 if self.target.any_ else _goal(self.target)
        slack = self.target.tolerance
        if slack is None:
            slack = 0.0 if self._ways()[0].load else 0.1
        return goal * (1 - slack), goal * (1 + slack)

    def _ways(self) -> Sequence[Recommendation]:
        return self.target.any_ or (self.target,)

    def read(self, values: Values, size: int) -> Reading | None:
        found = [(way, total) for way in self._ways() if (total := _total(way, values)) is not None]
        if not found:
            return None
        needed = max(size if (units := self._units(way, total, size)) is None else units for way, total in found)
        shown = [_shown(way, total, size) / (_goal(way) if self.target.any_ else 1) for way, total in found if size]
        return Reading(max(shown, default=None), needed > size, needed < size)

    def _units(self, way: Recommendation, total: float, size: int) -> int | None:
        return way.units(total, size, self.target.tolerance)


def _total(way: Recommendation, values: Values) -> float | None:
    found = [values[name_of(metric)] for metric in way.metrics]
    return None if None in found else fsum(value for value in found if value is not None)


def _goal(way: Recommendation) -> float:
    return (way.per_unit if way.load else way.of) or 1.0


def _shown(way: Recommendation, total: float, size: int) -> float:
    return total / size if way.load else total
