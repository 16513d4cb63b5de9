"""JSON that may be anything: how the parser looks into a document that it does not trust yet."""

from __future__ import annotations

import re
from collections.abc import Mapping

from policies.frozen import Json, lookup
from policies.problems import Loc

_GLOBAL = re.compile(r"\$\$\{|\$\{(account|region|policy)\}")


def value_at(raw: Json, *path: str) -> Json:
    """The value at a path of what may be anything; None where there is none."""
    try:
        return lookup(raw, path)
    except KeyError:
        return None


def is_told(path: str, told: set[str]) -> bool:
    """Whether something in this place, or below it, was told already."""
    return any(other == path or other.startswith((f"{path}.", f"{path}[")) for other in told)


def without(value: Json, loc: Loc) -> Json:
    """The value without what stands at a place; a list with a hole is left out as a whole."""
    if not loc or not isinstance(value, Mapping):
        return None
    head, *rest = loc
    inner = without(value.get(head), tuple(rest)) if head in value else None
    kept = {key: item for key, item in value.items() if key != head}
    return kept if inner is None else {**kept, head: inner}


def expand(value: Json, names: Mapping[str, str]) -> Json:
    """`${account}`, `${region}` and `${policy}` replaced in every text; an escaped `$${` stays as it is."""
    if isinstance(value, str):
        return _GLOBAL.sub(lambda found: names[found.group(1)] if found.group(1) else found.group(), value)
    if isinstance(value, Mapping):
        return {key: expand(item, names) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [expand(item, names) for item in value]
    return value
