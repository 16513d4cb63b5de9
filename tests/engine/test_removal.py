"""What becomes of what is no longer wanted, over the minutes: kept, marked, deleted after the grace, released."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.given import (
    ALARM,
    DELETE_AT_ONCE,
    GROUP,
    agents,
    document,
    each,
    groups,
    names,
    queues,
    run,
    settle,
    tags,
)
from tests.world import World

RAILS = {"maxDeletes": 5}


def one(clause: dict[str, Any]) -> dict[str, Any]:
    return {"main": document(clause)}


def alarms(*items: str, **more: Any) -> dict[str, Any]:
    properties = {
        "AlarmName": "orders-${item}",
        "Namespace": "AWS/SQS",
        "MetricName": "ApproximateNumberOfMessagesVisible",
        "Statistic": "Maximum",
        "Period": 60,
        "EvaluationPeriods": 1,
        "Threshold": 1,
        "ComparisonOperator": "GreaterThanThreshold",
    }
    return {"name": "alarms", "resource": {"type": ALARM, "properties": properties}, "strategy": each(*items), **more}


def test_what_holds_data_is_kept_and_marked_unless_the_policy_says_delete(world: World) -> None:
    settle(world, one(groups("a", "b")))
    settle(world, one(groups("a")), minutes=5)
    world.advance(days=400)
    told = settle(world, one(groups("a")), minutes=5)
    assert names(world, GROUP) == {"/orders/a", "/orders/b"}
    assert "setpoint:marked" in tags(world, "/orders/b", GROUP)
    assert not told.errors


def test_what_holds_no_data_is_deleted_at_once(world: World) -> None:
    settle(world, one(alarms("a", "b")))
    run(world, one(alarms("a")))
    assert names(world, ALARM) == {"orders-a"}


def test_what_holds_no_data_is_kept_where_the_policy_says_so(world: World) -> None:
    settle(world, one(alarms("a", "b")))
    settle(world, one(alarms("a", removal="retain")))
    assert names(world, ALARM) == {"orders-a", "orders-b"}


@pytest.mark.parametrize(("words", "hours"), [({}, 24), ({"grace": "2h"}, 2), ({"grace": "3d"}, 72)])
def test_delete_marks_first_and_deletes_after_the_grace(world: World, words: Any, hours: int) -> None:
    gone = one(queues("a", removal="delete", guardrails=RAILS, **words))
    settle(world, one(queues("a", "b", "c")))
    told = run(world, gone)
    assert sorted(told.done("queues")) == ["mark orders-b: done", "mark orders-c: done"]
    world.advance(hours=hours, minutes=-1)
    run(world, gone)
    assert names(world) == {"orders-a", "orders-b", "orders-c"}
    world.advance(minutes=1)
    run(world, gone)
    assert names(world) == {"orders-a"}


def test_the_grace_that_counts_is_the_present_one(world: World) -> None:
    settle(world, one(queues("a", "b")))
    run(world, one(queues("a", removal="delete", grace="30d")))
    world.advance(hours=3)
    run(world, one(queues("a", removal="delete", grace="2h")))
    assert names(world) == {"orders-a"}


def test_a_grace_of_nothing_deletes_at_once(world: World) -> None:
    settle(world, one(queues("a", "b")))
    run(world, one(queues("a", **DELETE_AT_ONCE)))
    assert names(world) == {"orders-a"}


def test_an_item_that_returns_unmarks_it_and_its_grace_begins_anew(world: World) -> None:
    both, single = one(queues("a", "b", removal="delete")), one(queues("a", removal="delete"))
    settle(world, both)
    run(world, single)
    world.advance(hours=20)
    run(world, both)
    assert "setpoint:marked" not in tags(world, "orders-b")
    run(world, single)
    world.advance(hours=20)
    run(world, single)
    assert names(world) == {"orders-a", "orders-b"}


def test_a_mark_that_was_copied_is_worth_nothing_and_is_replaced(world: World) -> None:
    settle(world, one(queues("a", "b")))
    url = world.outside.sqs.get_queue_url(QueueName="orders-b")["QueueUrl"]
    world.outside.sqs.tag_queue(QueueUrl=url, Tags={"setpoint:marked": "2020-01-01T00:00:00Z/0123456789abcdef"})
    gone = one(queues("a", removal="delete"))
    run(world, gone)
    assert names(world) == {"orders-a", "orders-b"}
    world.advance(hours=24)
    run(world, gone)
    assert names(world) == {"orders-a"}


def test_a_mark_made_before_a_rename_does_not_keep_it_for_ever(world: World) -> None:
    settle(world, one(queues("a", "b")))
    run(world, one(queues("a", removal="delete")))
    renamed = one(queues("a", name="new", formerly=["queues"], removal="delete"))
    settle(world, renamed, minutes=2)
    world.advance(hours=24)
    settle(world, renamed, minutes=2)
    assert names(world) == {"orders-a"}


def test_what_was_adopted_is_released_and_stays(world: World) -> None:
    world.outside.sqs.create_queue(QueueName="orders-b", tags={"theirs": "1"})
    settle(world, one(queues("a", "b", adopt=True)))
    assert tags(world, "orders-b")["setpoint:policy"] == "setpoint/queues"
    told = settle(world, one(queues("a", **DELETE_AT_ONCE)), minutes=3)
    assert names(world) == {"orders-a", "orders-b"}
    assert tags(world, "orders-b") == {"theirs": "1"}
    assert told.true("queues") == {"Ready"}


def test_delete_if_must_hold_at_the_moment_of_deletion(world: World) -> None:
    gone = one(queues("a", **DELETE_AT_ONCE, guardrails={"deleteIf": {"ApproximateNumberOfMessages": 0}}))
    settle(world, one(queues("a", "b")))
    url = world.outside.sqs.get_queue_url(QueueName="orders-b")["QueueUrl"]
    world.outside.sqs.send_message(QueueUrl=url, MessageBody="still needed")
    run(world, gone)
    assert names(world) == {"orders-a", "orders-b"}
    world.outside.sqs.purge_queue(QueueUrl=url)
    run(world, gone)
    assert names(world) == {"orders-a"}


@pytest.mark.parametrize(
    "rails",
    [{"protect": {"VisibilityTimeout": 30}}, {"deleteIf": {"VisibilityTimeout": 5}}],
    ids=["protect", "deleteIf"],
)
def test_what_a_guardrail_protects_is_held_and_is_no_failure(world: World, rails: Any) -> None:
    settle(world, one(queues("a", "b")))
    told = settle(world, one(queues("a", **DELETE_AT_ONCE, guardrails=rails)), minutes=2)
    assert names(world) == {"orders-a", "orders-b"}
    assert (told.true("queues"), told.errors) == ({"Held"}, [])


def test_a_tag_that_holds_is_believed_though_the_index_lags(world: World) -> None:
    settle(world, one(queues("a", "b")))
    world.index_lag = 3
    url = world.outside.sqs.get_queue_url(QueueName="orders-b")["QueueUrl"]
    world.outside.sqs.tag_queue(QueueUrl=url, Tags={"setpoint:hold-until": "2026-03-03T00:00:00Z"})
    settle(world, one(queues("a", **DELETE_AT_ONCE)))
    assert names(world) == {"orders-a", "orders-b"}
    world.advance(days=1)
    settle(world, one(queues("a", **DELETE_AT_ONCE)))
    assert names(world) == {"orders-a"}


def test_somebody_elses_under_our_name_survives_whatever_our_policy_deletes(world: World) -> None:
    """A name clash, then a removal, must never delete what another made."""
    settle(world, one(queues("a", "b")))
    url = world.outside.sqs.get_queue_url(QueueName="orders-b")["QueueUrl"]
    world.outside.sqs.delete_queue(QueueUrl=url)
    world.advance(minutes=2)
    world.index_lag = 9  # the index still shows our tags
    world.tick_started()
    world.outside.sqs.create_queue(QueueName="orders-b", tags={"owner": "them"})
    told = run(world, one(queues("a", **DELETE_AT_ONCE)))
    assert tags(world, "orders-b") == {"owner": "them"}
    assert not [call for call in world.calls(mutating=True) if call.tick == world.tick], told.done("queues")


def test_instances_are_terminated_and_not_started_again(world: World) -> None:
    settle(world, one(agents(2)), minutes=15)
    settle(world, one(agents(1)), minutes=5)
    assert len(world.resources()["AWS::EC2::Instance"]) == 1


def test_absent_takes_everything_away_within_the_guardrails(world: World) -> None:
    settle(world, one(queues("a", "b")))
    held = run(world, one(queues("a", "b", ensure="absent", **DELETE_AT_ONCE)))
    assert (names(world), held.true("queues")) == ({"orders-a", "orders-b"}, {"Held"})
    run(world, one(queues("a", "b", ensure="absent", **DELETE_AT_ONCE, guardrails=RAILS)))
    assert names(world) == set()


def test_an_empty_source_deletes_nothing_unless_told(world: World) -> None:
    settle(world, one(queues("a", "b")))
    empty = queues(**DELETE_AT_ONCE, guardrails=RAILS)
    told = run(world, one(empty))
    assert (names(world), told.true("queues")) == ({"orders-a", "orders-b"}, {"Held"})
    assert "set allowEmpty to delete everything" in told.message("queues", "Held")
    empty["strategy"]["items"]["allowEmpty"] = True
    run(world, one(empty))
    assert names(world) == set()
