"""Who owns a resource, and what proves it: tags, proofs, spec hashes, token chains, marks."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.frozen import freeze
from policies.identity import (
    CHAIN_LENGTH,
    CHAIN_STEPS,
    DOCUMENT,
    ID,
    KEY,
    MARKED,
    POLICY,
    SPEC,
    Owner,
    chain,
    claimed_by,
    link_of,
    mark,
    marked_at,
    next_tokens,
    owner_tags,
    parse_moment,
    proves,
    rfc3339,
    spec_hash,
    tag_value,
    unreadable_hash,
)
from policies.world import Resource, State

OWNER = Owner("setpoint", "queues")
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
LEGAL = re.compile(r"[A-Za-z0-9 +\-=._:/@]{0,256}")


def named(name: str = "orders-a", item: str = "a", **changed: str | None) -> Resource:
    tags: dict[str, Any] = owner_tags(OWNER, "main", item, name, "v1:x", "birth")
    tags |= {f"setpoint:{word}": value for word, value in changed.items()}
    return Resource("T", name, name, tags=freeze({word: value for word, value in tags.items() if value is not None}))


def test_the_owner_tags() -> None:
    tags = owner_tags(OWNER, "main", "a", "orders-a", "v1:x", "birth")
    assert (tags[POLICY], tags[KEY], tags[SPEC], tags[DOCUMENT]) == ("setpoint/queues", "a", "v1:x", "main")
    assert re.fullmatch("[0-9a-f]{32}", tags[ID])
    assert owner_tags(OWNER, "main", "a", None, "v1:x", "birth")[ID] == "birth"


@pytest.mark.parametrize(
    ("resource", "owner", "proven"),
    [
        (named(), OWNER, True),
        (named(spec="v1:other"), OWNER, True),
        (named(document="elsewhere"), OWNER, True),
        (named(), Owner("setpoint", "other"), False),
        (named(), Owner("second", "queues"), False),
        (named(policy="setpoint/other"), Owner("setpoint", "other"), False),
        (named(policy=None), OWNER, False),
        (named(key=None), OWNER, False),
        (named(key="b"), OWNER, False),
        (named(id=None), OWNER, False),
        (named(id="0" * 32), OWNER, False),
        (replace(named(), name="orders-b", id="orders-b"), OWNER, False),
        (named().with_tags(None), OWNER, False),
        (named().with_tags({}), OWNER, False),
    ],
)
def test_owned_means_tag_and_proof(resource: Resource, owner: Owner, proven: bool) -> None:
    assert proves(resource, owner) == proven


@pytest.mark.parametrize(("tags", "owner"), [(None, None), ({}, None), ({POLICY: "a/b"}, "a/b"), ({ID: "x"}, None)])
def test_what_the_tags_claim(tags: Any, owner: str | None) -> None:
    assert claimed_by(tags) == owner


# --- tag values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("acme", "acme"),
        ("a b+c-d.e_f:g/h@i", "a b+c-d.e_f:g/h@i"),
        ("a=b", "a=3Db"),
        ("ä", "=C3=A4"),
        ("", ""),
    ],
)
def test_how_a_key_is_spelt_as_a_tag_value(text: str, value: str) -> None:
    assert tag_value(text) == value


_texts = st.text(max_size=40) | st.text(alphabet="=0123456789ABCDEFa_ ", max_size=12)


@given(_texts, _texts)
def test_different_keys_have_different_tag_values(one: str, other: str) -> None:
    assert (tag_value(one) == tag_value(other)) == (one == other)


@given(st.text(min_size=190, max_size=400), st.integers(0, 189))
def test_long_keys_stay_legal_and_different(text: str, place: int) -> None:
    other = text[:place] + ("x" if text[place] != "x" else "y") + text[place + 1 :]
    assert tag_value(text) != tag_value(other)
    assert tag_value(text + "z") != tag_value(text)
    assert LEGAL.fullmatch(tag_value(text))


@given(st.text(max_size=300))
def test_every_tag_value_is_legal(text: str) -> None:
    assert LEGAL.fullmatch(tag_value(text))


# --- the spec hash -------------------------------------------------------------------------------------------------

_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
_properties = st.dictionaries(st.text(max_size=4), _values, max_size=4)


def backwards(value: Any) -> Any:
    """The same value, its keys written in another order."""
    if isinstance(value, dict):
        return {key: backwards(value[key]) for key in reversed(value)}
    return [backwards(one) for one in value] if isinstance(value, list) else value


@given(_properties, st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=3))
def test_the_spec_hash_does_not_depend_on_the_order_of_keys_or_on_being_frozen(properties: Any, tags: Any) -> None:
    known = spec_hash(properties, tags)
    assert known == spec_hash(backwards(properties), backwards(tags)) == spec_hash(freeze(properties), freeze(tags))
    assert LEGAL.fullmatch(known)
    assert known.startswith("v1:")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (({"A": 1}, {}), ({"A": 2}, {})),
        (({"A": 1}, {}), ({"A": "1"}, {})),
        (({"A": 1}, {}), ({"A": True}, {})),
        (({"A": None}, {}), ({}, {})),
        (({"A": [1, 2]}, {}), ({"A": [2, 1]}, {})),
        (({"A": 1}, {}), ({}, {"A": 1})),
        (({}, {"a": "b"}), ({}, {"a": "c"})),
        (({"S": "x"}, {}, {"S": "x"}), ({"S": "x"}, {})),
        (({"S": "x"}, {}, {"S": "x"}), ({"S": "x"}, {}, {"S": "y"})),
    ],
)
def test_different_specs_have_different_hashes(one: Any, other: Any) -> None:
    assert spec_hash(*one) != spec_hash(*other)


def test_the_hash_is_the_same_in_every_process_and_release() -> None:
    """A change of this value makes every deployment read, and rewrite the tags of, everything that it owns."""
    assert spec_hash({"QueueName": "q"}, {}) == "v1:5267b479c2232b839a89a8343b46473e"


@pytest.mark.parametrize(("spec", "known"), [(None, None), ("v1:a", None), ("pending", None), ("v1:a:b", "b")])
def test_write_only_properties_have_a_hash_of_their_own(spec: str | None, known: str | None) -> None:
    assert unreadable_hash(spec) == known
    assert unreadable_hash(spec_hash({"S": "x"}, {}, {"S": "x"})) == unreadable_hash(spec_hash({}, {}, {"S": "x"}))


# --- nameless: the chain of tokens ---------------------------------------------------------------------------------


def links(count: int, key: str = "0", birth: str = "b", owner: Owner = OWNER) -> list[str]:
    return list(islice(chain(owner, key, birth), count))


def corpse(token: str | None) -> Resource:
    return Resource("I", f"i-{token}", state=State.DEAD, token=token)


def test_a_chain_never_repeats_and_belongs_to_one_slot_of_one_policy_and_spec() -> None:
    every = [
        *links(CHAIN_LENGTH),
        *links(500, key="1"),
        *links(500, birth="other"),
        *links(500, owner=Owner("setpoint", "others")),
        *links(500, owner=Owner("second", "queues")),
    ]
    assert len(set(every)) == len(every)
    assert all(re.fullmatch("[0-9a-f]{32}", token) for token in every), "EC2 takes 64 characters, ECS 36"


@pytest.mark.parametrize(("dead", "start"), [((), 0), ((0,), 1), ((0, 1, 2), 3), ((2,), 3), ((7, 1), 8), ((40,), 41)])
def test_the_tokens_to_try_begin_after_the_newest_visible_dead_one(dead: tuple[int, ...], start: int) -> None:
    tokens = links(100)
    found = next_tokens(OWNER, "0", "b", tuple(corpse(tokens[place]) for place in dead))
    assert list(found) == tokens[start : start + CHAIN_STEPS]


def test_other_peoples_dead_do_not_matter() -> None:
    others = tuple(corpse(token) for token in (None, "theirs", *links(5, key="1")))
    assert next_tokens(OWNER, "0", "b", others) == tuple(links(CHAIN_STEPS))


@given(st.integers(0, CHAIN_LENGTH - 1))
def test_every_link_of_the_chain_is_a_proof(place: int) -> None:
    tags = freeze(owner_tags(OWNER, "main", "0", None, "v1:x", "b"))
    instance = Resource("I", "i-1", tags=tags, token=links(place + 1)[place])
    assert (link_of(instance, OWNER), proves(instance, OWNER)) == (place, True)


@pytest.mark.parametrize("token", [None, "", "theirs", links(1, key="1")[0]])
def test_owner_tags_on_an_instance_of_another_token_prove_nothing(token: str | None) -> None:
    tags = freeze(owner_tags(OWNER, "main", "0", None, "v1:x", "b"))
    assert not proves(Resource("I", "i-1", tags=tags, token=token), OWNER)


# --- marks and moments ---------------------------------------------------------------------------------------------


def test_a_mark_tells_when_and_for_what_and_belongs_to_one_policy_and_resource() -> None:
    tags = {MARKED: mark(OWNER, "orders-a", NOW)}
    assert marked_at(tags, OWNER, "orders-a") == NOW
    assert marked_at(tags, OWNER, "orders-b") is None
    assert marked_at(tags, Owner("setpoint", "other"), "orders-a") is None
    assert marked_at(tags, OWNER, "orders-a", "retain") is None
    assert LEGAL.fullmatch(tags[MARKED])


@pytest.mark.parametrize("value", [None, "", "2026-03-02T09:00:00Z", "soon/0123456789abcdef", "/", "x/y/z"])
def test_what_is_no_mark(value: str | None) -> None:
    assert marked_at({MARKED: value} if value is not None else {}, OWNER, "orders-a") is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-02T09:00:00Z", NOW),
        ("2026-03-02T10:00:00+01:00", NOW),
        ("2026-03-02T09:00:00.5Z", NOW + timedelta(seconds=0.5)),
        ("2026-03-02T09:00:00", None),
        ("2026-03-02", None),
        ("tomorrow", None),
        ("", None),
    ],
)
def test_rfc_3339(text: str, moment: datetime | None) -> None:
    assert parse_moment(text) == moment


def test_moments_are_written_in_utc() -> None:
    assert rfc3339(NOW.astimezone(timezone(timedelta(hours=5)))) == "2026-03-02T09:00:00Z"
