"""Runs the engine on a world as the timer would: a tick a minute, in a process that stays warm until it crashes.

What a warm process remembers is in the policies that it has read (`Blueprint.looked`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from handler.compose import vocabulary
from handler.loop.conductor import InlineExecutor
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport, run
from handler.loop.status import statuses
from infra.cloud import AwsCloud
from infra.kinds.registry import KINDS
from policies.estate import Estate, parse_estate
from tests.world import Call, Crash, Fault, FaultKind, World

Documents = Mapping[str, Any]
"""Documents by name, as JSON would give them; bytes stand for what is no JSON."""

VOCABULARY = vocabulary("123456789012", "eu-west-1")


def parse(documents: Documents, full: bool = True) -> Estate:
    """The estate of these documents, which must parse unless a test wants them broken."""
    bodies = tuple((name, body if isinstance(body, bytes) else json.dumps(body)) for name, body in documents.items())
    return _parse(bodies, full)


@lru_cache(maxsize=256)
def _parse(bodies: tuple[tuple[str, Any], ...], full: bool) -> Estate:
    raw = ((name, "g1", body if isinstance(body, bytes) else body.encode()) for name, body in bodies)
    return parse_estate(raw, VOCABULARY, full)


def run_once(world: World, documents: Documents, over: Callable[[], bool] = lambda: False) -> RunReport:
    """One run in the present minute."""
    estate = parse(documents)
    if world.process is not estate:
        for policy in estate.policies:
            policy.blueprint.looked.clear()  # read anew
        world.process = estate
    cloud = AwsCloud(world.session, KINDS)
    return run(estate, VOCABULARY, cloud, InlineExecutor(), Moment(world.now, over=over))


def tick(
    world: World,
    documents: Documents,
    fault: Fault | None = None,
    minutes: float = 1,
    over: Callable[[], bool] = lambda: False,
) -> RunReport | None:
    """One minute: a sensing round, a run, and time passes. None: the run crashed, and that was it."""
    if fault is not None:
        world.inject(fault)
    world.tick_started()
    try:
        return run_once(world, documents, over)
    except Crash:
        world.process = None
        return None
    finally:
        world.advance(minutes=minutes)


def settle(world: World, documents: Documents, most: int = 40, idle: int = 2) -> int:
    """Tick until so many runs in a row wrote nothing and want nothing; how many ticks that took."""
    quiet = 0
    for count in range(1, most + 1):
        report = tick(world, documents)
        quiet = quiet + 1 if report is not None and is_idle(report) and not written(world, world.tick) else 0
        if quiet == idle:
            return count
    raise AssertionError(f"not settled after {most} ticks: {told(report)}")


def is_idle(report: RunReport) -> bool:
    """Nothing is under way: what is held or in conflict stays so by itself."""
    everything = (*report.policies, *report.orphans)
    busy = any(one.guarded.allowed or one.guarded.waiting or one.outcomes or one.error for one in everything)
    return not busy and not report.errors


def written(world: World, since: int) -> list[Call]:
    """The writes made in this tick and later."""
    return [call for call in world.calls(mutating=True) if call.tick >= since]


def last_number(world: World) -> int:
    """The number of the latest call."""
    return max((call.number for call in reversed(world.history[-50:])), default=0)


def strike(world: World, place: int, kind: FaultKind) -> Fault:
    """A fault at the call that is number `place` from now on."""
    return Fault(at=last_number(world) + place, kind=kind)


def heal(world: World) -> None:
    """No faults and no stale reads from now on."""
    world.mishaps.faults.clear()
    world.stale(0)
    world.index_lag = 0


def status_of(world: World, documents: Documents, report: RunReport) -> Mapping[str, Mapping[str, Any]]:
    """The status documents of a run."""
    return statuses(parse(documents), report.policies, world.now)


def conditions(world: World, documents: Documents, report: RunReport) -> Mapping[str, Mapping[str, bool]]:
    """By policy, which conditions its status says are true."""
    found = status_of(world, documents, report)
    return {
        policy["name"]: {one["type"]: one["status"] == "True" for one in policy["conditions"]}
        for document in found.values()
        for policy in document["policies"]
    }


def told(report: RunReport | None) -> Sequence[str]:
    """A run in a few lines, for the message of a failed test."""
    if report is None:
        return ["crashed"]
    lines = []
    for one in (*report.policies, *report.orphans):
        done = [(o.action.verb.value, o.action.title, o.result.value, o.message) for o in one.outcomes]
        held = [(h.action.verb.value, h.action.title, h.reason) for h in one.guarded.held]
        waiting = [(action.title, action.reason) for action in one.guarded.waiting]
        lines.append(f"{one.policy.name}: {done=} {held=} {waiting=} {one.plan.troubles} {one.error!r}")
    return lines
