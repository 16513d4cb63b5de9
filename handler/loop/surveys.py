"""What a run surveys: each type, account and region once, however many policies look at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from policies.document import Policy
from policies.identity import Owner, claimed_by
from policies.world import Resource, Scope

MOST_PREFIXES = 5
"""With more prefixes than this one full list is the cheaper call."""


MOST_LOOKUPS = 20
"""With more names than so many calls look up one lists: it costs less as long as few of them exist."""


@dataclass(frozen=True, slots=True)
class Survey:
    """One bulk look: at all names that begin with a prefix, or where `names` are given at these alone.

    `whole_index`: the tag index of the type is asked for; else only what carries an owner tag.
    """

    prefixes: tuple[str, ...]
    whole_index: bool
    names: frozenset[str] | None = None
    names_per_call: int = 0

    def shows(self, name: str) -> bool:
        """Whether it shows what has this name."""
        return name.startswith(self.prefixes) if self.names is None else name in self.names

    def also(self, names: set[str]) -> Survey:
        """The same kind of look at other names."""
        return replace(self, prefixes=shortest(names), names=None if self.names is None else frozenset(names))

    def lookups(self) -> Iterator[tuple[str, ...]]:
        """The names, as many to a call as it takes."""
        names, size = sorted(self.names or ()), self.names_per_call
        yield from (tuple(names[start : start + size]) for start in range(0, len(names), size))


Place = tuple[str, Scope]


def plan_surveys(policies: Sequence[Policy]) -> Mapping[Place, Survey]:
    """The surveys that these policies need, by type and scope."""
    there: dict[Place, list[Policy]] = {}
    for policy in policies:
        there.setdefault((policy.kind.type, policy.scope), []).append(policy)
    return {place: _survey(some) for place, some in there.items()}


def _survey(policies: Sequence[Policy]) -> Survey:
    """What all policies of one place need."""
    prefixes = {prefix for policy in policies for prefix in _prefixes(policy)}
    whole = any(policy.match is not None for policy in policies)
    return Survey(shortest(prefixes), whole, _all_names(policies), policies[0].kind.names_per_call)


def _all_names(policies: Sequence[Policy]) -> frozenset[str] | None:
    """Every name that these policies can mean, where a few calls look all of them up."""
    known = [_names(policy) for policy in policies]
    names = frozenset(name for some in known for name in some or ())
    few = len(names) <= MOST_LOOKUPS * policies[0].kind.names_per_call
    return names if names and few and None not in known else None


def _names(policy: Policy) -> frozenset[str] | None:
    """None where not all are known, or where one is none that the service would take in a lookup."""
    if policy.match is None:
        return None if policy.names is None else policy.names.names
    if policy.strategy.claims_existence(owning=False):
        return None
    exact = [match.names for match in policy.match]
    names = [name for some in exact for name in some or ()]
    askable = None not in exact and all(rule.allows(name) for rule in policy.kind.names for name in names)
    return frozenset(names) if askable else None


def _prefixes(policy: Policy) -> set[str]:
    if policy.match is None:
        return {"" if policy.names is None else policy.names.prefix}
    if policy.strategy.claims_existence(owning=False):
        return {""}  # what it marked and does not mean any more must show too, or its mark would stay
    found: set[str] = set()
    for match in policy.match:
        found |= set(match.names) if match.names is not None else {match.name_prefix or ""}
    return found


def outside(claimed: Iterable[Resource], owners: tuple[Owner, ...], survey: Survey) -> set[str]:
    """The names of what these owners are known to have, and that a survey does not show."""
    whose = {str(owner) for owner in owners}
    names = (one.name or "" for one in claimed if claimed_by(one.tags) in whose)
    return {name for name in names if not survey.shows(name)}


def shortest(prefixes: set[str]) -> tuple[str, ...]:
    """Without those that another one covers; everything, where they are many."""
    kept = tuple(
        prefix
        for prefix in sorted(prefixes)
        if not any(prefix != other and prefix.startswith(other) for other in prefixes)
    )
    return kept if len(kept) <= MOST_PREFIXES else ("",)
