"""The course of a replay in as many columns as a picture has: a year takes no more room than an hour."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import TypeAlias

COLUMNS = 1200

Span: TypeAlias = tuple[float, float]
"""The least and the most in one column."""

_NOTHING = float("inf")


class Trace:
    """One curve, column by column."""

    def __init__(self, begin: int, end: int) -> None:
        self._begin, self._length = begin, max(1, end - begin)
        self._least = array("d", [_NOTHING]) * COLUMNS
        self._most = array("d", [-_NOTHING]) * COLUMNS

    def note(self, moment: int, seconds: int, value: float) -> None:
        """It had this value for some time from a moment on."""
        first = self._place(moment)
        for place in range(first, max(first, self._place(moment + seconds - 1)) + 1):
            self._least[place] = min(self._least[place], value)
            self._most[place] = max(self._most[place], value)

    def _place(self, moment: int) -> int:
        return min((moment - self._begin) * COLUMNS // self._length, COLUMNS - 1)

    def spans(self, columns: int = COLUMNS) -> Iterator[Span | None]:
        """The curve in this many columns; None where nothing was known."""
        for column in range(columns):
            first = column * COLUMNS // columns
            last = max(first + 1, (column + 1) * COLUMNS // columns)
            least, most = min(self._least[first:last]), max(self._most[first:last])
            yield None if least > most else (least, most)
