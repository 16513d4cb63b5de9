"""One action: read what is there now, check that it is ours, write, and write the hash last.

Every action here was planned on what is not true any more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from policies.action import Result
from policies.document import Policy
from policies.errors import ConflictError, DeniedError, SenseError, WaitError
from policies.identity import SPEC
from tests.engine.given import (
    ALARM,
    GROUP,
    agents,
    each,
    existing,
    policy_of,
    tags,
)
from tests.infra.deeds import LOGS, POLICY, THEIRS, create, foreign_queue, make, perform, url, writes
from tests.world import Fault, World, operation

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
