"""Where the command line writes: stdout for what was asked for, stderr for what went wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console
from rich.text import Text

from handler.picture import error_picture, outcome_picture
from handler.records import Origin, Record, problems
from policies.action import Outcome
from policies.errors import ParseError
from policies.redact import redact


def screen(*, stderr: bool = False) -> Console:
    """A console that prints what it is given: no markup, no guessing, no cropping where it is no terminal."""
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=True)
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


def show_error(error: Exception, origin: Origin = lambda document: document) -> None:
    """An error that ended a command."""
    if isinstance(error, ParseError):
        show_errors(problems(error, origin(error.source)))
    else:
        show_errors([{"message": redact(str(error) or repr(error))}])


def show_bug(error: Exception, *, traced: bool) -> None:
    """An error that nobody expected: short, or with all that it takes to mend it."""
    console = screen(stderr=True)
    advice = "" if traced else "; --debug shows where"
    console.print(
        Text(f"This is a mistake of Setpoint itself: {type(error).__name__}: {redact(str(error))}{advice}", "red")
    )
    if traced:
        console.print_exception(show_locals=False)
