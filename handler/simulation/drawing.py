"""A figure as a file: SVG and HTML by hand, PNG by Pillow, which only that needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handler.simulation.figure import WIDTH, Box, Figure, Line, Shape, Words
from policies.errors import RefusedError

if TYPE_CHECKING:
    from handler.simulation.report import Table

_FONT = "font-family='system-ui, sans-serif' font-size='13'"
_SHARP = 2
"""Pixels of a PNG for each unit of the figure."""

_STYLE = """body{font:15px system-ui,sans-serif;color:#24292f;max-width:1220px;margin:2rem auto;padding:0 1rem}
svg{max-width:100%;height:auto}table{border-collapse:collapse;margin:1.5rem 0}
th,td{padding:.25rem .9rem;text-align:right;border-bottom:1px solid #d8dee4}th:first-child,
td:first-child{text-align:left}"""


def check_drawable(path: Path) -> None:
    """Raises before anything is replayed, where the file cannot be drawn."""
    if path.suffix.lower() not in _FORMATS:
        raise RefusedError(f"cannot draw {path}; allowed: a name that ends with {', '.join(sorted(_FORMATS))}")
    if path.suffix.lower() == ".png":
        _pillow()


def draw(path: Path, made: Figure, title: str, tables: Sequence[Table]) -> None:
    """Write the picture in the format that the name of the file asks for."""
    try:
        path.write_bytes(_FORMATS[path.suffix.lower()](made, title, tables))
    except OSError as error:
        raise RefusedError(f"cannot write {path}: {error.strerror or error}") from error


def svg(made: Figure) -> str:
    size = f"width='{WIDTH}' height='{made.height}' viewBox='0 0 {WIDTH} {made.height}'"
    body = "\n".join(map(_svg_of, made.shapes))
    back = f"<rect width='{WIDTH}' height='{made.height}' fill='white'/>"
    return f"<svg xmlns='http://www.w3.org/2000/svg' {size} {_FONT}>\n{back}\n{body}\n</svg>\n"


def _svg_of(shape: Shape) -> str:
    match shape:
        case Line():
            points = " ".join(f"{x:g},{y:g}" for x, y in shape.points)
            dashes = " stroke-dasharray='6 4'" if shape.dashed else ""
            stroke = f"stroke='{shape.colour}' stroke-width='{shape.width:g}'{dashes}"
            return f"<polyline points='{points}' fill='none' stroke-linejoin='round' {stroke}/>"
        case Box():
            place = f"x='{shape.x:g}' y='{shape.y:g}' width='{shape.width:g}' height='{shape.height:g}'"
            return f"<rect {place} fill='{shape.colour}'/>"
        case Words():
            weight = " font-weight='600'" if shape.bold else ""
            where = f"x='{shape.x:g}' y='{shape.y:g}' text-anchor='{shape.anchor}'"
            return f"<text {where} fill='{shape.colour}'{weight}>{escape(shape.text)}</text>"


def html(made: Figure, title: str, tables: Sequence[Table]) -> str:
    """One page that needs nothing else: the picture and the tables."""
    head = f"<meta charset='utf-8'><title>{escape(title)}</title><style>{_STYLE}</style>"
    body = "\n".join(map(_html_of, tables))
    return f"<!doctype html>\n<html lang='en'><head>{head}</head><body>\n{svg(made)}{body}\n</body></html>\n"


def _html_of(table: Table) -> str:
    def row(cells: Sequence[str], word: str) -> str:
        return "<tr>" + "".join(f"<{word}>{escape(cell)}</{word}>" for cell in cells) + "</tr>"

    return f"<table>\n{row(table.head, 'th')}\n" + "\n".join(row(cells, "td") for cells in table.rows) + "\n</table>"


def _pillow() -> tuple[Any, Any, Any]:
    try:
        from PIL import Image, ImageDraw, ImageFont  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        advice = "pip install 'setpoint[plot]', or take .svg or .html, which need nothing"
        raise RefusedError(f"a PNG is drawn by Pillow, which is not installed; {advice}") from None
    return Image, ImageDraw, ImageFont


def png(made: Figure) -> bytes:
    from io import BytesIO

    image_of, draw_of, font_of = _pillow()
    canvas = image_of.new("RGB", (WIDTH * _SHARP, made.height * _SHARP), "white")
    pen, font = draw_of.Draw(canvas), font_of.load_default(13 * _SHARP)
    for shape in made.shapes:
        match shape:
            case Line():
                for stroke in _strokes(shape):
                    width = max(1, round(shape.width * _SHARP))
                    pen.line([(x * _SHARP, y * _SHARP) for x, y in stroke], shape.colour, width, joint="curve")
            case Box():
                corner = (shape.x + shape.width) * _SHARP, (shape.y + shape.height) * _SHARP
                pen.rectangle((shape.x * _SHARP, shape.y * _SHARP, *corner), shape.colour)
            case Words():
                anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.anchor]
                pen.text((shape.x * _SHARP, shape.y * _SHARP), shape.text, shape.colour, font, anchor=anchor)
    written = BytesIO()
    canvas.save(written, "PNG", optimize=True)
    return written.getvalue()


def _strokes(line: Line) -> Iterator[Sequence[tuple[float, float]]]:
    """The line, or its dashes; only level lines are dashed."""
    if not line.dashed:
        yield line.points
        return
    (start, y), (end, _) = line.points[0], line.points[-1]
    for x in range(int(start), int(end), 10):
        yield (x, y), (min(x + 6, end), y)


_FORMATS: Mapping[str, Callable[[Figure, str, Sequence[Table]], bytes]] = {
    ".svg": lambda made, *_: svg(made).encode(),
    ".html": lambda made, title, tables: html(made, title, tables).encode(),
    ".png": lambda made, *_: png(made),
}
