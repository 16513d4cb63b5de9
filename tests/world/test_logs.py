"""Log groups by their names, as the service documents it."""

import pytest
from botocore.exceptions import ClientError

from tests.world import World


def _named(world: World, *names: str, **more: object) -> list[str]:
    pages = world.session.client("logs").get_paginator("describe_log_groups").paginate
    return [
        group["logGroupName"] for page in pages(logGroupIdentifiers=list(names), **more) for group in page["logGroups"]
    ]


def test_only_the_names_that_were_asked_for_and_exist_come_back_sorted(world: World) -> None:
    for name in "dcba":
        world.outside.logs.create_log_group(logGroupName=name)
    assert _named(world, "d", "a", "none") == ["a", "d"]


def test_the_names_come_in_pages(world: World) -> None:
    world.page_size = 2
    for name in "abcde":
        world.outside.logs.create_log_group(logGroupName=name)
    assert _named(world, *"edcba") == list("abcde")
    assert len(world.calls(operation="DescribeLogGroups")) == 3


@pytest.mark.parametrize(
    ("names", "more"), [([str(n) for n in range(51)], {}), (["a b"], {}), (["a"], {"logGroupNamePrefix": "a"})]
)
def test_too_many_names_those_that_are_none_and_other_filters_are_refused(
    world: World, names: list[str], more: dict[str, str]
) -> None:
    with pytest.raises(ClientError, match="InvalidParameterException"):
        _named(world, *names, **more)
