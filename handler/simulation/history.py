"""What was recorded: metrics as columns of times and values. Read from files by `reading.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import median


@dataclass(frozen=True, slots=True)
class Column:
    """One metric: seconds since the epoch, strictly ascending, and the value of each."""

    times: Sequence[int]
    values: Sequence[float]

    @property
    def step(self) -> int:
        """The usual time between two points, in seconds."""
        gaps = [later - earlier for earlier, later in zip(self.times, islice(self.times, 1, 1000), strict=False)]
        return int(median(gaps)) if gaps else 60


@dataclass(frozen=True, slots=True)
class History:
    """Where it was recorded, and its columns by name."""

    source: str
    columns: Mapping[str, Column]

    @property
    def begin(self) -> int:
        return min(column.times[0] for column in self.columns.values())

    @property
    def end(self) -> int:
        """When the last point is over."""
        return max(column.times[-1] + column.step for column in self.columns.values())
