"""A replay in a terminal: the watched value and the size, in dots of Braille."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from handler.simulation.figure import time_ticks
from handler.simulation.replay import Replay
from handler.simulation.trace import Trace

_LEFT = 9
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""By row and column of a character; they are added to U+2800."""


def chart(replay: Replay, span: tuple[int, int], width: int, colour: str = "cyan") -> Iterator[Text]:
    """Lines no wider than this."""
    columns = max(20, width - _LEFT - 1)
    if replay.gauge is not None:
        low, high = replay.gauge.edges
        yield Text.assemble((f"{replay.gauge.title}, between {low:.4g} and {high:.4g}", "dim"))
        yield from _panel(replay.values, columns, 8, colour, (low, high))
    strategy = replay.policy.strategy
    yield Text.assemble((getattr(strategy, "property_", "replicas"), "dim"))
    yield from _panel(replay.sizes, columns, 6, colour, ())
    yield _axis(span, columns)


def _panel(trace: Trace, columns: int, rows: int, colour: str, edges: tuple[float, ...]) -> Iterator[Text]:
    spans = list(trace.spans(columns * 2))
    most = max((span[1] for span in spans if span), default=0.0)
    most = max(most, *(edge * 1.1 for edge in edges), 1e-9) if edges else max(most, 1.0)
    heights = rows * 4 - 1

    def place(value: float) -> int:
        return heights - round(min(max(value, 0.0), most) / most * heights)

    curve, marks = [[0] * columns for _ in range(rows)], [[0] * columns for _ in range(rows)]
    for column, span in enumerate(spans):
        for y in range(place(span[1]), place(span[0]) + 1) if span else ():
            curve[y // 4][column // 2] |= _DOTS[y % 4][column % 2]
        for y in (place(edge) for edge in edges if column % 4 == 0):
            marks[y // 4][column // 2] |= _DOTS[y % 4][column % 2]
    for row in range(rows):
        label = f"{most:.4g}" if row == 0 else "0" if row == rows - 1 else ""
        line = Text(f"{label:>{_LEFT - 1}} ", "dim")
        for dots, mark in zip(curve[row], marks[row], strict=True):
            line.append(chr(0x2800 + (dots | mark)), colour if dots else "dim")
        yield line


def _axis(span: tuple[int, int], columns: int) -> Text:
    begin, end = span
    line = [" "] * (_LEFT + columns)
    free = 0
    for moment, text in time_ticks(begin, end, max(2, columns // 14)):
        start = _LEFT + round((moment - begin) / max(1, end - begin) * (columns - 1))
        if start >= free and start + len(text) <= len(line):
            line[start : start + len(text)] = text
            free = start + len(text) + 2
    return Text("".join(line), "dim")
