"""Whether two policies may ever mean the same resource.

Name, tags, properties and facts are looked at one by one, which may name a conflict that no resource could show, and
never overlooks one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from policies.agreement import agreed_value, anything, tag_like
from policies.frozen import NOTHING, Json
from policies.leaves import TAGS
from policies.names import NamePattern, Unprovable
from policies.selections import NAME, Demand, Selection, by_path
from policies.shared_names import SharedNames, agreed_name

MOST_CHOICES = 1_024


@dataclass(frozen=True, slots=True)
class Witness:
    """A resource that two selections share: its name, if that matters, and what else it has to be like."""

    name: str | None = None
    values: Mapping[str, Json] = field(default_factory=lambda: NOTHING)


def meeting(one: Selection, other: Selection, shared: SharedNames) -> Witness | None:
    """A resource that both select; None: proven that there is none. Raises Unprovable where neither can be told."""
    if _apart(one, other):
        return None
    demands, groups = (*one.demands, *other.demands), (*one.exceptions, *other.exceptions)
    pattern = one.pattern or other.pattern
    for tried, denied in enumerate(product(*groups)):
        if tried == MOST_CHOICES:
            raise Unprovable(
                "there are too many exceptions to tell; write fewer, or give the selections different names"
            )
        witness = _witness((*demands, *(demand.denied() for demand in denied)), pattern, shared)
        if witness:
            return witness
    return None


def _apart(one: Selection, other: Selection) -> bool:
    """What decides almost all pairs: names that start differently, or different constants at one path."""
    if not one.start.startswith(other.start) and not other.start.startswith(one.start):
        return True
    return any(path in other.fixed and values.isdisjoint(other.fixed[path]) for path, values in one.fixed.items())


def _witness(demands: Sequence[Demand], pattern: NamePattern | None, shared: SharedNames) -> Witness | None:
    """One resource that satisfies all the demands."""
    tests = by_path(demands)
    values: dict[str, Json] = {}
    for path in sorted(tests.keys() - {NAME}):
        agreed = agreed_value(tests[path], tag_like if path.startswith(f"{TAGS}.") else anything)
        if agreed is None:
            return None
        values[path] = agreed.value
    names = tests.get(NAME, ())
    if pattern is None and not names:
        return Witness(None, values)
    name = agreed_name(pattern, names, shared)
    return None if name is None else Witness(name, values)
