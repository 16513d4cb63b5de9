"""Expire: what qualifies, what does not, and what nobody can tell."""

import random
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.claim import claim_of
from policies.document import Policy
from policies.frozen import freeze
from policies.identity import POLICY
from policies.strategy import Decision
from policies.world import Observation, Resource, State
from tests.strategies.given import NOW, agents, mistakes, policy

SECTION = {"type": "Test::Agent", "match": {"namePrefix": ""}}


def expire(after: Any = "14d", **words: Any) -> Policy:
    return policy(SECTION, type="expire", after=after, grace="2d", **words)


def agent(
    name: str, days: float | None = 20, tags: Any = None, state: State = State.READY, read: bool = True
) -> Resource:
    created = None if days is None else NOW - timedelta(days=days)
    return Resource(
        "Test::Agent", name, name, tags=freeze(tags or {}), state=state, created=created,
        properties=freeze({"AgentName": name}) if read else None,
    )  # fmt: skip


def decide(built: Policy, *there: Resource, unread: frozenset[str] = frozenset()) -> Decision:
    return built.strategy.decide(built.blueprint, Observation(there, unread=unread), NOW)


def leaving(decision: Decision) -> dict[str, str]:
    return {removal.resource.id: removal.reason for removal in decision.removals or ()}


@pytest.mark.parametrize(("days", "leaves"), [(20, True), (14, True), (13.999, False), (0, False), (-1, False)])
def test_an_age(days: float, leaves: bool) -> None:
    decision = decide(expire(), agent("a", days))
    assert leaving(decision) == ({"a": "older than 14d"} if leaves else {})
    assert decision.unmark == (frozenset() if leaves else {"a"})
    assert decision.grace == timedelta(days=2)


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("2026-03-02T09:00:00Z", True),
        ("2026-03-02T09:00:01Z", False),
        ("2026-03-02T10:00:00+01:00", True),
        ("2020-01-01T00:00:00Z", True),
    ],
)
def test_a_time_in_a_tag(text: str, leaves: bool) -> None:
    decision = decide(expire({"tag": "until"}), agent("a", None, {"until": text}))
    assert leaving(decision) == ({"a": f"its tag until says {text}"} if leaves else {})


def test_without_the_tag_it_does_not_expire() -> None:
    decision = decide(expire({"tag": "until"}), agent("a"))
    assert (leaving(decision), decision.unmark, decision.troubles) == ({}, {"a"}, ())


@pytest.mark.parametrize(
    ("after", "one", "said"),
    [
        ("14d", agent("a", None), "a: it stays: its service tells no time of creation"),
        ({"tag": "until"}, agent("a", tags={"until": "friday"}), "a: it stays: its tag until is 'friday', which is no"),
        ({"tag": "until"}, agent("a", tags={"until": "2026-01-01"}), "a: it stays: its tag until is '2026-01-01'"),
    ],
)
def test_what_nobody_can_tell_is_reported_and_neither_deleted_nor_unmarked(
    after: Any, one: Resource, said: str
) -> None:
    decision = decide(expire(after), one)
    assert (leaving(decision), decision.unmark) == ({}, frozenset())
    (trouble,) = decision.troubles
    assert (trouble.condition, trouble.message[: len(said)]) == ("Held", said)


def test_what_was_not_read_yet_is_not_judged() -> None:
    decision = decide(expire(), agent("a", None, read=False), agent("b"), unread=frozenset({"b"}))
    assert (leaving(decision), decision.unmark, decision.troubles) == ({}, frozenset(), ())


def test_what_has_an_owner_is_never_touched() -> None:
    decision = decide(
        expire(meanwhile={"Size": 0}), agent("a", tags={POLICY: "setpoint/other"}), agent("b", state=State.DEAD)
    )
    assert (decision.desired, leaving(decision), decision.unmark) == ((), {}, frozenset())


def test_meanwhile_is_wanted_of_what_leaves_and_of_nothing_else() -> None:
    decision = decide(expire(meanwhile={"Size": 0, "Note": "of ${match.Name}"}), agent("a"), agent("b", 1))
    assert [(one.of, dict(one.properties)) for one in decision.desired] == [("a", {"Size": 0, "Note": "of a"})]


def test_it_claims_existence_and_what_is_set_meanwhile() -> None:
    claim = claim_of(0, expire(meanwhile={"Size": 0, "Tags": [{"Key": "state", "Value": "leaving"}]}))
    assert claim.existence
    assert claim.leaves == {("Size",), ("tags", "state")}


@pytest.mark.parametrize(
    ("section", "words", "problem"),
    [
        (SECTION, {"meanwhile": {"Siz": 0}}, "strategy.meanwhile.Siz: unknown key 'Siz'; did you mean 'Size'?"),
        (SECTION, {"meanwhile": {"AgentName": "x"}}, "strategy.meanwhile.AgentName: AgentName is create-only"),
        (SECTION, {"meanwhile": {"Secret": "x"}}, "strategy.meanwhile.Secret: Secret is write-only"),
        (SECTION, {"meanwhile": {"Note": "${match.Nte}"}}, "strategy.meanwhile.Note: unknown placeholder ${match.Nte}"),
        ({**SECTION, "properties": {"Size": 1}}, {}, "resource.properties: expire keeps nothing as declared"),
        (agents("a"), {}, "resource: strategy 'expire' works on existing resources"),
    ],
)
def test_mistakes(section: Any, words: Any, problem: str) -> None:
    (found,) = mistakes(section, type="expire", after="14d", grace="2d", **words)
    assert found.startswith(problem)


_agents = st.dictionaries(
    st.sampled_from("abcdef"),
    st.tuples(st.one_of(st.none(), st.integers(0, 40)), st.sampled_from(list(State)), st.booleans(), st.booleans()),
    max_size=6,
).map(
    lambda found: [
        agent(name, days, {POLICY: "x/y"} if owned else {}, state, read)
        for name, (days, state, owned, read) in found.items()
    ]
)


@given(_agents, st.randoms())
def test_order_does_not_matter_and_only_what_is_certainly_old_leaves(
    there: list[Resource], mixer: random.Random
) -> None:
    mixed = list(there)
    mixer.shuffle(mixed)
    decision = decide(expire(), *there)
    assert decision == decide(expire(), *there) == decide(expire(), *mixed)
    old = {
        one.id
        for one in there
        if one.alive and not one.tags and one.created and NOW - one.created >= timedelta(days=14)
    }
    assert set(leaving(decision)) == old
