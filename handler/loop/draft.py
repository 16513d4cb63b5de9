"""A plan in the making: what every action of one policy has in common, and what is told beside the actions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from policies.action import Action, Change, Desired, Terms, Trouble, Verb
from policies.document import Policy
from policies.identity import Owner
from policies.world import Resource


@dataclass
class Draft:
    """One policy's plan while it is drawn up."""

    policy: Policy
    former: tuple[Owner, ...]
    now: datetime
    troubles: list[Trouble] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.terms = terms_of(self.policy, self.former)

    def action(
        self,
        verb: Verb,
        key: str,
        reason: str,
        desired: Desired | None,
        seen: Resource | None = None,
        change: Change | None = None,
        tokens: tuple[str, ...] = (),
    ) -> Action:
        return Action(
            verb=verb,
            policy=self.policy.name,
            type=self.policy.kind.type,
            scope=self.policy.scope,
            key=key,
            reason=reason,
            terms=self.terms,
            desired=desired,
            seen=seen,
            change=change or Change(),
            tokens=tokens,
        )

    def trouble(self, condition: str, reason: str, message: str) -> None:
        """Tell of something that cannot be done and has no action to hang it on."""
        self.troubles.append(Trouble(condition, reason, message))


def terms_of(policy: Policy, former: tuple[Owner, ...]) -> Terms:
    """What must hold of a resource of this policy at the moment of writing."""
    rails = policy.guardrails
    if policy.match is not None:
        return Terms(
            None,
            protect=rails.protect,
            delete_if=rails.delete_if,
            match=policy.match,
            exceptions=policy.exceptions,
            marker=policy.owner,
        )
    return Terms(policy.owner, former, policy.clause.adopt, rails.protect, rails.delete_if)
