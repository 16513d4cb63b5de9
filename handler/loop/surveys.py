"""What a run surveys: each type, account and region once, however many policies look at it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from policies.document import Policy
from policies.identity import Owner, claimed_by
from policies.world import Resource, Scope

MOST_PREFIXES = 5
"""With more prefixes than this one full list is the cheaper call."""


@dataclass(frozen=True, slots=True)
class Survey:
    """One bulk look. `indexed` is the type to ask the tag index for; None: only what carries an owner tag."""

    prefixes: tuple[str, ...]
    whole_index: bool


Place = tuple[str, Scope]


def plan_surveys(policies: Sequence[Policy]) -> Mapping[Place, Survey]:
    """The surveys that these policies need, by type and scope."""
    wanted: dict[Place, set[str]] = {}
    whole: set[Place] = set()
    for policy in policies:
        place = (policy.kind.type, policy.scope)
        wanted.setdefault(place, set()).update(_prefixes(policy))
        if policy.match is not None:
            whole.add(place)
    return {place: Survey(shortest(prefixes), place in whole) for place, prefixes in wanted.items()}


def _prefixes(policy: Policy) -> set[str]:
    if policy.match is None:
        return {"" if policy.names is None else policy.names.prefix}
    found: set[str] = set()
    for match in policy.match:
        found |= set(match.names) if match.names is not None else {match.name_prefix or ""}
    return found


def outside(claimed: Iterable[Resource], owners: tuple[Owner, ...], prefixes: tuple[str, ...]) -> set[str]:
    """The names of what these owners are known to have, and that a survey of these prefixes does not show."""
    whose = {str(owner) for owner in owners}
    names = (one.name or "" for one in claimed if claimed_by(one.tags) in whose)
    return {name for name in names if not name.startswith(prefixes)}


def shortest(prefixes: set[str]) -> tuple[str, ...]:
    """Without those that another one covers; everything, where they are many."""
    kept = tuple(
        prefix
        for prefix in sorted(prefixes)
        if not any(prefix != other and prefix.startswith(other) for other in prefixes)
    )
    return kept if len(kept) <= MOST_PREFIXES else ("",)
