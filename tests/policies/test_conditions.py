"""Conditions: what holds of a value, what of a resource, and what cannot be told yet."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from policies.conditions import Conditions, all_hold, parse_condition, value_at
from policies.frozen import freeze
from policies.world import Resource


@pytest.mark.parametrize(
    ("condition", "holds", "not_of"),
    [
        ("a", ["a"], ["b", "A", "", None, 1, ["a"]]),
        (5, [5, 5.0], [6, "5", True, None]),
        (0, [0], [False, None, ""]),
        (True, [True], [1, "true", False, None]),
        (False, [False], [0, None, ""]),
        (None, [None], ["", 0, False]),
        (["a", 5], ["a", 5], ["b", True, None]),
        (["a", None], ["a", None], ["b"]),
        ([], [], ["a", None]),
        ({"not": "a"}, ["b", None, 1], ["a"]),
        ({"not": None}, ["a", 0, ""], [None]),
        ({"not": ["a", None]}, ["b"], ["a", None]),
        ({"not": {"not": "a"}}, ["a"], ["b", None]),
        ({"like": "sys-*"}, ["sys-", "sys-a"], ["Sys-a", "asys-", None, 5]),
        ({"like": "a?c"}, ["abc", "a?c"], ["ac", "abbc"]),
        ({"like": "a.c"}, ["a.c"], ["abc"]),
        ({"like": "*"}, ["", "x"], [None, 5]),
        ({"not": {"like": "sys-*"}}, ["a", None], ["sys-a"]),
        ({"above": 3}, [4, 3.5], [3, 2, "4", None, True]),
        ({"below": 3}, [2, -1, 2.5], [3, 4, "2", None, False]),
        ({"not": {"above": 3}}, [3, None, "x"], [4]),
    ],
)
def test_what_holds_of_a_value(condition: Any, holds: list[Any], not_of: list[Any]) -> None:
    parsed = parse_condition(condition)
    assert [value for value in holds if not parsed.holds(freeze(value))] == []
    assert [value for value in not_of if parsed.holds(freeze(value))] == []


class Clause(BaseModel):
    """Something with conditions in it."""

    where: Conditions


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({}, "found an empty object; a condition object has exactly one of: not, like, above, below"),
        ({"is": 1}, "found 'is'; a condition object has exactly one of"),
        ({"abov": 1}, "did you mean 'above'?"),
        ({"above": 1, "below": 5}, "found 'above', 'below'; a condition object has exactly one of"),
        ({"above": "5"}, "found '5'; 'above' takes a number"),
        ({"below": True}, "'below' takes a number"),
        ({"above": None}, "found null; 'above' takes a number"),
        ({"like": 5}, "'like' takes a text in which * and ? are wild"),
        ({"like": "[ab]*"}, "'like' takes a text in which * and ? are wild"),
        ([["a"]], "found a list with objects or lists in it"),
        ([{"not": 1}], "a condition's list holds plain values"),
        ({"not": {"abve": 1}}, "did you mean 'above'?"),
    ],
)
def test_what_is_no_condition(condition: Any, words: str) -> None:
    with pytest.raises(ValidationError, match="where") as raised:
        Clause.model_validate({"where": {"a": condition}})
    assert words in str(raised.value)


FULL = Resource(
    "T",
    "i",
    tags=freeze({"team": "a", "a.b": "dotted"}),
    properties=freeze({"Size": 5, "Inner": {"Deep": "x"}}),
    facts=freeze({"State": "ready"}),
)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("tags.team", "a"),
        ("tags.a.b", "dotted"),
        ("tags.none", None),
        ("State", "ready"),
        ("Size", 5),
        ("Inner.Deep", "x"),
        ("Inner.Other", None),
        ("Inner.Deep.Deeper", None),
        ("Missing", None),
    ],
)
def test_the_value_at_a_path(path: str, value: Any) -> None:
    assert value_at(FULL, path) == value


def unread(tags: Any = None, **facts: Any) -> Resource:
    return Resource("T", "i", tags=tags, facts=freeze(facts))


@pytest.mark.parametrize(
    ("resource", "conditions", "verdict"),
    [
        (FULL, {}, True),
        (FULL, {"Size": 5, "tags.team": "a"}, True),
        (FULL, {"Size": 5, "tags.team": "b"}, False),
        (FULL, {"Missing": None}, True),
        # unknown is not absent
        (unread(), {"Size": 5}, None),
        (unread(), {"Size": None}, None),
        (unread(), {"Size": {"not": 5}}, None),
        (unread(), {"tags.team": None}, None),
        (unread({}), {"tags.team": None}, True),
        (unread({}), {"tags.team": "a"}, False),
        (unread(State="ready"), {"State": "ready"}, True),
        # what is certainly false decides, whatever is unknown besides
        (unread({}), {"Size": 5, "tags.team": "a"}, False),
        (unread({}), {"tags.team": "a", "Size": 5}, False),
        (unread(State="ready"), {"State": "ready", "Size": 5}, None),
        (unread(), {"Size": 5, "tags.team": "a"}, None),
    ],
)
def test_all_of_them_hold_or_do_not_or_it_takes_a_read_to_tell(
    resource: Resource, conditions: Any, verdict: bool | None
) -> None:
    parsed = {path: parse_condition(condition) for path, condition in conditions.items()}
    assert all_hold(parsed, resource) is verdict


_values = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b", "sys-a"])
_conditions = st.recursive(
    _values
    | st.lists(_values, max_size=3)
    | st.sampled_from([{"like": "s*"}, {"like": "?"}, {"above": 0}, {"below": 1}]),
    lambda inner: inner.map(lambda one: {"not": one}),
    max_leaves=4,
)


@given(_conditions, _values)
def test_not_is_the_opposite(condition: Any, value: Any) -> None:
    assert parse_condition({"not": condition}).holds(value) != parse_condition(condition).holds(value)


@given(st.lists(_values, max_size=4), _values)
def test_a_list_is_any_of_its_values(values: list[Any], value: Any) -> None:
    assert parse_condition(values).holds(value) == any(parse_condition(one).holds(value) for one in values)


@given(st.dictionaries(st.sampled_from(["tags.team", "State", "Size"]), _conditions), _values, _values)
def test_a_verdict_without_reading_is_the_verdict_after_it(conditions: Any, size: Any, team: Any) -> None:
    parsed = {path: parse_condition(condition) for path, condition in conditions.items()}
    tags = freeze({"team": team} if isinstance(team, str) else {})
    read = Resource("T", "i", tags=tags, properties=freeze({"Size": size} if size is not None else {}))
    for known in (unread(), unread(tags), Resource("T", "i", properties=read.properties)):
        early = all_hold(parsed, known)
        assert early is None or "State" in conditions or early == all_hold(parsed, read)
