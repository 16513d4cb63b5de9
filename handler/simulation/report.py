"""A replay in words and numbers: as tables for people, and as a record for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from handler.records import Record
from handler.simulation.history import History
from handler.simulation.replay import Replay, Setup
from handler.simulation.twin import number_of
from policies.identity import rfc3339

SHOWN = 30
"""Changes that a table lists of each policy."""


@dataclass(frozen=True, slots=True)
class Table:
    """A head and rows of cells."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def summary(replays: Sequence[Replay]) -> Table:
    """A row for each number, a column for each policy."""
    rows = [(word, *(tell(one) for one in replays)) for word, tell in _ROWS.items()]
    return Table(("", *(one.policy.name for one in replays)), rows)


def changes(replay: Replay, most: int = SHOWN) -> Table:
    """The first changes, and how many more there are."""
    rows = [
        (f"{one.at:%Y-%m-%d %H:%M}", f"{one.before} -> {one.after}", _number(one.value))
        for one in islice(replay.score.changes(), most)
    ]
    left = replay.score.change_count - len(rows)
    rows += [(f"and {left} more", "--json lists all", "")] if left > 0 else []
    return Table((f"{replay.policy.name} (UTC)", "size", replay.gauge.title if replay.gauge else ""), rows)


def heading(replays: Sequence[Replay], history: History, setup: Setup) -> str:
    begin, end = (datetime.fromtimestamp(at, UTC) for at in (history.begin, history.end))
    names = " and ".join(one.policy.name for one in replays)
    ticks = f"{replays[0].score.ticks:,} ticks of {lasting(setup.every.total_seconds())}"
    loop = "closed loop" if any(one.closed for one in replays) else "open loop"
    return f"{names}: {begin:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC, {ticks}, {loop}"


def record(replays: Sequence[Replay], history: History, setup: Setup) -> Record:
    """What `--json` prints."""
    return {
        "kind": "SetpointSimulation",
        "version": 1,
        "history": history.source,
        "from": rfc3339(datetime.fromtimestamp(history.begin, UTC)),
        "to": rfc3339(datetime.fromtimestamp(history.end, UTC)),
        "every": int(setup.every.total_seconds()),
        "replays": [_record(one) for one in replays],
    }


def _record(replay: Replay) -> Record:
    score, settling = replay.score, replay.score.settling
    number = number_of(replay.policy)
    return {
        "policy": replay.policy.name,
        "type": replay.policy.kind.type,
        "number": "literal" if isinstance(number, int) else number.type,
        "loop": "closed" if replay.closed else "open",
        "limits": list(score.limits),
        "watched": replay.gauge.title if replay.gauge else None,
        "edges": list(score.edges) if score.edges else None,
        "ticks": score.ticks,
        "resourceHours": round(score.unit_seconds / 3600, 4),
        "least": score.least,
        "most": score.most,
        "reversals": score.reversals,
        "seconds": {"above": score.above, "below": score.below, "atLimit": score.pinned, "unknown": score.unknown},
        "overshoot": round(score.overshoot, 6),
        "undershoot": round(score.undershoot, 6),
        "settling": {"median": settling[0], "longest": settling[1]} if settling else None,
        "changes": [
            {"at": rfc3339(one.at), "from": one.before, "to": one.after, "value": one.value} for one in score.changes()
        ],
        "troubles": [{"message": text, "ticks": count} for text, count in replay.troubles.items()],
    }


def troubles(replays: Sequence[Replay]) -> Iterator[str]:
    """What stood in the way, and how often."""
    for one in replays:
        for text, count in one.troubles.items():
            often = f" ({count} tick{'' if count == 1 else 's'})" if count else ""
            yield f"{one.policy.name}: {text}{often}"


def lasting(seconds: float) -> str:
    """A time as people say it: 1d4h, 2h5m, 30s."""
    parts, left = [], int(seconds)
    for word, length in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, length)
        parts += [f"{count}{word}"] if count else []
    return "".join(parts[:2]) or "0"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _share(seconds: int, replay: Replay) -> str:
    known = replay.score.seconds - replay.score.unknown
    return f"{lasting(seconds)} ({seconds / known:.1%})" if replay.gauge and known else "-"


def _beyond(share: float, replay: Replay) -> str:
    return f"{share:.1%}" if replay.gauge else "-"


def _settling(replay: Replay) -> str:
    found = replay.score.settling
    return f"{lasting(found[0])}, at most {lasting(found[1])}" if found else "-"


_ROWS: Mapping[str, Callable[[Replay], str]] = {
    "resource-hours": lambda one: f"{one.score.unit_seconds / 3600:.1f}",
    "size": lambda one: f"{one.score.least} to {one.score.most}",
    "changes": lambda one: str(one.score.change_count),
    "reversals": lambda one: str(one.score.reversals),
    "above": lambda one: _share(one.score.above, one),
    "below": lambda one: _share(one.score.below, one),
    "of these at min or max": lambda one: _share(one.score.pinned, one),
    "overshoot": lambda one: _beyond(one.score.overshoot, one),
    "undershoot": lambda one: _beyond(one.score.undershoot, one),
    "settling time": _settling,
    "not known": lambda one: lasting(one.score.unknown) if one.gauge else "-",
}
