"""The trap of SSM parameters."""

import pytest

from tests.world import World


def test_a_deleted_name_is_free_after_half_a_minute(world: World) -> None:
    ssm = world.session.client("ssm")
    ssm.put_parameter(Name="/a/b", Value="1", Type="String", Tags=[{"Key": "team", "Value": "orders"}])
    ssm.delete_parameter(Name="/a/b")
    world.advance(seconds=29)
    with pytest.raises(ssm.exceptions.ParameterAlreadyExists):
        ssm.put_parameter(Name="/a/b", Value="2", Type="String")
    with pytest.raises(ssm.exceptions.ParameterNotFound):
        ssm.get_parameter(Name="/a/b")
    world.advance(seconds=1)
    ssm.put_parameter(Name="/a/b", Value="2", Type="String")


def test_other_names_are_free(world: World) -> None:
    ssm = world.session.client("ssm")
    ssm.put_parameter(Name="/a/b", Value="1", Type="String")
    ssm.delete_parameter(Name="/a/b")
    ssm.put_parameter(Name="/a/c", Value="1", Type="String")


def test_parameters_count_if_they_are_tagged(world: World) -> None:
    """The others are the items that a test put there."""
    ssm = world.session.client("ssm")
    ssm.put_parameter(Name="/items", Value="[]", Type="String")
    assert world.resources() == {}
    ssm.put_parameter(Name="/a/b", Value="1", Type="String", Tags=[{"Key": "team", "Value": "orders"}])
    found = world.resources()["AWS::SSM::Parameter"]
    assert (found.keys(), found["/a/b"]["Value"], found["/a/b"]["Tags"]) == ({"/a/b"}, "1", {"team": "orders"})
