"""A replay as a picture: lines, boxes and words in a plane, which SVG and PNG draw each in its way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal, TypeAlias

from handler.simulation.replay import Replay
from handler.simulation.trace import Trace

WIDTH, LEFT, RIGHT = 1200, 70, 30
COLOURS = ("#1f6feb", "#d1570b")
_INK, _PALE, _INSIDE = "#24292f", "#d8dee4", "#e6f4ea"
_STEPS = (60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 7 * 86400, 30 * 86400, 90 * 86400, 365 * 86400)

Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    points: tuple[Point, ...]
    colour: str
    width: float = 1.5
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True, slots=True)
class Words:
    x: float
    y: float
    text: str
    colour: str = _INK
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False


Shape: TypeAlias = Line | Box | Words


@dataclass(frozen=True, slots=True)
class Figure:
    """Shapes, the first at the back, on white."""

    height: int
    shapes: tuple[Shape, ...]


def figure(replays: Sequence[Replay], title: str, span: tuple[int, int]) -> Figure:
    """The watched value with its edges, and below it the size; of several replays over each other."""
    shapes: list[Shape] = [Words(LEFT, 28, title, bold=True)]
    top = 66
    watched = [one for one in replays if one.gauge is not None]
    bottom = top + (260 + 44 if watched else 0) + 200
    shapes += _time_axis(top, bottom, span)
    if watched:
        names = ", ".join(dict.fromkeys(one.gauge.title for one in watched if one.gauge))
        shapes += _panel(_Plane(top, 260, _values_top(watched)), names, watched, lambda one: one.values)
        top += 260 + 44
    most = max(one.score.most or 1 for one in replays) * 1.08
    shapes += _panel(_Plane(top, 200, most), "size", replays, lambda one: one.sizes)
    shapes += _legend(replays)
    return Figure(bottom + 40, tuple(shapes))


@dataclass(frozen=True, slots=True)
class _Plane:
    top: float
    height: float
    most: float

    def y(self, value: float) -> float:
        inside = min(max(value, 0.0), self.most)
        return round(self.top + self.height * (1 - inside / self.most), 1)


def _values_top(replays: Sequence[Replay]) -> float:
    """Everything that was, and the edges with some air."""
    seen = [span[1] for one in replays for span in one.values.spans() if span]
    edges = [one.gauge.edges[1] * 1.3 for one in replays if one.gauge]
    return max(max(seen, default=0) * 1.05, *edges, 1e-9)


def _panel(plane: _Plane, title: str, replays: Sequence[Replay], trace: Callable[[Replay], Trace]) -> Iterator[Shape]:
    right = WIDTH - RIGHT
    gauges = [one.gauge for one in replays if one.gauge is not None and trace(one) is one.values]
    if len({gauge.edges for gauge in gauges}) == 1:
        low, high = gauges[0].edges
        yield Box(LEFT, plane.y(high), right - LEFT, max(plane.y(low) - plane.y(high), 1), _INSIDE)
    for value in ticks(plane.most):
        yield Line(((LEFT, plane.y(value)), (right, plane.y(value))), _PALE, 0.75)
        yield Words(LEFT - 8, plane.y(value) + 4, f"{value:g}", anchor="end")
    for place, gauge in enumerate(gauges):
        for edge in dict.fromkeys(gauge.edges):
            yield Line(((LEFT, plane.y(edge)), (right, plane.y(edge))), COLOURS[place % 2], 1, dashed=True)
    yield Words(LEFT, plane.top - 8, title)
    for place, one in enumerate(replays):
        yield from _curve(trace(one), plane, COLOURS[place % 2])


def _curve(trace: Trace, plane: _Plane, colour: str) -> Iterator[Line]:
    """One line for each stretch in which something was known."""
    points: list[Point] = []
    for column, span in enumerate([*trace.spans(WIDTH - LEFT - RIGHT), None]):
        if span is None:
            if len(points) > 1:
                yield Line(tuple(points), colour)
            points = []
            continue
        low, high = plane.y(span[0]), plane.y(span[1])
        ends = [low] if low == high else [low, high]
        if points and abs(points[-1][1] - ends[-1]) < abs(points[-1][1] - ends[0]):
            ends.reverse()
        points += [(LEFT + column, end) for end in ends]


def _time_axis(top: float, bottom: float, span: tuple[int, int]) -> Iterator[Shape]:
    begin, end = span
    for moment, text in time_ticks(begin, end, 10):
        x = LEFT + (moment - begin) / max(1, end - begin) * (WIDTH - LEFT - RIGHT)
        yield Line(((x, top), (x, bottom)), _PALE, 0.75)
        yield Words(x, bottom + 20, text, anchor="middle")


def _legend(replays: Sequence[Replay]) -> Iterator[Shape]:
    x: float = WIDTH - RIGHT
    for place, one in reversed(list(enumerate(replays))):
        yield Words(x, 28, one.policy.name, COLOURS[place % 2], "end", bold=True)
        x -= 9 * len(one.policy.name) + 24


def ticks(most: float) -> Sequence[float]:
    """Round values from 0 up to the most, about five."""
    size = 10.0 ** len(str(int(most))) if most >= 1 else 1.0
    while size * 2 > most:
        size /= 10
    step = next(size * factor for factor in (0.5, 1, 2, 5, 10) if most / (size * factor) <= 6)
    return [round(step * place, 9) for place in range(int(most / step) + 1)]


def time_ticks(begin: int, end: int, most: int) -> Sequence[tuple[int, str]]:
    """Round moments, at most so many, as people write them; UTC."""
    step = next((one for one in _STEPS if (end - begin) / one <= most), _STEPS[-1])
    moments = range(-(-begin // step) * step, end + 1, step)
    form = "%H:%M" if step < 86400 else "%d %b"
    several = any(later // 86400 != earlier // 86400 for earlier, later in pairwise(moments[1:-1]))
    form = "%d %b %H:%M" if several and step < 86400 else form
    return [(moment, datetime.fromtimestamp(moment, UTC).strftime(form)) for moment in moments]
