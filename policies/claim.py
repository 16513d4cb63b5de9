"""What one policy claims: leaves or existence of the resources that it owns or selects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from policies.document import Policy
from policies.leaves import Leaf, kept_leaves, told_values
from policies.names import NamePattern
from policies.selections import Selection, matched_selections, moved_selection, owned_selection
from policies.template import Template
from policies.wildcards import common_start


@dataclass(frozen=True)
class Claim:
    """What one policy claims, and its place among all."""

    place: int
    policy: Policy
    kept: Mapping[Leaf, Template]
    existence: bool
    selections: tuple[Selection, ...]

    @cached_property
    def owning(self) -> bool:
        return self.policy.match is None

    @cached_property
    def pattern(self) -> NamePattern | None:
        return self.selections[0].pattern if self.owning else None

    @property
    def reaches_owned(self) -> bool:
        return not self.existence and any(match.owned for match in self.policy.match or ())

    @cached_property
    def start(self) -> str:
        """How every name begins that the policy may mean."""
        return common_start(selection.start for selection in self.selections)

    @cached_property
    def leaves(self) -> frozenset[Leaf]:
        return frozenset(self.kept)

    @cached_property
    def reach(self) -> frozenset[Leaf]:
        """The leaves and everything that they are part of."""
        return frozenset(leaf[:end] for leaf in self.kept for end in range(1, len(leaf) + 1))

    @cached_property
    def moved(self) -> tuple[Selection, ...]:
        told = told_values(self.kept, self.policy.kind)
        moved = (moved_selection(selection, self.kept, told) for selection in self.selections)
        return tuple(selection for selection in moved if selection)


def claim_of(place: int, policy: Policy) -> Claim:
    """What the policy claims; `place` is its place among all policies."""
    kept, owning = kept_leaves(policy), policy.match is None
    existence = not policy.wanted or policy.strategy.claims_existence(owning)
    selections = (owned_selection(policy, kept),) if owning else matched_selections(policy, not existence)
    return Claim(place, policy, kept, existence, selections)
