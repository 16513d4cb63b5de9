"""The command that replays: simulate. Returns its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from rich.box import SIMPLE
from rich.table import Table as Grid
from rich.text import Text

from handler.options import Settings
from handler.simulation import report
from handler.simulation.chart import chart
from handler.simulation.choice import chosen, other
from handler.simulation.drawing import check_drawable, draw
from handler.simulation.figure import figure
from handler.simulation.history import History
from handler.simulation.reading import read_history
from handler.simulation.recorded import recorded
from handler.simulation.replay import Replay, Setup, replay, span_of
from handler.terminal import screen, show, show_json, spinning
from handler.workbench import WrongOptionError
from policies.document import Policy
from policies.duration import parse_duration

_WIDEST = 110
_LEAST_UNIT = 1e-9
_COLOURS = ("cyan", "yellow")


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the command, as they were typed."""

    policy: str | None
    metrics: Path | None
    last: str | None
    plant: str
    unit_capacity: float | None
    start: int | None
    compare: str | None
    every: str
    out: Path | None


def simulate(settings: Settings, place: str, asked: Asked, as_json: bool) -> int:
    """Replay history through one policy, or two side by side."""
    setup = _setup(asked)
    if asked.out is not None:
        check_drawable(asked.out)
    policies = [chosen(settings, place, asked.policy)]
    policies += [other(settings, place, asked.compare)] if asked.compare is not None else []
    history = _history(settings, place, asked, policies)
    with spinning("replaying ..."):
        made = [replay(policy, history, setup) for policy in policies]
    span, title = span_of(history, setup.every), report.heading(made, history, setup)
    if asked.out is not None:
        tables = [report.summary(made), *(report.changes(one) for one in made)]
        draw(asked.out, figure(made, title, span), title, tables)
    if as_json:
        show_json(report.record(made, history, setup))
    else:
        _show(made, title, span)
    return 0


def _setup(asked: Asked) -> Setup:
    """Raises WrongOptionError where the options do not go together."""
    if asked.plant not in ("none", "load"):
        raise WrongOptionError(f"found --plant {asked.plant!r}; allowed: none, load")
    if (asked.plant == "load") != (asked.unit_capacity is not None):
        raise WrongOptionError("--plant load and --unit-capacity N go together: the load at which one unit shows 1")
    if asked.unit_capacity is not None and not _LEAST_UNIT <= asked.unit_capacity < float("inf"):
        raise WrongOptionError(
            f"found --unit-capacity {asked.unit_capacity:g}; --unit-capacity is above 0, at least {_LEAST_UNIT:g}"
        )
    every = _duration("--every", asked.every)
    if not every or every.total_seconds() % 60:
        raise WrongOptionError(f"found --every {asked.every!r}; allowed: whole minutes, such as 1m")
    return Setup(asked.start, every, asked.unit_capacity)


def _history(settings: Settings, place: str, asked: Asked, policies: Sequence[Policy]) -> History:
    if (asked.metrics is None) == (asked.last is None):
        raise WrongOptionError("give one of: --metrics FILE, or --from-cloudwatch (with --last 7d)")
    if asked.metrics is not None:
        return read_history(asked.metrics)
    with spinning("asking CloudWatch ..."):
        return recorded(settings, place, policies, _duration("--last", asked.last or ""))


def _duration(option: str, text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise WrongOptionError(f"{option}: {error}") from None


def _show(made: Sequence[Replay], title: str, span: tuple[int, int]) -> None:
    console = screen()
    show([Text(title, "bold")])
    for place, one in enumerate(made):
        if len(made) > 1:
            show([Text(one.policy.name, f"bold {_COLOURS[place]}")])
        show(chart(one, span, min(console.width, _WIDEST), _COLOURS[place]))
    for table in (report.summary(made), *(report.changes(one) for one in made if one.score.change_count)):
        console.print(_grid(table), soft_wrap=False)
    show(Text(line, "magenta") for line in report.troubles(made))


def _grid(table: report.Table) -> Grid:
    made = Grid(box=SIMPLE, pad_edge=False)
    for place, word in enumerate(table.head):
        made.add_column(word, justify="left" if place == 0 else "right")
    for cells in table.rows:
        made.add_row(*cells)
    return made
