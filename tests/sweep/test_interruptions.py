"""Isolated: a failure stays in its policy. (Runs that end early, or meet another, are points of the sweep.)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.sweep import invariants
from tests.sweep.hands import runs
from tests.sweep.harness import conditions, heal, settle
from tests.sweep.scenarios import agents, alarm, group, of, queue, table
from tests.world import Fault, World

EVERYTHING: Mapping[str, Any] = of(queue("a"), group("a"), alarm("a"), table("a"), agents(1))
NAMES = {"sqs": "queues", "logs": "groups", "cloudwatch": "alarms", "dynamodb": "tables", "ec2": "agents"}


@pytest.mark.parametrize("service", NAMES)
@pytest.mark.parametrize("kind", ["denied", "throttled", "unavailable", "lost"])
def test_a_service_that_fails_stops_only_its_own_policies(world: World, service: str, kind: Any) -> None:
    break_service(world, service, kind)
    heal(world)
    settle(world, EVERYTHING)


def break_service(world: World, service: str, kind: Any) -> None:
    """Eight runs while a service refuses everything."""
    world.inject(Fault(at=lambda call: call.service == service, kind=kind, times=None))
    report = runs(world, EVERYTHING, 8)
    ready = {name for name, held in conditions(world, EVERYTHING, report).items() if held["Ready"]}
    invariants.isolated(ready, NAMES[service], set(NAMES.values()))
