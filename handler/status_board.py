"""Status documents as a table: what the last run said of every policy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from infra.store import Stored
from policies.action import Verb
from policies.errors import SenseError

Status = Mapping[str, Any]
_POLICIES = "these are policies; the status lies under status/, where the function writes it"
_COLOURS = {"Ready": "green", "Progressing": "blue", "Held": "magenta", "Degraded": "red", "Conflict": "red"}


def read(stored: Stored) -> Status:
    """One status document; raises SenseError where it is something else."""
    try:
        found = json.loads(stored.body)
        if any("strategy" in policy or "resource" in policy for policy in found.get("policies", ())):
            raise SenseError(f"{stored.name}.json: {_POLICIES}")
        if all("name" in policy for policy in found.get("policies", ())) and found.keys() & {"policies", "orphans"}:
            return {"document": stored.name, **found}
    except (ValueError, TypeError, AttributeError):
        pass
    raise SenseError(f"{stored.name}.json is no status document; name the folder or prefix that runs write status to")


def board(documents: Sequence[Status], width: int | None) -> Iterator[Text]:
    """A row for each policy, for each mistake of a document that does not parse, and for what nobody owns.

    With a `width` the reason stands folded under its row; without one, as in a pipe, at the end of it.
    """
    rows = [_HEAD, *(row for document in documents for row in _rows(document))]
    widths = [max(cell_len(str(row[place])) for row in rows) for place in range(len(_HEAD) - 1)]
    for row in rows:
        line = Text(style="bold" if row is _HEAD else "")
        for cell, wide in zip(row, widths, strict=False):
            text = cell if isinstance(cell, Text) else Text(cell)
            line.append_text(text).append(" " * (wide - cell_len(str(cell)) + 2))
        because = [] if row is _HEAD else _grouped(str(row[-1]))
        if width is None:
            line.append("; ".join(because) if because else str(row[-1]))
            because = []
        line.rstrip()
        yield line
        for reason in because:
            yield from (Text(f"    {part}", "dim") for part in wrap(reason, max((width or 0) - 4, 40)))


_HEAD = ("document", "policy", "state", "ready", "actual", "desired", "since", "because")
_PART = re.compile(
    rf"((?:[a-z]{{2}}(?:-[a-z]+)+-\d+: )?(?:{'|'.join(verb.value for verb in Verb)})) (\S+)((?:: .*)?)", re.DOTALL
)
_NAMED = 3


def _grouped(message: str) -> list[str]:
    """The parts of a message: what was said of many resources in the same words is said once."""
    parts: list[str] = []
    for part in message.split("; "):
        if parts and not _PART.fullmatch(part):
            parts[-1] += f"; {part}"
        else:
            parts.append(part)
    same: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        found = _PART.fullmatch(part)
        start, name, end = found.groups() if found else (part, "", "")
        same.setdefault((start, end), []).append(name)
    return [f"{start} {_names(names)}{end}" if any(names) else start for (start, end), names in same.items()]


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _rows(document: Status) -> Iterator[tuple[Text | str, ...]]:
    name = str(document.get("document", "?"))
    for error in document.get("errors", ()):
        wrong = f"{error.get('path')}: {error.get('message')}" if isinstance(error, dict) else str(error)
        yield name, "", Text("Invalid" if "policies" in document else "Failed", "red"), "", "", "", "", wrong
    for one in document.get("orphans", ()):
        left = f"{one.get('type')}: the policy is gone; see setpoint orphans"
        yield str(one.get("document")), str(one.get("policy")), "Orphaned", "", str(one.get("count")), "", "", left
    for policy in document.get("policies", ()):
        state, because = _state(policy)
        numbers = (str(policy.get(word, "")) for word in ("ready", "actual", "desired"))
        yield (
            name,
            policy["name"],
            Text(state, _COLOURS.get(state, "")),
            *numbers,
            policy.get("verifiedAt", ""),
            because,
        )


def _state(policy: Status) -> tuple[str, str]:
    """The condition that says most: what is wrong before what is held before what goes on."""
    true = {one["type"]: one for one in policy.get("conditions", ()) if one.get("status") == "True"}
    for word in ("Conflict", "Degraded", "Held", "Progressing", "Ready"):
        if word in true:
            return word, str(true[word].get("message", ""))
    return "Unknown", ""
