"""One policy from sensing to acting: a pipeline that asks for what it needs and leaves the waiting to others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from handler.loop.acts import Acts
from handler.loop.churn import Churn
from handler.loop.cloud import Cloud
from handler.loop.conductor import Pipeline, Task
from handler.loop.guardrails import Guarded, guard, to_tell
from handler.loop.metrics import Batches, Metrics
from handler.loop.observe import observe, reads, reads_ahead, with_reads
from handler.loop.plan import plan
from handler.loop.sense import Senses
from handler.loop.surveys import Place, Survey
from policies.action import Outcome, Plan, Trouble
from policies.document import Policy
from policies.errors import WaitError
from policies.identity import Owner, claimed_by
from policies.strategy import Decision
from policies.world import Observation, Resource


@dataclass(frozen=True, slots=True)
class Moment:
    """When a run happens and how far it may go.

    `stop` is why nothing may be written, where there is a reason. `over` says that the run's time is used up.
    `approved` are the fingerprints of an approved plan: its actions, and only they, happen, held ones included.
    `announce` hears of every outcome as it comes. `dry` ends every policy after the guard. `thorough` compares
    everything now, whose turn it is or not. `churn` is what a warm process knows of earlier corrections.
    """

    now: datetime
    stop: str | None = None
    over: Callable[[], bool] = lambda: False
    approved: frozenset[str] | None = None
    announce: Callable[[Outcome], None] = lambda _: None
    dry: bool = False
    thorough: bool = False
    churn: Churn = field(default_factory=Churn)


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """What one policy wanted, was allowed, and got, in one account and region."""

    policy: Policy
    plan: Plan = field(default_factory=Plan)
    guarded: Guarded = field(default_factory=lambda: Guarded((), (), ()))
    outcomes: tuple[Outcome, ...] = ()
    error: Exception | None = None
    unvisited: bool = False
    unread: tuple[Exception, ...] = ()


@dataclass
class Reconciler:
    """One policy in one run. `certain` says that all documents were read, so that a name that is not there is gone."""

    policy: Policy
    former: tuple[Owner, ...]
    surveys: Mapping[Place, Survey]
    cloud: Cloud
    moment: Moment
    batches: Batches = field(default_factory=dict)
    certain: bool = True

    def __post_init__(self) -> None:
        self.unread: dict[str, Exception] = {}
        self._begun: dict[str, Task] = {}

    def pipeline(self) -> Pipeline[PolicyReport]:
        """Sense, decide, look closer, plan, guard, act."""
        if self.policy.clause.mode == "paused" or self.moment.over():
            return PolicyReport(self.policy, unvisited=self.policy.clause.mode != "paused")
        metrics = Metrics(self.cloud, self.now, self.batches)
        senses = Senses(self.policy, self.policy.formerly, self.surveys, self.cloud, metrics)
        census = yield from senses.census(self._ahead)
        doubt = self._whose(census)
        if doubt:
            return PolicyReport(self.policy, Plan(troubles=(doubt,)))
        signals = yield from senses.signals(self._observe(census, {}).owned)
        if self.moment.over():
            return PolicyReport(self.policy, unvisited=True)
        seen = self._observe(census, signals)
        census = yield from self._look_closer(
            census, tuple(reads(self.policy, self._decide(seen), seen, census, self.now, self.moment.thorough))
        )
        if self.moment.over():
            return PolicyReport(self.policy, unvisited=True)
        signals = yield from senses.signals_of(self._observe(census, signals))
        seen = self._observe(census, signals)
        decision = self._decide(seen)
        planned = plan(self.policy, self.former, decision, seen, self.now)
        unclear = [one for one in to_tell(self.policy, planned, seen, self.now) if one.id not in self.unread]
        if unclear:
            census = yield from self._look_closer(census, unclear)
            seen = self._observe(census, signals)
            planned = plan(self.policy, self.former, decision, seen, self.now)
        # Whatever is not at rest is looked at again in the next run: done means seen to be done.
        self.policy.blueprint.looked.difference_update(one.seen.id for one in planned.actions if one.seen is not None)
        guarded = guard(self.policy, decision, planned, seen, self.now, self.moment.stop, self.moment.approved)
        acts = Acts(self.cloud, self._lane(acting=True), self.moment.over, self.moment.announce)
        outcomes = yield from acts.pipeline(() if self.moment.dry else guarded.allowed)
        troubles = (*planned.troubles, *self.moment.churn.note(outcomes, self.now))
        unread = tuple(self.unread.values())
        return PolicyReport(self.policy, replace(planned, troubles=troubles), guarded, outcomes, unread=unread)

    def _whose(self, census: Sequence[Resource]) -> Trouble | None:
        """Why nobody can tell whether the policy takes over what it was formerly: then it must not begin anew."""
        doubtful = {str(owner) for owner in self.policy.formerly if owner not in self.former}
        if self.certain or not any(claimed_by(one.tags) in doubtful for one in census):
            return None
        message = "its former name owns something, and may be alive in a document that was not read or did not parse"
        return Trouble("Held", "FormerUnknown", f"{message}; nothing is done until all documents of the prefix parse")

    @property
    def now(self) -> datetime:
        return self.moment.now

    def _observe(self, census: Sequence[Resource], signals: Mapping[str, Any]) -> Observation:
        return observe(self.policy, self.former, census, signals, frozenset(self.unread))

    def _decide(self, seen: Observation) -> Decision:
        if not self.policy.wanted:
            return Decision()
        return self.policy.strategy.decide(self.policy.blueprint, seen, self.now)

    def _look_closer(self, census: Sequence[Resource], wanted: Sequence[Resource]) -> Pipeline[Sequence[Resource]]:
        """The census with some resources read deeply; one that cannot be read is unknown, and nothing else."""
        if not wanted:
            return census
        lane = self._lane(acting=False)
        begun = {one.id: self._begun.pop(one.id) for one in wanted if one.tags is not None and one.id in self._begun}
        futures = yield [begun.get(one.id) or Task(partial(self._read, one), lane=lane) for one in wanted]
        fresh: dict[str, Resource | None] = {}
        for one, future in zip(wanted, futures, strict=True):
            error = future.exception()
            if error is None:
                found: Resource | None = future.result()
                fresh[one.id] = found.with_tags(one.tags) if found is not None and one.id in begun else found
                self.policy.blueprint.looked.add(one.id)
            elif isinstance(error, Exception):
                self.unread[one.id] = error
            else:
                raise error
        return with_reads(census, fresh)

    def _ahead(self, surveyed: Sequence[Resource]) -> Sequence[Task]:
        """The deep reads that can begin before the tag index is there; its tags are put in afterwards.

        Not where they would wait for a documented rate: there every call counts.
        """
        if self._lane(acting=False) is None and not self.moment.over():
            for one in reads_ahead(self.policy, surveyed, self.now, self.moment.thorough):
                key = ("ahead", self.policy.scope, self.policy.name, one.id)
                self._begun[one.id] = Task(partial(self._read, one.with_tags({})), key)
        return tuple(self._begun.values())

    def _read(self, one: Resource) -> Resource | None:
        if self.moment.over():
            raise WaitError("the run's time was over before it was read")
        return self.cloud.read(self.policy.scope, one, self.policy.words)

    def _lane(self, acting: bool) -> Hashable:
        return self.cloud.lane(self.policy.kind.type, self.policy.scope, acting)
