"""Isolated: a failure stays in its policy. (Runs that end early or meet another are points of the sweep.)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.sweep.hands import runs
from tests.sweep.harness import conditions, heal, settle, told
from tests.sweep.scenarios import (
    agents,
    alarm,
    group,
    of,
    queue,
    table,
)
from tests.world import Fault, World

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
