"""Which existing resources a policy works on."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from policies.frozen import freeze
from policies.match import Match, selects
from policies.world import Resource

TAGS, PROPERTIES = freeze({"team": "a"}), freeze({"Size": 5})


def queue(name: str = "orders-a", tags: Any = TAGS, properties: Any = PROPERTIES) -> Resource:
    return Resource("T", f"id-{name}", name, tags=tags, properties=properties)


OWNED = freeze({"team": "a", "setpoint:policy": "setpoint/queues"})


def verdict(match: Any, resource: Resource, excepted: Any = ()) -> bool | None:
    parse = [
        [Match.model_validate(one) for one in (each if isinstance(each, list | tuple) else [each])]
        for each in (match, excepted)
    ]
    return selects(*parse, resource)


@pytest.mark.parametrize(
    ("match", "resource", "selected"),
    [
        ({"namePrefix": ""}, queue(), True),
        ({"namePrefix": "orders-"}, queue(), True),
        ({"namePrefix": "Orders-"}, queue(), False),
        ({"names": ["orders-a"]}, queue(), True),
        ({"names": ["id-orders-a"]}, queue(), True),
        ({"names": ["orders"]}, queue(), False),
        ({"tags": {"team": "a"}}, queue(), True),
        ({"tags": {"team": None}}, queue(), False),
        ({"tags": {"team": None}}, queue(tags={}), True),
        ({"where": {"Size": {"above": 4}}}, queue(), True),
        ({"where": {"Size": {"above": 5}}}, queue(), False),
        # all that is said must hold
        ({"namePrefix": "orders-", "tags": {"team": "a"}, "where": {"Size": 5}}, queue(), True),
        ({"namePrefix": "orders-", "tags": {"team": "b"}, "where": {"Size": 5}}, queue(), False),
        # a list: any of them
        ([{"names": ["x"]}, {"tags": {"team": "a"}}], queue(), True),
        ([{"names": ["x"]}, {"names": ["y"]}], queue(), False),
        ([], queue(), False),
        # what a Setpoint policy owns is left out, unless it is asked for
        ({"namePrefix": ""}, queue(tags=OWNED), False),
        ({"namePrefix": "", "owned": True}, queue(tags=OWNED), True),
        ({"namePrefix": "", "owned": True}, queue(), True),
        # a resource without a name is told by its id
        ({"namePrefix": "i-"}, Resource("T", "i-1", tags={}), True),
        # unknown is not foreign
        ({"namePrefix": ""}, queue(tags=None), None),
        ({"namePrefix": "", "owned": True}, queue(tags=None), True),
        ({"namePrefix": "x"}, queue(tags=None), False),
        ({"tags": {"team": None}}, queue(tags=None), None),
        ({"where": {"Size": 5}}, queue(properties=None), None),
        ({"where": {"Size": 5}, "tags": {"team": "b"}}, queue(properties=None), False),
        ([{"where": {"Size": 5}}, {"names": ["orders-a"]}], queue(properties=None), True),
        ([{"where": {"Size": 5}}, {"names": ["x"]}], queue(properties=None), None),
    ],
)
def test_what_a_match_selects(match: Any, resource: Resource, selected: bool | None) -> None:
    assert verdict(match, resource) is selected


ALL = {"namePrefix": ""}


@pytest.mark.parametrize(
    ("excepted", "resource", "selected"),
    [
        ({"names": ["orders-a"]}, queue(), False),
        ({"names": ["orders-b"]}, queue(), True),
        ({"tags": {"team": ["a", "b"]}}, queue(), False),
        ({"where": {"Size": 5}}, queue(properties=None), None),  # it may be excepted: it takes a read to tell
        ({"where": {"Size": 5}}, queue(properties=freeze({"Size": 6})), True),
        ([{"names": ["x"]}, {"where": {"Size": 5}}], queue(), False),
        ({"where": {"Size": 5}, "names": ["x"]}, queue(properties=None), True),
    ],
)
def test_what_is_excepted(excepted: Any, resource: Resource, selected: bool | None) -> None:
    assert verdict(ALL, resource, excepted) is selected


def test_an_exception_covers_what_is_owned_too() -> None:
    assert verdict({"namePrefix": "", "owned": True}, queue(tags=OWNED), {"names": ["orders-a"]}) is False


@pytest.mark.parametrize(
    ("match", "words"),
    [
        ({}, "name what to match"),
        ({"nameprefix": ""}, "nameprefix"),
        ({"names": "orders-a"}, "names"),
        ({"owned": "yes"}, "owned"),
    ],
)
def test_what_is_no_match(match: Any, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Match.model_validate(match)
