"""Names that are known are looked up, many to a call and side by side; everything else is listed."""

from __future__ import annotations

from typing import Any

import pytest

from handler.loop.surveys import MOST_LOOKUPS, plan_surveys
from tests.engine.given import (
    ALARM,
    DELETE_AT_ONCE,
    GROUP,
    document,
    each,
    groups,
    names,
    parse,
    queues,
    run,
    settle,
    tags,
)
from tests.world import World

HUNDRED = [f"g{number:03}" for number in range(120)]


def alarms(*items: str, name: str = "alarms", **more: Any) -> Any:
    properties = {
        "AlarmName": "alarm-${item}",
        "ComparisonOperator": "GreaterThanThreshold",
        "EvaluationPeriods": 1,
        "Threshold": 1,
        "MetricName": "Errors",
        "Namespace": "App",
        "Period": 60,
        "Statistic": "Sum",
    }
    return {"name": name, "resource": {"type": ALARM, "properties": properties}, "strategy": each(*items), **more}


def enforced(name: str = "kept", **match: Any) -> Any:
    resource = {"type": GROUP, "match": match, "properties": {"RetentionInDays": 7}}
    return {"name": name, "resource": resource, "strategy": {"type": "enforce"}}


def expired(*names: str) -> Any:
    strategy = {"type": "expire", "after": "1h", "grace": "2h"}
    return {"name": "tidy", "resource": {"type": GROUP, "match": {"names": list(names)}}, "strategy": strategy}


def from_parameter() -> Any:
    items = {"source": "ssmParameter", "name": "/names", "maxLength": 20}
    return {**groups("x", name="more", stem="/more"), "strategy": {"type": "forEach", "items": items}}


def looked_up(*policies: Any) -> frozenset[str] | None:
    (survey,) = plan_surveys(parse({"main": document(*policies)}).policies).values()
    return survey.names


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        ([groups("a", "b")], {"/orders/a", "/orders/b"}),
        ([groups("a"), groups("c", name="more", stem="/more")], {"/orders/a", "/more/c"}),
        ([alarms("a")], {"alarm-a"}),
        ([enforced(names=["/x", "/y"])], {"/x", "/y"}),
        ([enforced(names=["/x"]), groups("a")], {"/orders/a", "/x"}),
        ([groups(*map(str, range(MOST_LOOKUPS * 50)))], {f"/orders/{n}" for n in range(MOST_LOOKUPS * 50)}),
        ([groups(*map(str, range(MOST_LOOKUPS * 50 + 1)))], None),
        ([queues("a")], None),
        ([from_parameter()], None),
        ([from_parameter(), groups("a")], None),
        ([enforced(namePrefix="/x"), groups("a")], None),
        ([expired("/x"), groups("a")], None),
        ([enforced(names=["", "/x"]), groups("a")], None),
        ([enforced(names=["a name", "/x"])], None),
    ],
    ids=[
        "items",
        "of several policies",
        "of alarms",
        "of a match",
        "of both",
        "as many as twenty calls look up",
        "one more",
        "a service that only lists",
        "names that a parameter holds",
        "and beside others",
        "a prefix",
        "what may carry a mark",
        "a name that is none",
        "a name that the service would refuse",
    ],
)
def test_what_is_looked_up(policies: list[Any], expected: set[str] | None) -> None:
    assert looked_up(*policies) == expected


def test_so_many_names_to_a_call_and_nothing_of_others(world: World) -> None:
    for number in range(200):
        world.outside.logs.create_log_group(logGroupName=f"/orders/of-others-{number}")
    wanted = {"main": document(groups(*HUNDRED, guardrails={"maxCreates": 200}))}
    settle(world, wanted, minutes=2)
    assert len(names(world, GROUP)) == 320
    world.history.clear()
    told = run(world, wanted)
    assert not told.of("groups").plan.actions
    asked = [call.params["logGroupIdentifiers"] for call in world.calls(operation="DescribeLogGroups")]
    assert sorted(map(len, asked)) == [20, 50, 50]
    assert sorted(name for some in asked for name in some) == sorted(f"/orders/{item}" for item in HUNDRED)


