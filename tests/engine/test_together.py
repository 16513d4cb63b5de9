"""What one call can do for several is one call; and yet each has its own proof before it and its own outcome after."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from policies.action import Result
from tests.engine.given import ALARM, DELETE_AT_ONCE, INSTANCE, Told, document, each, run, settle
from tests.world import Fault, World

PARAMETER = "AWS::SSM::Parameter"
GONE = {**DELETE_AT_ONCE, "guardrails": {"maxCreates": 100, "maxDeletes": "100%"}}
PROPERTIES: dict[str, dict[str, Any]] = {
    ALARM: {
        "AlarmName": "orders-${item}", "Namespace": "N", "MetricName": "M", "Statistic": "Sum", "Period": 60,
        "EvaluationPeriods": 1, "Threshold": 1, "ComparisonOperator": "GreaterThanThreshold",
    },
    INSTANCE: {"ImageId": "ami-1", "InstanceType": "t3.micro"},
    PARAMETER: {"Name": "/orders/${item}", "Type": "String", "Value": "1"},
}  # fmt: skip


def several(type_: str, *items: str, **more: Any) -> dict[str, Any]:
    clause = {"name": "some", "resource": {"type": type_, "properties": PROPERTIES[type_]}, "strategy": each(*items)}
    return {"main": document({**clause, **GONE, **more})}


def numbered(count: int) -> list[str]:
    return [f"i{number}" for number in range(count)]


def calls_of(world: World, documents: dict[str, Any]) -> tuple[Told, Counter[str]]:
    """One run after a minute, and how often it made each call on resources."""
    world.advance(minutes=1)
    begun = len(world.history)
    told = run(world, documents)
    return told, Counter(call.operation for call in world.history[begun:] if call.service != "resourcegroupstaggingapi")


def instances(world: World, *states: str) -> dict[str, str]:
    """The states of all instances, by the item that each is for."""
    found = [one for some in world.outside.ec2.describe_instances()["Reservations"] for one in some["Instances"]]
    tags = {one["InstanceId"]: {tag["Key"]: tag["Value"] for tag in one.get("Tags", ())} for one in found}
    return {
        tags[one["InstanceId"]].get("setpoint:key", one["InstanceId"]): str(one["State"]["Name"])
        for one in found
        if not states or one["State"]["Name"] in states
    }


def id_of(world: World, item: str) -> str:
    filters = [{"Name": "tag:setpoint:key", "Values": [item]}]
    return str(world.outside.ec2.describe_instances(Filters=filters)["Reservations"][0]["Instances"][0]["InstanceId"])


def results(told: Told) -> dict[str, Result]:
    return {one.action.key: one.result for one in told.of("some").outcomes}


@pytest.mark.parametrize(
    ("type_", "count", "expected"),
    [
        (ALARM, 45, {"DescribeAlarms": 46, "ListTagsForResource": 45, "DeleteAlarms": 3}),
        (
            PARAMETER,
            12,
            {
                "DescribeParameters": 2 + 12,
                "GetParameter": 12,
                "ListTagsForResource": 12,
                "DeleteParameters": 2,
            },
        ),
        (INSTANCE, 12, {"DescribeInstances": 2, "DescribeInstanceStatus": 2, "TerminateInstances": 1}),
    ],
)
def test_the_deletes_of_many(world: World, type_: str, count: int, expected: dict[str, int]) -> None:
    settle(world, several(type_, *numbered(count)), 6)
    told, calls = calls_of(world, several(type_, ensure="absent"))
    assert calls == expected
    assert Counter(results(told).values()) == {Result.DONE: count}
    assert not world.resources().get(type_)


def asleep(world: World, count: int) -> dict[str, Any]:
    """A policy that stops so many instances, which are others' and run."""
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "hours", "Value": "office"}]}]
    world.outside.ec2.run_instances(ImageId="ami-1", MinCount=count, MaxCount=count, TagSpecifications=tags)
    resource = {"match": {"tags": {"hours": "office"}}, "properties": {"PowerState": "stopped"}}
    how = {"strategy": {"type": "enforce"}, "guardrails": {"maxUpdates": count}}
    return {"main": document({"name": "some", "resource": {"type": INSTANCE, **resource}, **how})}


def test_office_hours_of_many_instances_take_one_call(world: World) -> None:
    told, calls = calls_of(world, asleep(world, 30))
    assert told.words == ""
    assert calls == {"DescribeInstances": 2, "DescribeInstanceStatus": 2, "StopInstances": 1}
    assert set(instances(world).values()) == {"stopping"}


def test_no_call_takes_more_than_its_service_allows(world: World) -> None:
    calls_of(world, asleep(world, 130))
    stops = [call.params["InstanceIds"] for call in world.history if call.operation == "StopInstances"]
    assert sorted(map(len, stops)) == [30, 100]
    assert set(instances(world).values()) == {"stopping"}


