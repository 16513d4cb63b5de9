"""Desired and actual resources in, actions out. Pure: what `plan` shows is what a run does.

Nothing is decided here about limits: that is `guardrails.py`, which sees the whole plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from handler.loop.away import Away
from handler.loop.draft import Draft
from handler.loop.pairing import pair
from handler.loop.toward import Toward
from policies.action import Action, Plan
from policies.document import Policy
from policies.identity import Owner
from policies.strategy import Decision
from policies.world import Observation, State


def plan(policy: Policy, former: tuple[Owner, ...], decision: Decision, seen: Observation, now: datetime) -> Plan:
    """Everything that one policy means to do now. Equal arguments give an equal plan, in the same order."""
    draft = Draft(policy, former, now, list(decision.troubles))
    paired = pair(policy, decision, seen)
    toward, away = Toward(draft, seen, decision.lasting), Away(draft, decision, seen, paired)
    leaving = {removal.resource.id for removal in decision.removals or ()}
    actions: list[Action] = []
    for place, want in enumerate(decision.desired):
        resource = paired.get(place)
        if resource is None or resource.id not in leaving or away.stays_for_now(resource):
            actions += toward.actions(want, resource)  # else its slot is filled again once it is gone
    actions += away.actions()
    return Plan(
        actions=tuple(actions),
        troubles=tuple(dict.fromkeys(draft.troubles)),
        kept=(*decision.notes, *draft.kept, *_unmet(policy, seen)),
        desired=len(decision.desired),
        actual=sum(resource.alive for resource in seen.owned),
        ready=sum(resource.state is State.READY for resource in paired.values()),
    )


def _unmet(policy: Policy, seen: Observation) -> Iterator[str]:
    """The exact names of a `match` that nothing has: most likely they are misspelt, and all looks well."""
    met = {word for one in seen.owned for word in (one.name, one.id)}
    for name in dict.fromkeys(name for match in policy.match or () for name in match.names or ()):
        if name not in met:
            yield f"{name}: nothing that is matched has this name"
