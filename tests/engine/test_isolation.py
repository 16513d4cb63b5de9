"""A failure stays inside its policy: the others are unchanged, and what is missing is named."""

from __future__ import annotations

from typing import Any

import pytest

from handler.compose import vocabulary
from tests.engine.given import GROUP, document, groups, names, queues, run, settle
from tests.world import Fault, World, operation

MAIN = {"main": document(queues("a"), groups("a"))}


@pytest.mark.parametrize(
    ("service", "call", "action"),
    [
        ("sqs", "ListQueues", "sqs:ListQueues"),
        ("sqs", "CreateQueue", "sqs:CreateQueue"),
        ("sqs", "GetQueueUrl", "sqs:GetQueueUrl"),
    ],
)
def test_a_denied_policy_leaves_the_others_alone_and_names_the_action(
    world: World, service: str, call: str, action: str
) -> None:
    world.inject(Fault(at=operation(service, call), kind="denied", times=None))
    told = settle(world, MAIN)
    assert names(world, GROUP) == {"/orders/a"}
    assert names(world) == set()
    assert (told.true("groups"), told.true("queues")) == ({"Ready"}, {"Degraded"})
    assert f"not allowed to call {action}" in told.message("queues", "Degraded")
    assert [type(error).__name__ for error in told.errors] == ["DeniedError"]


@pytest.mark.parametrize(
    ("call", "change"),
    [("SetQueueAttributes", {"VisibilityTimeout": 61}), ("TagQueue", {"VisibilityTimeout": 61})],
)
def test_a_denied_update_is_named_too(world: World, call: str, change: dict[str, Any]) -> None:
    settle(world, MAIN)
    world.inject(Fault(at=operation("sqs", call), kind="denied", times=None))
    told = run(world, {"main": document(queues("a", properties=change), groups("a", "b"))})
    assert names(world, GROUP) == {"/orders/a", "/orders/b"}
    assert f"not allowed to call sqs:{call}" in told.message("queues", "Degraded")


@pytest.mark.parametrize("kind", ["unavailable", "refused", "throttled", "lost"])
def test_whatever_goes_wrong_with_a_survey_ends_its_own_policy_only(world: World, kind: Any) -> None:
    settle(world, MAIN)
    world.inject(Fault(at=operation("sqs", "ListQueues"), kind=kind, times=None))
    told = run(world, {"main": document(queues("b", removal="delete", grace="0s"), groups("a", "b"))})
    assert names(world) == {"orders-a"}, "a failed read never leads to a delete or a create"
    assert names(world, GROUP) == {"/orders/a", "/orders/b"}
    assert told.of("queues").error is not None


def test_a_survey_that_breaks_off_half_way_is_not_a_short_list(world: World) -> None:
    settle(world, {"main": document(groups(*"abcd"))})
    world.page_size = 2
    world.inject(Fault(at=operation("logs", "DescribeLogGroups"), kind="partial_page", times=None))
    told = run(world, {"main": document(groups(*"abcd", removal="delete", grace="0s"), queues("a"))})
    assert names(world, GROUP) == {f"/orders/{letter}" for letter in "abcd"}
    assert (told.of("groups").error is not None, names(world)) == (True, {"orders-a"})


def test_one_queue_that_cannot_be_read_is_left_alone_and_the_others_go_on(world: World) -> None:
    settle(world, {"main": document(queues(*"abc"))})
    world.inject(Fault(at=_reading("orders-b"), kind="denied", times=None))
    told = run(world, {"main": document(queues(*"abc", properties={"VisibilityTimeout": 61}))})
    found = world.resources()["AWS::SQS::Queue"]
    assert {name: one["VisibilityTimeout"] for name, one in found.items()} == {
        "orders-a": "61",
        "orders-b": "30",
        "orders-c": "61",
    }
    assert "sqs:GetQueueAttributes" in told.message("queues", "Degraded")


def _reading(name: str) -> Any:
    return lambda call: call.operation == "GetQueueAttributes" and str(call.params["QueueUrl"]).endswith(name)


def test_one_bad_item_does_not_block_the_others_of_its_policy(world: World) -> None:
    world.inject(Fault(at=lambda call: call.params.get("QueueName") == "orders-c", kind="denied", times=None))
    told = settle(world, {"main": document(queues(*"abcdef"))}, minutes=6)
    assert "orders-a" in names(world)
    assert "orders-c" not in names(world)
    assert told.true("queues") >= {"Degraded"}


def test_creates_stop_after_a_batch_in_which_one_failed(world: World) -> None:
    world.inject(Fault(at=operation("sqs", "CreateQueue"), kind="denied", times=None))
    told = run(world, {"main": document(queues(*"abcdefgh"))})
    assert len(world.calls(operation="CreateQueue")) == 1
    assert told.done("queues") == ["create orders-a: failed", *(f"create orders-{one}: unvisited" for one in "bcdefgh")]


def test_creates_come_in_batches_that_double(world: World) -> None:
    world.inject(Fault(at=lambda call: call.params.get("QueueName") == "orders-e", kind="denied"))
    told = run(world, {"main": document(queues(*"abcdefghijkl"))})
    assert names(world) == {f"orders-{one}" for one in "abcdfg"}  # 1, 2, and all but one of 4
    assert len([one for one in told.done("queues") if one.endswith("unvisited")]) == 5
    told = run(world, {"main": document(queues(*"abcdefghijkl"))})
    assert len(names(world)) == 12


ROLE = "arn:aws:iam::123456789012:role/other"


def test_a_role_that_cannot_be_taken_ends_only_its_own_policies(world: World) -> None:
    words = vocabulary("123456789012", "eu-west-1", allowed_roles=[ROLE])
    world.inject(Fault(at=operation("sts", "AssumeRole"), kind="denied", times=None))
    told = run(world, {"main": document(queues("a", roleArn=ROLE), groups("a"))}, words=words)
    assert names(world, GROUP) == {"/orders/a"}
    assert "sts:AssumeRole" in told.message("queues", "Degraded")


def test_a_region_that_fails_leaves_the_same_policy_in_the_others(world: World) -> None:
    world.inject(Fault(at=lambda call: call.region == "eu-central-1", kind="unavailable", times=None))
    told = run(world, {"main": document(queues("a", regions=["eu-west-1", "eu-central-1"]))})
    assert names(world) == {"orders-a"}
    assert told.message("queues", "Degraded").startswith("eu-central-1: ")


def test_one_source_that_fails_holds_back_only_those_who_ask_it(world: World) -> None:
    missing = queues(name="asks")
    missing["strategy"] = {"type": "forEach", "items": {"source": "ssmParameter", "name": "/nowhere"}}
    told = run(world, {"main": document({**missing, "resource": groups()["resource"]}, queues("a"))})
    assert (names(world), names(world, GROUP)) == ({"orders-a"}, set())
    assert "SSM parameter '/nowhere' does not exist" in told.message("asks", "Degraded")