def test_one_that_is_protected_keeps_none_of_the_others_alive(world: World) -> None:
    """One bad instance blocked its whole batch: those of its zone are refused with it."""
    settle(world, several(INSTANCE, *numbered(5)))
    world.outside.ec2.modify_instance_attribute(InstanceId=id_of(world, "i3"), DisableApiTermination={"Value": True})
    told, calls = calls_of(world, several(INSTANCE, ensure="absent"))
    assert results(told) == {f"i{number}": Result.FAILED if number == 3 else Result.DONE for number in range(5)}
    assert "may not be terminated" in told.words
    assert instances(world, "running") == {"i3": "running"}
    assert calls["TerminateInstances"] == 7  # of 5; of 2 and 3; of 1 and 2; of 1 and 1
    world.outside.ec2.modify_instance_attribute(InstanceId=id_of(world, "i3"), DisableApiTermination={"Value": False})
    settle(world, several(INSTANCE, ensure="absent"))
    assert not instances(world, "running")


def test_one_that_cannot_be_stopped_now_waits_alone(world: World) -> None:
    settle(world, several(INSTANCE, *numbered(4)))
    stop = several(INSTANCE, *numbered(4))
    stop["main"]["policies"][0]["resource"]["properties"] = {**PROPERTIES[INSTANCE], "PowerState": "stopped"}

    def meanwhile(call: Any) -> bool:
        """Somebody terminates one between the look at it and the stop."""
        if call.operation == "StopInstances" and not terminated:
            terminated.append(id_of(world, "i1"))
            world.outside.ec2.terminate_instances(InstanceIds=terminated)
        return False

    terminated: list[str] = []
    world.inject(Fault(at=meanwhile, kind="refused", times=None))
    world.advance(minutes=1)
    told = run(world, stop)
    assert results(told) == {"i0": Result.DONE, "i1": Result.WAITING, "i2": Result.DONE, "i3": Result.DONE}
    assert {item for item, state in instances(world).items() if state == "stopping"} == {"i0", "i2", "i3"}


def test_what_became_somebody_elses_is_not_among_them(world: World) -> None:
    settle(world, several(ALARM, *numbered(4)), 6)

    def taken(call: Any) -> bool:
        if call.operation == "ListTagsForResource" and call.params["ResourceARN"].endswith("orders-i2") and not seen:
            seen.append(call.params["ResourceARN"])
            world.outside.cloudwatch.untag_resource(ResourceARN=seen[0], TagKeys=["setpoint:policy"])
        return False

    seen: list[str] = []
    world.inject(Fault(at=taken, kind="refused", times=None))
    told, calls = calls_of(world, several(ALARM, ensure="absent"))
    assert results(told) == {"i0": Result.DONE, "i1": Result.DONE, "i2": Result.CONFLICT, "i3": Result.DONE}
    assert list(world.resources()[ALARM]) == ["orders-i2"]
    (delete,) = [call for call in world.history if call.operation == "DeleteAlarms"]
    assert delete.params["AlarmNames"] == ["orders-i0", "orders-i1", "orders-i3"]
    assert calls["DeleteAlarms"] == 1


@pytest.mark.parametrize(
    ("kind", "result"),
    [("throttled", Result.THROTTLED), ("unavailable", Result.FAILED), ("refused", Result.FAILED)],
)
def test_what_says_nothing_of_any_of_them_is_told_of_all_and_asked_once(
    world: World, kind: Any, result: Result
) -> None:
    settle(world, several(ALARM, *numbered(6)), 6)
    world.inject(Fault(at=lambda call: call.operation == "DeleteAlarms", kind=kind, times=1))
    told, calls = calls_of(world, several(ALARM, ensure="absent"))
    assert set(results(told).values()) == {result}
    assert calls["DeleteAlarms"] == 1
    settle(world, several(ALARM, ensure="absent"))
    assert not world.resources().get(ALARM)


def test_a_permission_that_only_one_lacks_is_told_of_that_one(world: World) -> None:
    settle(world, several(ALARM, *numbered(6)), 6)
    forbidden = "orders-i4"
    world.inject(
        Fault(
            at=lambda call: forbidden in call.params.get("AlarmNames", ()) and call.mutating, kind="denied", times=None
        )
    )
    told, _ = calls_of(world, several(ALARM, ensure="absent"))
    assert {item for item, result in results(told).items() if result is Result.FAILED} == {"i4"}
    assert "not allowed to call cloudwatch:DeleteAlarms" in told.words
    assert list(world.resources()[ALARM]) == [forbidden]


def test_an_answer_that_is_lost_is_found_out_by_the_next_run(world: World) -> None:
    settle(world, several(INSTANCE, *numbered(3)))
    world.inject(Fault(at=lambda call: call.operation == "TerminateInstances", kind="lost", times=1))
    told, _ = calls_of(world, several(INSTANCE, ensure="absent"))
    assert set(results(told).values()) == {Result.FAILED}
    settle(world, several(INSTANCE, ensure="absent"))
    assert not instances(world, "running", "shutting-down")
    assert sum(call.operation == "TerminateInstances" for call in world.history) == 1
