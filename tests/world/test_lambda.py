"""The traps of Lambda functions."""

from typing import Any

import pytest

from tests.world import World


def create(world: World) -> Any:
    role = world.outside.iam.create_role(RoleName="worker", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    functions = world.session.client("lambda")
    functions.create_function(
        FunctionName="worker", Role=role, PackageType="Image", Code={"ImageUri": "registry/worker:1"}
    )
    return functions


def states(functions: Any) -> tuple[str, str]:
    found = functions.get_function(FunctionName="worker")["Configuration"]
    return found["State"], found["LastUpdateStatus"]


def settle(world: World) -> None:
    for _ in range(2):
        world.tick_started()


def test_a_function_takes_a_round_to_be_made(world: World) -> None:
    functions = create(world)
    assert states(functions) == ("Pending", "Successful")
    settle(world)
    assert states(functions) == ("Active", "Successful")


def test_one_update_at_a_time_and_no_tags_meanwhile(world: World) -> None:
    functions = create(world)
    settle(world)
    arn = functions.get_function(FunctionName="worker")["Configuration"]["FunctionArn"]
    functions.update_function_configuration(FunctionName="worker", Timeout=5)
    assert states(functions) == ("Active", "InProgress")
    for attempt in (
        lambda: functions.update_function_configuration(FunctionName="worker", Timeout=6),
        lambda: functions.update_function_code(FunctionName="worker", ImageUri="registry/worker:2"),
        lambda: functions.tag_resource(Resource=arn, Tags={"a": "b"}),
    ):
        with pytest.raises(functions.exceptions.ResourceConflictException):
            attempt()
    settle(world)
    functions.tag_resource(Resource=arn, Tags={"a": "b"})


def test_every_change_moves_the_moment_of_the_last_one(world: World) -> None:
    functions = create(world)
    moments = [functions.get_function(FunctionName="worker")["Configuration"]["LastModified"]]
    for number in (2, 2):
        settle(world)
        functions.update_function_code(FunctionName="worker", ImageUri=f"registry/worker:{number}")
        moments.append(functions.get_function(FunctionName="worker")["Configuration"]["LastModified"])
    assert len(set(moments)) == 3


def test_a_name_is_taken_until_it_is_deleted(world: World) -> None:
    functions = create(world)
    role = functions.get_function(FunctionName="worker")["Configuration"]["Role"]
    again = {"FunctionName": "worker", "Role": role, "PackageType": "Image", "Code": {"ImageUri": "registry/other:1"}}
    with pytest.raises(functions.exceptions.ResourceConflictException):
        functions.create_function(**again)
    functions.delete_function(FunctionName="worker")
    functions.create_function(**again)
    assert world.resources()["AWS::Lambda::Function"].keys() == {"worker"}