@pytest.mark.parametrize(("make", "type_"), [(groups, GROUP), (alarms, ALARM)])
def test_what_is_owned_and_not_wanted_any_more_is_found_by_the_index(world: World, make: Any, type_: str) -> None:
    settle(world, {"main": document(make("a", "b", **DELETE_AT_ONCE))})
    assert len(names(world, type_)) == 2
    settle(world, {"main": document(make("b", **DELETE_AT_ONCE))})
    assert [name[-1] for name in names(world, type_)] == ["b"]


def test_and_beside_a_match_whose_index_is_another_one(world: World) -> None:
    """The owner index and that of a type are told apart, whichever is there first."""
    watching = {**enforced("watching", names=["of-others"]), "resource": {**alarms()["resource"]}}
    watching["resource"] |= {"match": {"names": ["of-others"]}, "properties": {"Threshold": 2}}
    both = (watching, alarms("x"))
    settle(world, {"main": document(*both, groups("a", "b", **DELETE_AT_ONCE))})
    world.advance(minutes=70)
    for _ in range(5):  # policies go in another order every minute
        told = run(world, {"main": document(*both, groups("a", **DELETE_AT_ONCE))}, stop="only look")
        assert told.held("groups") == ["delete /orders/b: only look"]
        world.advance(minutes=1)


@pytest.mark.parametrize(("stays", "leaves"), [("/app", "/app/x"), ("/app", "/web")])
def test_a_mark_goes_when_its_name_does(world: World, stays: str, leaves: str) -> None:
    """Else it would count at once when the name comes back, and its grace would be over."""
    for name in (stays, leaves):
        world.outside.logs.create_log_group(logGroupName=name)
    world.advance(minutes=120)
    settle(world, {"main": document(expired(stays, leaves))})
    assert "setpoint:marked" in tags(world, leaves, GROUP)
    settle(world, {"main": document(expired(stays))})
    assert "setpoint:marked" not in tags(world, leaves, GROUP)
    world.advance(minutes=600)
    settle(world, {"main": document(expired(leaves))})
    assert leaves in names(world, GROUP)


def test_a_name_that_is_none_harms_nobody(world: World) -> None:
    told = settle(world, {"main": document(enforced(names=["", "a name", "/x"]), groups("a"))})
    assert told.errors == []
    assert told.true("groups") == told.true("kept") == {"Ready"}


def test_what_somebody_else_holds_under_a_wanted_name_is_a_conflict(world: World) -> None:
    world.outside.logs.create_log_group(logGroupName="/orders/a")
    world.outside.cloudwatch.put_metric_alarm(**{**alarms("a")["resource"]["properties"], "AlarmName": "alarm-a"})
    told = settle(world, {"main": document(groups("a"), alarms("a"))})
    assert told.true("groups") >= {"Conflict"}
    assert told.true("alarms") >= {"Conflict"}
    assert told.done("groups") == told.done("alarms") == []


def test_drift_is_seen(world: World) -> None:
    settle(world, {"main": document(groups("a", "b"))})
    world.outside.logs.put_retention_policy(logGroupName="/orders/b", retentionInDays=1)
    assert run(world, {"main": document(groups("a", "b"))}).done("groups") == ["update /orders/b: done"]


def test_an_emulator_that_does_not_know_the_filter_lists(world: World) -> None:
    """Plain moto: it answers with a page of fifty, whatever was asked for."""
    del world.traps["logs"]
    for number in range(60):
        world.outside.logs.create_log_group(logGroupName=f"/a/{number}")
    wanted = {"main": document(groups("x", "y"))}
    settle(world, wanted)
    assert {"/orders/x", "/orders/y"} < names(world, GROUP)
    told = run(world, wanted)
    assert not told.of("groups").plan.actions
    assert told.true("groups") == {"Ready"}
    named = enforced(names=[f"/a/{number}" for number in range(60)])
    assert len(run(world, {"main": document(named)}).of("kept").plan.actions) == 60
