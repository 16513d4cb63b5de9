"""What a replay is judged by.

- *Outside* is the time that the watched value was above or below its edges. Where the size was at its limit on that
  side already, no policy could do more: that part is told apart (`pinned`).
- *Overshoot* is how far the value got past its upper edge, as a share of the edge; *undershoot* past the lower one.
- *Settling* is the time from leaving the edges until the value is inside again.
- A *reversal* is a change in the direction opposite to that of the last one.

All but time at the limits counts; what was not known does not. Memory does not grow with ticks, only with changes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isnan
from statistics import median

from handler.simulation.gauge import Reading


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the size, and what the watched value was then."""

    at: datetime
    before: int
    after: int
    value: float | None


@dataclass
class Score:
    """Sums over a replay; all times are in seconds."""

    limits: tuple[int, int]
    edges: tuple[float, float] | None
    ticks: int = 0
    seconds: int = 0
    unit_seconds: int = 0
    above: int = 0
    below: int = 0
    pinned: int = 0
    unknown: int = 0
    reversals: int = 0
    least: int | None = None
    most: int | None = None
    overshoot: float = 0.0
    undershoot: float = 0.0
    _times: array[int] = field(default_factory=lambda: array("q"))
    _sizes: array[int] = field(default_factory=lambda: array("q"))
    _values: array[float] = field(default_factory=lambda: array("d"))
    _settlings: array[int] = field(default_factory=lambda: array("q"))
    _away: tuple[bool, int, bool] | None = None
    _direction: int = 0

    def note(self, seconds: int, size: int, reading: Reading | None) -> None:
        """A stretch of time with this size and this reading."""
        self.ticks += 1
        self.seconds += seconds
        self.unit_seconds += size * seconds
        self.least = size if self.least is None else min(self.least, size)
        self.most = size if self.most is None else max(self.most, size)
        if reading is None:
            self.unknown += seconds if self.edges else 0
            return
        self.above += seconds if reading.above else 0
        self.below += seconds if reading.below else 0
        pinned = (reading.above and size >= self.limits[1]) or (reading.below and size <= self.limits[0])
        self.pinned += seconds if pinned else 0
        if not pinned and reading.value is not None and (reading.above or reading.below):
            self._measure(reading.value, above=reading.above)
        self._settle(seconds, reading, pinned=pinned)

    def change(self, now: datetime, before: int, after: int, value: float | None) -> None:
        direction = 1 if after > before else -1
        self.reversals += direction == -self._direction
        self._direction = direction
        self._times.append(int(now.timestamp()))
        self._sizes.extend((before, after))
        self._values.append(float("nan") if value is None else value)

    def changes(self) -> Iterator[Change]:
        """Every change, in order."""
        for place, (time, value) in enumerate(zip(self._times, self._values, strict=True)):
            before, after = self._sizes[2 * place], self._sizes[2 * place + 1]
            yield Change(datetime.fromtimestamp(time, UTC), before, after, None if isnan(value) else value)

    @property
    def change_count(self) -> int:
        return len(self._times)

    @property
    def settling(self) -> tuple[float, int] | None:
        """The median and the longest; None where nothing ever had to settle."""
        return (median(self._settlings), max(self._settlings)) if self._settlings else None

    def _measure(self, value: float, *, above: bool) -> None:
        assert self.edges is not None, "what has readings has edges"
        low, high = self.edges
        if above and high > 0:
            self.overshoot = max(self.overshoot, value / high - 1)
        elif not above and low > 0:
            self.undershoot = max(self.undershoot, 1 - value / low)

    def _settle(self, seconds: int, reading: Reading, *, pinned: bool) -> None:
        """An excursion that met the limit on its way never settles by the policy's doing, and does not count."""
        if not (reading.above or reading.below):
            if self._away is not None and not self._away[2]:
                self._settlings.append(self._away[1])
            self._away = None
        elif self._away is not None and self._away[0] == reading.above:
            self._away = (reading.above, self._away[1] + seconds, self._away[2] or pinned)
        else:
            self._away = (reading.above, seconds, pinned)
