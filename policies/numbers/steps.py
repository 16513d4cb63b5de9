"""When the steps of a band were due, found again from the metric alone.

A moment is *ripe* in a direction if the tested value was outside for the whole of `for` before it. Steps are due

- at the first ripe moment of a run of points outside, unless another moment at which a step could have been due lies
  less than a cooldown before it; and
- at each ripe multiple of the cooldown since the epoch, unless a step of the first sort was due less than a cooldown
  before it.

Every two steps in one direction are therefore at least a cooldown apart, and so are the first and the last of up, down
and up again: it never reverses twice within a cooldown. Whether a step is due at a moment depends on the metric
within two cooldowns and `for` before it, and on nothing else. So it does not matter where the window of history begins,
and a lost tick costs the step that was due in it (the next one comes a cooldown later, or two) and never doubles one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


def streaks(values: Mapping[int, float], outside: Callable[[float], bool]) -> Mapping[int, int]:
    """By moment, how many periods in a row before it were outside; only where there were some.

    A moment is counted in periods since the epoch, and a value belongs to the period that begins at its moment.
    """
    found: dict[int, int] = {}
    for moment in sorted(values):
        if outside(values[moment]):
            found[moment + 1] = found.get(moment, 0) + 1
    return found


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps in one direction; `enough` is `for`, and both it and the cooldown count in periods."""

    streaks: Mapping[int, int]
    enough: int
    cooldown: int

    def is_due(self, moment: int) -> bool:
        """Whether a step was due at this very moment."""
        if self._opens(moment):
            return True
        return self.is_ripe_multiple(moment) and not any(map(self._opens, self._before(moment)))

    def is_ripe_multiple(self, moment: int) -> bool:
        """Whether it is a multiple of the cooldown at which the value had been outside for long enough."""
        return moment % self.cooldown == 0 and self.streaks.get(moment, 0) >= self.enough

    def _opens(self, moment: int) -> bool:
        """Whether the first step of a run was due."""
        return self._is_first(moment) and not any(
            self._is_first(one) or self.is_ripe_multiple(one) for one in self._before(moment)
        )

    def _is_first(self, moment: int) -> bool:
        return self.streaks.get(moment, 0) == self.enough

    def _before(self, moment: int) -> range:
        return range(moment - self.cooldown + 1, moment)
