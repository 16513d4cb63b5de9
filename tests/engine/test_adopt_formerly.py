"""Taking over: what nobody owns where the policy says `adopt`, what an old name owned where it says `formerly`."""

from __future__ import annotations

from typing import Any

import pytest

from handler.compose import vocabulary
from tests.engine.given import VOCABULARY, document, names, queues, run, settle, tags
from tests.world import World


def one(clause: dict[str, Any]) -> dict[str, Any]:
    return {"main": document(clause)}


def owner_of(world: World, name: str) -> str | None:
    return tags(world, name).get("setpoint:policy")


def make(world: World, name: str, **tags: str) -> None:
    world.outside.sqs.create_queue(
        QueueName=name, Attributes={"VisibilityTimeout": "7", "DelaySeconds": "8"}, tags=tags
    )


@pytest.mark.parametrize("theirs", [{}, {"team": "them"}])
def test_without_adopt_a_foreign_queue_is_a_conflict_and_not_touched(world: World, theirs: dict[str, str]) -> None:
    make(world, "orders-a", **theirs)
    before = world.resources()
    told = settle(world, one(queues("a", properties={"VisibilityTimeout": 60})))
    assert world.resources() == before
    assert not world.calls(mutating=True)
    assert told.true("queues") == {"Conflict"}
    assert told.message("queues", "Conflict") == (
        'AWS::SQS::Queue orders-a exists and is not ours; "adopt": true takes it over'
    )


@pytest.mark.parametrize("theirs", [{}, {"team": "them"}])
def test_adopt_sets_what_is_declared_and_keeps_the_rest(world: World, theirs: dict[str, str]) -> None:
    make(world, "orders-a", **theirs)
    told = settle(world, one(queues("a", adopt=True, properties={"VisibilityTimeout": 60})))
    found = world.resources()["AWS::SQS::Queue"]["orders-a"]
    assert (found["VisibilityTimeout"], found["DelaySeconds"]) == ("60", "8")
    assert {"setpoint:policy": "setpoint/queues", "setpoint:adopted": "true", **theirs}.items() <= found["Tags"].items()
    assert told.true("queues") == {"Ready"}


@pytest.mark.parametrize(
    "owner",
    ["setpoint/other", "second/queues", "setpoint/queues"],
    ids=["another policy", "another deployment", "our tag without proof"],
)
def test_adopt_never_takes_what_somebody_owns(world: World, owner: str) -> None:
    make(world, "orders-a", **{"setpoint:policy": owner, "setpoint:key": "a", "setpoint:id": "copied"})
    before = world.resources()
    told = settle(world, one(queues("a", adopt=True)))
    assert (world.resources(), told.true("queues")) == (before, {"Conflict"})
    assert f"is tagged as {owner}'s" in told.message("queues", "Conflict")


def test_adopt_that_waits_for_a_lagging_index_takes_nothing_from_its_owner(world: World) -> None:
    world.index_lag = 5
    world.tick_started()
    make(world, "orders-a", **{"setpoint:policy": "second/queues"})
    settle(world, one(queues("a", adopt=True)))
    assert owner_of(world, "orders-a") == "second/queues"


def test_two_deployments_in_one_account_never_mistake_each_others_resources(world: World) -> None:
    second = vocabulary("123456789012", "eu-west-1", controller="second")
    settle(world, one(queues("a")))
    before = world.resources()
    told = run(world, one(queues("a", adopt=True)), words=second)
    assert (world.resources(), told.true("queues")) == (before, {"Conflict"})
    assert run(world, one(queues("b")), words=second).run_status["orphans"] == []


# --- formerly ------------------------------------------------------------------------------------------------------


def test_a_rename_recreates_nothing(world: World) -> None:
    settle(world, one(queues("a", "b")))
    made = len(world.calls(operation="CreateQueue"))
    told = settle(world, one(queues("a", "b", name="new", formerly=["queues"])))
    assert {owner_of(world, name) for name in names(world)} == {"setpoint/new"}
    assert len(world.calls(operation="CreateQueue")) == made
    assert not world.calls(operation="DeleteQueue")
    assert (told.true("new"), told.run_status["orphans"]) == ({"Ready"}, [])


def test_a_rename_without_the_word_is_a_conflict_and_leaves_an_orphan(world: World) -> None:
    settle(world, one(queues("a")))
    before = world.resources()
    told = settle(world, one(queues("a", name="new")))
    assert world.resources() == before
    assert told.true("new") == {"Conflict"}
    assert [one["policy"] for one in told.run_status["orphans"]] == ["setpoint/queues"]


def test_a_move_to_another_controller_takes_over_with_its_full_name(world: World) -> None:
    second = vocabulary("123456789012", "eu-west-1", controller="second")
    settle(world, one(queues("a")))
    run(world, one(queues("a", name="new", formerly=["setpoint/queues"])), words=second)
    assert owner_of(world, "orders-a") == "second/new"


def test_nothing_is_taken_over_from_a_policy_that_is_alive(world: World) -> None:
    settle(world, one(queues("a")))
    both = {"main": document(queues("a"), queues("z", name="new", stem="other", formerly=["queues"]))}
    settle(world, both)
    assert owner_of(world, "orders-a") == "setpoint/queues"


@pytest.mark.parametrize("full", [True, False], ids=["a document is broken", "only a file was given"])
def test_nothing_is_taken_over_while_the_old_policy_may_be_alive(world: World, full: bool) -> None:
    settle(world, one(queues("a")))
    before = world.resources()
    documents = {**one(queues("a", name="new", formerly=["queues"])), **({"broken": b"{"} if full else {})}
    told = run(world, documents, full=full)
    assert world.resources() == before
    assert "Ready" not in told.true("new")


def test_two_heirs_of_one_policy_take_nothing(world: World) -> None:
    settle(world, one(queues("a", "b")))
    before = world.resources()
    heirs = [queues(item, name=f"new-{item}", formerly=["queues"]) for item in "ab"]
    told = settle(world, {"main": document(*heirs)})
    assert world.resources() == before
    assert "only one can take over what it owned; remove one of the two" in told.words


def test_what_the_old_name_owned_and_the_new_one_does_not_want_is_the_new_ones_to_remove(world: World) -> None:
    settle(world, one(queues("a", "b")))
    settle(world, one(queues("a", name="new", formerly=["queues"], removal="delete", grace="0s")))
    assert names(world) == {"orders-a"}


def test_an_old_name_may_stay_in_the_policy_for_ever(world: World) -> None:
    documents = one(queues("a", name="new", formerly=["queues"]))
    settle(world, one(queues("a")))
    settle(world, documents)
    written = len(world.calls(mutating=True))
    told = settle(world, documents)
    assert (len(world.calls(mutating=True)), told.true("new")) == (written, {"Ready"})


def test_the_vocabulary_says_who_owns(world: World) -> None:
    settle(world, one(queues("a")))
    assert owner_of(world, "orders-a") == f"{VOCABULARY.controller}/queues"
