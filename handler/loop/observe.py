"""What one policy sees of the census: what is proven its own, what else stands under its names, what must be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

from handler.loop.pairing import pair
from policies.document import Policy
from policies.drift import spec_of
from policies.frozen import freeze
from policies.identity import SPEC, Owner, claimed_by, marked_at, proves
from policies.match import selects
from policies.names import renders
from policies.strategy import Decision
from policies.world import Observation, Resource

TICK = timedelta(minutes=1)


def observe(
    policy: Policy,
    former: tuple[Owner, ...],
    census: Sequence[Resource],
    signals: Mapping[str, Any],
    unread: frozenset[str] = frozenset(),
) -> Observation:
    """The part of the census that concerns a policy."""
    if policy.match is not None:
        alive = known_untagged(one for one in census if one.alive)
        chosen = tuple(one for one in alive if selects(policy.match, policy.exceptions, one))
        return Observation(owned=chosen, left=_left(policy, census), unread=unread, signals=signals)
    owners = (policy.owner, *former)
    owned = {one.id: one for one in census if one.tags and any(proves(one, owner) for owner in owners)}
    rest, names = [one for one in census if one.id not in owned], policy.names
    strangers = {one.name: one for one in rest if one.name and names is not None and renders(names, one.name)}
    if not policy.kind.named:
        strangers = {one.token: one for one in rest if one.alive and one.token}
    dead = () if policy.kind.named else tuple(one for one in census if not one.alive)
    return Observation(tuple(owned.values()), freeze(strangers), dead, unread=unread, signals=signals)


def _left(policy: Policy, census: Sequence[Resource]) -> tuple[Resource, ...]:
    """What this policy marked and no longer means: the mark must go, or it would count should it ever match again."""
    return tuple(
        one
        for one in census
        if one.alive
        and one.tags
        and claimed_by(one.tags) is None
        and selects(policy.match or (), policy.exceptions, one) is False
        and marked_at(one.tags, policy.owner, one.id) is not None
    )


def reads(
    policy: Policy,
    decision: Decision,
    seen: Observation,
    census: Sequence[Resource],
    now: datetime,
    thorough: bool = False,
) -> Iterator[Resource]:
    """The resources to read deeply before anything is planned: those that may differ, and those whose turn it is.

    `thorough`: it is everybody's turn.
    """
    every = _how_often(policy, thorough)
    if policy.match is not None:
        yield from _matched(policy, decision, census, every, now)
        return
    chosen: dict[str, Resource] = {}
    for place, resource in pair(policy, decision, seen).items():
        spec = spec_of(policy.kind, decision.desired[place])
        if resource.alive and _due(policy, resource, spec, every, now):
            chosen[resource.id] = resource
    wanted = {want.name for want in decision.desired}
    strangers = [
        one for one in seen.occupied.values() if one.name in wanted and (one.tags is None or policy.clause.adopt)
    ]
    chosen |= {one.id: one.with_tags(None) for one in strangers}
    yield from chosen.values()


def reads_ahead(
    policy: Policy, surveyed: Sequence[Resource], now: datetime, thorough: bool = False
) -> Iterator[Resource]:
    """Those of a list, still without tags, that `reads` will name as well if they turn out to be the policy's own.

    They have a name that it wants whatever the signals say, and it is their turn.
    """
    names = policy.names.names if policy.names is not None and policy.wanted else None
    if names is None or policy.kind.complete_survey:
        return
    every = _how_often(policy, thorough)
    for one in surveyed:
        if one.tags is None and one.alive and one.name in names and its_turn(one, every, now):
            yield one


def _how_often(policy: Policy, thorough: bool) -> timedelta:
    return TICK if thorough or policy.strategy.looks_every_run else policy.clause.drift_check


def _due(policy: Policy, resource: Resource, spec: str, every: timedelta, now: datetime) -> bool:
    if policy.kind.complete_survey:
        return False
    return (resource.tags or {}).get(SPEC) != spec or its_turn(resource, every, now)


def _matched(
    policy: Policy, decision: Decision, census: Sequence[Resource], every: timedelta, now: datetime
) -> Iterator[Resource]:
    """Matched resources carry no spec hash: each is read when the policy is new, and then once per drift check.

    Those whose grace is over are read all at once: how many are to go must be known before any goes.
    """
    for one in known_untagged(one for one in census if one.alive):
        verdict = selects(policy.match or (), policy.exceptions, one)
        if verdict is False:
            continue
        if (one.properties is None or verdict is None) and (
            one.id not in policy.blueprint.looked or its_turn(one, every, now) or _is_over(policy, decision, one, now)
        ):
            yield one


def _is_over(policy: Policy, decision: Decision, one: Resource, now: datetime) -> bool:
    since = None if decision.grace is None else marked_at(one.tags, policy.owner, one.id)
    return since is not None and decision.grace is not None and now - since >= decision.grace


def its_turn(resource: Resource, every: timedelta, now: datetime) -> bool:
    """True once per `every`, in the minute that the hash of id and window gives.

    Reads spread evenly over the minutes, and since the window is part of the hash, a lost tick never blinds the same
    resources twice.
    """
    minutes = int(every / TICK)
    if minutes <= 1:
        return True
    minute = int(now.timestamp() // 60)
    return _spread(f"{resource.type}/{resource.id}/{minute // minutes}") % minutes == minute % minutes


def _spread(text: str) -> int:

    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


def known_untagged(resources: Iterable[Resource]) -> Iterator[Resource]:
    """Where only a selection is at stake, what the index does not list counts as untagged.

    Whatever is written afterwards is selected once more on tags read from the service itself.
    """
    return (one if one.tags is not None else one.with_tags({}) for one in resources)


def with_reads(census: Sequence[Resource], fresh: Mapping[str, Resource | None]) -> tuple[Resource, ...]:
    """The census with what was read put in its place; what turned out to be gone is left out."""
    merged = (fresh.get(one.id, one) for one in census)
    return tuple(one for one in merged if one is not None)
