"""What CloudWatch would have answered: one query, as the simulated clock goes on.

Points are summed up in periods as CloudWatch does, and one is there when its period is over. Of the past only the
window of the query is kept, so a tick costs as much as its window is long, and a year as little memory as an hour.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil, fsum
from statistics import fmean
from typing import TypeAlias

from handler.simulation.history import Column
from policies.duration import render
from policies.numbers.metric import MetricQuery, Series

Response: TypeAlias = Callable[[float, int], float | None]
"""What the metric shows, of what was recorded and the size at that time; None: nothing is reported."""


def as_recorded(value: float, _: int) -> float:
    """Open loop: the metric does not feel the size."""
    return value


def load_on(capacity: float) -> Response:
    """Closed loop: the recorded load is shared by the units. `capacity` is the load at which one unit shows 1."""
    return lambda load, size: load / (size * capacity) if size else None


class Feed:
    """The points of one query that are known at a moment."""

    def __init__(self, query: MetricQuery, column: Column, response: Response = as_recorded) -> None:
        self._query, self._column, self._response = query, column, response
        self._period = int(query.metric.period.total_seconds())
        self._fresh = max(self._period, column.step)
        self._place, self._start = 0, 0
        self._open: list[float] = []
        self._points: deque[tuple[datetime, float]] = deque()

    @property
    def responds(self) -> bool:
        """Whether it feels the size."""
        return self._response is not as_recorded

    def gaps(self) -> Iterator[str]:
        """What is to be known of a history that is too coarse."""
        if self._column.step > self._period:
            found, name = timedelta(seconds=self._column.step), self._query.metric.name
            period = render(self._query.metric.period)
            yield f"the history has a point of {name} every {render(found)}, each for {period}: between them are gaps"

    def advance(self, now: datetime, size: int) -> Series:
        """What is known now, where the size has been this one since the last call."""
        moment = int(now.timestamp())
        times, values = self._column.times, self._column.values
        while self._place < len(times) and times[self._place] < moment:
            start = times[self._place] // self._period * self._period
            if start != self._start:
                self._close()
                self._start = start
            shown = self._response(values[self._place], size)
            if shown is not None:
                self._open.append(shown)
            self._place += 1
        if self._start + self._period <= moment:
            self._close()
        horizon = now - self._query.window
        while self._points and self._points[0][0] <= horizon:
            self._points.popleft()
        return Series(tuple(self._points))

    def latest(self, now: datetime) -> float | None:
        """The newest point, unless the next is overdue."""
        if not self._points:
            return None
        start, value = self._points[-1]
        age = now.timestamp() - start.timestamp() - self._period
        return value if age < self._fresh else None

    def _close(self) -> None:
        if self._open:
            start = datetime.fromtimestamp(self._start, UTC)
            self._points.append((start, summed_up(self._query.metric.statistic, self._open)))
            self._open = []


def summed_up(statistic: str, values: Sequence[float]) -> float:
    """One value for a period, as the statistic wants it; trimmed means are taken as means."""
    if len(values) == 1:
        return values[0]
    if statistic in ("Sum", "SampleCount"):
        return fsum(values)
    if statistic in ("Maximum", "Minimum"):
        return max(values) if statistic == "Maximum" else min(values)
    if statistic[0] == "p":
        return sorted(values)[max(0, ceil(float(statistic[1:]) / 100 * len(values)) - 1)]
    return fmean(values)
