"""Desired and actual in, actions out: a table of everything that one policy may mean to do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.action import Verb
from policies.frozen import freeze
from policies.identity import CHAIN_STEPS, PENDING, chain, mark, next_tokens
from policies.world import Resource, State
from tests.engine.given import (
    NOW,
    QUEUE,
    agents,
    drifted,
    existing,
    groups,
    lines,
    planned,
    policy_of,
    queues,
    retagged,
)

POLICY = policy_of(queues("a", "b", properties={"VisibilityTimeout": 60}))
A, B = existing(POLICY, "a"), existing(POLICY, "b")
GONE = policy_of(queues("a", removal="delete", grace="0s", properties={"VisibilityTimeout": 60}))


@pytest.mark.parametrize(
    ("owned", "expected"),
    [
        pytest.param([], ["create orders-a", "create orders-b"], id="missing"),
        pytest.param([A, B], [], id="as desired"),
        pytest.param([A], ["create orders-b"], id="one missing"),
        pytest.param([drifted(A, VisibilityTimeout=5), B], ["update orders-a"], id="drift"),
        pytest.param([drifted(A, DelaySeconds=5), B], [], id="what is not declared is nobody's business"),
        pytest.param([replace(A, properties=None), B], [], id="unread and of the present spec"),
        pytest.param([retagged(A, spec="v1:old"), B], ["update orders-a"], id="the spec hash is written last"),
        pytest.param([replace(A, state=State.DELETING), B], ["wait orders-a"], id="being deleted"),
        pytest.param([replace(A, state=State.PENDING), B], ["wait orders-a"], id="in transition"),
        pytest.param([drifted(replace(A, state=State.PENDING), VisibilityTimeout=5), B], ["wait orders-a"], id="later"),
        pytest.param([retagged(A, marked="x"), B], ["update orders-a"], id="wanted again"),
    ],
)
def test_what_brings_a_queue_per_item_about(owned: list[Resource], expected: list[str]) -> None:
    plan = planned(POLICY, *owned)
    assert lines(plan) == expected
    assert not plan.troubles


@pytest.mark.parametrize(
    ("resource", "reason"),
    [
        (drifted(A, VisibilityTimeout=5), "changed by others"),
        (retagged(A, spec="v1:old"), "the policy changed"),
        (retagged(A, spec=PENDING), "creation not finished"),
        (retagged(A, marked="x"), "wanted again"),
    ],
)
def test_an_update_says_whose_change_it_answers(resource: Resource, reason: str) -> None:
    assert [action.reason for action in planned(POLICY, resource, B).actions] == [reason]


def test_an_update_writes_only_what_differs_and_never_takes_a_tag_off() -> None:
    tagged = replace(drifted(A, VisibilityTimeout=5), tags=freeze({**(A.tags or {}), "theirs": "1"}))
    (action,) = planned(POLICY, tagged, B).actions
    assert dict(action.change.properties) == {"VisibilityTimeout": 60}
    assert (dict(action.change.tags), action.change.untag) == ({}, frozenset())


def test_a_create_carries_the_owner_tags() -> None:
    (action,) = planned(POLICY, A).actions
    assert action.desired is not None
    assert action.desired.tags == B.tags


@pytest.mark.parametrize(
    ("stranger", "adopt", "expected", "said"),
    [
        ({"tags": {}}, False, [], 'exists and is not ours; "adopt": true takes it over'),
        ({"tags": {"setpoint:policy": "setpoint/other"}}, False, [], "is tagged as setpoint/other's"),
        ({"tags": {"setpoint:policy": "setpoint/other"}}, True, [], "is tagged as setpoint/other's"),
        ({"tags": {"setpoint:policy": "setpoint/queues"}}, True, [], "is tagged as setpoint/queues's"),
        ({"tags": {}}, True, ["adopt orders-b"], None),
        ({"tags": {}, "state": State.DELETING}, False, ["wait orders-b"], None),
    ],
)
def test_a_stranger_under_our_name(stranger: Any, adopt: bool, expected: list[str], said: str | None) -> None:
    policy = policy_of(queues("a", "b", adopt=adopt))
    found = Resource("AWS::SQS::Queue", "orders-b", "orders-b", **stranger)
    plan = planned(policy, existing(policy, "a"), occupied={"orders-b": found})
    assert lines(plan) == expected
    assert [trouble.condition for trouble in plan.troubles] == (["Conflict"] if said else [])
    assert not said or said in plan.troubles[0].message


@pytest.mark.parametrize(
    ("how", "spec", "verbs", "reasons"),
    [
        ({}, "v1:old", [], ["ReplaceNeeded"]),
        ({"replace": "deleteFirst"}, "v1:old", [Verb.REPLACE], []),
        # created as declared, and shows something else: a new one would be no different
        ({"replace": "deleteFirst"}, None, [], ["NotConverging"]),
    ],
)
def test_a_create_only_property(how: Any, spec: str | None, verbs: list[Verb], reasons: list[str]) -> None:
    policy = policy_of(groups("a", properties={"LogGroupClass": "INFREQUENT_ACCESS"}, **how))
    found = drifted(existing(policy, "a"), LogGroupClass="STANDARD")
    plan = planned(policy, retagged(found, spec=spec) if spec else found)
    assert [action.verb for action in plan.actions] == verbs
    assert [(one.condition, one.reason) for one in plan.troubles] == [("Degraded", reason) for reason in reasons]
    assert all("LogGroupClass" in one.message for one in plan.troubles)


def marked(resource: Resource, hours: float, purpose: str = "delete") -> Resource:
    return retagged(resource, marked=mark(POLICY.owner, resource.id, NOW - timedelta(hours=hours), purpose))


@pytest.mark.parametrize(
    ("words", "unwanted", "expected"),
    [
        ({}, B, ["mark orders-b"]),
        ({}, marked(B, 1000, "retain"), []),
        ({}, marked(B, 1000, "delete"), ["mark orders-b"]),
        ({"removal": "delete"}, marked(B, 1000, "retain"), ["mark orders-b"]),  # a grace begins when delete is said
        ({"removal": "retain"}, B, ["mark orders-b"]),
        ({"removal": "delete"}, B, ["mark orders-b"]),
        ({"removal": "delete"}, marked(B, 23.9), []),
        ({"removal": "delete"}, marked(B, 24), ["delete orders-b"]),
        ({"removal": "delete", "grace": "2h"}, marked(B, 2), ["delete orders-b"]),
        ({"removal": "delete", "grace": "0s"}, B, ["delete orders-b"]),
        ({"removal": "delete"}, retagged(B, marked="2020-01-01T00:00:00Z/copied"), ["mark orders-b"]),
        ({"removal": "delete", "grace": "0s"}, retagged(B, adopted="true"), ["release orders-b"]),
        ({"removal": "delete", "grace": "0s"}, replace(B, state=State.DELETING), []),
    ],
)
def test_what_becomes_of_what_is_no_longer_wanted(words: Any, unwanted: Resource, expected: list[str]) -> None:
    policy = policy_of(queues("a", properties={"VisibilityTimeout": 60}, **words))
    assert lines(planned(policy, existing(policy, "a"), unwanted)) == expected


def test_absent_wants_nothing() -> None:
    policy = policy_of(queues("a", "b", ensure="absent", removal="delete", grace="0s"))
    assert lines(planned(policy, A, B)) == ["delete orders-a", "delete orders-b"]


def test_what_could_not_be_read_is_left_alone() -> None:
    assert lines(planned(POLICY, replace(A, properties=None), B, unread=frozenset({"orders-a"}))) == ["wait orders-a"]


AGENTS = policy_of(agents(2))


def agent(slot: int, **words: Any) -> Resource:
    return existing(AGENTS, slot, **words)


def test_the_second_of_a_slot_goes_and_the_oldest_of_the_present_spec_stays() -> None:
    old = retagged(agent(0, id="i-old", minutes=900), spec="v1:before")
    plan = planned(AGENTS, old, agent(0, id="i-first", minutes=300), agent(0, id="i-second"), agent(1))
    assert sorted(lines(plan)) == ["delete i-old", "delete i-second"]


def test_the_tokens_of_a_slot_begin_after_its_newest_visible_death() -> None:
    (create,) = planned(AGENTS, agent(0)).actions
    assert create.desired is not None
    birth = create.desired.tags["setpoint:id"]
    links = chain(AGENTS.owner, "1", birth)
    first = [next(links) for _ in range(CHAIN_STEPS + 3)]
    assert list(create.tokens) == first[:CHAIN_STEPS]
    dead = tuple(Resource("AWS::EC2::Instance", f"i-{n}", token=first[n], state=State.DEAD) for n in (2, 0))
    (after,) = planned(AGENTS, agent(0), dead=dead).actions
    assert list(after.tokens) == first[3 : 3 + CHAIN_STEPS] == list(next_tokens(AGENTS.owner, "1", birth, dead))


_resources = st.lists(
    st.sampled_from([A, B, marked(A, 2), drifted(B, VisibilityTimeout=1), existing(policy_of(queues("c")), "c")]),
    unique_by=lambda one: one.id,
    max_size=3,
)


@given(_resources, st.randoms(use_true_random=False))
def test_equal_arguments_give_an_equal_plan_and_order_does_not_matter(owned: list[Resource], random: Any) -> None:
    shuffled = list(owned)
    random.shuffle(shuffled)
    assert planned(POLICY, *owned) == planned(POLICY, *owned)
    assert sorted(lines(planned(GONE, *owned))) == sorted(lines(planned(GONE, *shuffled)))


@given(_resources)
def test_every_resource_has_at_most_one_action(owned: list[Resource]) -> None:
    titles = [action.title for action in planned(GONE, *owned).actions]
    assert len(titles) == len(set(titles))


def test_names_that_nothing_has_are_told() -> None:
    match = {"names": ["there", "nosuch"]}
    resource = {"type": QUEUE, "match": match, "properties": {"VisibilityTimeout": 45}}
    policy = policy_of({"name": "two", "resource": resource, "strategy": {"type": "enforce"}})
    there = Resource(QUEUE, "there", "there", tags=freeze({}), properties=freeze({"VisibilityTimeout": 45}))
    told = planned(policy, there)
    assert not told.actions
    assert told.kept == ("nosuch: nothing that is matched has this name",)
