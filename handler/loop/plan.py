"""Desired and actual resources in, actions out. Pure: what `plan` shows is what a run does.

Named resources meet what is desired by name, nameless ones by slot. Nothing is decided here about limits: that is
`guardrails.py`, which sees the whole plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from policies.action import Action, Change, Desired, Plan, Terms, Trouble, Verb
from policies.document import Policy
from policies.drift import drift, own, spec_of, unfinished
from policies.duration import render as spell
from policies.frozen import merge
from policies.identity import (
    ADOPTED,
    ID,
    KEY,
    MARKED,
    PENDING,
    SPEC,
    Owner,
    birth_mark,
    claimed_by,
    mark,
    marked_at,
    next_tokens,
    rfc3339,
    tag_value,
)
from policies.strategy import Decision, Removal
from policies.world import Observation, Resource, State


def plan(policy: Policy, former: tuple[Owner, ...], decision: Decision, seen: Observation, now: datetime) -> Plan:
    """Everything that one policy means to do now. Equal arguments give an equal plan, in the same order."""
    return _Planner(policy, former, decision, seen, now).plan()


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


def pair(policy: Policy, decision: Decision, seen: Observation) -> Mapping[int, Resource]:
    """Which resource is meant by each desired one, by its place in the decision."""
    if policy.match is not None:
        by_id = {resource.id: resource for resource in seen.owned}
        return {place: by_id[want.of] for place, want in enumerate(decision.desired) if want.of in by_id}
    alive = [resource for resource in seen.owned if resource.state is not State.DEAD]
    if policy.kind.named:
        by_name = {resource.name: resource for resource in alive}
        return {place: by_name[want.name] for place, want in enumerate(decision.desired) if want.name in by_name}
    slots: dict[str, list[tuple[Resource, str]]] = {}
    for resource in alive:
        slots.setdefault((resource.tags or {}).get(KEY, ""), []).append((resource, (resource.tags or {}).get(SPEC, "")))
    paired = {}
    for place, want in enumerate(decision.desired):
        rivals = slots.get(tag_value(want.key), [])
        if rivals:
            spec = spec_of(policy.kind, want)
            paired[place] = min(
                rivals, key=lambda rival: (rival[0].state is State.DELETING, rival[1] != spec, _age(rival[0]))
            )[0]
    return paired


def _age(resource: Resource) -> tuple[bool, float, str]:
    """Sorts the oldest first; unknown ages last."""
    created = resource.created
    return created is None, created.timestamp() if created else 0.0, resource.id


@dataclass
class _Planner:
    policy: Policy
    former: tuple[Owner, ...]
    decision: Decision
    seen: Observation
    now: datetime

    def __post_init__(self) -> None:
        self.kind = self.policy.kind
        self.terms = terms_of(self.policy, self.former)
        self.paired = pair(self.policy, self.decision, self.seen)
        self.leaving = {removal.resource.id for removal in self.decision.removals or ()}
        self.kept: list[str] = []
        self.troubles: list[Trouble] = list(self.decision.troubles)

    def plan(self) -> Plan:
        actions = [action for place, want in enumerate(self.decision.desired) for action in self._toward(place, want)]
        actions += self._removals()
        alive = [resource for resource in self.seen.owned if resource.alive]
        return Plan(
            actions=tuple(actions),
            troubles=tuple(dict.fromkeys(self.troubles)),
            kept=tuple(self.kept),
            desired=len(self.decision.desired),
            actual=len(alive),
            ready=sum(resource.state is State.READY for resource in self.paired.values()),
        )

    def _toward(self, place: int, want: Desired) -> Iterator[Action]:
        """What brings one desired resource about."""
        resource = self.paired.get(place)
        if resource is None:
            yield from self._missing(want)
        elif resource.id in self.leaving and not self._is_in_grace(resource):
            return  # its slot is filled again once it is gone
        elif resource.id in self.seen.unread:
            yield self._action(Verb.WAIT, want.key, "could not be read", want, resource)
        elif resource.state is State.DELETING:
            yield self._action(Verb.WAIT, want.key, "being deleted", want, resource)
        else:
            yield from self._existing(want, resource)

    def _missing(self, want: Desired) -> Iterator[Action]:
        create = self._create(want)
        stranger = self.seen.occupied.get(want.name) if want.name else self._untagged(create)
        if stranger is None:
            yield create
        elif not self.kind.named:
            yield self._tag_again(create, stranger)
        elif stranger.state is State.DELETING:
            yield self._action(Verb.WAIT, want.key, "a resource of this name is being deleted", want, stranger)
        elif self.policy.clause.adopt and claimed_by(stranger.tags) is None:
            yield self._adopt(want, stranger)
        else:
            owner = claimed_by(stranger.tags)
            whose = f"is tagged as {owner}'s" if owner else "exists and is not ours"
            advice = "" if owner else '; set "adopt": true to take it over'
            self._trouble("Conflict", "NameTaken", f"{self.kind.type} {want.name} {whose}{advice}")

    def _create(self, want: Desired, replaces: Resource | None = None) -> Action:
        spec = None if self.kind.single_call(merge(want.initial, want.properties)) else PENDING
        owned = own(self.kind, want, self.policy.owner, self.policy.document, spec)
        tokens: tuple[str, ...] = ()
        if not self.kind.named:
            birth = owned.tags[ID]
            tokens = next_tokens(self.policy.owner, want.key, birth, self.seen.dead)
        reason = "missing" if replaces is None else "takes the place of one that cannot be changed"
        return self._action(Verb.CREATE, want.key, reason, owned, replaces, tokens=tokens)

    def _untagged(self, create: Action) -> Resource | None:
        """The living instance that the create would give back, since it was made with this very token."""
        return next((self.seen.occupied[token] for token in create.tokens if token in self.seen.occupied), None)

    def _tag_again(self, create: Action, stranger: Resource) -> Action:
        """The token proves that it is ours, though its tags were taken away."""
        assert create.desired is not None, "a create says what it makes"
        change = drift(self.kind, create.desired, stranger)
        reason = "its owner tags were taken away; its client token is ours"
        return replace(create, verb=Verb.UPDATE, reason=reason, seen=stranger, change=change)

    def _adopt(self, want: Desired, stranger: Resource) -> Action:
        owned = own(self.kind, want, self.policy.owner, self.policy.document)
        owned = replace(owned, tags={**owned.tags, ADOPTED: "true"})
        return self._action(
            Verb.ADOPT, want.key, "exists and nobody owns it", owned, stranger, drift(self.kind, owned, stranger)
        )

    def _existing(self, want: Desired, resource: Resource) -> Iterator[Action]:
        owned = self._as_owner(want, resource)
        change = drift(self.kind, owned, resource, unmark=self.policy.match is None)
        if not change:
            if resource.state is State.PENDING:
                yield self._action(Verb.WAIT, want.key, "in transition", owned, resource)
            return
        fixed = self.kind.locked(change.differences, resource)
        if fixed:
            yield from self._replace(want, resource, change, fixed)
        elif resource.state is State.PENDING:
            yield self._action(Verb.WAIT, want.key, "in transition; changes follow", owned, resource, change)
        else:
            yield self._action(Verb.UPDATE, want.key, _why(change, resource), owned, resource, change)

    def _as_owner(self, want: Desired, resource: Resource) -> Desired:
        """With the owner tags that this resource should carry; a nameless one keeps the mark of its birth."""
        if self.policy.match is not None:
            return want
        birth = birth_mark(resource, self.policy.owner) if not self.kind.named else None
        return unfinished(own(self.kind, want, self.policy.owner, self.policy.document, birth=birth), resource)

    def _replace(self, want: Desired, resource: Resource, change: Change, fixed: tuple[str, ...]) -> Iterator[Action]:
        words, how = ", ".join(fixed), self.policy.clause.replace
        if how is None or self.policy.match is not None or want.key in self.decision.lasting:
            message = f"{resource.name or resource.id}: {words} cannot be changed in place"
            self._trouble("Degraded", "ReplaceNeeded", f'{message}; allow it with "replace": "deleteFirst"')
        elif self._fresh_but_different(want, resource, change):
            message = f"{resource.name or resource.id} was created as declared and shows another {words}"
            self._trouble("Degraded", "NotConverging", f"{message}: a new one would be no different, so it stays")
        elif how == "createFirst":
            yield self._create(want, resource)
        else:
            reason = f"{words} can only change with a new resource"
            yield self._action(Verb.REPLACE, want.key, reason, want, resource, change)

    def _fresh_but_different(self, want: Desired, resource: Resource, change: Change) -> bool:
        """Only a create sets a create-only property: where the present spec did not take, a new one is no help."""
        fixed = any(difference.create_only for difference in change.differences)
        return fixed and (resource.tags or {}).get(SPEC) == spec_of(self.kind, want)

    def _removals(self) -> Iterator[Action]:
        """What becomes of owned resources that are not wanted (any more)."""
        unwanted = [removal for removal in self._unwanted() if removal.resource.alive]
        if unwanted and self.decision.hold:
            self._trouble("Held", "NothingRemoved", f"{len(unwanted)} are not wanted, and stay: {self.decision.hold}")
            return
        for removal in unwanted:
            yield from self._remove(removal) if self.decision.grace is None else self._expire(removal)
        yield from self._unmark()

    def _unwanted(self) -> Iterator[Removal]:
        explicit = self.decision.removals or ()
        yield from explicit
        told = {removal.resource.id for removal in explicit}
        kept = {resource.id for resource in self.paired.values()} | told
        for resource in self.seen.owned if self.policy.match is None else ():
            if resource.id not in kept and resource.name not in self.decision.spared:
                yield from self._surplus(resource)

    def _surplus(self, resource: Resource) -> Iterator[Removal]:
        """A slot's second resource goes only when the one that stays does its work."""
        key = (resource.tags or {}).get(KEY, "")
        if key in {tag_value(spared) for spared in self.decision.spared}:
            return
        rivals = [
            self.paired[place]
            for place, want in enumerate(self.decision.desired)
            if not self.kind.named and tag_value(want.key) == key and place in self.paired
        ]
        if not rivals and self.decision.removals is None:
            yield Removal(resource, "no longer wanted")
        elif any(rival.state is State.READY for rival in rivals):
            yield Removal(resource, "another one fills its place")

    def _remove(self, removal: Removal) -> Iterator[Action]:
        resource, reason = removal.resource, removal.reason
        if resource.id in self.seen.unread:
            yield self._action(Verb.WAIT, resource.id, "not wanted, and could not be read", None, resource)
            return
        key = (resource.tags or {}).get(KEY, resource.id)
        purpose = "retain" if self.policy.retains else "delete"
        since = marked_at(resource.tags, self.policy.owner, resource.id, purpose)
        if ADOPTED in (resource.tags or {}):
            change = Change(untag=frozenset(tag for tag in resource.tags or {} if tag.startswith("setpoint:")))
            yield self._action(Verb.RELEASE, key, f"{reason}; it was adopted, so it stays", None, resource, change)
        elif self.policy.retains:
            if since is None:
                yield self._mark(key, resource, f"{reason}; kept, since removal is retain", purpose)
            else:
                self.kept.append(f"{resource.name or resource.id}: not wanted since {rfc3339(since)}, retained")
        elif not self.policy.grace:
            yield self._action(Verb.DELETE, key, reason, None, resource)
        elif since is None:
            yield self._mark(key, resource, f"{reason}; deleted after {spell(self.policy.grace)}", purpose)
        elif self.now - since >= self.policy.grace:
            yield self._action(Verb.DELETE, key, f"{reason} for {spell(self.policy.grace)}", None, resource)
        else:
            self.kept.append(f"{resource.name or resource.id}: deleted from {rfc3339(since + self.policy.grace)} on")

    def _expire(self, removal: Removal) -> Iterator[Action]:
        """A matched resource is marked first, even where the grace is nothing, and deleted in a later run."""
        resource, since = removal.resource, self._marked_at(removal.resource)
        grace = self.decision.grace or timedelta()
        if since is None:
            yield self._mark(resource.id, resource, f"{removal.reason}; deleted after {spell(grace)}", "delete")
        elif self.now - since >= grace:
            yield self._action(Verb.DELETE, resource.id, f"{removal.reason}, marked {spell(grace)} ago", None, resource)
        else:
            self.kept.append(f"{resource.name or resource.id}: deleted from {rfc3339(since + grace)} on")

    def _is_in_grace(self, resource: Resource) -> bool:
        since, grace = self._marked_at(resource), self.decision.grace
        return since is not None and grace is not None and self.now - since < grace

    def _unmark(self) -> Iterator[Action]:
        for resource in self.seen.owned:
            if resource.id in self.decision.unmark and resource.alive and self._marked_at(resource):
                change = Change(untag=frozenset({MARKED}))
                yield self._action(Verb.RELEASE, resource.id, "not to be deleted any more", None, resource, change)

    def _marked_at(self, resource: Resource) -> datetime | None:
        return marked_at(resource.tags, self.policy.owner, resource.id)

    def _mark(self, key: str, resource: Resource, reason: str, purpose: str) -> Action:
        change = Change(tags={MARKED: mark(self.policy.owner, resource.id, self.now, purpose)})
        return self._action(Verb.MARK, key, reason, None, resource, change)

    def _action(
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
            type=self.kind.type,
            scope=self.policy.scope,
            key=key,
            reason=reason,
            terms=self.terms,
            desired=desired,
            seen=seen,
            change=change or Change(),
            tokens=tokens,
        )

    def _trouble(self, condition: str, reason: str, message: str) -> None:
        self.troubles.append(Trouble(condition, reason, message))


def _why(change: Change, resource: Resource) -> str:
    """Told apart by the spec hash: the policy was edited, or somebody else changed the resource."""
    if SPEC not in (resource.tags or {}):
        return "not as declared"
    if SPEC in change.tags:
        return "creation not finished" if (resource.tags or {}).get(SPEC) == PENDING else "the policy changed"
    return "wanted again" if MARKED in change.untag and not change.differences else "changed by others"
