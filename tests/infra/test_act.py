"""One action: read what is there now, check that it is ours, write, and write the hash last.

Every action here was planned on what is not true any more.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from infra.act import act
from infra.aws import Aws
from infra.kinds.registry import KINDS
from policies.action import Action, Change, Outcome, Result, Verb
from policies.document import Policy
from policies.errors import ConflictError, DeniedError, RefusedError, SenseError, WaitError
from policies.frozen import freeze
from policies.identity import MARKED, SPEC, mark, marked_at
from policies.world import Resource, Scope
from tests.engine.given import (
    ALARM,
    GROUP,
    NOW,
    agents,
    each,
    existing,
    groups,
    names,
    planned,
    policy_of,
    queues,
    tags,
)
from tests.world import Fault, World, operation

POLICY = policy_of(queues("a", properties={"VisibilityTimeout": 60}))
LOGS = policy_of(groups("a"))
THEIRS = {"owner": "them"}


def perform(world: World, action: Action) -> Outcome:
    return act(Aws(world.session, Scope(world.account, world.region)), KINDS[action.type], action)


def create(policy: Policy = POLICY, **seen: Any) -> Action:
    (action,) = planned(policy, **seen).actions
    assert action.verb is Verb.CREATE
    return action


def on(resource: Resource, verb: Verb, policy: Policy = POLICY, **words: Any) -> Action:
    """An action on something that was seen; of the policy's desired resource where it shapes one."""
    made = create(policy)
    desired = made.desired if verb in (Verb.UPDATE, Verb.ADOPT) else None
    return replace(made, verb=verb, seen=resource, desired=desired, **words)


def make(world: World, policy: Policy = POLICY) -> Resource:
    """What the policy wants, made by it."""
    perform(world, create(policy))
    world.advance(minutes=2)
    return existing(policy, "a")


def url(world: World) -> str:
    return str(world.outside.sqs.get_queue_url(QueueName="orders-a")["QueueUrl"])


def attribute(world: World, word: str = "VisibilityTimeout") -> str:
    return str(world.resources()["AWS::SQS::Queue"]["orders-a"][word])


def writes(world: World) -> list[str]:
    return [call.operation for call in world.calls(mutating=True)]


# --- create --------------------------------------------------------------------------------------------------------


def test_the_owner_tags_are_in_the_create_call(world: World) -> None:
    assert perform(world, create()).result is Result.DONE
    assert writes(world) == ["CreateQueue"]
    assert tags(world, "orders-a") == dict(existing(POLICY, "a").tags or {})


def alarms() -> Policy:
    properties = {
        "AlarmName": "orders-${item}", "Namespace": "N", "MetricName": "M", "Statistic": "Sum", "Period": 60,
        "EvaluationPeriods": 1, "Threshold": 1, "ComparisonOperator": "GreaterThanThreshold",
    }  # fmt: skip
    return policy_of({"name": "alarms", "resource": {"type": ALARM, "properties": properties}, "strategy": each("a")})


def foreign_queue(world: World) -> None:
    world.outside.sqs.create_queue(QueueName="orders-a", Attributes={"DelaySeconds": "7"}, tags=THEIRS)


def foreign_group(world: World) -> None:
    world.outside.logs.create_log_group(logGroupName="/orders/a", tags=THEIRS)


def foreign_alarm(world: World) -> None:
    world.outside.cloudwatch.put_metric_alarm(
        AlarmName="orders-a", Namespace="X", MetricName="Y", Statistic="Sum", Period=60, EvaluationPeriods=1,
        Threshold=9, ComparisonOperator="LessThanThreshold",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("policy", "foreign"),
    [(POLICY, foreign_queue), (LOGS, foreign_group), (alarms(), foreign_alarm)],
    ids=["returns what exists", "exclusive", "overwrites"],
)
def test_a_create_never_touches_what_is_not_ours(world: World, policy: Policy, foreign: Any) -> None:
    foreign(world)
    before = world.resources()
    with pytest.raises(ConflictError, match=r"exists and is not ours \(it is nobody's\); it was not touched"):
        perform(world, create(policy))
    assert world.resources() == before


@pytest.mark.parametrize("policy", [POLICY, LOGS, alarms()], ids=["queue", "log group", "alarm"])
def test_a_create_whose_answer_was_lost_ends_in_the_same_world(world: World, policy: Policy) -> None:
    world.inject(Fault(at=lambda call: call.mutating, kind="lost"))
    with pytest.raises(SenseError, match="Whether a write happened is for the next run to see"):
        perform(world, create(policy))
    world.advance(minutes=1)
    perform(world, create(policy))
    once = world.resources()
    assert perform(world, create(policy)).result is Result.NOTHING
    assert world.resources() == once
    (resource,) = next(iter(once.values())).values()
    assert resource["Tags"][SPEC] == (existing(policy, "a").tags or {})[SPEC]


def test_a_create_of_several_calls_writes_the_hash_after_the_last(world: World) -> None:
    world.inject(Fault(at=operation("logs", "PutRetentionPolicy"), kind="denied"))
    with pytest.raises(DeniedError):
        perform(world, create(LOGS))
    assert tags(world, "/orders/a", GROUP)[SPEC] == "pending"
    assert perform(world, create(LOGS)).result is Result.DONE
    assert tags(world, "/orders/a", GROUP)[SPEC] == (existing(LOGS, "a").tags or {})[SPEC]
    assert world.resources()[GROUP]["/orders/a"]["retentionInDays"] == 30


def test_a_name_that_still_rests_waits(world: World) -> None:
    make(world)
    world.outside.sqs.delete_queue(QueueUrl=url(world))
    world.settle()
    with pytest.raises(WaitError):
        perform(world, create())
    world.advance(minutes=2)
    assert perform(world, create()).result is Result.DONE


# --- nameless ------------------------------------------------------------------------------------------------------

FLEET = policy_of(agents(1))


def instances(world: World) -> int:
    return len(world.resources().get("AWS::EC2::Instance", ()))


def kill(world: World) -> None:
    for reservation in world.outside.ec2.describe_instances()["Reservations"]:
        world.outside.ec2.terminate_instances(InstanceIds=[one["InstanceId"] for one in reservation["Instances"]])


def test_a_slot_is_filled_at_most_once_however_often_it_is_asked(world: World) -> None:
    for _ in range(3):
        perform(world, create(FLEET))
        world.advance(minutes=1)
    assert instances(world) == 1


def test_a_slot_whose_last_ones_died_takes_the_next_link_in_the_same_run(world: World) -> None:
    for _ in range(4):
        perform(world, create(FLEET))
        assert instances(world) == 1
        world.advance(minutes=5)
        kill(world)
        world.advance(hours=2)  # the dead are no longer shown, their tokens still spent
    assert perform(world, create(FLEET)).result is Result.DONE
    assert instances(world) == 1


def test_a_chain_that_is_spent_waits_and_says_so(world: World) -> None:
    action = create(FLEET)
    short = replace(action, tokens=action.tokens[:1])
    perform(world, short)
    world.advance(minutes=5)
    kill(world)
    world.advance(hours=2)
    with pytest.raises(WaitError, match="slot 0: the last 1 instances of it died within a day"):
        perform(world, short)


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
