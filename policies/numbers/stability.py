"""Is a band with `per` stable? A step from one edge must not land beyond the other, or it would swing for ever."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from policies.amount import Amount


def overshoots(above: float, below: float, up: Amount, down: Amount, bounds: tuple[int, int]) -> Iterator[str]:
    """Every step from one edge that lands beyond the other, among the sizes where the steps weigh most."""
    high, low = Fraction(str(above)), Fraction(str(below))
    first, last = max(bounds[0], 1), bounds[1]
    for size in _heavy_sizes(first, last, down):
        larger = min(size + max(1, up.of(size)), last)
        smaller = max(size - max(1, down.of(size)), first)
        after_up, after_down = high * size / larger, low * size / smaller
        if after_up < low and larger > size:
            taken = f"from {size}, one step of {larger - size} takes {plain(high)} to {plain(after_up)}"
            yield f"{taken}, below low {plain(low)}"
        if after_down > high and smaller < size:
            taken = f"from {size}, one step of {size - smaller} takes {plain(low)} to {plain(after_down)}"
            yield f"{taken}, above high {plain(high)}"


def _heavy_sizes(first: int, last: int, down: Amount) -> Iterator[int]:
    """The smallest sizes, those from which a full step down is just possible, and the largest: a hundred of each.

    In a hundred there is one where a percentage comes without rounding, which is where it weighs most.
    """
    unrounded = max(100 - down.number, 1)
    full = first * 100 // unrounded if down.percent else first + down.number
    runs = (range(start, start + 101) for start in (first, full, max(first, last - 100)))
    yield from sorted({size for run in runs for size in run if size <= last})


def plain(value: float | Fraction) -> str:
    """A number as people write it."""
    number = float(value)
    return f"{number:.3g}" if abs(number) < 100 else f"{number:.1f}".removesuffix(".0")
