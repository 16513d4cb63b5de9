"""Which pairs of policies are proven disjoint, and what is said about the others."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from policies.blueprint import Blueprint
from policies.claims import MOST_TOLD, conflicts
from policies.document import Policy
from policies.identity import POLICY
from policies.kind import KindModel
from policies.leaves import dotted_leaves
from policies.match import selects
from policies.names import NamePattern, Unprovable
from policies.parse import parse_document
from policies.properties import CreateOnly, Default, JsonDocument, Name, Properties, Tag
from policies.shared_names import MOST_ENTANGLED, SharedNames
from policies.strategy import Decision, Strategy
from policies.vocabulary import Vocabulary
from policies.world import Observation, Resource
from strategies.for_each import ForEach

Json = dict[str, Any]


class Keep(Strategy):
    """Keeps properties of matched resources, some of them from its own `set`."""

    type: Literal["keep"]
    set: Mapping[str, Any] = Field(default_factory=dict)
    matches: ClassVar[bool] = True

    def extra_leaves(self) -> frozenset[str]:
        return dotted_leaves(self.set)

    def decide(self, blueprint: Blueprint, seen: Observation, now: datetime) -> Decision:
        return Decision()


class Reap(Keep):
    """Deletes matched resources."""

    type: Literal["reap"]  # type: ignore[assignment]

    def claims_existence(self, owning: bool) -> bool:
        return True


class QueueProperties(Properties):
    QueueName: Annotated[str, CreateOnly, Name("[A-Za-z0-9_-]+", 80)]
    DelaySeconds: Annotated[int | None, Default(0)] = None
    VisibilityTimeout: Annotated[int | None, Default(30)] = None
    Retention: int | None = None
    Fifo: bool | None = None
    RedrivePolicy: Annotated[dict[str, Any] | None, JsonDocument] = None
    Tags: list[Tag] | None = None


class Queue(KindModel):
    type = "AWS::SQS::Queue"
    properties = QueueProperties
    identifier = "QueueName"


class Topic(Queue):
    type = "AWS::SNS::Topic"


class InstanceProperties(Properties):
    InstanceType: str | None = None
    Tags: list[Tag] | None = None


class Instance(KindModel):
    type = "AWS::EC2::Instance"
    properties = InstanceProperties


QUEUE, TOPIC, INSTANCE = Queue.type, Topic.type, Instance.type
VOCABULARY = Vocabulary(
    {"forEach": ForEach, "keep": Keep, "reap": Reap},
    {QUEUE: Queue(), TOPIC: Topic(), INSTANCE: Instance()},
    "123456789012",
    "eu-west-1",
)


def owned(name: str, pattern: str | None = None, values: list[str] | None = None, **more: Any) -> Json:
    """Owns queues; `name` is the template of their names."""
    items: Json = {"source": "list", "values": values} if values else {"source": "ssmParameter", "name": "/items"}
    items |= {"pattern": pattern} if pattern else {}
    strategy: Json = {"type": "forEach", "items": items} if "${item" in name else {"type": "forEach"}
    kept = more.pop("properties", {})
    return {"resource": {"type": QUEUE, "properties": {"QueueName": name, **kept}}, "strategy": strategy, **more}


def matched(match: Any, kept: Json | None = None, excepted: Any = None, strategy: Json | None = None) -> Json:
    """Works on existing queues."""
    resource: Json = {"type": QUEUE, "match": match, "properties": {"DelaySeconds": 5} if kept is None else kept}
    resource |= {"except": excepted} if excepted is not None else {}
    return {"resource": resource, "strategy": strategy or {"type": "keep"}}


def parse(*clauses: Json, document: str = "doc") -> tuple[Policy, ...]:
    named = [{"name": f"p{place}", **clause} for place, clause in enumerate(clauses)]
    body = json.dumps({"version": 1, "policies": named}).encode()
    return parse_document(document, body, "1", VOCABULARY).policies


def verdict(one: Json, other: Json) -> str | None:
    """The message that both policies get, or None for disjoint."""
    found = conflicts(parse(one, other))
    assert found.keys() in ({"p0", "p1"}, set())
    messages = {message for said in found.values() for message in said}
    assert len(messages) <= 1
    swapped = conflicts(parse({**other, "name": "p1"}, {**one, "name": "p0"}))
    assert bool(swapped) == bool(found), "order must not matter"
    return messages.pop() if messages else None


REAP = {"type": "reap"}
TEAM_A, TEAM_B = {"tags": {"team": "a"}}, {"tags": {"team": "b"}}
BLUE = {"Tags": [{"Key": "team", "Value": "blue"}]}


@pytest.mark.parametrize(
    ("one", "other", "witness"),
    [
        # names of two owners
        (owned("orders-${item}"), owned("bills-${item}"), None),
        (owned("orders-${item}"), owned("orders-${item}"), "'orders-a'"),
        (owned("orders-${item}"), owned("orders-eu-${item}"), "'orders-eu-a'"),
        (owned("orders-${item}", "[0-9]+"), owned("orders-eu-${item}"), None),
        (owned("${item}-orders"), owned("${item}-bills"), None),
        (owned("orders-${item}"), owned("orders-x"), "'orders-x'"),
        (owned("orders-${item}", "[0-9]+"), owned("orders-x"), None),
        (owned("orders-${item}", values=["a", "b"]), owned("orders-${item}", values=["b", "c"]), "'orders-b'"),
        (owned("orders-${item}", values=["a", "b"]), owned("orders-${item}", values=["c"]), None),
        (owned("orders-x", ensure="absent"), owned("orders-x"), "'orders-x'"),
        (owned("orders-x", mode="paused"), owned("orders-x"), "'orders-x'"),
        # declared tags do not tell two owners apart: the name is what both would create
        (owned("x", properties=BLUE), owned("x"), "'x'"),
        # other places
        (owned("x", regions=["eu-west-1"]), owned("x", regions=["eu-central-1"]), None),
        (owned("x", regions=["eu-west-1", "eu-north-1"]), owned("x", regions=["eu-north-1"]), "'x'"),
    ],
)
def test_two_owners_collide_by_name_alone(one: Json, other: Json, witness: str | None) -> None:
    said = verdict(one, other)
    assert (said is None) == (witness is None), said
    assert witness is None or f"could both own {QUEUE} {witness}" in str(said)


def instance(**properties: Any) -> Json:
    return {
        "resource": {"type": INSTANCE, "properties": {"InstanceType": "t3.nano", **properties}},
        "strategy": {"type": "forEach"},
    }


def test_owners_of_a_kind_without_names_never_collide() -> None:
    assert conflicts(parse(instance(), instance())) == {}


def test_an_owner_without_names_is_told_by_its_tags() -> None:
    match = {"tags": {"team": "red"}, "owned": True}
    kept = {"resource": {"type": INSTANCE, "match": match, "properties": {"InstanceType": "t3.micro"}}}
    assert verdict(instance(**BLUE), {**kept, "strategy": {"type": "keep"}}) is None
    said = verdict(instance(), {**kept, "strategy": {"type": "keep"}})
    assert "could both set InstanceType of any AWS::EC2::Instance with" in str(said)
    assert "with tags.team 'red'" in str(said)


def test_another_type_is_another_thing() -> None:
    topic = {"resource": {"type": TOPIC, "properties": {"QueueName": "x"}}, "strategy": {"type": "forEach"}}
    assert conflicts(parse(owned("x"), topic)) == {}


DELAYED = {"DelaySeconds": 9}
DELAY: Json = {"properties": DELAYED}


@pytest.mark.parametrize(
    ("one", "other", "witness"),
    [
        # a match leaves out what has an owner, unless it says otherwise
        (owned("orders-${item}", **DELAY), matched({"namePrefix": ""}), None),
        (owned("orders-${item}", **DELAY), matched({"namePrefix": "", "owned": True}), "'orders-a'"),
        (
            owned("orders-x", **DELAY),
            matched([TEAM_A, {"names": ["orders-x"], "owned": True}]),
            "'orders-x'",
        ),
        (owned("orders-x", **DELAY), matched([{**TEAM_A, "owned": True}, {"names": ["orders-x"]}]), "team"),
        # other leaves are shared out
        (owned("orders-x"), matched({"names": ["orders-x"], "owned": True}), None),
        (owned("orders-x", properties=BLUE), matched({"namePrefix": "o", "owned": True}, {"Tags": []}), None),
        (owned("orders-x", properties=BLUE), matched({"namePrefix": "o", "owned": True}, BLUE), "'orders-x'"),
        # `initial` is not claimed
        (
            {
                "resource": {"type": QUEUE, "properties": {"QueueName": "x"}, "initial": DELAYED},
                "strategy": {"type": "forEach"},
            },
            matched({"names": ["x"], "owned": True}),
            None,
        ),
        # names
        (owned("orders-${item}", **DELAY), matched({"names": ["bills-x"], "owned": True}), None),
        (owned("orders-${item}", **DELAY), matched({"names": ["orders-x"], "owned": True}), "'orders-x'"),
        (owned("orders-${item}", "[0-9]+", **DELAY), matched({"names": ["orders-x"], "owned": True}), None),
        (
            owned("orders-${item}", **DELAY),
            matched({"namePrefix": "orders-eu", "owned": True}),
            "'orders-eu'",
        ),
        (
            owned("orders-${item}", "[0-9]+", **DELAY),
            matched({"namePrefix": "orders-e", "owned": True}),
            None,
        ),
        (
            owned("${item}", "[0-9]+", **DELAY),
            matched({"where": {"QueueName": {"like": "*x"}}, "owned": True}),
            None,
        ),
        (
            owned("${item}", **DELAY),
            matched({"where": {"QueueName": {"like": "x?"}}, "owned": True}),
            "'xa'",
        ),
        (
            owned("orders-${item}", **DELAY),
            matched({"namePrefix": "", "owned": True}, excepted={"namePrefix": "orders-"}),
            None,
        ),
        (
            owned("orders-${item}", **DELAY),
            matched({"namePrefix": "", "owned": True}, excepted={"namePrefix": "orders-eu"}),
            "'orders-a'",
        ),
        # declared tags and properties
        (
            owned("${item}", properties=DELAYED | BLUE),
            matched({"tags": {"team": "red"}, "owned": True}),
            None,
        ),
        (
            owned("${item}", properties=DELAYED | BLUE),
            matched({"tags": {"team": {"not": "red"}}, "owned": True}),
            "with tags.team 'blue'",
        ),
        (
            owned("${item}", properties={"DelaySeconds": 9, "VisibilityTimeout": 60}),
            matched({"where": {"VisibilityTimeout": {"above": 60}}, "owned": True}),
            None,
        ),
        # the default may show as absent, so it tells nothing
        (
            owned("${item}", properties={"DelaySeconds": 9, "VisibilityTimeout": 30}),
            matched({"where": {"VisibilityTimeout": None}, "owned": True}),
            "without VisibilityTimeout",
        ),
        # whose it is
        (owned("x", **DELAY), matched({"tags": {POLICY: "setpoint/other"}, "owned": True}), None),
        (owned("x", **DELAY), matched({"tags": {POLICY: "setpoint/p0"}, "owned": True}), "'x'"),
        (
            owned("x", properties=DELAYED, formerly=["other"]),
            matched({"tags": {POLICY: "setpoint/other"}, "owned": True}),
            "'x'",
        ),
        # existence against a leaf, and what never touches the owned
        (owned("x", ensure="absent", **DELAY), matched({"names": ["x"], "owned": True}), None),
        (owned("x", **DELAY), matched({"names": ["x"], "owned": True}, strategy=REAP), None),
    ],
)
def test_an_owner_and_a_match(one: Json, other: Json, witness: str | None) -> None:
    said = verdict(one, other)
    assert (said is None) == (witness is None), said
    assert witness is None or witness in str(said)


@pytest.mark.parametrize(
    ("one", "other", "witness"),
    [
        # names
        (matched({"names": ["a", "b"]}), matched({"names": ["c"]}), None),
        (matched({"names": ["a", "b"]}), matched({"names": ["c", "b"]}), "'b'"),
        (matched({"names": ["a", "b"]}), matched({"namePrefix": "c"}), None),
        (matched({"names": ["a", "b"]}), matched({"namePrefix": "b"}), "'b'"),
        (matched({"namePrefix": "orders-"}), matched({"namePrefix": "bills-"}), None),
        (matched({"namePrefix": "orders-"}), matched({"namePrefix": "orders-eu-"}), "'orders-eu-'"),
        (matched({"namePrefix": "sys*"}), matched({"namePrefix": "sys-"}), None),
        (matched({"where": {"QueueName": {"like": "*-dlq"}}}), matched({"names": ["a", "b"]}), None),
        # tags and properties
        (matched(TEAM_A), matched(TEAM_B), None),
        (
            matched(TEAM_A),
            matched({"tags": {"env": "b"}}),
            "any AWS::SQS::Queue with tags.env 'b' and with tags.team 'a'",
        ),
        (matched(TEAM_A), matched({"where": {"tags.team": "b"}}), None),
        (matched({"tags": {"team": ["a", "b"]}}), matched({"tags": {"team": ["c", "d"]}}), None),
        (matched({"tags": {"team": ["a", "b"]}}), matched({"tags": {"team": ["c", "b"]}}), "tags.team 'b'"),
        (matched({"tags": {"team": None}}), matched(TEAM_A), None),
        (matched({"tags": {"team": None}}), matched({"tags": {"team": {"not": "a"}}}), "without tags.team"),
        (matched({"tags": {"team": {"not": "a"}}}), matched(TEAM_A), None),
        (matched({"tags": {"team": {"not": ["a", "b"]}}}), matched(TEAM_A), None),
        (matched({"tags": {"team": {"not": {"not": "a"}}}}), matched(TEAM_A), "tags.team 'a'"),
        (matched({"tags": {"team": {"not": None}}}), matched({"tags": {"team": None}}), None),
        (matched({"tags": {"team": {"like": "sys-*"}}}), matched(TEAM_A), None),
        (matched({"tags": {"team": {"like": "sys-*"}}}), matched({"tags": {"team": {"like": "*-a"}}}), "'sys-a'"),
        (matched({"tags": {"team": {"like": "sys-*"}}}), matched({"tags": {"team": {"like": "app-*"}}}), None),
        (matched({"tags": {"team": {"like": "a*"}}}), matched({"tags": {"team": {"not": {"like": "*"}}}}), None),
        (matched({"tags": {"team": {"like": "?"}}}), matched({"tags": {"team": {"like": "??*"}}}), None),
        (
            matched({"where": {"Retention": {"above": 100}}}),
            matched({"where": {"Retention": {"below": 100}}}),
            None,
        ),
        (
            matched({"where": {"Retention": {"above": 99}}}),
            matched({"where": {"Retention": {"below": 101}}}),
            "100",
        ),
        (matched({"where": {"Fifo": True}}), matched({"where": {"Fifo": {"not": True}}}), None),
        # lists of matches: any pair
        (matched([TEAM_A, {"names": ["x"]}]), matched([TEAM_B, {"names": ["y"]}]), "'y'"),
        (matched([TEAM_A, {"tags": {"team": "c"}}]), matched([TEAM_B, {"tags": {"team": "d"}}]), None),
        # exceptions
        (matched({"namePrefix": ""}, excepted=TEAM_A), matched(TEAM_A), None),
        (matched({"namePrefix": ""}, excepted=[TEAM_A, TEAM_B]), matched({"tags": {"team": ["a", "b"]}}), None),
        (matched({"namePrefix": ""}, excepted=TEAM_A), matched({"tags": {"team": ["a", "b"]}}), "tags.team 'b'"),
        (matched({"namePrefix": ""}, excepted={"namePrefix": "sys-"}), matched({"namePrefix": "sys-x"}), None),
        (matched({"namePrefix": ""}, excepted={"names": ["a", "b"]}), matched({"names": ["b", "a"]}), None),
        (matched({"namePrefix": ""}, excepted={"names": ["a"]}), matched({"names": ["b", "a"]}), "'b'"),
        (matched({"namePrefix": ""}, excepted={**TEAM_A, "namePrefix": "x"}), matched(TEAM_A), "tags.team 'a'"),
        (
            matched({"namePrefix": ""}, excepted={**TEAM_A, "namePrefix": "x"}),
            matched({**TEAM_A, "names": ["xy"]}),
            None,
        ),
        # owned ones are among the matched for `owned: true`; an exception needs no such word
        (matched({**TEAM_A, "owned": True}), matched(TEAM_A), "tags.team 'a'"),
        (matched({"tags": {POLICY: "setpoint/x"}, "owned": True}), matched({"namePrefix": ""}), None),
        (matched({"namePrefix": "", "owned": True}, excepted=TEAM_A), matched({**TEAM_A, "owned": True}), None),
    ],
)
def test_two_matches_collide_unless_their_conditions_exclude_each_other(
    one: Json, other: Json, witness: str | None
) -> None:
    said = verdict(one, other)
    assert (said is None) == (witness is None), said
    assert witness is None or f"could both set DelaySeconds of {QUEUE}" in str(said) or "any AWS" in str(said)
    assert witness is None or witness in str(said)


ALL = {"namePrefix": ""}
ONES, TWOS = {"where": {"DelaySeconds": 1}}, {"where": {"DelaySeconds": 2}}
SET_DELAY = {"type": "keep", "set": {"DelaySeconds": 5}}
A, B, A_B = ({"Tags": [{"Key": key, "Value": "x"}]} for key in ("a", "b", "a.b"))
SET_TAG = {"type": "keep", "set": A_B}


@pytest.mark.parametrize(
    ("one", "other", "contested"),
    [
        (matched(ALL), matched(ALL, {"VisibilityTimeout": 5}), None),
        (matched(ALL), matched(ALL, {}, strategy=SET_DELAY), "set DelaySeconds of"),
        (
            matched(ALL, A),
            matched(ALL, B),
            None,
        ),
        (matched(ALL, A), matched(ALL, {}, strategy=SET_TAG), None),
        (matched(ALL, A_B), matched(ALL, {}, strategy=SET_TAG), "set tags.a.b of"),
        (
            matched(ALL, {"RedrivePolicy": {"maxReceiveCount": 3}}),
            matched(ALL, {"RedrivePolicy": {"x": 1}}),
            "set RedrivePolicy of",
        ),
        (matched(ALL, {}, strategy=REAP), matched(ALL, {}, strategy=REAP), "delete"),
        (matched(ALL, {}, strategy=REAP), matched(ALL), None),
        (matched(ALL, {"DelaySeconds": 1}, strategy=REAP), matched(ALL), "set DelaySeconds of"),
    ],
)
def test_only_the_same_leaf_or_existence_is_contested(one: Json, other: Json, contested: str | None) -> None:
    said = verdict(one, other)
    assert (said is None) == (contested is None), said
    assert contested is None or f"could both {contested} any {QUEUE}" in str(said)


@pytest.mark.parametrize(
    ("one", "other", "disjoint"),
    [
        # turns 1 into 2 and 2 into 1: each run undoes the last
        (
            matched(ONES, {"DelaySeconds": 2}),
            matched(TWOS, {"DelaySeconds": 1}),
            False,
        ),
        # leads where the other does not look
        (
            matched(ONES, {"DelaySeconds": 3}),
            matched(TWOS, {"DelaySeconds": 3}),
            True,
        ),
        # leads anywhere
        (
            matched(ONES, {}, strategy=SET_DELAY),
            matched(TWOS, {"DelaySeconds": 3}),
            False,
        ),
        # what is written does not separate, but something else does
        (
            matched({**TEAM_A, "where": {"DelaySeconds": 1}}, {"DelaySeconds": 2}),
            matched({**TEAM_B, "where": {"DelaySeconds": 2}}, {"DelaySeconds": 1}),
            True,
        ),
    ],
)
def test_a_condition_on_what_is_written_separates_only_if_the_writing_does_not_lead_across(
    one: Json, other: Json, disjoint: bool
) -> None:
    assert (verdict(one, other) is None) == disjoint


def test_the_message_says_who_where_what_and_what_to_do() -> None:
    assert verdict(owned("orders-${item}"), owned("orders-a")) == (
        "policy 'p0' (document 'doc', $.policies[0]) and policy 'p1' (document 'doc', $.policies[1]) could both own"
        " AWS::SQS::Queue 'orders-a' in 123456789012/eu-west-1: give them different prefixes or merge them;"
        " neither acts until then"
    )


def test_only_the_policies_that_collide_are_named() -> None:
    found = conflicts(parse(owned("a"), owned("b"), owned("a"), owned("c")))
    assert found.keys() == {"p0", "p2"}


def test_a_policy_of_several_regions_does_not_collide_with_itself() -> None:
    assert conflicts(parse(owned("x", regions=["eu-west-1", "eu-north-1"]))) == {}


def test_many_collisions_are_counted_not_listed() -> None:
    found = conflicts(parse(*(owned("x") for _ in range(MOST_TOLD + 6))))
    assert [len(messages) for messages in found.values()] == [MOST_TOLD + 1] * (MOST_TOLD + 6)
    assert found["p0"][-1] == "and 5 more conflicts of this policy"


def test_what_cannot_be_proven_is_a_conflict_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(one: NamePattern, other: NamePattern) -> str | None:
        raise Unprovable("too entangled")

    monkeypatch.setattr("policies.shared_names.common_name", give_up)
    said = verdict(owned("x-${item}"), owned("x-${item}"))
    assert said is not None
    assert "cannot be proven never to own the same AWS::SQS::Queue" in said
    assert "(too entangled)" in said


def test_long_proofs_are_bounded_and_made_once_for_equal_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def give_up(one: NamePattern, other: NamePattern) -> str | None:
        tried.append((one, other))
        raise Unprovable("too entangled")

    monkeypatch.setattr("policies.shared_names.common_name", give_up)
    conflicts(parse(*(owned("x-${item}") for _ in range(20))))
    assert len(tried) == 1
    tried.clear()
    found = conflicts(parse(*(owned(f"x${{item}}{place}") for place in range(10) for _ in range(2))))
    assert len(found) == 20
    assert len(tried) == MOST_ENTANGLED


def test_a_thousand_policies_with_their_own_prefixes_need_no_proof_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*asked: object) -> None:
        raise AssertionError(f"{asked} were compared")

    monkeypatch.setattr(SharedNames, "of", never)
    monkeypatch.setattr("policies.claims.meeting", never)
    owners = [owned(f"team-{place:04}-${{item}}", **DELAY) for place in range(1000)]
    matchers = [matched({"namePrefix": f"team-{place:04}-"}) for place in range(100)]
    assert conflicts(parse(*owners, *matchers)) == {}


# --- never disjoint where enumeration finds a resource that both mean

TEXTS = st.sampled_from(["a", "b", "ab", "ba"])
PIECES = st.sampled_from(["", "a", "b", "ab"])
PATTERNS = st.sampled_from(["[ab]+", "a+", "b*a", "(ab)+", "a|bb"])
LENGTHS = st.sampled_from([None, 1, 2])


@st.composite
def owners(draw: st.DrawFn) -> Json:
    items: Json = {"source": "ssmParameter", "name": "/items", "pattern": draw(PATTERNS)}
    length = draw(LENGTHS)
    items |= {"maxLength": length} if length else {}
    name = draw(PIECES) + "${item}" + draw(PIECES)
    return {
        "resource": {"type": QUEUE, "properties": {"QueueName": name}},
        "strategy": {"type": "forEach", "items": items},
    }


def names_of(clause: Json) -> frozenset[str]:
    items = clause["strategy"]["items"]
    words = ["".join(word) for size in range(1, 5) for word in _words(size)]
    fit = [word for word in words if re.fullmatch(items["pattern"], word) and len(word) <= items.get("maxLength", 80)]
    return frozenset(clause["resource"]["properties"]["QueueName"].replace("${item}", word) for word in fit)


def _words(size: int) -> list[str]:
    return [""] if size == 0 else [char + rest for char in "ab" for rest in _words(size - 1)]


@given(owners(), owners())
@settings(max_examples=150, deadline=None)
def test_owners_with_a_common_name_are_never_called_disjoint(one: Json, other: Json) -> None:
    said = verdict(one, other)
    common = names_of(one) & names_of(other)
    if common:
        assert said is not None
        assert min(map(len, common)) == len(re.findall(r"Queue '(\w+)'", said)[0])


def conditions(values: st.SearchStrategy[Json], *more: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Conditions that can hold of something: the parser refuses the others."""
    plain = st.one_of(values, st.none(), st.lists(st.one_of(values, st.none()), min_size=1, max_size=3), *more)
    return st.recursive(plain, lambda inner: inner.map(lambda condition: {"not": condition}), max_leaves=2)


