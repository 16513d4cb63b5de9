"""What a policy sees of the census, and which resources are read deeply in which minute."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.loop.observe import its_turn, observe, reads, with_reads
from policies.document import Policy
from policies.identity import Owner
from policies.world import Observation, Resource, State
from tests.engine.given import (
    NOW,
    agents,
    decide,
    document,
    each,
    existing,
    policy_of,
    queues,
    retagged,
    run,
    settle,
    signals,
)
from tests.world import World

POLICY = policy_of(queues("a", "b"))
A, B = existing(POLICY, "a"), existing(POLICY, "b")
MINUTE = timedelta(minutes=1)
EPOCH = datetime.fromtimestamp(0, UTC)


def stranger(name: str, tags: Any = None) -> Resource:
    return Resource("AWS::SQS::Queue", name, name, tags=tags)


def seen(policy: Policy, *census: Resource, former: tuple[Owner, ...] = ()) -> Observation:
    return observe(policy, former, census, signals(policy))


@pytest.mark.parametrize(
    ("resource", "owned", "occupied"),
    [
        pytest.param(A, True, False, id="tag and proof"),
        pytest.param(A.with_tags(None), False, True, id="listed, not in the index: unknown"),
        pytest.param(A.with_tags({}), False, True, id="untagged"),
        pytest.param(retagged(A, id="copied"), False, True, id="a tag without proof"),
        pytest.param(replace(A, id="orders-c", name="orders-c"), False, False, id="tags copied to another queue"),
        pytest.param(retagged(A, key="b"), False, True, id="the proof is of another key"),
        pytest.param(retagged(A, policy="second/queues"), False, True, id="another deployment's"),
        pytest.param(retagged(A, policy=None), False, True, id="the owner tag is gone"),
        pytest.param(stranger("orders-z"), False, False, id="a name that no item of the list gives"),
        pytest.param(stranger("payments"), False, False, id="none of our names"),
    ],
)
def test_owned_means_owner_tag_and_proof(resource: Resource, owned: bool, occupied: bool) -> None:
    found = seen(POLICY, resource)
    assert (bool(found.owned), bool(found.occupied)) == (owned, occupied)


def test_what_the_old_name_owned_is_owned() -> None:
    old = replace(POLICY, owner=Owner("setpoint", "old"))
    mine = existing(old, "a")
    assert not seen(POLICY, mine).owned
    assert seen(POLICY, mine, former=(Owner("setpoint", "old"),)).owned == (mine,)


def test_the_dead_count_only_where_there_are_no_names() -> None:
    fleet = policy_of(agents(1))
    dead = Resource("AWS::EC2::Instance", "i-1", tags={}, state=State.DEAD, token="t")
    assert seen(fleet, dead).dead == (dead,)
    assert seen(POLICY, replace(A, state=State.DEAD)).dead == ()


def test_what_was_read_takes_its_place_and_what_is_gone_goes() -> None:
    fresh = replace(A, properties={"QueueName": "orders-a"})
    assert with_reads((A, B), {A.id: fresh, B.id: None}) == (fresh,)


# --- which are read deeply -----------------------------------------------------------------------------------------


def read_of(policy: Policy, *census: Resource, now: datetime = NOW, **more: Any) -> set[str]:
    found = seen(policy, *census)
    return {one.id for one in reads(policy, decide(policy, found), found, census, now, **more)}


UNREAD = replace(A, properties=None, created=None)


@pytest.mark.parametrize(
    ("resource", "read"),
    [
        pytest.param(retagged(UNREAD, spec="v1:old"), True, id="an edited policy acts at once"),
        pytest.param(retagged(UNREAD, spec="pending"), True, id="a creation that did not end"),
        pytest.param(A.with_tags(None), True, id="unknown, not foreign"),
        pytest.param(A.with_tags({}), False, id="foreign"),
    ],
)
def test_what_may_differ_is_read_in_every_minute(resource: Resource, read: bool) -> None:
    for minute in range(6):
        assert (resource.id in read_of(POLICY, resource, now=NOW + minute * MINUTE)) == read


def test_what_is_in_order_is_read_once_per_drift_check() -> None:
    for check, times in (("5m", 12), ("15m", 4), ("1h", 1), ("1m", 60)):
        policy = policy_of(queues("a", "b", driftCheck=check))
        minutes = [NOW + place * MINUTE for place in range(60)]
        assert sum("orders-a" in read_of(policy, UNREAD, now=minute) for minute in minutes) == times


def test_a_thorough_run_reads_everything() -> None:
    policy = policy_of(queues("a", "b", driftCheck="1d"))
    assert read_of(policy, UNREAD, replace(B, properties=None), thorough=True) == {"orders-a", "orders-b"}


def test_a_kind_whose_survey_shows_everything_is_never_read_one_by_one() -> None:
    fleet = policy_of(agents(2))
    assert read_of(fleet, retagged(existing(fleet, 0), spec="v1:old"), existing(fleet, 1)) == set()


def ids(count: int) -> list[Resource]:
    return [stranger(f"q-{number}") for number in range(count)]


_every = st.integers(2, 240).map(lambda minutes: timedelta(minutes=minutes))


@given(_every, st.integers(0, 10**6), st.text(min_size=1, max_size=20))
def test_in_every_window_each_resource_has_exactly_one_turn(every: timedelta, window: int, name: str) -> None:
    start = EPOCH + window * every
    turns = [place for place in range(int(every / MINUTE)) if its_turn(stranger(name), every, start + place * MINUTE)]
    assert len(turns) == 1


@given(_every, st.integers(0, 59))
def test_the_turn_is_the_minutes_and_not_the_seconds(every: timedelta, seconds: int) -> None:
    one = stranger("orders-a")
    assert its_turn(one, every, NOW) == its_turn(one, every, NOW + timedelta(seconds=seconds))


@pytest.mark.parametrize("every", [timedelta(minutes=5), timedelta(minutes=15), timedelta(hours=1)])
def test_turns_spread_evenly_over_the_minutes(every: timedelta) -> None:
    minutes = int(every / MINUTE)
    resources = ids(200 * minutes)
    counts = [sum(its_turn(one, every, NOW + place * MINUTE) for one in resources) for place in range(minutes)]
    assert sum(counts) == len(resources)
    assert max(counts) < 1.35 * 200
    assert min(counts) > 0.65 * 200


def test_a_lost_tick_never_blinds_the_same_ones_twice() -> None:
    """If every fifth run is lost, the resources that miss it are others in each window."""
    every, resources = timedelta(minutes=5), ids(1000)
    lost = [NOW + window * every for window in range(20)]
    missed = Counter(one.id for one in resources for minute in lost if its_turn(one, every, minute))
    assert max(missed.values()) < 15  # never the same one always: 20 of 20 it would be without the window in the hash
    twice_in_a_row = sum(its_turn(one, every, lost[0]) and its_turn(one, every, lost[1]) for one in resources)
    assert twice_in_a_row < 0.1 * len(resources)


def test_the_shortest_drift_check_is_every_run() -> None:
    for every in (timedelta(seconds=30), MINUTE, timedelta(seconds=90)):
        assert all(its_turn(one, every, NOW) for one in ids(20))


# --- on a world ----------------------------------------------------------------------------------------------------


def test_drift_made_by_others_is_undone_within_the_drift_check(world: World) -> None:
    documents = {"main": document(queues(*"abcdefgh", properties={"VisibilityTimeout": 60}))}
    settle(world, documents, minutes=5)  # to the beginning of a window
    for letter in "abcdefgh":
        url = world.outside.sqs.get_queue_url(QueueName=f"orders-{letter}")["QueueUrl"]
        world.outside.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "5"})
    settle(world, documents, minutes=5)
    assert {one["VisibilityTimeout"] for one in world.resources()["AWS::SQS::Queue"].values()} == {"60"}


def test_an_edited_policy_acts_in_the_next_run(world: World) -> None:
    settle(world, {"main": document(queues("a", "b", driftCheck="1d", properties={"VisibilityTimeout": 60}))})
    run(world, {"main": document(queues("a", "b", driftCheck="1d", properties={"VisibilityTimeout": 61}))})
    assert {one["VisibilityTimeout"] for one in world.resources()["AWS::SQS::Queue"].values()} == {"61"}


def test_what_the_old_template_named_stays_ours_for_all_who_renamed(world: World) -> None:
    names = [f"p{place}" for place in range(4)]
    settle(world, {"main": document(*(queues("a", name=name, stem=f"old-{name}") for name in names))})
    told = run(world, {"main": document(*(queues("a", name=name, stem=f"new-{name}") for name in names))})
    for name in names:
        assert sorted(told.done(name)) == [f"create new-{name}-a: done", f"mark old-{name}-a: done"]


def test_a_quiet_world_is_only_looked_at(world: World) -> None:
    documents = {"main": document(queues(*"abc"), {**queues(name="one", stem="x"), "strategy": each("z")})}
    settle(world, documents, minutes=6)
    before = len(world.calls(mutating=True))
    settle(world, documents, minutes=6)
    assert len(world.calls(mutating=True)) == before
