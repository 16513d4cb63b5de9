"""One scenario under one misfortune, with every invariant checked after every run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from handler.loop.run import RunReport
from tests.sweep import invariants
from tests.sweep.harness import conditions, heal, is_idle, last_number, parse, settle, strike, tick, written
from tests.sweep.scenarios import SCENARIOS, Scenario
from tests.world import Call, FaultKind, World

DRIFT_CHECK = 5
"""Minutes within which every resource is read once (the default of `driftCheck`)."""


@dataclass(frozen=True)
class Reference:
    """The scenario when nothing goes wrong."""

    calls: tuple[Call, ...]
    """Those from the edit to the end of the last run that had something to do."""
    ticks: int
    busiest: int
    destroys: int
    wanted: Mapping[str, Any]
    conditions: Mapping[str, Mapping[str, bool]]


def prepare(world: World, scenario: Scenario) -> Mapping[str, Any]:
    """Everything up to the edit; gives what is foreign."""
    scenario.foreign(world)
    foreign = world.resources()
    if scenario.before is not None:
        settle(world, scenario.before)
    scenario.between(world)
    world.advance(minutes=scenario.minutes)
    return foreign


@cache
def reference(name: str) -> Reference:
    """What the scenario comes to by itself."""
    scenario = SCENARIOS[name]
    with World() as world:
        prepare(world, scenario)
        first, start = last_number(world), world.tick
        ticks = settle(world, scenario.documents)
        calls = [call for call in world.history if call.number > first]
        per_tick = [[call for call in calls if call.tick == at] for at in range(start + 1, world.tick + 1)]
        report = tick(world, scenario.documents)
        assert report is not None
        return Reference(
            calls=tuple(call for call in calls if call.tick <= world.tick - 2),
            ticks=ticks,
            busiest=max(map(len, per_tick)),
            destroys=sum(call.operation in invariants.DESTROYS for call in calls),
            wanted=invariants.settled(world),
            conditions=conditions(world, scenario.documents, report),
        )


@dataclass
class Trial:
    """A world after the edit, run by run."""

    world: World
    scenario: Scenario
    normal: Reference
    blurred: bool = False
    """Reads lag: what a run says is true of what it saw, and no more."""
    foreign: Mapping[str, Any] = field(init=False)
    found: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.foreign = {
            kind: things
            for kind, things in prepare(self.world, self.scenario).items()
            if kind not in self.scenario.ours
        }
        self.found = invariants.settled(self.world)

    def run(self, over: Callable[[], bool] = lambda: False) -> RunReport | None:
        """One run and what must hold after it."""
        world, documents = self.world, self.scenario.documents
        before = len(world.history)
        report = tick(world, documents, over=over)
        calls = world.history[before:]
        if any(call.mutating for call in calls):  # nothing else changes what there is
            self.found = invariants.settled(world)
        invariants.owned_only(self.found, self.foreign)
        invariants.never_over(self.found, self.foreign, self.scenario.most)
        invariants.born_owned(calls)
        invariants.one_token_one_resource(world)
        invariants.bounded(calls, 2 * self.normal.busiest + 10)
        invariants.blind_never_deletes(calls)
        if report is not None:
            if not self.blurred:
                invariants.truthful(world, documents, report, self.found, self.normal.wanted)
            invariants.no_secrets(world, documents, report)
        return report

    def recover(self) -> None:
        """No more misfortune: one drift check, the scenario's own time, and two runs that have nothing to do."""
        heal(self.world)
        idle = 0
        for count in range(self.normal.ticks + self.patience):
            report = self.run()
            idle = idle + 1 if report is not None and is_idle(report) else 0
            if idle == 2 and count >= self.patience:
                break
        found = invariants.settled(self.world)
        invariants.same_tally(found, self.normal.wanted)
        invariants.converges(found, self.normal.wanted)
        since = self.world.tick + 1
        self.run()
        report = self.run()
        invariants.quiet(written(self.world, since))
        assert report is not None
        assert conditions(self.world, self.scenario.documents, report) == self.normal.conditions

    @property
    def patience(self) -> int:
        """How many runs it takes to read everything: none where each run does."""
        policies = parse(self.scenario.documents).policies
        return 0 if all(policy.kind.complete_survey for policy in policies) else DRIFT_CHECK


def struck(scenario: Scenario, kind: FaultKind, place: int) -> list[Call]:
    """The scenario with one fault at the call that is number `place` after the edit; gives the history."""
    normal = reference(scenario.name)
    with World() as world:
        trial = Trial(world, scenario, normal)
        fault = strike(world, place, kind)
        world.inject(fault)
        for _ in range(trial.normal.ticks):
            trial.run()
            if fault.fired:
                break
        assert fault.fired, f"call {place} never came"
        trial.recover()
        return world.history


def lagged(scenario: Scenario, lag: int) -> None:
    """The scenario with every read, those just before a write too, as old as `lag` runs."""
    normal = reference(scenario.name)
    with World() as world:
        trial = Trial(world, scenario, normal)
        trial.blurred = True
        world.stale(lag)
        for _ in range(trial.normal.ticks + lag):
            trial.run()
        trial.blurred = False
        trial.recover()
