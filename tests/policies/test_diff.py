"""What differs between declared and actual properties: by meaning, never by text."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.diff import diff, same
from policies.frozen import freeze
from policies.properties import (
    PLAIN,
    CreateOnly,
    Default,
    JsonDocument,
    Keyed,
    Name,
    Properties,
    Unordered,
    WriteOnly,
    shape_of,
)


class Part(Properties):
    Size: int | None = None
    Kind: Annotated[str | None, CreateOnly] = None


class Index(Properties):
    IndexName: str
    Units: int | None = None
    Keys: Annotated[list[str] | None, CreateOnly] = None


class Thing(Properties):
    Title: Annotated[str, CreateOnly, Name("[a-z]+", 10)]
    Delay: Annotated[int | None, Default(0)] = None
    Ratio: float | None = None
    Ordered: list[str] | None = None
    Groups: Annotated[list[str] | None, Unordered] = None
    Policy: Annotated[dict[str, Any] | None, JsonDocument] = None
    Inner: Part | None = None
    Fixed: Annotated[Part | None, CreateOnly] = None
    Indexes: Annotated[list[Index] | None, Keyed("IndexName")] = None
    Off: Annotated[dict[str, Any] | None, Default({"Enabled": False})] = None
    Secret: Annotated[str | None, WriteOnly] = None


SHAPE = shape_of(Thing)


def differences(declared: Any, actual: Any) -> list[str]:
    return [str(one) for one in diff(freeze(declared), freeze(actual), SHAPE)]


@pytest.mark.parametrize(
    ("declared", "actual", "paths"),
    [
        ({}, {"Delay": 5}, []),  # what is not declared is nobody's business
        ({"Delay": 5}, {"Delay": 5}, []),
        ({"Delay": 5}, {"Delay": 6}, ["Delay"]),
        ({"Delay": 5}, {}, ["Delay"]),
        # a service's default is absent, and absent is null
        ({"Delay": 0}, {}, []),
        ({"Delay": None}, {"Delay": 0}, []),
        ({"Delay": None}, {}, []),
        ({"Delay": None}, {"Delay": 5}, ["Delay"]),
        ({"Off": {"Enabled": False}}, {}, []),
        ({"Off": None}, {"Off": {"Enabled": False}}, []),
        # numbers are numbers, and truth is no number
        ({"Ratio": 1}, {"Ratio": 1.0}, []),
        ({"Ratio": 0.5}, {"Ratio": 0.25}, ["Ratio"]),
        ({"Ratio": 1}, {"Ratio": True}, ["Ratio"]),
        # lists are ordered unless the kind says that they are not
        ({"Ordered": ["a", "b"]}, {"Ordered": ["a", "b"]}, []),
        ({"Ordered": ["a", "b"]}, {"Ordered": ["b", "a"]}, ["Ordered"]),
        ({"Groups": ["a", "b"]}, {"Groups": ["b", "a"]}, []),
        ({"Groups": ["a"]}, {"Groups": ["a", "b"]}, ["Groups"]),
        ({"Groups": ["a", "a"]}, {"Groups": ["a"]}, ["Groups"]),
        # documents are compared as JSON
        ({"Policy": {"a": 1, "b": [2]}}, {"Policy": '{"b": [2],   "a": 1}'}, []),
        ({"Policy": {"a": 1}}, {"Policy": {"a": 1}}, []),
        ({"Policy": {"a": 1}}, {"Policy": '{"a": 1, "b": 2}'}, ["Policy"]),
        # inside objects only what is declared
        ({"Inner": {"Size": 1}}, {"Inner": {"Size": 1, "Kind": "x"}}, []),
        ({"Inner": {"Size": 1, "Kind": "x"}}, {"Inner": {"Size": 2}}, ["Inner.Size", "Inner.Kind"]),
        ({"Inner": {"Size": 1}}, {}, ["Inner"]),
        ({"Inner": None}, {"Inner": {"Size": 1}}, ["Inner"]),
        # keyed lists are mappings
        (
            {"Indexes": [{"IndexName": "a"}, {"IndexName": "b"}]},
            {"Indexes": [{"IndexName": "b"}, {"IndexName": "a"}]},
            [],
        ),
        (
            {"Indexes": [{"IndexName": "a", "Units": 1}]},
            {"Indexes": [{"IndexName": "a", "Units": 2}]},
            ["Indexes.a.Units"],
        ),
        ({"Indexes": [{"IndexName": "a"}]}, {"Indexes": []}, ["Indexes.a"]),
        ({"Indexes": [{"IndexName": "a"}]}, {}, ["Indexes.a"]),
        ({"Indexes": []}, {"Indexes": [{"IndexName": "a"}]}, ["Indexes.a"]),
        (
            {"Indexes": [{"IndexName": "a", "Units": 1}]},
            {"Indexes": [{"IndexName": "a", "Units": 1, "Keys": ["k"]}]},
            [],
        ),
        # what the service never shows cannot differ
        ({"Secret": "x"}, {}, []),
    ],
)
def test_what_differs(declared: Any, actual: Any, paths: list[str]) -> None:
    assert differences(declared, actual) == paths


@pytest.mark.parametrize(
    ("declared", "actual", "locked"),
    [
        ({"Title": "a"}, {"Title": "b"}, True),
        ({"Delay": 1}, {"Delay": 2}, False),
        ({"Inner": {"Kind": "a"}}, {"Inner": {"Kind": "b"}}, True),
        ({"Inner": {"Size": 1}}, {"Inner": {"Size": 2}}, False),
        ({"Fixed": {"Size": 1}}, {"Fixed": {"Size": 2}}, True),  # everything inside of what is fixed
        ({"Indexes": [{"IndexName": "a", "Keys": ["x"]}]}, {"Indexes": [{"IndexName": "a", "Keys": ["y"]}]}, True),
        ({"Indexes": [{"IndexName": "b"}]}, {"Indexes": []}, False),
    ],
)
def test_what_only_another_resource_can_have(declared: Any, actual: Any, locked: bool) -> None:
    (found,) = diff(freeze(declared), freeze(actual), SHAPE)
    assert found.create_only == locked


def test_a_difference_tells_before_and_after() -> None:
    (found,) = diff(freeze({"Inner": {"Size": 2}}), freeze({"Inner": {"Size": 1}}), SHAPE)
    assert (str(found), found.before, found.after) == ("Inner.Size", 1, 2)


def test_differences_come_in_the_order_of_declaration() -> None:
    assert differences({"Ratio": 1, "Delay": 1, "Groups": ["x"]}, {}) == ["Ratio", "Delay", "Groups"]


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-2, 2) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(_json)
def test_a_value_is_the_same_as_itself_in_whatever_shape(value: Any) -> None:
    assert same(freeze(value), freeze(value), PLAIN)
    document = SHAPE.inner("Policy")
    assert same(freeze(value), freeze(value), SHAPE.inner("Groups"))
    if isinstance(value, dict | list):
        assert same(freeze(value), json.dumps(value, indent=3), document)


@given(st.lists(st.text(max_size=3), max_size=5), st.randoms(use_true_random=False))
def test_unordered_means_that_the_order_does_not_matter(values: list[str], random: Any) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    assert differences({"Groups": values}, {"Groups": shuffled}) == []


@given(st.dictionaries(st.sampled_from(["Delay", "Ratio", "Ordered", "Inner"]), _json, max_size=4), _json)
def test_what_was_applied_shows_no_difference_whatever_else_is_there(declared: dict[str, Any], other: Any) -> None:
    assert differences(declared, {"Secret": other, "Policy": other, **declared}) == []
