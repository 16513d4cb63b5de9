"""Runs that end early, that meet, and that fail in part."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import pytest

from tests.sweep.hands import runs
from tests.sweep.harness import conditions, heal, last_number, run_once, settle, told
from tests.sweep.scenarios import (
    SCENARIOS,
    agents,
    alarm,
    group,
    of,
    queue,
    table,
)
from tests.sweep.trial import Trial, reference
from tests.world import Fault, World

AGENTS = ("agents-new", "agents-deleteFirst", "agents-createFirst")
SOME = ("queues-new", "tables-new", "queues-leaving", "alarms-edited", *AGENTS)


def moments(scenario: str) -> list[int]:
    """Just before each write, and at every third call besides (`SWEEP=full`: at every call)."""
    calls = enumerate(reference(scenario).calls, 1)
    return [place for place, call in calls if call.mutating or place % 3 == 1 or os.environ.get("SWEEP") == "full"]


@pytest.mark.parametrize("scenario", SOME)
def test_a_run_whose_time_is_over_is_carried_on_by_the_next(scenario: str) -> None:
    for place in moments(scenario):
        with World() as world:
            trial = Trial(world, SCENARIOS[scenario], reference(scenario))
            limit = last_number(world) + place - 1
            report = trial.run(over=lambda world=world, limit=limit: last_number(world) >= limit)
            assert report is not None
            trial.recover()


@pytest.mark.parametrize("scenario", SOME)
def test_a_second_run_at_the_same_time_does_no_harm(scenario: str) -> None:
    for place in moments(scenario):
        with World() as world:
            trial = Trial(world, SCENARIOS[scenario], reference(scenario))
            documents, at = SCENARIOS[scenario].documents, last_number(world) + place
            world.on_call(at, lambda world=world, documents=documents: run_once(world, documents))
            for _ in range(trial.normal.ticks):
                trial.run()
            trial.recover()


EVERYTHING: Mapping[str, Any] = of(queue("a"), group("a"), alarm("a"), table("a"), agents(1))


@pytest.mark.parametrize("service", ["sqs", "logs", "cloudwatch", "dynamodb", "ec2"])
@pytest.mark.parametrize("kind", ["denied", "throttled", "unavailable", "lost"])
def test_a_service_that_fails_stops_only_its_own_policies(world: World, service: str, kind: Any) -> None:
    names = {"sqs": "queues", "logs": "groups", "cloudwatch": "alarms", "dynamodb": "tables", "ec2": "agents"}
    world.inject(Fault(at=lambda call: call.service == service, kind=kind, times=None))
    report = runs(world, EVERYTHING, 8)
    ready = {name for name, held in conditions(world, EVERYTHING, report).items() if held["Ready"]}
    assert ready == set(names.values()) - {names[service]}, told(report)
    heal(world)
    settle(world, EVERYTHING)
