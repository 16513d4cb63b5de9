"""Reads begun ahead of time: whose turn it is depends on the minute alone, so they need not wait for the bulk calls.

A warm process remembers what its last run saw. What is read ahead counts only where this run's survey shows the very
same resource again; else it is read as ever. So nothing depends on the memory, and a run makes the same calls, sooner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from handler.loop.observe import every, its_turn
from policies.action import Outcome
from policies.document import Policy
from policies.world import Observation, Resource


def due(policy: Policy, now: datetime, thorough: bool) -> Iterator[Resource]:
    """What the last run noticed and this one will want to read."""
    for one in policy.blueprint.noticed.values():
        if its_turn(one, every(policy, thorough), now):
            yield one


def notice(policy: Policy, seen: Observation, outcomes: Iterable[Outcome]) -> None:
    """Remember what the lists showed of the policy's resources, but for those that were acted upon."""
    noticed = policy.blueprint.noticed
    noticed.clear()
    if not policy.kind.complete_survey:
        touched = {outcome.action.seen.id for outcome in outcomes if outcome.action.seen is not None}
        listed = (one for one in seen.owned if one.alive and (policy.match is None or one.properties is None))
        noticed.update({one.id: one for one in listed if one.id not in touched})


def same(noticed: Resource | None, listed: Resource) -> bool:
    """Whether a list shows what was noticed; its tags must be known, for those of the last run may be old."""
    return noticed is not None and listed.tags is not None and noticed.with_tags(None) == listed.with_tags(None)
