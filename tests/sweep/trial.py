"""One scenario under one misfortune, with every invariant checked after every run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from handler.loop.run import RunReport
from tests.sweep import invariants
from tests.sweep.catalogue import SCENARIOS
from tests.sweep.harness import conditions, heal, is_idle, last_number, parse, run_once, settle, strike, tick, written
from tests.sweep.ledger import Ledger, running
from tests.sweep.points import DEADLINE, NOTHING, SECOND_RUN, Point
from tests.sweep.scenarios import Scenario
from tests.sweep.weather import FAIR, WEATHERS, Weather
from tests.world import Call, FaultKind, World
from tests.world.saved import Saved, restore, save

WINDOW = 3
"""Runs that hold a whole window of `driftCheck`, which is two minutes in every scenario, wherever they begin."""

SPARE = 6
"""Runs that a recovery may take beyond those of the reference."""


@dataclass(frozen=True)
class Reference:
    """The scenario when nothing goes wrong, in some weather."""

    calls: tuple[Call, ...]
    """Those from the edit to the end of the last run that had something to do."""
    ticks: int
    busiest: int
    births: Mapping[str, int]
    deaths: Mapping[str, int]
    wanted: Mapping[str, Any]
    conditions: Mapping[str, Mapping[str, bool]]


def prepare(world: World, scenario: Scenario) -> Mapping[str, Any]:
    """Everything up to the edit; gives what is foreign."""
    scenario.foreign(world)
    foreign = world.resources()
    if scenario.before is not None:
        settle(world, scenario.before, idle=window(scenario))
    scenario.between(world)
    world.advance(minutes=scenario.minutes)
    return foreign


@lru_cache(maxsize=2)
def beginning(name: str) -> tuple[Saved | None, Mapping[str, Any]]:
    """The world just before the edit, put aside where that can be, and what is foreign in it."""
    with World() as world:
        foreign = prepare(world, SCENARIOS[name])
        return save(world), foreign


def begin(world: World, scenario: Scenario) -> Mapping[str, Any]:
    """Bring a world that was just opened to the moment of the edit; gives what is foreign."""
    saved, foreign = beginning(scenario.name)
    if saved is None:
        return prepare(world, scenario)
    restore(world, saved)
    return foreign


def window(scenario: Scenario) -> int:
    """Runs in a row after which everything was read: the next one is enough where each run reads everything."""
    policies = parse(scenario.documents).policies
    return 2 if all(policy.kind.complete_survey for policy in policies) else WINDOW


def reference(name: str, weather: str = FAIR.name) -> Reference:
    """What the scenario comes to by itself; found out once."""
    return _reference(name, weather)


@lru_cache(maxsize=32)
def _reference(name: str, weather: str) -> Reference:
    scenario, sky = SCENARIOS[name], WEATHERS[weather]
    late = sky.lag + sky.index_lag
    ticks = reference(name).ticks + late if late else 0
    beginning(name)
    with World() as world:
        begin(world, scenario)
        first, start, ledger, idle = last_number(world), world.tick, Ledger(world), window(scenario)
        sky.come_over(world)
        if late:
            for _ in range(ticks):
                tick(world, scenario.documents)
            idle = 0
        else:
            ticks = settle(world, scenario.documents, idle=idle)
        calls = [call for call in world.history if call.number > first]
        per_tick = [[call for call in calls if call.tick == at] for at in range(start + 1, world.tick + 1)]
        last = world.tick - idle
        report = tick(world, scenario.documents)
        assert report is not None
        return Reference(
            calls=tuple(call for call in calls if call.tick <= last),
            ticks=ticks,
            busiest=max(map(len, per_tick)),
            births=dict(ledger.births),
            deaths=dict(ledger.deaths),
            wanted=invariants.settled(world),
            conditions=conditions(world, scenario.documents, report),
        )


@dataclass
class Trial:
    """A world after the edit, run by run."""

    world: World
    scenario: Scenario
    normal: Reference
    """What it comes to in fair weather, which is what it must come to in any."""
    usual: Reference
    """What it comes to in this weather."""
    weather: Weather = FAIR
    foreign: Mapping[str, Any] = field(init=False)
    found: Mapping[str, Any] = field(init=False)
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        foreign = begin(self.world, self.scenario)
        self.bystanders = {kind: things for kind, things in foreign.items() if kind not in self.scenario.ours}
        self.foreign = foreign
        self.found = invariants.settled(self.world)
        self.ledger = Ledger(self.world)
        self.blurred = self.weather.blurred
        self.weather.come_over(self.world)

    def run(self, over: Callable[[], bool] = lambda: False) -> RunReport | None:
        """One run and what must hold after it."""
        world, documents, scenario = self.world, self.scenario.documents, self.scenario
        before, there = len(world.history), self.found
        report = tick(world, documents, over=over)
        calls = world.history[before:]
        if any(call.mutating for call in calls):  # nothing else changes what there is
            self.found = invariants.settled(world)
        foreign = {} if invariants.INSTANCE in scenario.ours else self.foreign
        invariants.owned_only(self.found, self.bystanders)
        invariants.never_over(self.ledger, foreign, scenario.most)
        if scenario.least:
            invariants.never_under(running(world), foreign, scenario.least)
        invariants.born_owned(self.ledger)
        invariants.one_token_one_resource(world)
        invariants.bounded(calls, 2 * self.usual.busiest + 10)
        invariants.blind_never_deletes(calls, there)
        if report is not None:
            if not self.blurred:
                invariants.truthful(world, documents, report, self.found, self.normal.wanted)
            invariants.told_truly(calls, report)
            invariants.no_secrets(world, documents, report)
        return report

    def recover(self) -> None:
        """No more misfortune: runs until a whole window of `driftCheck` has nothing to do. Then it must be right."""
        heal(self.world)
        self.weather.clear_up(self.world)
        self.blurred = bool(self.weather.slow)
        idle, wanted = 0, window(self.scenario)
        report = None
        for _ in range(self.usual.ticks + SPARE):
            report = self.run()
            busy = report is None or not is_idle(report) or written(self.world, self.world.tick)
            idle = 0 if busy else idle + 1
            if idle == wanted:
                break
        found = invariants.settled(self.world)
        invariants.converges(found, self.normal.wanted)
        invariants.quiet(written(self.world, self.world.tick - 1))
        invariants.same_tally(self.ledger, self.normal.births, self.normal.deaths)
        assert report is not None
        assert conditions(self.world, self.scenario.documents, report) == self.normal.conditions


def attempt(scenario: Scenario, point: Point) -> list[Call]:
    """The scenario with one misfortune; gives the history."""
    normal, usual = reference(scenario.name), reference(scenario.name, point.weather)
    beginning(scenario.name)  # before another world is open
    with World() as world:
        trial = Trial(world, scenario, normal, usual, WEATHERS[point.weather])
        start = last_number(world)
        faults = [strike(world, place, kind) for kind, place in point.faults]
        world.inject(*faults)
        limit = start + point.place if point.what == DEADLINE else None
        if point.what == SECOND_RUN:
            world.on_call(start + point.place, lambda: _second_run(world, scenario))
        for _ in range(trial.usual.ticks):
            before = len(world.history)
            trial.run(*([] if limit is None else [lambda: last_number(world) >= limit]))
            if limit is not None and last_number(world) >= limit:
                invariants.in_time(world.history[before:], limit)
                break
            if faults and all(fault.fired for fault in faults):
                break
        assert not faults or faults[0].fired, f"call {point.place} never came"
        assert point.what != NOTHING or not world.mishaps.faults
        trial.recover()
        return world.history


def _second_run(world: World, scenario: Scenario) -> None:
    """What goes wrong with it is its own."""
    with suppress(Exception):
        run_once(world, scenario.documents)


def struck(scenario: Scenario, kind: FaultKind, place: int) -> list[Call]:
    """The scenario with one fault at the call that is number `place` after the edit; gives the history."""
    return attempt(scenario, Point(kind, place))