LIKES = st.sampled_from(["a*", "*b", "?", "*", "a?", "*a*"]).map(lambda like: {"like": like})
BOUNDS = st.builds(lambda word, bound: {word: bound}, st.sampled_from(["above", "below"]), st.integers(0, 2))
OF_TEXTS, OF_NUMBERS = conditions(TEXTS, LIKES), conditions(st.integers(0, 2), BOUNDS, LIKES)
OF_NAMES = conditions(st.sampled_from(["a", "b", "ab"]), LIKES)
MATCHES = st.fixed_dictionaries(
    {},
    optional={
        "names": st.lists(TEXTS, min_size=1, max_size=2),
        "namePrefix": PIECES,
        "tags": st.dictionaries(st.sampled_from(["t"]), OF_TEXTS, max_size=1),
        "where": st.fixed_dictionaries({}, optional={"VisibilityTimeout": OF_NUMBERS, "QueueName": OF_NAMES}),
        "owned": st.booleans(),
    },
).filter(bool)
MATCHED = st.builds(
    lambda match, excepted: matched(match, excepted=excepted or None),
    st.lists(MATCHES, min_size=1, max_size=2),
    st.lists(MATCHES, max_size=2),
)
WORLD = [
    Resource(QUEUE, name, name, tags=tags, properties={"QueueName": name} | properties)
    for name in ["a", "b", "ab", "ba", "aa", "abc"]
    for tags in [{}, {"t": "a"}, {"t": "b"}, {"t": "ab"}, {"t": ""}, {POLICY: "setpoint/x", "t": "ba"}]
    for properties in [{}, *({"VisibilityTimeout": value} for value in (0, 1, 1.5, 3, True, False, "a", "ab", ("z",)))]
]


@given(MATCHED, MATCHED)
@settings(max_examples=400, deadline=None)
def test_matches_with_a_common_resource_are_never_called_disjoint(one: Json, other: Json) -> None:
    left, right = parse(one, other)
    common = [resource for resource in WORLD if _selected(left, resource) and _selected(right, resource)]
    if common:
        assert verdict(one, other) is not None, common[0]


def _selected(policy: Policy, resource: Resource) -> bool | None:
    return selects(policy.match or (), policy.exceptions, resource)


@given(owners(), MATCHED)
@settings(max_examples=200, deadline=None)
def test_an_owned_resource_that_a_match_selects_is_never_called_disjoint(one: Json, other: Json) -> None:
    one["resource"]["properties"] |= {"DelaySeconds": 5, "VisibilityTimeout": 1, "Tags": [{"Key": "t", "Value": "ab"}]}
    tags: Mapping[str, str] = {POLICY: "setpoint/p0", "t": "ab"}
    right = parse(one, other)[1]
    for name in names_of(one):
        properties = {"QueueName": name, "DelaySeconds": 5, "VisibilityTimeout": 1}
        if _selected(right, Resource(QUEUE, name, name, tags=tags, properties=properties)):
            assert verdict(one, other) is not None, name
            break
