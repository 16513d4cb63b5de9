"""Where the command line writes: stdout for what was asked for, stderr for what went wrong."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from handler.picture import error_picture, outcome_picture
from handler.records import Origin, Record, of_a_read, problems
from policies.action import Outcome
from policies.errors import ParseError
from policies.redact import redact

_ODD = re.compile(r"[^\n -~]")


def printable(text: str) -> str:
    """The text with everything that a terminal would obey, or not show, written out: ESC is \\x1b."""
    return _ODD.sub(lambda found: _written(found.group()), text)


def _written(letter: str) -> str:
    if letter.isprintable() or unicodedata.category(letter) == "Zs":
        return letter
    return letter.encode("unicode_escape").decode("ascii")


class _Screen(Console):
    """The one way out for text, wherever it came from: names, tags and messages cannot steer the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for part in super().render(renderable, options):
            yield part if part.control else Segment(printable(part.text), part.style)


def screen(*, stderr: bool = False) -> Console:
    """A console that prints what it is given: no markup, no guessing, no cropping where it is no terminal."""
    console = _Screen(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = 100_000
    return console


@contextmanager
def spinning(text: str) -> Iterator[None]:
    """Show on a terminal that something goes on, once it takes longer than a second."""
    console = screen() if screen().is_terminal else screen(stderr=True)
    status = console.status(text)
    timer = Timer(1.0, status.start)
    if console.is_terminal:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        status.stop()


def show(lines: Iterable[Text | str]) -> None:
    console = screen()
    for line in lines:
        console.print(line)


def show_json(record: Record) -> None:
    """One JSON document."""
    screen().print(json.dumps(record, indent=2))


def show_outcome(outcome: Outcome) -> None:
    show(outcome_picture(outcome))


def show_errors(records: Iterable[Record]) -> None:
    """One line for each thing that is wrong, with the place where it can be mended."""
    console = screen(stderr=True)
    for record in records:
        console.print(Text.assemble(("error: ", "bold red"), error_picture(record)))


def say(line: str) -> None:
    """A word beside what was asked for."""
    screen(stderr=True).print(line)


def show_error(error: Exception, origin: Origin = lambda document: document) -> None:
    """An error that ended a command."""
    show_errors(error_records(error, origin))


def error_records(error: Exception, origin: Origin = lambda document: document) -> list[Record]:
    """The same as records: it came of a read, since what came of a write is an outcome."""
    if isinstance(error, ParseError):
        return list(problems(error, origin(error.source)))
    return [{"message": redact(of_a_read(str(error) or repr(error)))}]


def show_bug(error: Exception, *, traced: bool) -> None:
    """An error that nobody expected: short, or with all that it takes to mend it."""
    console = screen(stderr=True)
    advice = "" if traced else "; --debug shows where"
    console.print(
        Text(f"This is a mistake of Setpoint itself: {type(error).__name__}: {redact(str(error))}{advice}", "red")
    )
    if traced:
        console.print_exception(show_locals=False)
