"""Carries out one action: read the resource as it is now, check that it is ours, write, and write the hash last.

Nothing here trusts what was sensed. Every update and delete begins with a read of the owning service, tags included,
and goes on only if the action's terms still hold; a create of a kind that overwrites or returns what exists begins
with a read by name. So lost answers, stale lists and parallel runs end in the same state. Nothing waits, polls or
retries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from infra.aws import Aws
from infra.kinds.kind import Kind
from infra.refusals import code_of, translated
from policies.action import Action, Change, Desired, Outcome, Progress, Result, Terms, Verb
from policies.conditions import all_hold
from policies.drift import drift, spec_of, unfinished
from policies.errors import AbsentError, ConflictError, ExistsError, RefusedError, SetpointError, WaitError
from policies.identity import ADOPTED, HOLD_UNTIL, MARKED, PENDING, PURPOSES, SPEC, Owner, claimed_by, marked_at, proves
from policies.kind import Creation
from policies.match import selects
from policies.world import Resource, State


def act(aws: Aws, kind: Kind, action: Action) -> Outcome:
    """Carry out one action; what goes wrong is raised as one of our errors."""
    return _Act(aws, kind, action).run()


def read(aws: Aws, kind: Kind, seen: Resource) -> Resource | None:
    """The resource as its service has it now; None: it is not there. Tags are read only where `seen` has none."""
    try:
        with translated(kind):
            return kind.read(aws, seen)
    except AbsentError:
        return None


@dataclass(frozen=True)
class _Act:
    aws: Aws
    kind: Kind
    action: Action

    def run(self) -> Outcome:
        match self.action.verb:
            case Verb.CREATE:
                return self._create()
            case Verb.UPDATE | Verb.ADOPT:
                return self._update()
            case Verb.DELETE | Verb.REPLACE:
                return self._delete()
            case Verb.MARK | Verb.RELEASE:
                return self._tag()
            case Verb.WAIT:
                return self._outcome(Result.WAITING, self.action.reason)

    def _create(self) -> Outcome:
        desired = self._desired
        if self.kind.named and self.kind.creation is not Creation.EXCLUSIVE:
            found = read(self.aws, self.kind, self.kind.locate(self.aws, desired.name or ""))
            if found is not None:
                return self._settle(found)
        try:
            progress = self._call_create(desired)
        except ExistsError as taken:
            found = read(self.aws, self.kind, self.kind.locate(self.aws, desired.name or ""))
            if found is None:
                raise WaitError(f"{desired.name} exists, but cannot be read yet: {taken}") from taken
            return self._settle(found)
        return self._created(progress)

    def _call_create(self, desired: Desired) -> Progress:
        """One create call; a nameless slot tries the links of its token chain until one is not spent."""
        for token in self.action.tokens or (None,):
            try:
                with translated(self.kind):
                    return self.kind.create(self.aws, desired, token)
            except AbsentError as missing:
                raise WaitError(f"something that it refers to is missing: {missing}") from missing
            except SetpointError as refused:
                if code_of(refused) not in self.kind.spent_token_codes:
                    raise
        raise WaitError(f"slot {self.action.key}: the last {len(self.action.tokens)} instances of it died within a day")

    def _created(self, progress: Progress) -> Outcome:
        """A create that takes several calls goes on at once, from what can be read of it."""
        if progress is Progress.COMPLETE and self._desired.tags.get(SPEC) != PENDING:
            return self._outcome(Result.DONE)
        if not self.kind.named:
            return self._outcome(Result.PARTIAL, "the next run finds it by its token and goes on")
        found = read(self.aws, self.kind, self.kind.locate(self.aws, self._desired.name or ""))
        if found is None:
            return self._outcome(Result.PARTIAL, "creation goes on in the next run")
        return self._settle(found, born=True)

    def _settle(self, found: Resource, born: bool = False) -> Outcome:
        """What stands in the place of a create: finish it where it is ours, leave it where it is not."""
        self._check_ours(found)
        if found.state is not State.READY:
            return self._outcome(Result.PARTIAL, f"it is {found.state.value}")
        return self._converge(found, unfinished(self._finished, found), born)

    def _update(self) -> Outcome:
        found = self._fresh()
        if found is None:
            return self._outcome(Result.WAITING, "it is gone; the next run decides")
        self._check_ours(found)
        self._check_state(found)
        return self._converge(found, self._desired)

    def _converge(self, found: Resource, desired: Desired, born: bool = False) -> Outcome:
        """Properties first, tags after them, and with them the spec hash.

        Create-only properties that differ on a resource `born` in this very act differ for good: the rest is finished,
        and the next run tells of them.
        """
        change = drift(self.kind, desired, found, unmark=self.action.terms.owner is not None)
        if not change:
            return self._outcome(Result.NOTHING, "it is as desired already")
        fixed = self.kind.locked(change.differences, found)
        if fixed and not born:
            raise RefusedError(f"{', '.join(fixed)} cannot be changed in place")
        writable = {word: value for word, value in change.properties.items() if not self.kind.create_only(word)}
        if writable:
            with translated(self.kind):
                progress = self.kind.update(
                    self.aws, found, replace(change, properties=writable, tags={}, untag=frozenset())
                )
            if progress is Progress.PARTIAL:
                return self._outcome(Result.PARTIAL, "more steps follow in the next run")
        self._write_tags(found, change)
        return self._outcome(Result.DONE)

    def _write_tags(self, found: Resource, change: Change) -> None:
        if change.tags or change.untag:
            with translated(self.kind):
                self.kind.update(self.aws, found, replace(change, properties={}))

    def _delete(self) -> Outcome:
        found = self._fresh()
        if found is None or not found.alive:
            return self._outcome(Result.DONE, "it was gone already")
        self._check_ours(found)
        self._check_expired(found)
        self._check_deletable(found)
        self._check_state(found)
        try:
            with translated(self.kind):
                self.kind.delete(self.aws, found)
        except AbsentError:
            return self._outcome(Result.DONE, "it was gone already")
        if self.action.verb is Verb.REPLACE:
            return self._outcome(Result.PARTIAL, "deleted; a later run creates it anew")
        return self._outcome(Result.DONE)

    def _tag(self) -> Outcome:
        found = self._fresh()
        if found is None:
            return self._outcome(Result.DONE, "it was gone already")
        self._check_ours(found)
        if self.action.terms.owner is None and claimed_by(found.tags) is not None:
            raise WaitError(f"{found.name or found.id} has an owner now; nothing with an owner is marked")
        marked = self._owner_marked(found)
        missing = {key: value for key, value in self.action.change.tags.items() if key != MARKED or not marked}
        change = Change(tags=missing, untag=self.action.change.untag & (found.tags or {}).keys())
        self._write_tags(found, change)
        return self._outcome(Result.DONE if change else Result.NOTHING)

    def _owner_marked(self, found: Resource) -> bool:
        """Whether it carries this very policy's mark for this purpose; one that was copied is worth nothing."""
        owner, wanted = self.action.terms.owner or self.action.terms.marker, self.action.change.tags
        purposes = (purpose for purpose in PURPOSES if owner and marked_at(wanted, owner, found.id, purpose))
        return any(owner and marked_at(found.tags, owner, found.id, purpose) for purpose in purposes)

    def _takes_its_mark_off(self, found: Resource) -> bool:
        """A mark of this policy may always be taken off again, also from what it does not match any more."""
        marker = self.action.terms.marker
        return self.action.verb is Verb.RELEASE and marker is not None and bool(marked_at(found.tags, marker, found.id))

    def _fresh(self) -> Resource | None:
        """The resource right now, its tags read from the owning service and not from the index."""
        return read(self.aws, self.kind, self._seen.with_tags(None))

    def _check_ours(self, found: Resource) -> None:
        """Raises ConflictError unless the action's terms hold of what was read at this moment."""
        terms, name = self.action.terms, found.name or found.id
        if found.tags is None:
            raise WaitError(f"{name} is {found.state.value}, and its tags cannot be read")
        if terms.owner is None:
            if not selects(terms.match, terms.exceptions, found) and not self._takes_its_mark_off(found):
                raise WaitError(f"{name} does not match, now that it was read")
        elif not self._is_ours(found, terms.owner) and not _may_adopt(terms, found):
            owner = claimed_by(found.tags)
            whose = (
                f"its tags name {owner}, without proof" if owner == str(terms.owner) else f"it is {owner or 'nobody'}'s"
            )
            raise ConflictError(f"{self.kind.type} {name} exists and is not ours ({whose}); it was not touched")
        hold = (found.tags or {}).get(HOLD_UNTIL)
        if hold is not None and hold != ((self._maybe_seen and self._maybe_seen.tags) or {}).get(HOLD_UNTIL):
            raise WaitError(f"{name} was just tagged {HOLD_UNTIL}={hold}")

    def _is_ours(self, found: Resource, owner: Owner) -> bool:
        """By its tags and their proof; where the tags were taken away, by a client token that only our create used."""
        by_token = claimed_by(found.tags) is None and found.token is not None and found.token in self.action.tokens
        return by_token or any(proves(found, one) for one in (owner, *self.action.terms.formerly))

    def _check_expired(self, found: Resource) -> None:
        """Somebody else's goes only as it was seen: with our mark, the same tags as then, and nobody's owner tag.

        The index lags: a date in a tag that was put off a minute ago may not show there yet.
        """
        if self.action.terms.owner is None:
            seen, now = (_others(tags or {}) for tags in (self._seen.tags, found.tags))
            if MARKED not in now or now != seen or claimed_by(found.tags) is not None:
                raise WaitError(f"the tags of {found.name or found.id} have changed; the next run looks again")

    def _check_deletable(self, found: Resource) -> None:
        terms, name = self.action.terms, found.name or found.id
        if ADOPTED in (found.tags or {}):
            raise ConflictError(f"{name} was adopted, and what was adopted is released and not deleted")
        if terms.protect and all_hold(terms.protect, found) is not False:
            raise WaitError(f"{name} is protected by guardrails.protect")
        if terms.delete_if and not all_hold(terms.delete_if, found):
            raise WaitError(f"guardrails.deleteIf does not hold for {name} at this moment")

    def _check_state(self, found: Resource) -> None:
        if found.state in (State.PENDING, State.DELETING, State.DEAD) and not self._any_state:
            raise WaitError(f"{found.name or found.id} is {found.state.value}; the next run goes on")

    @property
    def _any_state(self) -> bool:
        return self.action.verb.destroys and self.kind.deletes_in_transition

    @property
    def _desired(self) -> Desired:
        assert self.action.desired is not None, "an action that shapes a resource says how"
        return self.action.desired

    @property
    def _finished(self) -> Desired:
        """The desired resource with the spec hash that it gets once everything is written."""
        tags = {key: value for key, value in self._desired.tags.items() if not key.startswith("setpoint:")}
        spec = spec_of(self.kind, replace(self._desired, tags=tags))
        return replace(self._desired, tags={**self._desired.tags, SPEC: spec})

    @property
    def _seen(self) -> Resource:
        assert self.action.seen is not None, "an action on a resource names it"
        return self.action.seen

    @property
    def _maybe_seen(self) -> Resource | None:
        return self.action.seen

    def _outcome(self, result: Result, message: str = "") -> Outcome:
        return Outcome(self.action, result, message)


def _others(tags: Mapping[str, str]) -> Mapping[str, str]:
    """Without the tags that only AWS sets, which not every answer shows."""
    return {key: value for key, value in tags.items() if not key.startswith("aws:")}


def _may_adopt(terms: Terms, found: Resource) -> bool:
    return terms.adopt and claimed_by(found.tags) is None
