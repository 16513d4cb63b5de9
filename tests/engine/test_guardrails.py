"""What of a plan may happen now: limits that are always on, and what is said of all that is held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.loop.guardrails import Guarded, guard, settled
from handler.loop.plan import plan
from policies.document import Policy
from policies.frozen import freeze
from policies.world import Observation, Resource, State
from tests.engine.given import (
    DELETE_AT_ONCE,
    NOW,
    agents,
    decide,
    drifted,
    existing,
    policy_of,
    queues,
    retagged,
    signals,
)

LETTERS = [f"q{number:03}" for number in range(300)]


def guarded(policy: Policy, owned: Sequence[Resource], stop: str | None = None) -> Guarded:
    seen = Observation(tuple(owned), signals=signals(policy))
    decision = decide(policy, seen)
    return guard(policy, decision, plan(policy, (), decision, seen, NOW), seen, NOW, stop)


def counted(told: Guarded) -> tuple[int, int]:
    return len(told.allowed), len(told.held)


def keeping(keep: int, of: int, minutes: int = 120, **rails: Any) -> Guarded:
    """So many of the queues that exist are still wanted."""
    policy = policy_of(queues(*LETTERS[:keep], **DELETE_AT_ONCE, guardrails=rails))
    return guarded(policy, [existing(policy, item, minutes=minutes) for item in LETTERS[:of]])


@pytest.mark.parametrize(
    ("keep", "of", "rails", "allowed", "held"),
    [
        (1, 2, {}, 1, 0),  # 10% of 2, at least 1
        (18, 20, {}, 2, 0),
        (17, 20, {}, 0, 3),  # over the limit none happens, not the first two
        (1, 3, {"maxDeletes": 2}, 2, 0),
        (1, 3, {"maxDeletes": 1}, 0, 2),
        (2, 3, {"maxDeletes": 0}, 0, 1),
        (2, 3, {"maxDeletes": "0%"}, 0, 1),
        (10, 20, {"maxDeletes": "50%"}, 10, 0),
        (9, 20, {"maxDeletes": "50%"}, 0, 11),
        (1, 200, {"maxDeletes": "100%"}, 199, 0),
    ],
)
def test_more_deletes_than_allowed_and_none_happens(keep: int, of: int, rails: Any, allowed: int, held: int) -> None:
    assert counted(keeping(keep, of, **rails)) == (allowed, held)


def test_what_is_held_says_how_many_were_wanted_and_what_to_do() -> None:
    reasons = {one.reason for one in keeping(17, 20).held}
    assert reasons == {
        "3 deletes are wanted and maxDeletes allows 2 (10% of the settled), so none happens; "
        "apply an approved plan, or raise guardrails.maxDeletes"
    }


@pytest.mark.parametrize(("minutes", "allowed", "held"), [(61, 3, 0), (60, 3, 0), (59, 0, 3), (1, 0, 3)])
def test_a_share_is_of_what_is_older_than_an_hour(minutes: int, allowed: int, held: int) -> None:
    assert counted(keeping(27, 30, minutes=minutes)) == (allowed, held)


def test_a_hundred_percent_are_the_words_that_allow_everything_however_young() -> None:
    assert counted(keeping(1, 4, minutes=5, maxDeletes="100%")) == (3, 0)


def test_creates_and_updates_go_on_while_deletes_are_held() -> None:
    policy = policy_of(queues("a", "b", **DELETE_AT_ONCE, properties={"DelaySeconds": 5}))
    found = [existing(policy, item) for item in "bcdef"]
    found[0] = drifted(found[0], DelaySeconds=6)
    told = guarded(policy, found)
    assert [f"{one.verb.value} {one.title}" for one in told.allowed] == ["create orders-a", "update orders-b"]
    assert len(told.held) == 4


@pytest.mark.parametrize(
    ("rails", "allowed"), [({}, 100), ({"maxCreates": 7}, 7), ({"maxCreates": 0}, 0), ({"maxCreates": 250}, 150)]
)
def test_creates_beyond_the_limit_follow_next_run(rails: Any, allowed: int) -> None:
    told = guarded(policy_of(queues(*LETTERS[:150], guardrails=rails)), [])
    assert counted(told) == (allowed, 150 - allowed)
    assert all("maxCreates allows" in one.reason and "the rest follows" in one.reason for one in told.held)


@pytest.mark.parametrize(("rails", "allowed"), [({}, 100), ({"maxUpdates": 3}, 3)])
def test_updates_beyond_the_limit_follow_next_run(rails: Any, allowed: int) -> None:
    policy = policy_of(queues(*LETTERS[:120], guardrails=rails, properties={"DelaySeconds": 5}))
    told = guarded(policy, [drifted(existing(policy, item), DelaySeconds=None) for item in LETTERS[:120]])
    assert counted(told) == (allowed, 120 - allowed)


@pytest.mark.parametrize(
    ("tag", "held"),
    [
        ("2026-03-02T09:00:01Z", "says 2026-03-02T09:00:01Z"),
        ("2026-03-02T11:00:00+01:00", "says"),
        ("2026-03-02T09:00:00Z", None),
        ("2026-03-02T10:00:00+01:00", None),
        ("2020-01-01T00:00:00Z", None),
        ("tomorrow", "which is no RFC 3339 time; mend or remove the tag"),
        ("2026-03-02T09:00:00", "which is no RFC 3339 time"),  # no offset
        ("", "which is no RFC 3339 time"),
    ],
)
def test_a_person_can_hold_one_resource(tag: str, held: str | None) -> None:
    policy = policy_of(queues("a", **DELETE_AT_ONCE, properties={"DelaySeconds": 5}))
    a, b = (existing(policy, item) for item in "ab")
    words = {"hold-until": tag}
    told = guarded(policy, [retagged(drifted(a, DelaySeconds=9), **words), retagged(b, **words)])
    assert counted(told) == ((0, 2) if held else (2, 0))
    assert all(held in one.reason for one in told.held if held)


@pytest.mark.parametrize(
    ("rails", "tag", "held"),
    [
        ({"protect": {"tags.tier": "gold"}}, "gold", "guardrails.protect holds for it"),
        ({"protect": {"tags.tier": "gold"}}, "tin", None),
        ({"protect": {"tags.tier": "gold", "DelaySeconds": 9}}, "gold", None),  # all of it must hold
        ({"deleteIf": {"tags.tier": "tin"}}, "gold", "guardrails.deleteIf does not hold for it"),
        ({"deleteIf": {"tags.tier": "tin"}}, "tin", None),
        ({"deleteIf": {"ApproximateNumberOfMessages": 0}}, "tin", "guardrails.deleteIf does not hold for it"),
    ],
)
def test_protect_and_delete_if(rails: Any, tag: str, held: str | None) -> None:
    policy = policy_of(queues("a", **DELETE_AT_ONCE, guardrails=rails))
    b = existing(policy, "b", facts={"ApproximateNumberOfMessages": 3})
    told = guarded(policy, [existing(policy, "a"), b.with_tags(freeze({**(b.tags or {}), "tier": tag}))])
    assert [one.reason for one in told.held] == ([held] if held else [])


def test_what_is_held_for_itself_does_not_count_against_the_others() -> None:
    policy = policy_of(queues("a", **DELETE_AT_ONCE, guardrails={"maxDeletes": 1, "protect": {"tags.tier": "gold"}}))
    a, b, c = (existing(policy, item) for item in "abc")
    told = guarded(policy, [a, b.with_tags(freeze({**(b.tags or {}), "tier": "gold"})), c])
    assert ([one.title for one in told.allowed], len(told.held)) == (["orders-c"], 1)


@pytest.mark.parametrize(
    ("mode", "stop", "reason"),
    [
        ("enforce", None, None),
        ("observe", None, "the policy's mode is observe"),
        ("enforce", "there is an object named STOP", "there is an object named STOP"),
        ("observe", "there is an object named STOP", "there is an object named STOP"),
    ],
)
def test_observe_and_stop_hold_everything_with_the_reason(mode: str, stop: str | None, reason: str | None) -> None:
    policy = policy_of(queues("a", "b", mode=mode, **DELETE_AT_ONCE))
    told = guarded(policy, [existing(policy, "b"), existing(policy, "c")], stop)
    assert counted(told) == ((0, 2) if reason else (2, 0))
    assert {one.reason for one in told.held} == ({reason} if reason else set())


# --- replicas: a pace ----------------------------------------------------------------------------------------------


def replicas(count: int, owned: int, *, sick: int = 0, minutes: int = 120, spec: str = "", **words: Any) -> list[str]:
    """What is allowed of a plan over so many instances, the first ones unhealthy or of another spec."""
    policy = policy_of(agents(count, **words))
    found = [existing(policy, slot, minutes=minutes) for slot in range(owned)]
    for place in range(sick):
        found[place] = replace(found[place], state=State.UNHEALTHY)
    if spec:
        found = [retagged(drifted(one, ImageId=spec), spec="v1:old") for one in found]
    return [one.verb.value for one in guarded(policy, found).allowed]


def test_what_is_too_many_goes_one_tenth_per_run() -> None:
    assert replicas(5, 30) == ["delete"] * 3
    assert replicas(5, 6) == ["delete"]
    assert replicas(0, 30, guardrails={"maxDeletes": "100%"}) == ["delete"] * 30
    assert replicas(5, 30, guardrails={"maxDeletes": 7}) == ["delete"] * 7


@pytest.mark.parametrize(("minutes", "allowed"), [(9, 0), (10, 1), (11, 1)])
def test_working_ones_live_for_ten_minutes_at_least(minutes: int, allowed: int) -> None:
    assert len(replicas(1, 2, minutes=minutes)) == allowed


def test_the_least_lifetime_can_be_said() -> None:
    assert replicas(1, 2, minutes=5, strategy={"minLifetime": "5m"}) == ["delete"]
    assert replicas(1, 2, minutes=50, strategy={"minLifetime": "1h"}) == []


@pytest.mark.parametrize(
    ("most", "limit", "replaced"),
    [("10%", "100%", 1), (3, "100%", 3), ("50%", "100%", 5), (0, "100%", 0), ("100%", "10%", 1), ("100%", 4, 4)],
)
def test_a_rollout_takes_away_few_at_a_time(most: Any, limit: Any, replaced: int) -> None:
    words = {"strategy": {"maxUnavailable": most}, "replace": "deleteFirst", "guardrails": {"maxDeletes": limit}}
    assert replicas(10, 10, spec="ami-old", **words) == ["replace"] * replaced


def test_those_that_do_not_work_yet_count_as_away() -> None:
    words = {"strategy": {"maxUnavailable": 2}, "replace": "deleteFirst", "guardrails": {"maxDeletes": "100%"}}
    policy = policy_of(agents(10, **words))
    found = [existing(policy, slot) for slot in range(10)]
    old = [retagged(drifted(one, ImageId="ami-0"), spec="v1:old") for one in found]
    old[9] = replace(found[9], state=State.PENDING)
    assert [one.verb.value for one in guarded(policy, old).allowed] == ["replace"]


@pytest.mark.parametrize(("count", "sick", "allowed"), [(10, 1, 1), (10, 2, 1), (10, 3, 0), (3, 1, 1), (3, 2, 0)])
def test_too_many_unhealthy_ones_halt_repair(count: int, sick: int, allowed: int) -> None:
    assert len(replicas(count, count, sick=sick)) == allowed


# --- properties ----------------------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.integers(0, 40), st.sampled_from([0, 1, 5, "10%", "50%"]), st.sampled_from([5, 120]))
def test_never_more_deletes_than_the_limit_and_nothing_gets_lost(keep: int, more: int, limit: Any, age: int) -> None:
    told = keeping(keep, keep + more, minutes=age, maxDeletes=limit)
    share = int(limit.rstrip("%")) * (keep + more if age > 60 else 0) // 100 if isinstance(limit, str) else limit
    assert len(told.allowed) <= max(share, 1 if isinstance(limit, str) else 0)
    assert len(told.allowed) in (0, more)
    assert len(told.allowed) + len(told.held) == more


def test_unknown_age_counts_only_where_the_service_tells_none() -> None:
    policy = policy_of(queues("a"))
    known, ageless, unread = (
        existing(policy, "a", created=None, properties=properties) for properties in ({}, {}, None)
    )
    old = replace(known, created=NOW - timedelta(hours=1))
    assert settled(Observation((old, ageless, unread)), NOW) == 2
