"""The proof that no two policies can own the same thing.

A policy claims (type, account, region, name pattern or selection, leaf properties or existence). Two claims collide
where some resource could be meant by both, and both claim its existence or keep the same leaf of it. Existence against
a leaf is no collision: one policy may expire what another keeps in shape, or delete its own while a third scales it.

Owning policies of one named kind collide by name alone; without names they never do, since slots have tokens.
Matching policies leave out what has an owner, unless they say `owned: true` and do not claim existence. A condition on
what one of the two policies writes separates them only if what is written does not lead into the other's selection.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, product

from policies.claim import Claim, claim_of
from policies.clashes import Clash, explain
from policies.document import Policy
from policies.leaves import dotted
from policies.meetings import Witness, meeting
from policies.names import Unprovable
from policies.selections import Selection
from policies.shared_names import SharedNames

MOST_TOLD = 10
"""Messages of one policy; the rest are counted."""


def conflicts(policies: Sequence[Policy]) -> Mapping[str, tuple[str, ...]]:
    """By policy name, whom it collides with and over what. Policies not in it are proven disjoint from all others."""
    shared = SharedNames()
    found: dict[str, list[str]] = defaultdict(list)
    for clash in sorted(_clashes(policies, shared), key=lambda clash: clash.order):
        for policy in (clash.one, clash.other):
            found[policy.name].append(explain(clash))
    return {name: _shortened(messages) for name, messages in found.items()}


def _clashes(policies: Sequence[Policy], shared: SharedNames) -> Iterator[Clash]:
    grounds: dict[tuple[str, str, str], list[Claim]] = defaultdict(list)
    for place, policy in enumerate(policies):
        ground = (policy.kind.type, policy.scope.account, policy.scope.region)
        grounds[ground].append(claim_of(place, policy))
    for claims in grounds.values():
        for pair in _suspects(claims):
            clash = _clash(*pair, shared)
            if clash:
                yield clash


def _suspects(claims: Sequence[Claim]) -> Iterator[tuple[Claim, Claim]]:
    """Every pair that could collide, the earlier policy first."""
    owners = [claim for claim in claims if claim.owning]
    matchers = [claim for claim in claims if not claim.owning]
    yield from _neighbours(claim for claim in owners if claim.pattern)
    yield from _neighbours(matchers)
    for matcher in (claim for claim in matchers if claim.reaches_owned):
        yield from ((matcher, owner) if matcher.place < owner.place else (owner, matcher) for owner in owners)


def _neighbours(claims: Iterable[Claim]) -> Iterator[tuple[Claim, Claim]]:
    """The pairs whose names may start alike: sorted by how they start, those stand together."""
    ordered = sorted(((claim.start, claim) for claim in claims), key=lambda pair: pair[0])
    for place, (start, one) in enumerate(ordered, 1):
        for longer, other in islice(ordered, place, None):
            if not longer.startswith(start):
                break
            yield (one, other) if one.place < other.place else (other, one)


def _clash(one: Claim, other: Claim, shared: SharedNames) -> Clash | None:
    contested = _contested(one, other)
    if contested is None or one.policy.name == other.policy.name:
        return None
    order, owned = (one.place, other.place), one.owning and other.owning
    try:
        witness = _meet(one, other, shared)
    except Unprovable as reason:
        return Clash(order, one.policy, other.policy, contested, owned, Witness(), str(reason))
    return Clash(order, one.policy, other.policy, contested, owned, witness) if witness else None


def _contested(one: Claim, other: Claim) -> str | None:
    """What both would do to a resource that both mean."""
    if one.owning and other.owning:
        return "own"
    if one.existence and other.existence:
        return "delete"
    if one.leaves.isdisjoint(other.reach) and one.reach.isdisjoint(other.leaves):
        return None
    return f"set {dotted(min((one.leaves & other.reach) | (one.reach & other.leaves)))} of"


def _meet(one: Claim, other: Claim, shared: SharedNames) -> Witness | None:
    if one.pattern and other.pattern:
        name = shared.of(one.pattern, other.pattern)
        return None if name is None else Witness(name)
    pairs: Iterable[tuple[Selection, Selection]] = product(one.selections, other.selections)
    if not one.owning and not other.owning:
        pairs = chain(pairs, product(one.moved, other.selections), product(one.selections, other.moved))
    return next(filter(None, (meeting(*pair, shared) for pair in pairs)), None)


def _shortened(messages: Sequence[str]) -> tuple[str, ...]:
    told = tuple(dict.fromkeys(messages))
    rest = len(told) - MOST_TOLD
    return told if rest <= 0 else (*told[:MOST_TOLD], f"and {rest} more conflicts of this policy")
