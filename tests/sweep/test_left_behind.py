"""What a policy that is gone leaves behind, and what a replacement cannot cure."""

from __future__ import annotations

import pytest

from tests.sweep.hands import runs
from tests.sweep.harness import settle, tick
from tests.sweep.scenarios import (
    GONE,
    GROUP,
    INSTANCE,
    QUEUE,
    TABLE,
    agents,
    alarm,
    document,
    group,
    of,
    queue,
    renamed,
    table,
)
from tests.world import World


@pytest.mark.parametrize("kind", ["queues", "tables", "groups", "alarms", "agents"])
def test_what_a_policy_that_is_gone_leaves_is_reported_and_deleted_where_that_was_said(world: World, kind: str) -> None:
    gone = {"queues": queue("a"), "tables": table("a"), "groups": group("a"), "alarms": alarm("a"), "agents": agents(1)}
    documents = {"main": document(gone[kind], renamed("others", group("z")), orphans="delete")}
    left = {"main": document(renamed("others", group("z")), orphans="delete")}
    settle(world, documents)
    report = tick(world, left)
    assert report is not None
    assert [one.policy.name for one in report.orphans] == [gone[kind]["name"]]
    world.advance(minutes=25 * 60)
    runs(world, left, 3)
    world.advance(minutes=25 * 60)
    runs(world, left, 3)
    types = {"queues": QUEUE, "tables": TABLE, "alarms": "AWS::CloudWatch::Alarm", "agents": INSTANCE}
    assert not set(world.resources().get(types.get(kind, ""), ())) - {"dead"}
    assert set(world.resources()[GROUP]) == {"/orders/z"}


def test_a_replacement_that_does_not_help_is_not_repeated(world: World) -> None:
    """moto forgets the class of a log group: every new one differs again, which no further one cures."""
    rare = group("a", replace="deleteFirst", **GONE)
    rare["resource"]["properties"]["LogGroupClass"] = "INFREQUENT_ACCESS"
    settle(world, of(group("a")))
    runs(world, of(rare), 12)
    assert len(world.calls(operation="DeleteLogGroup")) <= 1
