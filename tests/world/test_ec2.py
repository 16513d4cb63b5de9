"""The traps of EC2."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.world import World


def run(world: World, token: str = "token", **more: Any) -> dict[str, Any]:
    asked = {"ImageId": "ami-1", "MinCount": 1, "MaxCount": 1, "ClientToken": token, **more}
    instance: dict[str, Any] = world.session.client("ec2").run_instances(**asked)["Instances"][0]
    return instance


def state(world: World, instance: dict[str, Any]) -> str | None:
    """The state that DescribeInstances shows; None if it does not know the instance."""
    pages = world.session.client("ec2").describe_instances()["Reservations"]
    states = {i["InstanceId"]: i["State"]["Name"] for reservation in pages for i in reservation["Instances"]}
    return states.get(instance["InstanceId"])


def terminate(world: World, instance: dict[str, Any]) -> None:
    world.session.client("ec2").terminate_instances(InstanceIds=[instance["InstanceId"]])


def test_a_token_launches_once(world: World) -> None:
    assert run(world)["InstanceId"] == run(world)["InstanceId"] != run(world, "other")["InstanceId"]
    assert len(world.resources()["AWS::EC2::Instance"]) == 2


def test_a_token_with_other_parameters_is_refused(world: World) -> None:
    run(world)
    with pytest.raises(ClientError, match="IdempotentParameterMismatch"):
        run(world, InstanceType="m5.large")


def test_the_token_of_the_dead_is_refused_for_a_day(world: World) -> None:
    terminate(world, run(world))
    for _ in range(2):
        with pytest.raises(ClientError, match="IdempotentInstanceTerminated"):
            run(world)
        for _ in range(2):
            world.tick_started()
    world.advance(hours=23, minutes=59)
    with pytest.raises(ClientError, match="IdempotentInstanceTerminated"):
        run(world)
    world.advance(minutes=1)
    run(world)


def test_a_token_has_at_most_64_characters(world: World) -> None:
    run(world, "t" * 64)
    with pytest.raises(ClientError, match="InvalidParameterValue"):
        run(world, "t" * 65)


def test_the_token_is_shown_and_can_be_searched(world: World) -> None:
    run(world, "mine")
    run(world, "other")
    found = world.session.client("ec2").describe_instances(Filters=[{"Name": "client-token", "Values": ["mine"]}])
    assert [i["ClientToken"] for r in found["Reservations"] for i in r["Instances"]] == ["mine"]


def test_an_instance_takes_a_round_to_run_and_to_die(world: World) -> None:
    world.tick_started()
    instance = run(world)
    seen = [state(world, instance)]
    for _ in range(2):
        world.tick_started()
        seen.append(state(world, instance))
    terminate(world, instance)
    for _ in range(3):
        seen.append(state(world, instance))
        world.tick_started()
    assert seen == ["pending", "pending", "running", "shutting-down", "shutting-down", "terminated"]


def test_the_state_filter_sees_the_transition(world: World) -> None:
    run(world)
    ec2 = world.session.client("ec2")
    found = ec2.describe_instances(Filters=[{"Name": "instance-state-name", "Values": ["running"]}])
    assert found["Reservations"] == []


def test_the_dead_are_listed_for_an_hour(world: World) -> None:
    world.ec2.state_ticks = 0
    instance = run(world)
    terminate(world, instance)
    assert state(world, instance) == "terminated"
    world.advance(minutes=59)
    assert state(world, instance) == "terminated"
    world.advance(minutes=1)
    assert state(world, instance) is None
    with pytest.raises(ClientError, match="InvalidInstanceID"):
        terminate(world, instance)


def test_death_by_hand_counts(world: World) -> None:
    instance = run(world)
    world.outside.ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])
    with pytest.raises(ClientError, match="IdempotentInstanceTerminated"):
        run(world)
    world.advance(hours=1)
    assert state(world, instance) is None


def test_stopping_takes_a_round_and_asking_twice_does_not_prolong_it(world: World) -> None:
    instance = run(world)
    world.tick_started()
    world.tick_started()
    ec2 = world.session.client("ec2")
    ec2.stop_instances(InstanceIds=[instance["InstanceId"]])
    with pytest.raises(ClientError, match="IncorrectInstanceState"):
        ec2.start_instances(InstanceIds=[instance["InstanceId"]])
    world.tick_started()
    ec2.stop_instances(InstanceIds=[instance["InstanceId"]])
    assert state(world, instance) == "stopping"
    world.tick_started()
    assert state(world, instance) == "stopped"
    ec2.start_instances(InstanceIds=[instance["InstanceId"]])
    assert state(world, instance) == "pending"


def test_what_is_made_by_hand_runs_at_once(world: World) -> None:
    made = world.outside.ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1)["Instances"][0]
    assert state(world, made) == "running"
