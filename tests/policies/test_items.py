"""Items: which of a source a policy can use, and what is said of the others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from policies.frozen import freeze
from policies.items import Items
from policies.selection import Item, Skipped, select, show


class Clause(BaseModel):
    """Something with items in it."""

    items: Items


def source(**words: Any) -> Any:
    return Clause.model_validate({"items": {"source": "ssmParameter", "name": "/tenants", **words}}).items


def selected(values: list[Any], fields: str = "", **words: Any) -> list[Item | Skipped]:
    return list(select(source(**words), freeze(values), frozenset(fields.split(",") if fields else [])))


def used(values: list[Any], fields: str = "", **words: Any) -> list[Any]:
    return [one.value for one in selected(values, fields, **words) if isinstance(one, Item)]


def reasons(values: list[Any], fields: str = "", **words: Any) -> list[str]:
    return [str(one) for one in selected(values, fields, **words) if isinstance(one, Skipped)]


@pytest.mark.parametrize(
    ("value", "usable"),
    [
        ("acme", True),
        ("a.b_c-D9", True),
        (7, True),
        (0, True),
        ({"id": "acme"}, True),
        ("", False),
        ("no spaces", False),
        ("a/b", False),
        ("ä", False),
        ("acme\n", False),  # the whole text, not the first line
        (True, False),
        (1.5, False),
        (None, False),
        (["a"], False),
    ],
)
def test_what_an_item_is(value: Any, usable: bool) -> None:
    assert bool(used([value])) == usable


@pytest.mark.parametrize(
    ("value", "fields", "words", "reason"),
    [
        (
            "no spaces",
            "",
            {},
            "item 0 (\"no spaces\"): its text 'no spaces' does not match the pattern [A-Za-z0-9._-]+",
        ),
        ("abc", "", {"pattern": "[a-b]+"}, "item 0 (\"abc\"): its text 'abc' does not match the pattern [a-b]+"),
        ("abc", "", {"maxLength": 2}, "item 0 (\"abc\"): its text 'abc' has 3 characters; maxLength is 2"),
        ({"id": "a b"}, "id", {}, 'item 0 ({"id":"a b"}): id \'a b\' does not match the pattern [A-Za-z0-9._-]+'),
        (
            {"id": "abc"},
            "",
            {"maxLength": {"id": 2}},
            'item 0 ({"id":"abc"}): id \'abc\' has 3 characters; maxLength is 2',
        ),
        ({"x": 1}, "", {"key": "id"}, "item 0 ({\"x\":1}): has no plain field 'id', which tells items apart"),
        (
            {"id": {"a": 1}},
            "",
            {"key": "id"},
            'item 0 ({"id":{"a":1}}): has no plain field \'id\', which tells items apart',
        ),
        (None, "", {}, "item 0 (null): an item is a text, a whole number or an object"),
        (True, "", {}, "item 0 (true): an item is a text, a whole number or an object"),
    ],
)
def test_what_is_said_of_an_item_that_cannot_be_used(value: Any, fields: str, words: Any, reason: str) -> None:
    assert reasons([value], fields, **words) == [reason]


@pytest.mark.parametrize(
    ("value", "fields", "words"),
    [
        ({"id": "acme", "note": "anything goes: ä / b"}, "id", {}),  # only what stands inside texts matters
        ({"id": "a b"}, "id", {"pattern": "[a-z ]+"}),
        ({"id": "a b", "zone": "x"}, "id,zone", {"pattern": {"id": "[a-z ]+"}}),
        ({"size": 5}, "size", {}),
        ({"deep": {"er": "ok"}}, "deep.er", {}),
        ({"other": 1}, "id", {}),  # missing: told when it is rendered
    ],
)
def test_what_is_fine(value: Any, fields: str, words: Any) -> None:
    assert used([value], fields, **words) == [value]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ({}, ["a", "b", "c"]),
        ({"where": {"tier": "gold"}}, ["a"]),
        ({"where": {"tier": ["gold", "tin"]}}, ["a", "b"]),
        ({"where": {"tier": None}}, ["c"]),
        ({"where": {"tier": {"not": "gold"}}}, ["b", "c"]),
        ({"where": {"size": {"above": 1}}}, ["b"]),
        ({"where": {"tier": "gold", "size": 2}}, []),
    ],
)
def test_where_chooses_and_is_no_mistake(words: Any, kept: list[str]) -> None:
    rows = [{"id": "a", "tier": "gold", "size": 1}, {"id": "b", "tier": "tin", "size": 2}, {"id": "c"}]
    assert [one["id"] for one in used(rows, "id", **words)] == kept
    assert reasons(rows, "id", **words) == []


def test_one_bad_item_does_not_take_the_others_with_it_and_keeps_its_place() -> None:
    found = selected(["a", "b b", "c"])
    assert [(one.place, isinstance(one, Item)) for one in found] == [(0, True), (1, False), (2, True)]


@pytest.mark.parametrize(
    ("value", "words", "key"),
    [
        ("acme", {}, "acme"),
        (7, {}, "7"),
        ({"id": "acme"}, {"key": "id"}, "acme"),
        ({"id": 7}, {"key": "id"}, "7"),
        ({"id": "acme"}, {}, None),
    ],
)
def test_the_key_of_an_item(value: Any, words: Any, key: str | None) -> None:
    (found,) = selected([value], **words)
    assert isinstance(found, Item)
    assert found.key == key


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"source": "ssmParam"}, "'ssmParam' is no item source; did you mean 'ssmParameter'?"),
        ({"source": "list"}, "values"),
        ({"source": "list", "values": "abc"}, "values"),
        ({"source": "s3Object", "bucket": "b", "key": "k"}, "bucket"),
        ({"source": "resources"}, "type"),
        ({"pattern": "[a-z]{3}"}, "pattern"),
        ({"pattern": "^a$"}, "pattern"),
        ({"pattern": "(?=a)"}, "pattern"),
        ({"maxLength": 0}, "max"),
        ({"maxLength": "3"}, "max"),
        ({"where": {"a": {"like": 5}}}, "'like' takes a text"),
        ({"allowEmpty": "yes"}, "allowEmpty"),
    ],
)
def test_what_is_no_source(words: Any, said: str) -> None:
    clause = {"source": "ssmParameter", "name": "/x", **words}
    if words.get("source"):
        clause = words
    with pytest.raises(ValidationError) as raised:
        Clause.model_validate({"items": clause})
    assert said in str(raised.value)


def test_policies_that_read_the_same_source_share_one_reading() -> None:
    same = [source(), source(key="id"), source(pattern="[a-z]+"), source(where={"a": 1}), source(allowEmpty=True)]
    assert len({one.signal_key for one in same}) == 1
    assert source().signal_key != source(name="/other").signal_key


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("acme", '"acme"'),
        ({"b": 1, "a": [2]}, '{"a":[2],"b":1}'),
        ({"password": "hunter2"}, '{"password":"(redacted)"}'),
        ({"apiToken": "abc", "id": "x"}, '{"apiToken":"(redacted)","id":"x"}'),
        ("x" * 100, '"' + "x" * 56 + "..."),
    ],
)
def test_how_an_item_is_shown(value: Any, shown: str) -> None:
    assert show(freeze(value)) == shown


_values = st.one_of(
    st.text(max_size=5),
    st.integers(),
    st.none(),
    st.booleans(),
    st.dictionaries(st.sampled_from(["id", "x"]), st.text(max_size=4)),
)


@given(st.lists(_values, max_size=8))
def test_every_item_is_used_or_told(values: list[Any]) -> None:
    found = selected(values, "id", key="id")
    assert [one.place for one in found] == list(range(len(values)))
