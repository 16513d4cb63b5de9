"""What brings one desired resource about: a create, an update, an adoption, a replacement, or patience."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from handler.loop.draft import Draft
from policies.action import Action, Change, Desired, Verb
from policies.document import Policy
from policies.drift import birth_of, drift, own, spec_of, unfinished
from policies.frozen import merge
from policies.identity import ADOPTED, ID, MARKED, PENDING, POLICY, SPEC, birth_mark, claimed_by, next_tokens
from policies.kind import KindModel
from policies.world import Observation, Resource, State


@dataclass(frozen=True)
class Toward:
    """The way from what is seen to what is desired, for one policy."""

    draft: Draft
    seen: Observation
    lasting: frozenset[str]

    def actions(self, want: Desired, resource: Resource | None) -> Iterator[Action]:
        """What brings one desired resource about, where `resource` is the one that is meant by it."""
        if resource is None:
            yield from self._missing(want)
        elif resource.id in self.seen.unread:
            yield self.draft.action(Verb.WAIT, want.key, "could not be read", want, resource)
        elif resource.state is State.DELETING:
            yield self.draft.action(Verb.WAIT, want.key, "being deleted", want, resource)
        else:
            yield from self._existing(want, resource)

    @property
    def policy(self) -> Policy:
        return self.draft.policy

    @property
    def kind(self) -> KindModel:
        return self.draft.policy.kind

    def _missing(self, want: Desired) -> Iterator[Action]:
        create = self._create(want)
        stranger = self.seen.occupied.get(want.name) if want.name else self._untagged(create)
        if stranger is None:
            yield create
        elif not self.kind.named and claimed_by(stranger.tags) is None:
            yield self._tag_again(create, stranger)
        elif stranger.state is State.DELETING:
            yield self.draft.action(Verb.WAIT, want.key, "a resource of this name is being deleted", want, stranger)
        elif self.policy.clause.adopt and claimed_by(stranger.tags) is None:
            yield self._adopt(want, stranger)
        else:
            owner = claimed_by(stranger.tags)
            whose = f"is tagged as {owner}'s" if owner else "exists and is not ours"
            advice = f'; if this policy was {owner} once, say "formerly"' if owner else '; "adopt": true takes it over'
            what = want.name or f"{stranger.id}, made with the token of slot {want.key},"
            self.draft.trouble("Conflict", "NameTaken", f"{self.kind.type} {what} {whose}{advice}")

    def _create(self, want: Desired, replaces: Resource | None = None) -> Action:
        spec = None if self.kind.single_call(merge(want.initial, want.properties)) else PENDING
        owned = own(self.kind, want, self.policy.owner, self.policy.origin, spec)
        tokens: tuple[str, ...] = ()
        if not self.kind.named:
            birth = owned.tags[ID]
            tokens = next_tokens(self.policy.owner, want.key, birth, self.seen.dead)
        reason = "missing" if replaces is None else "takes the place of one that cannot be changed"
        return self.draft.action(Verb.CREATE, want.key, reason, owned, replaces, tokens=tokens)

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
        owned = own(self.kind, want, self.policy.owner, self.policy.origin)
        owned = replace(owned, tags={**owned.tags, ADOPTED: "true"})
        return self.draft.action(
            Verb.ADOPT, want.key, "exists and nobody owns it", owned, stranger, drift(self.kind, owned, stranger)
        )

    def _existing(self, want: Desired, resource: Resource) -> Iterator[Action]:
        owned = self._as_owner(want, resource)
        change = drift(self.kind, owned, resource, unmark=self.policy.match is None)
        if not change:
            if resource.state is State.PENDING:
                yield self.draft.action(Verb.WAIT, want.key, "in transition", owned, resource)
            return
        fixed = self.kind.locked(change.differences, resource)
        if fixed:
            yield from self._replace(want, resource, change, fixed)
        elif resource.state is State.PENDING:
            yield self.draft.action(Verb.WAIT, want.key, "in transition; changes follow", owned, resource, change)
        else:
            yield self.draft.action(Verb.UPDATE, want.key, _why(change, resource), owned, resource, change)

    def _as_owner(self, want: Desired, resource: Resource) -> Desired:
        """With the owner tags that this resource should carry; a nameless one keeps the mark of its birth."""
        if self.policy.match is not None:
            return want
        if self.kind.named:
            return unfinished(self._owned(want), resource)
        birth = birth_mark(resource, self.policy.owner)
        return unfinished(own(self.kind, want, self.policy.owner, self.policy.origin, birth=birth), resource)

    def _owned(self, want: Desired) -> Desired:
        """With its owner tags; remembered for as long as the very same resource is desired."""
        known = self.policy.blueprint.owned.get(want.key)
        if known is None or known[0] is not want:
            known = (want, own(self.kind, want, self.policy.owner, self.policy.origin))
            self.policy.blueprint.owned[want.key] = known
        return known[1]

    def _replace(self, want: Desired, resource: Resource, change: Change, fixed: tuple[str, ...]) -> Iterator[Action]:
        words, how = ", ".join(fixed), self.policy.clause.replace
        if how is None or self.policy.match is not None or want.key in self.lasting:
            message = f"{resource.name or resource.id}: {words} cannot be changed in place"
            self.draft.trouble("Degraded", "ReplaceNeeded", f"{message}; {_way_out(self.kind)}")
        elif ADOPTED in (resource.tags or {}):
            message = f"{resource.name or resource.id}: {words} cannot be changed in place"
            self.draft.trouble(
                "Degraded", "Adopted", f"{message}, and what was adopted is never deleted: replace it by hand"
            )
        elif self._fresh_but_different(want, resource, change):
            message = f"{resource.name or resource.id} was created as declared and shows another {words}"
            self.draft.trouble("Degraded", "NotConverging", f"{message}: a new one would be no different, so it stays")
        elif how == "createFirst":
            yield self._create(want, resource)
        else:
            lost = "; what it holds is lost" if self.kind.holds_data else ""
            reason = f"{words} can only change with a new resource{lost}"
            yield self.draft.action(Verb.REPLACE, want.key, reason, want, resource, change)

    def _fresh_but_different(self, want: Desired, resource: Resource, change: Change) -> bool:
        """Only a create sets a create-only property: where the present spec did not take, a new one is no help."""
        tags = resource.tags or {}
        as_declared = tags.get(SPEC) == spec_of(self.kind, want)
        born_so = tags.get(SPEC) == PENDING and tags.get(ID, "").partition("@")[0] == birth_of(want)
        return any(difference.create_only for difference in change.differences) and (as_declared or born_so)


def _why(change: Change, resource: Resource) -> str:
    """Told apart by the spec hash: the policy was edited, or somebody else changed the resource."""
    if SPEC not in (resource.tags or {}):
        return "not as declared"
    if POLICY in change.tags:
        return f"taken over from {claimed_by(resource.tags)}"
    if SPEC in change.tags:
        return "creation not finished" if (resource.tags or {}).get(SPEC) == PENDING else "the policy changed"
    return "wanted again" if MARKED in change.untag and not change.differences else "changed by others"


def _way_out(kind: KindModel) -> str:
    """What allows a replacement, and what it costs."""
    cost = ", which deletes it with what it holds, at once" if kind.holds_data else ""
    how = '"deleteFirst"' if kind.named else '"createFirst" or "deleteFirst"'
    return f'"replace": {how} allows a new one{cost}'
