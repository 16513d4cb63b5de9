"""Updates, deletes, marks and releases: nothing that was sensed is trusted, and the hash comes last."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from policies.action import Change, Result, Verb
from policies.errors import ConflictError, DeniedError, RefusedError, SenseError, WaitError
from policies.frozen import freeze
from policies.identity import MARKED, SPEC, mark, marked_at
from tests.engine.given import (
    NOW,
    existing,
    groups,
    names,
    policy_of,
    queues,
    tags,
)
from tests.infra.deeds import LOGS, POLICY, THEIRS, attribute, foreign_queue, make, on, perform, url, writes
from tests.world import Fault, World, operation

# --- update --------------------------------------------------------------------------------------------------------


def test_an_update_writes_what_differs_now_and_the_hash_last(world: World) -> None:
    seen = make(world)
    edited = policy_of(queues("a", properties={"VisibilityTimeout": 61}))
    done = len(writes(world))
    assert perform(world, on(seen, Verb.UPDATE, edited)).result is Result.DONE
    assert (attribute(world), writes(world)[done:]) == ("61", ["SetQueueAttributes", "TagQueue"])
    assert tags(world, "orders-a")[SPEC] == (existing(edited, "a").tags or {})[SPEC]
    assert perform(world, on(seen, Verb.UPDATE, edited)).result is Result.NOTHING


def test_an_update_that_fails_leaves_the_old_hash(world: World) -> None:
    seen = make(world)
    world.inject(Fault(at=operation("sqs", "SetQueueAttributes"), kind="denied"))
    with pytest.raises(DeniedError):
        perform(world, on(seen, Verb.UPDATE, policy_of(queues("a", properties={"VisibilityTimeout": 61}))))
    assert tags(world, "orders-a")[SPEC] == (seen.tags or {})[SPEC]


@pytest.mark.parametrize("verb", [Verb.UPDATE, Verb.DELETE, Verb.REPLACE, Verb.MARK, Verb.RELEASE])
def test_nothing_is_done_to_what_was_ours_and_is_somebody_elses_now(world: World, verb: Verb) -> None:
    seen = make(world)
    world.outside.sqs.delete_queue(QueueUrl=url(world))
    world.advance(minutes=2)
    foreign_queue(world)
    before = world.resources()
    with pytest.raises(ConflictError, match="is not ours"):
        perform(world, on(seen, verb, change=Change(tags=freeze({MARKED: "x"}))))
    assert world.resources() == before


@pytest.mark.parametrize(
    ("verb", "result"),
    [(Verb.UPDATE, Result.WAITING), (Verb.DELETE, Result.DONE), (Verb.REPLACE, Result.DONE), (Verb.MARK, Result.DONE)],
)
def test_what_is_gone_is_gone(world: World, verb: Verb, result: Result) -> None:
    seen = make(world)
    world.outside.sqs.delete_queue(QueueUrl=url(world))
    world.advance(minutes=2)
    before = len(writes(world))
    assert perform(world, on(seen, verb, change=Change(tags=freeze({MARKED: "x"})))).result is result
    assert len(writes(world)) == before


def test_a_create_only_difference_that_shows_only_now_is_refused(world: World) -> None:
    seen = make(world, LOGS)
    edited = policy_of(groups("a", properties={"LogGroupClass": "INFREQUENT_ACCESS"}))
    with pytest.raises(RefusedError, match="LogGroupClass cannot be changed in place"):
        perform(world, on(seen, Verb.UPDATE, edited))


# --- delete, mark, release -----------------------------------------------------------------------------------------


def test_a_delete_whose_answer_was_lost_is_done_the_next_time(world: World) -> None:
    seen = make(world)
    world.inject(Fault(at=operation("sqs", "DeleteQueue"), kind="lost"))
    with pytest.raises(SenseError):
        perform(world, on(seen, Verb.DELETE))
    world.advance(minutes=1)
    assert perform(world, on(seen, Verb.DELETE)).message == "it was gone already"
    assert names(world) == set()


@pytest.mark.parametrize(
    ("tag", "stays"), [("2030-01-01T00:00:00Z", True), ("nonsense", True)], ids=["hold", "no time"]
)
def test_a_hold_that_was_set_a_moment_ago_counts(world: World, tag: str, stays: bool) -> None:
    seen = make(world)
    world.outside.sqs.tag_queue(QueueUrl=url(world), Tags={"setpoint:hold-until": tag})
    with pytest.raises(WaitError, match="was just tagged setpoint:hold-until"):
        perform(world, on(seen, Verb.DELETE))
    assert (names(world) == {"orders-a"}) == stays


@pytest.mark.parametrize(
    ("rails", "words"),
    [
        ({"protect": {"VisibilityTimeout": 60}}, "is protected by guardrails.protect"),
        ({"deleteIf": {"ApproximateNumberOfMessages": 0}}, "guardrails.deleteIf does not hold"),
        ({"deleteIf": {"tags.old": "yes"}}, "guardrails.deleteIf does not hold"),
    ],
)
def test_guardrails_are_asked_once_more_at_the_moment_of_deletion(world: World, rails: Any, words: str) -> None:
    seen = make(world)
    world.outside.sqs.send_message(QueueUrl=url(world), MessageBody="x")
    policy = policy_of(queues("a", properties={"VisibilityTimeout": 60}, guardrails=rails))
    with pytest.raises(WaitError, match=words):
        perform(world, on(seen, Verb.DELETE, policy))
    assert names(world) == {"orders-a"}


def test_a_mark_stays_at_its_first_moment(world: World) -> None:
    seen = make(world)
    for later in (0, 3):
        value = mark(POLICY.owner, "orders-a", NOW + timedelta(hours=later))
        perform(world, on(seen, Verb.MARK, change=Change(tags=freeze({MARKED: value}))))
    assert marked_at(tags(world, "orders-a"), POLICY.owner, "orders-a") == NOW


def test_a_release_takes_off_what_it_was_told_and_nothing_else(world: World) -> None:
    seen = make(world)
    world.outside.sqs.tag_queue(QueueUrl=url(world), Tags=THEIRS)
    ours = frozenset(seen.tags or {}) | {"setpoint:adopted"}
    assert perform(world, on(seen, Verb.RELEASE, change=Change(untag=ours))).result is Result.DONE
    assert tags(world, "orders-a") == THEIRS


@pytest.mark.parametrize("verb", [Verb.DELETE, Verb.REPLACE, Verb.MARK, Verb.RELEASE])
def test_what_is_owned_is_proven_by_its_tags_alone(world: World, verb: Verb) -> None:
    made = make(world)
    seen = replace(made, handle=url(world))
    world.history.clear()
    perform(world, on(seen, verb, change=Change(tags=freeze({MARKED: "x"}))))
    assert [call.operation for call in world.calls(mutating=False)] == ["ListQueueTags"]


@pytest.mark.parametrize("verb", [Verb.DELETE, Verb.REPLACE, Verb.MARK, Verb.RELEASE])
def test_the_right_to_adopt_is_none_to_end(world: World, verb: Verb) -> None:
    """Its tags were taken away a moment ago: whoever did so wants it to be nobody's."""
    seen = replace(make(world), handle=url(world))
    world.outside.sqs.untag_queue(QueueUrl=seen.handle, TagKeys=list(tags(world, "orders-a")))
    with pytest.raises(ConflictError):
        perform(world, on(seen, verb, policy_of(queues("a", adopt=True)), change=Change(tags=freeze({MARKED: "x"}))))
    assert tags(world, "orders-a") == {}


def test_guardrails_that_ask_for_more_read_more(world: World) -> None:
    seen = replace(make(world), handle=url(world))
    asked = policy_of(queues("a", guardrails={"deleteIf": {"ApproximateNumberOfMessages": {"above": 0}}}))
    with pytest.raises(WaitError, match="deleteIf does not hold"):
        perform(world, on(seen, Verb.DELETE, asked))


def test_a_queue_that_is_gone_is_gone_by_its_tags_too(world: World) -> None:
    seen = replace(make(world), handle=url(world))
    world.outside.sqs.delete_queue(QueueUrl=seen.handle)
    world.advance(minutes=2)
    outcome = perform(world, on(seen, Verb.DELETE))
    assert (outcome.result, outcome.message) == (Result.DONE, "it was gone already")
