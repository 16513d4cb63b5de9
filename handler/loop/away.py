"""What becomes of resources that are not wanted (any more): kept and marked, released, or deleted after a grace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from handler.loop.draft import Draft
from policies.action import Action, Change, Verb
from policies.document import Policy
from policies.duration import render as spell
from policies.identity import ADOPTED, KEY, MARKED, mark, marked_at, rfc3339, tag_value
from policies.strategy import Decision, Removal
from policies.world import Observation, Resource, State


@dataclass(frozen=True)
class Away:
    """The unwanted resources of one policy. `paired` are the resources that something desired means, by its place."""

    draft: Draft
    decision: Decision
    seen: Observation
    paired: Mapping[int, Resource]

    def actions(self) -> Iterator[Action]:
        """What becomes of everything that is owned and not wanted; nothing, while the decision holds."""
        unwanted = [removal for removal in self._unwanted() if removal.resource.alive]
        if unwanted and self.decision.hold:
            message = f"{len(unwanted)} are not wanted, and stay: {self.decision.hold}"
            self.draft.trouble("Held", "NothingRemoved", message)
            return
        for removal in unwanted:
            yield from self._remove(removal) if self.decision.grace is None else self._expire(removal)
        yield from self._unmark()

    def stays_for_now(self, resource: Resource) -> bool:
        """Whether it is marked and its grace has not passed: until then it is shaped like any other."""
        since, grace = self._marked_at(resource), self.decision.grace
        return since is not None and grace is not None and self.draft.now - since < grace

    @property
    def policy(self) -> Policy:
        return self.draft.policy

    def _unwanted(self) -> Iterator[Removal]:
        explicit = self.decision.removals or ()
        yield from explicit
        if self.policy.match is None:
            told = {removal.resource.id for removal in explicit}
            yield from self._surplus({resource.id for resource in self.paired.values()} | told)

    def _surplus(self, known: set[str]) -> Iterator[Removal]:
        """What is owned and meant by nothing. The second in a slot goes only when the one that stays does its work."""
        spared_keys = {tag_value(spared) for spared in self.decision.spared}
        slots = {} if self.policy.kind.named else self._slots()
        for resource in self.seen.owned:
            key = (resource.tags or {}).get(KEY, "")
            if resource.id in known or resource.name in self.decision.spared or key in spared_keys:
                continue
            rival = slots.get(key)
            if rival is None and self.decision.removals is None:
                yield Removal(resource, "no longer wanted")
            elif rival is not None and rival.state is State.READY:
                yield Removal(resource, "another one fills its place")

    def _slots(self) -> Mapping[str, Resource]:
        desired = self.decision.desired
        return {tag_value(desired[place].key): resource for place, resource in self.paired.items()}

    def _remove(self, removal: Removal) -> Iterator[Action]:
        resource, reason = removal.resource, removal.reason
        if resource.id in self.seen.unread:
            yield self.draft.action(Verb.WAIT, resource.id, "not wanted, and could not be read", None, resource)
            return
        key = (resource.tags or {}).get(KEY, resource.id)
        purpose = "retain" if self.policy.retains else "delete"
        since = marked_at(resource.tags, self.policy.owner, resource.id, purpose)
        if ADOPTED in (resource.tags or {}):
            change = Change(untag=frozenset(tag for tag in resource.tags or {} if tag.startswith("setpoint:")))
            yield self.draft.action(Verb.RELEASE, key, f"{reason}; it was adopted, so it stays", None, resource, change)
        elif self.policy.retains:
            if since is None:
                yield self._mark(key, resource, f"{reason}; kept, since removal is retain", purpose)
            else:
                self.draft.kept.append(f"{resource.name or resource.id}: not wanted since {rfc3339(since)}, retained")
        elif not self.policy.grace:
            yield self.draft.action(Verb.DELETE, key, reason, None, resource)
        elif since is None:
            yield self._mark(key, resource, f"{reason}; deleted after {spell(self.policy.grace)}", purpose)
        elif self.draft.now - since >= self.policy.grace:
            yield self.draft.action(Verb.DELETE, key, f"{reason} for {spell(self.policy.grace)}", None, resource)
        else:
            self.draft.kept.append(
                f"{resource.name or resource.id}: deleted from {rfc3339(since + self.policy.grace)} on"
            )

    def _expire(self, removal: Removal) -> Iterator[Action]:
        """A matched resource is marked first, even where the grace is nothing, and deleted in a later run."""
        resource, since = removal.resource, self._marked_at(removal.resource)
        grace = self.decision.grace or timedelta()
        if since is None:
            yield self._mark(resource.id, resource, f"{removal.reason}; deleted after {spell(grace)}", "delete")
        elif self.draft.now - since >= grace:
            yield self.draft.action(
                Verb.DELETE, resource.id, f"{removal.reason}, marked at {rfc3339(since)}", None, resource
            )
        else:
            self.draft.kept.append(f"{resource.name or resource.id}: deleted from {rfc3339(since + grace)} on")

    def _unmark(self) -> Iterator[Action]:
        pardoned = [resource for resource in self.seen.owned if resource.id in self.decision.unmark]
        for resource in (*pardoned, *self.seen.left):
            if resource.alive and self._marked_at(resource):
                change = Change(untag=frozenset({MARKED}))
                yield self.draft.action(Verb.RELEASE, resource.id, "not to be deleted any more", None, resource, change)

    def _marked_at(self, resource: Resource) -> datetime | None:
        return marked_at(resource.tags, self.policy.owner, resource.id)

    def _mark(self, key: str, resource: Resource, reason: str, purpose: str) -> Action:
        change = Change(tags={MARKED: mark(self.policy.owner, resource.id, self.draft.now, purpose)})
        return self.draft.action(Verb.MARK, key, reason, None, resource, change)
