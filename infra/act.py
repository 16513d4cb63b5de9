"""Carries out one action: read the resource as it is now, check that it is ours, write, and write the hash last.

Nothing here trusts what was sensed. Every update and delete begins with a read of the owning service, tags included (of
what its tags prove to be ours a delete needs no more), and goes on only if the action's terms still hold; a create of a
kind that overwrites or returns what exists begins with a read by name. So lost answers, stale lists and parallel runs
end in the same state. Nothing waits, polls or retries.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

from infra import steps
from infra.aws import Aws
from infra.kinds.kind import Kind
from infra.refusals import code_of, translated
from infra.steps import Answer, Step, Steps
from infra.terms import check_deletable, check_expired, check_ours, is_marked
from policies.action import Action, Change, Desired, Outcome, Progress, Result, Verb, failed
from policies.drift import drift, spec_of, unfinished
from policies.errors import AbsentError, ExistsError, RefusedError, SetpointError, WaitError
from policies.identity import MARKED, PENDING, SPEC, claimed_by
from policies.kind import Creation
from policies.world import Resource, State


def act(
    aws: Aws,
    kind: Kind,
    actions: Sequence[Action],
    over: Callable[[], bool] = lambda: False,
    tell: Callable[[Outcome], object] = lambda _: None,
) -> list[Outcome | None]:
    """Carry out actions of one kind, and `tell` each outcome as it comes; None: begin it anew with fewer (`steps.run`).

    What goes wrong with one is its outcome, and the others go on.
    """
    return steps.run(aws, kind, [_Act(aws, kind, action).told(tell) for action in actions], over)


def read(aws: Aws, kind: Kind, seen: Resource, words: frozenset[str] | None = None) -> Resource | None:
    """The resource as its service has it now; None: it is not there. Tags are read only where `seen` has none.

    With `words` only these properties and facts need be there: enough to compare, never enough to write.
    """
    try:
        with translated(kind):
            return kind.read(aws, seen) if words is None else kind.look(aws, seen, words)
    except AbsentError:
        return None


@dataclass(frozen=True)
class _Act:
    aws: Aws
    kind: Kind
    action: Action

    def told(self, tell: Callable[[Outcome], object]) -> Steps:
        """All of it, an error as its outcome."""
        try:
            outcome = yield from self._steps()
        except Exception as error:  # noqa: BLE001 - as with every task: it is told, and the others go on
            outcome = failed(self.action, error)
        tell(outcome)
        return outcome

    def _steps(self) -> Steps:
        match self.action.verb:
            case Verb.CREATE:
                return (yield from self._create())
            case Verb.UPDATE | Verb.ADOPT:
                return (yield from self._update())
            case Verb.DELETE | Verb.REPLACE:
                return (yield from self._delete())
            case Verb.MARK | Verb.RELEASE:
                return (yield from self._tag())
            case Verb.WAIT:
                return self._outcome(Result.WAITING, self.action.reason)

    def _create(self) -> Steps:
        desired = self._desired
        if self.kind.named and self.kind.creation is not Creation.EXCLUSIVE:
            found = yield from self._named()
            if found is not None:
                return (yield from self._settle(found))
        try:
            progress = self._call_create(desired)
        except ExistsError as taken:
            found = yield from self._named()
            if found is None:
                raise WaitError(f"{desired.name} exists, but cannot be read yet: {taken}") from taken
            return (yield from self._settle(found))
        return (yield from self._created(progress))

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

    def _created(self, progress: Progress) -> Steps:
        """A create that takes several calls goes on at once, from what can be read of it."""
        if progress is Progress.COMPLETE and self._desired.tags.get(SPEC) != PENDING:
            return self._outcome(Result.DONE)
        if not self.kind.named:
            return self._outcome(Result.PARTIAL, "the next run finds it by its token and goes on")
        found = yield from self._named()
        if found is None:
            return self._outcome(Result.PARTIAL, "creation goes on in the next run")
        return (yield from self._settle(found, born=True))

    def _settle(self, found: Resource, born: bool = False) -> Steps:
        """What stands in the place of a create: finish it where it is ours, leave it where it is not."""
        check_ours(self.action, found)
        if found.state is not State.READY:
            return self._outcome(Result.PARTIAL, f"it is {found.state.value}")
        return (yield from self._converge(found, unfinished(self._finished, found), born))

    def _update(self) -> Steps:
        found = yield from self._fresh()
        if found is None:
            return self._outcome(Result.WAITING, "it is gone; the next run decides")
        check_ours(self.action, found)
        self._check_state(found)
        return (yield from self._converge(found, self._desired))

    def _converge(self, found: Resource, desired: Desired, born: bool = False) -> Steps:
        """Properties first, tags after them, and with them the spec hash.

        Create-only properties that differ on a resource `born` in this very act differ for good: the rest is finished,
        and the next run tells of them.
        """
        change = drift(self.kind, desired, found, unmark=self.action.terms.owner is not None)
        if not change:
            return self._outcome(Result.DONE) if born else self._outcome(Result.NOTHING, "it is as desired already")
        fixed = self.kind.locked(change.differences, found)
        if fixed and not born:
            raise RefusedError(f"{', '.join(fixed)} cannot be changed in place")
        writable = {word: value for word, value in change.properties.items() if not self.kind.create_only(word)}
        if writable:
            progress = yield Step("update", found, replace(change, properties=writable, tags={}, untag=frozenset()))
            if progress is Progress.PARTIAL:
                return self._outcome(Result.PARTIAL, "more steps follow in the next run")
        yield from self._write_tags(found, change)
        return self._outcome(Result.DONE)

    def _write_tags(self, found: Resource, change: Change) -> Generator[Step, Answer, None]:
        if change.tags or change.untag:
            yield Step("update", found, replace(change, properties={}))

    def _delete(self) -> Steps:
        found = yield from self._proven()
        if found is None or not found.alive:
            return self._outcome(Result.DONE, "it was gone already")
        check_ours(self.action, found)
        check_expired(self.action, found)
        check_deletable(self.action, found)
        self._check_state(found)
        try:
            yield Step("delete", found)
        except AbsentError:
            return self._outcome(Result.DONE, "it was gone already")
        if self.action.verb is Verb.REPLACE:
            return self._outcome(Result.PARTIAL, "deleted; a later run creates it anew")
        return self._outcome(Result.DONE)

    def _tag(self) -> Steps:
        found = yield from self._proven()
        if found is None:
            return self._outcome(Result.DONE, "it was gone already")
        check_ours(self.action, found)
        if self.action.terms.owner is None and claimed_by(found.tags) is not None:
            raise WaitError(f"{found.name or found.id} has an owner now; nothing with an owner is marked")
        marked = is_marked(self.action, found)
        missing = {key: value for key, value in self.action.change.tags.items() if key != MARKED or not marked}
        change = Change(tags=missing, untag=self.action.change.untag & (found.tags or {}).keys())
        yield from self._write_tags(found, change)
        return self._outcome(Result.DONE if change else Result.NOTHING)

    def _named(self) -> Generator[Step, Answer, Resource | None]:
        """What bears the desired name right now."""
        return (yield from _found(Step("read", self.kind.locate(self.aws, self._desired.name or ""))))

    def _fresh(self) -> Generator[Step, Answer, Resource | None]:
        """The resource right now, its tags read from the owning service and not from the index."""
        return (yield from _found(Step("read", self._seen.with_tags(None))))

    def _proven(self) -> Generator[Step, Answer, Resource | None]:
        """The same, no more of it than the terms ask for: what is owned is told by its tags."""
        terms = self.action.terms
        if terms.owner is None or terms.protect or terms.delete_if or "read" in self.kind.together:
            return (yield from self._fresh())
        return (yield from _found(Step("prove", self._seen)))

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

    def _outcome(self, result: Result, message: str = "") -> Outcome:
        return Outcome(self.action, result, message)


def _found(step: Step) -> Generator[Step, Answer, Resource | None]:
    found = yield step
    assert not isinstance(found, Progress), "a read answers with what is there"
    return found
