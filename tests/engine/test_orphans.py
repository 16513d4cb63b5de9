"""Orphans: owned by a policy of this controller that is gone. Reported; deleted only where their document says so."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.given import (
    DELETE_AT_ONCE,
    INSTANCE,
    QUEUE,
    agents,
    document,
    groups,
    names,
    queues,
    run,
    settle,
    tags,
)
from tests.world import World

OTHER = groups("x", name="other", stem="/other")


def main(*policies: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"main": document(*policies, **more)}


def left(world: World, clause: dict[str, Any] | None = None, document_name: str = "main") -> None:
    """Something that a policy which is gone left behind."""
    settle(world, {document_name: document(OTHER, clause or queues("a"))})


def told_of(orphans: Any) -> list[tuple[str, str, int]]:
    return [(one["policy"], one["type"], one["count"]) for one in orphans]


def test_what_a_policy_that_is_gone_owned_is_reported_and_stays(world: World) -> None:
    left(world, queues("a", "b"))
    world.advance(days=400)
    before = world.resources()
    told = settle(world, main(OTHER))
    assert world.resources() == before
    assert told_of(told.run_status["orphans"]) == [("setpoint/queues", QUEUE, 2)]
    listed = told.run_status["orphans"][0]
    assert listed["document"] == "main"
    assert {one["resource"] for one in listed["resources"]} == {"orders-a", "orders-b"}
    assert not told.errors


def test_it_is_deleted_only_where_its_document_says_so_and_after_the_grace(world: World) -> None:
    left(world)
    told = run(world, main(OTHER, orphans="delete"))
    assert names(world) == {"orders-a"}
    assert "setpoint:marked" in tags(world, "orders-a")
    world.advance(hours=24)
    told = run(world, main(OTHER, orphans="delete"))
    assert names(world) == set()
    assert told_of(told.run_status["orphans"]) == [("setpoint/queues", QUEUE, 1)]
    world.advance(minutes=1)
    assert run(world, main(OTHER, orphans="delete")).run_status["orphans"] == []


def test_many_orphans_at_once_are_held_like_any_other_deletes(world: World) -> None:
    left(world, queues(*"abcdef"))
    run(world, main(OTHER, orphans="delete"))
    world.advance(hours=24)
    told = run(world, main(OTHER, orphans="delete"))
    assert len(names(world)) == 6
    assert "maxDeletes allows 1" in told.run_status["orphans"][0]["resources"][0]["reason"]


@pytest.mark.parametrize(
    ("documents", "full"),
    [
        pytest.param(
            {"main": document(OTHER), "second": document(orphans="delete")}, True, id="another document says so"
        ),
        pytest.param({"second": document(OTHER, orphans="delete")}, True, id="its document is gone too"),
        pytest.param({"main": document(OTHER, orphans="delete"), "broken": b"{"}, True, id="a document does not parse"),
        pytest.param({"main": document(OTHER, orphans="delete")}, False, id="only a file was given"),
    ],
)
def test_it_is_not_deleted_when(world: World, documents: dict[str, Any], full: bool) -> None:
    left(world)
    for _ in range(3):
        run(world, documents, full=full)
        world.advance(hours=30)
    assert names(world) == {"orders-a"}
    assert "setpoint:marked" not in tags(world, "orders-a")


@pytest.mark.parametrize(
    ("documents", "full"),
    [({"main": document(OTHER), "broken": b"{"}, True), ({"main": document(OTHER)}, False)],
    ids=["a document does not parse", "only a file was given"],
)
def test_nothing_is_called_an_orphan_while_its_policy_may_be_alive(world: World, documents: Any, full: bool) -> None:
    left(world)
    assert run(world, documents, full=full).run_status["orphans"] == []


def test_a_policy_that_moved_to_another_document_leaves_no_orphan(world: World) -> None:
    left(world)
    told = settle(world, {"main": document(OTHER, orphans="delete"), "second": document(queues("a"))})
    assert (told.run_status["orphans"], names(world)) == ([], {"orders-a"})
    assert tags(world, "orders-a")["setpoint:document"] == "second"


def test_a_policy_in_conflict_is_alive(world: World) -> None:
    left(world)
    rival = queues("a", name="rival")
    told = run(world, main(OTHER, queues("a"), rival, orphans="delete"))
    assert (told.run_status["orphans"], names(world)) == ([], {"orders-a"})


@pytest.mark.parametrize("mode", ["paused", "observe"])
def test_a_policy_that_rests_is_alive(world: World, mode: str) -> None:
    left(world)
    assert run(world, main(OTHER, queues("a", mode=mode), orphans="delete")).run_status["orphans"] == []


def test_a_copied_owner_tag_is_nobodys_orphan_to_delete(world: World) -> None:
    left(world)
    copied = tags(world, "orders-a")
    world.outside.sqs.create_queue(QueueName="theirs", tags=copied)
    for _ in range(2):
        run(world, main(OTHER, orphans="delete"))
        world.advance(hours=25)
    assert names(world) == {"theirs"}
    assert tags(world, "theirs") == copied


def test_what_carries_no_owner_tag_is_no_orphan(world: World) -> None:
    settle(world, main(OTHER))
    world.outside.sqs.create_queue(QueueName="orders-a", tags={"team": "them"})
    assert run(world, main(OTHER)).run_status["orphans"] == []


@pytest.mark.parametrize(
    ("clause", "type_", "count"),
    [
        (groups("a", "b"), "AWS::Logs::LogGroup", 2),
        (agents(2, strategy={"maxUnavailable": "100%"}), INSTANCE, 2),
    ],
    ids=["log groups", "instances"],
)
def test_orphans_of_every_kind_are_found(world: World, clause: dict[str, Any], type_: str, count: int) -> None:
    settle(world, main(OTHER, clause), minutes=8)
    told = run(world, main(OTHER))
    assert told_of(told.run_status["orphans"]) == [(f"setpoint/{clause['name']}", type_, count)]


def test_stop_holds_orphans_too(world: World) -> None:
    left(world)
    run(world, main(OTHER, orphans="delete"))
    world.advance(hours=24)
    told = run(world, main(OTHER, orphans="delete"), stop="there is an object named STOP")
    assert names(world) == {"orders-a"}
    assert "STOP" in told.run_status["orphans"][0]["resources"][0]["reason"]


def test_a_rename_and_its_orphan_settle_the_moment_formerly_is_said(world: World) -> None:
    left(world)
    told = run(world, main(OTHER, queues("a", name="new", **DELETE_AT_ONCE), orphans="delete"))
    assert told.true("new") == {"Conflict"}
    settled = settle(world, main(OTHER, queues("a", name="new", formerly=["queues"]), orphans="delete"))
    assert (settled.true("new"), settled.run_status["orphans"]) == ({"Ready"}, [])
    assert "setpoint:marked" not in tags(world, "orders-a")
