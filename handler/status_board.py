"""Status documents as a table: what the last run said of every policy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from infra.store import Stored
from policies.errors import SenseError

Status = Mapping[str, Any]
_COLOURS = {"Ready": "green", "Progressing": "blue", "Held": "magenta", "Degraded": "red", "Conflict": "red"}


def read(stored: Stored) -> Status:
    """One status document; raises SenseError where it is something else."""
    try:
        found = json.loads(stored.body)
        if all("name" in policy for policy in found.get("policies", ())) and found.keys() & {"policies", "orphans"}:
            return {"document": stored.name, **found}
    except (ValueError, TypeError, AttributeError):
        pass
    raise SenseError(f"{stored.name}.json is no status document; name the folder or prefix that runs write status to")


def table(documents: Sequence[Status]) -> Table:
    """A row for each policy, for each mistake of a document that does not parse, and for what nobody owns."""
    made = Table("document", "policy", "state", "ready", "actual", "desired", "since", "because", box=SIMPLE)
    for document in documents:
        for row in _rows(document):
            made.add_row(*row)
    return made


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
