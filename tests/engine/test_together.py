"""What one call can do for several is one call; and yet each has its own proof before it and its own outcome after."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
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
    ("type_", "count", "end", "ends"),
    [(ALARM, 45, "DeleteAlarms", 3), (PARAMETER, 12, "DeleteParameters", 2), (INSTANCE, 12, "TerminateInstances", 1)],
)
def test_the_deletes_of_many(world: World, type_: str, count: int, end: str, ends: int) -> None:
    settle(world, several(type_, *numbered(count)), 6)
    told, calls = calls_of(world, several(type_, ensure="absent"))
    assert calls[end] == ends
    assert Counter(results(told).values()) == {Result.DONE: count}
    assert not instances(world, "running") if type_ == INSTANCE else not world.resources().get(type_)


def test_replacements_of_many_instances_end_them_in_one_call(world: World) -> None:
    settle(world, several(INSTANCE, *numbered(6)))
    other = several(INSTANCE, *numbered(6))
    other["main"]["policies"][0]["resource"]["properties"] = {**PROPERTIES[INSTANCE], "ImageId": "ami-2"}
    other["main"]["policies"][0]["replace"] = "deleteFirst"
    _, calls = calls_of(world, other)
    assert (calls["DescribeInstances"], calls["TerminateInstances"]) == (2, 1)
    settle(world, other, 6)
    assert Counter(one["ImageId"] for one in world.resources()[INSTANCE]) == {"ami-2": 6}


def test_the_tags_of_many_instances_are_one_call(world: World) -> None:
    """What differs from instance to instance, the owner tags, stays as it is."""
    settle(world, several(INSTANCE, *numbered(6)))
    tagged = several(INSTANCE, *numbered(6))
    tags = [{"Key": "team", "Value": "orders"}]
    tagged["main"]["policies"][0]["resource"]["properties"] = {**PROPERTIES[INSTANCE], "Tags": tags}
    _, calls = calls_of(world, tagged)
    assert calls == {"DescribeInstances": 2, "DescribeInstanceStatus": 2, "CreateTags": 1}
    assert [one["Tags"]["team"] for one in world.resources()[INSTANCE]] == ["orders"] * 6


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


def protect(world: World, item: str, on: bool = True) -> None:
    world.outside.ec2.modify_instance_attribute(InstanceId=id_of(world, item), DisableApiTermination={"Value": on})


def test_one_that_is_protected_keeps_none_of_the_others_alive(world: World) -> None:
    """One bad instance blocked its whole batch: those of its zone are refused with it."""
    settle(world, several(INSTANCE, *numbered(8)))
    protect(world, "i3")
    told, calls = calls_of(world, several(INSTANCE, ensure="absent"))
    assert results(told) == {f"i{number}": Result.FAILED if number == 3 else Result.DONE for number in range(8)}
    assert "may not be terminated" in told.words
    assert instances(world, "running") == {"i3": "running"}
    assert calls["TerminateInstances"] < 8
    protect(world, "i3", on=False)
    settle(world, several(INSTANCE, ensure="absent"))
    assert not instances(world, "running")


def test_those_of_another_zone_have_ended_though_the_call_failed(world: World) -> None:
    properties = {**PROPERTIES[INSTANCE], "AvailabilityZone": "eu-west-1${item}"}
    zones = several(INSTANCE, "a", "b", "c")
    zones["main"]["policies"][0]["resource"]["properties"] = properties
    settle(world, zones)
    protect(world, "c")
    gone = {"main": document({**zones["main"]["policies"][0], "ensure": "absent"})}
    told, _ = calls_of(world, gone)
    assert results(told)["c"] is Result.FAILED
    assert instances(world, "running") == {"c": "running"}
    settle(world, gone, 2)
    assert instances(world, "running") == {"c": "running"}


def test_a_half_is_proven_anew(world: World) -> None:
    """Between two calls for the same delete somebody says to hold."""
    settle(world, several(INSTANCE, *numbered(8)))
    protect(world, "i0")
    hold = [{"Key": "setpoint:hold-until", "Value": "2099-01-01T00:00:00Z"}]
    held = id_of(world, "i7")
    world.meanwhile("TerminateInstances", lambda: world.outside.ec2.create_tags(Resources=[held], Tags=hold))
    told, _ = calls_of(world, several(INSTANCE, ensure="absent"))
    assert (results(told)["i0"], results(told)["i7"]) == (Result.FAILED, Result.WAITING)
    assert set(instances(world, "running")) == {"i0", "i7"}


def test_one_that_cannot_be_stopped_now_waits_alone(world: World) -> None:
    """Somebody terminates one between the look at it and the stop."""
    settle(world, several(INSTANCE, *numbered(4)))
    stop = several(INSTANCE, *numbered(4))
    stop["main"]["policies"][0]["resource"]["properties"] = {**PROPERTIES[INSTANCE], "PowerState": "stopped"}
    ended = id_of(world, "i1")
    world.meanwhile("StopInstances", lambda: world.outside.ec2.terminate_instances(InstanceIds=[ended]))
    told, _ = calls_of(world, stop)
    assert {item for item, result in results(told).items() if result is Result.DONE} == {"i0", "i2", "i3"}
    assert {item for item, state in instances(world).items() if state == "stopping"} == {"i0", "i2", "i3"}


def test_one_that_is_not_there_any_more_is_told_by_itself(world: World) -> None:
    """AWS refuses to describe several for the sake of one whose id it does not know."""
    settle(world, several(INSTANCE, *numbered(4)))
    gone = id_of(world, "i2")

    def forget() -> None:
        world.outside.ec2.terminate_instances(InstanceIds=[gone])
        world.advance(hours=2)
        world.tick_started()
        world.advance(hours=2)
        world.tick_started()

    world.meanwhile("DescribeInstances", forget, number=2)
    told, _ = calls_of(world, several(INSTANCE, ensure="absent"))
    assert set(results(told).values()) == {Result.DONE}
    assert [one.message for one in told.of("some").outcomes if one.action.key == "i2"] == ["it was gone already"]
    assert not instances(world, "running")


def test_what_became_somebody_elses_is_not_among_them(world: World) -> None:
    settle(world, several(ALARM, *numbered(4)), 6)

    theirs = "arn:aws:cloudwatch:eu-west-1:123456789012:alarm:orders-i2"
    untag = {"ResourceARN": theirs, "TagKeys": ["setpoint:policy"]}
    world.meanwhile("ListTagsForResource", lambda: world.outside.cloudwatch.untag_resource(**untag))
    told, _ = calls_of(world, several(ALARM, ensure="absent"))
    assert results(told) == {"i0": Result.DONE, "i1": Result.DONE, "i2": Result.CONFLICT, "i3": Result.DONE}
    assert list(world.resources()[ALARM]) == ["orders-i2"]


@pytest.mark.parametrize(("kind", "result"), [("throttled", Result.THROTTLED), ("refused", Result.FAILED)])
def test_what_says_nothing_of_any_of_them_is_told_of_all_and_asked_once(
    world: World, kind: Any, result: Result
) -> None:
    settle(world, several(INSTANCE, *numbered(6)))
    world.inject(Fault(at=lambda call: call.operation == "TerminateInstances", kind=kind, times=1))
    told, calls = calls_of(world, several(INSTANCE, ensure="absent"))
    assert set(results(told).values()) == {result}
    assert calls["TerminateInstances"] == 1
    settle(world, several(INSTANCE, ensure="absent"))
    assert not instances(world, "running")


@pytest.mark.parametrize("kind", ["denied", "unavailable"])
def test_one_that_always_fails_keeps_none_of_the_others_alive(world: World, kind: Any) -> None:
    settle(world, several(INSTANCE, *numbered(6)))
    bad = id_of(world, "i3")
    world.inject(Fault(at=lambda call: call.mutating and bad in call.params["InstanceIds"], kind=kind, times=None))
    told, _ = calls_of(world, several(INSTANCE, ensure="absent"))
    assert {item for item, result in results(told).items() if result is Result.FAILED} == {"i3"}
    assert instances(world, "running") == {"i3": "running"}


def test_an_answer_that_nobody_foresaw_is_told_of_the_one_that_it_concerns(world: World) -> None:
    settle(world, several(ALARM, *numbered(6)), 6)
    world.meanwhile("ListTagsForResource", lambda: (_ for _ in ()).throw(KeyError("Tags")), number=3)
    told, _ = calls_of(world, several(ALARM, ensure="absent"))
    assert Counter(results(told).values()) == {Result.DONE: 5, Result.FAILED: 1}
    assert len(world.resources()[ALARM]) == 1


def test_an_answer_that_is_lost_is_found_out_by_the_next_run(world: World) -> None:
    settle(world, several(INSTANCE, *numbered(3)))
    world.inject(Fault(at=lambda call: call.operation == "TerminateInstances", kind="lost", times=1))
    told, _ = calls_of(world, several(INSTANCE, ensure="absent"))
    assert set(results(told).values()) == {Result.FAILED}
    settle(world, several(INSTANCE, ensure="absent"))
    assert not instances(world, "running", "shutting-down")
    assert sum(call.operation == "TerminateInstances" for call in world.history) == 1


def test_none_of_a_batch_goes_on_once_the_time_is_over(world: World) -> None:
    settle(world, several(ALARM, *numbered(25)), 6)
    world.advance(minutes=1)
    begun = len(world.history)

    def over() -> bool:
        return any(call.operation == "ListTagsForResource" for call in world.history[begun:])

    told = run(world, several(ALARM, ensure="absent"), over=over)
    assert set(results(told).values()) == {Result.WAITING, Result.UNVISITED}
    assert len(world.resources()[ALARM]) == 25
    settle(world, several(ALARM, ensure="absent"))
    assert not world.resources().get(ALARM)


def test_many_of_several_policies_on_many_threads(world: World) -> None:
    policies = [
        several(type_, *numbered(20), name=f"{stem}-{type_.rpartition('::')[2].lower()}")["main"]["policies"][0]
        for type_ in (ALARM, PARAMETER)
        for stem in ("a", "b")
    ]
    for clause in policies:
        word = "AlarmName" if clause["resource"]["type"] == ALARM else "Name"
        properties = clause["resource"]["properties"]
        clause["resource"]["properties"] = {**properties, word: properties[word] + "-" + clause["name"][0]}
    settle(world, {"main": document(*policies)}, 8)
    gone = {"main": document(*({**clause, "ensure": "absent"} for clause in policies))}
    world.advance(minutes=1)
    with ThreadPoolExecutor(8) as pool:
        told = run(world, gone, executor=pool)
    outcomes = [one for report in told.report.policies for one in report.outcomes]
    assert Counter(one.result for one in outcomes) == {Result.DONE: 80}
    assert not world.resources()
