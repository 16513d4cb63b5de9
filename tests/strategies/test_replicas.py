"""Replicas: which slots are wanted, who goes first, and how gently."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.action import Trouble
from policies.identity import KEY
from policies.strategy import Decision, Pace
from policies.world import Resource, State
from tests.strategies.given import agents, decide, mistakes, policy, removed, resource, wanted, workers, world

TEN = ", ".join(map(str, range(10)))


def replicas(count: int, **words: object) -> Decision:
    return decide(policy(workers(), type="replicas", count=count), **words)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("count", "there", "slots", "gone"),
    [
        # an empty world is filled from the lowest slot
        (0, "", "", ""),
        (3, "", "0 1 2", ""),
        # what is alive keeps its slot, and the lowest free ones are filled
        (3, "0, 1, 2", "0 1 2", ""),
        (3, "1", "0 1 2", ""),
        (3, "0, 7", "0 1 7", ""),
        (3, "0, 1 pending, 2", "0 1 2", ""),
        # dead and leaving ones do not count
        (3, "0, 1 dead, 2 deleting", "0 1 2", ""),
        (2, "0 deleting, 1, 2", "1 2", ""),
        # too many: pending, then unhealthy, then ready; among equals the newest; of one age the highest slot stays out
        (2, "0 pending, 1, 2", "1 2", "0"),
        (2, "0 unhealthy, 1, 2", "1 2", "0"),
        (1, "0 unhealthy, 1 pending, 2", "2", "1 0"),
        (2, "0 20m, 1 60m, 2 40m", "1 2", "0"),
        (1, "0 20m, 1 60m, 2 40m", "1", "0 2"),
        (2, "0 pending 90m, 1 5m, 2 5m", "1 2", "0"),
        (0, "0 20m, 1 60m", "", "0 1"),
        (2, "0, 1, 2", "0 1", "2"),
        # one unhealthy: it goes, and its slot stays wanted
        (3, "0, 1 unhealthy, 2", "0 1 2", "1"),
        (1, "0 unhealthy", "0", "0"),
        # a fifth may be unhealthy
        (10, "0 unhealthy, 1 unhealthy, 2, 3, 4, 5, 6, 7, 8, 9", TEN.replace(",", ""), "0 1"),
        (5, "0 unhealthy, 1, 2, 3, 4", "0 1 2 3 4", "0"),
        # more, and at least two, halt repair
        (4, "0 unhealthy, 1 unhealthy, 2, 3", "0 1 2 3", ""),
        (2, "0 unhealthy, 1 unhealthy", "0 1", ""),
        # and not the scaling in
        (2, "0 unhealthy, 1 unhealthy, 2, 3", "2 3", "0 1"),
        # what has no slot goes; it makes no room
        (1, "0, acme", "0", "acme"),
        (1, "0, 01", "0", "01"),
        (1, "0, 99999", "0", "99999"),
    ],
)
def test_which_slots_are_wanted_and_who_goes(count: int, there: str, slots: str, gone: str) -> None:
    decision = replicas(count, owned=world(there))
    assert (wanted(decision), removed(decision), decision.hold) == (slots, gone, None)


def test_halted_repair_is_told_with_its_numbers() -> None:
    decision = replicas(10, owned=world("0 unhealthy, 1 unhealthy, 2 unhealthy, 3, 4, 5, 6, 7, 8, 9"))
    assert [(trouble.condition, trouble.reason) for trouble in decision.troubles] == [("Degraded", "RepairHalted")]
    assert decision.troubles[0].message.startswith(
        "3 of 10 are unhealthy: the sensor is likelier broken than the world"
    )


def test_every_removal_says_why() -> None:
    decision = replicas(1, owned=world("0 unhealthy 90m, 1 pending, acme"))
    assert {removal.resource.id: removal.reason for removal in decision.removals or ()} == {
        "0": "unhealthy: slot 0 gets another",
        "1": "one too many: 1 are wanted",
        "acme": "its key 'acme' is no slot",
    }


@pytest.mark.parametrize(
    ("count", "limit", "there", "disruptions"),
    [
        (10, "10%", TEN, 1),
        (10, "30%", TEN, 3),
        (10, 4, TEN, 4),
        (3, "10%", "0, 1, 2", 1),
        # what is missing, pending or unhealthy is away already
        (10, 4, "0, 1, 2, 3, 4, 5, 6, 7, 8", 3),
        (10, 4, "0 pending, 1 unhealthy, 2 deleting, 3, 4, 5, 6, 7, 8, 9", 1),
        (10, 4, "", 0),
        (3, 0, "0, 1, 2", 0),
        # those that are too many are not wanted, so they do not count
        (2, 1, "0 pending, 1 unhealthy, 2, 3", 1),
    ],
)
def test_the_pace(count: int, limit: object, there: str, disruptions: int) -> None:
    built = policy(workers(), type="replicas", count=count, maxUnavailable=limit, minLifetime="2h")
    assert decide(built, world(there)).pace == Pace(disruptions, timedelta(hours=2))


def test_the_pace_of_a_policy_that_says_nothing() -> None:
    assert replicas(10, owned=world(TEN)).pace == Pace(1, timedelta(minutes=10))


def test_a_young_victim_is_for_the_guard_to_spare() -> None:
    decision = replicas(1, owned=world("0, 1 1m"))
    assert removed(decision) == "1"
    assert decision.pace is not None
    assert decision.pace.minimum_age == timedelta(minutes=10)


def test_unknown_age_counts_as_new() -> None:
    assert removed(replicas(1, owned=(resource("0", minutes=None), resource("1", minutes=1)))) == "0"


def test_two_in_one_slot_are_one_slot_and_the_plans_to_settle() -> None:
    decision = replicas(2, owned=(resource("0", id="old"), resource("0", minutes=5, id="new"), resource("1")))
    assert (wanted(decision), removed(decision)) == ("0 1", "")


def test_a_slot_is_as_good_as_the_better_of_two() -> None:
    both = (resource("0", State.PENDING, 5, id="new"), resource("0", id="old"))
    decision = replicas(1, owned=(*both, resource("1", State.PENDING, 5)))
    assert (wanted(decision), removed(decision)) == ("0", "1")


def test_a_slot_that_is_too_many_goes_with_all_that_is_in_it() -> None:
    both = (resource("1", State.PENDING, 5, id="new"), resource("1", minutes=30, id="old"))
    assert removed(replicas(1, owned=(*both, resource("0")))) == "new old"


def test_the_index_keeps_its_type_and_names_the_resource() -> None:
    decision = decide(policy(agents(Size="${index}", Note="number ${index}"), type="replicas", count=2))
    assert [(one.key, one.name, one.properties["Size"], one.properties["Note"]) for one in decision.desired] == [
        ("0", "agent-0", 0, "number 0"),
        ("1", "agent-1", 1, "number 1"),
    ]


def test_a_nameless_kind_has_the_slot_for_a_key_and_no_name() -> None:
    assert [(one.key, one.name) for one in replicas(1).desired] == [("0", None)]


def named(slot: int, name: str, state: State = State.READY) -> Resource:
    return resource(str(slot), state, id=name, name=name, type="Test::Agent")


@pytest.mark.parametrize(
    ("new", "gone"),
    [
        ((), ""),
        ((State.PENDING, State.PENDING, State.PENDING), ""),
        ((State.READY, State.PENDING, State.PENDING), "old-0"),
        ((State.READY, State.READY, State.PENDING), "old-0 old-1"),
        ((State.READY, State.READY, State.READY), "old-0 old-1 old-2"),
    ],
)
def test_another_name_rolls_over_and_the_old_ones_work_on_meanwhile(new: tuple[State, ...], gone: str) -> None:
    built = policy(agents("new-${index}"), type="replicas", count=3, maxUnavailable=0)
    old = [named(slot, f"old-{slot}") for slot in range(3)]
    decision = decide(built, [*old, *(named(slot, f"new-{slot}", state) for slot, state in enumerate(new))])
    assert (wanted(decision), removed(decision)) == ("0 1 2", gone)


def test_an_index_that_does_not_fit_is_told_once_and_nothing_goes() -> None:
    built = policy(agents(Size="${index}"), type="replicas", count=901)
    decision = decide(built, [named(1000, "agent-1000"), named(1001, "agent-1001"), named(3, "other")])
    assert len(decision.desired) == 899
    assert removed(decision) == ""
    assert decision.hold is not None
    assert [trouble.reason for trouble in decision.troubles] == ["Unfit"]
    assert decision.troubles[0] == Trouble("Degraded", "Unfit", decision.troubles[0].message)
    assert decision.troubles[0].message.startswith("slot 1000: Size")


@pytest.mark.parametrize(
    ("section", "strategy", "problem"),
    [
        (workers(), {}, "strategy.count: 'count' is required here"),
        (workers(), {"count": -1}, "strategy.count: found -1; allowed: a whole number from 0"),
        (workers(), {"count": "3"}, "strategy.count: found '3'; allowed: a whole number from 0"),
        (workers(), {"count": 20_000}, "strategy.count: found 20000; allowed: at most 10000"),
        (
            workers(),
            {"count": 1, "minLifetime": 10},
            "strategy.minLifetime: found 10; allowed: a whole number followed",
        ),
        (workers(), {"count": 1, "maxUnavailable": "200%"}, "strategy.maxUnavailable: found '200%'"),
        (agents("agent"), {"count": 1}, "resource.properties.AgentName: AgentName needs ${index}"),
        (agents("agent-${index}-${item}"), {"count": 1}, "resource.properties.AgentName: unknown placeholder ${item}"),
        (
            agents("a-very-long-name-${index}"),
            {"count": 1},
            "resource.properties.AgentName: names could have 21 characters",
        ),
        (agents(Size="${index}"), {"count": 902}, "strategy.count: Size: found 901"),
        (agents(Note="${index}"), {"count": 1}, "resource.properties.Note: found 0; allowed: a text"),
    ],
)
def test_what_does_not_parse(section: dict[str, object], strategy: dict[str, object], problem: str) -> None:
    (found,) = mistakes(section, type="replicas", **strategy)
    assert found.startswith(problem)


def test_as_many_as_the_placeholder_can_count_are_allowed() -> None:
    assert mistakes(workers(), type="replicas", count=10_000) == []


_states = st.sampled_from([State.READY, State.READY, State.READY, State.PENDING, State.UNHEALTHY, State.DELETING])
_slots = st.dictionaries(st.integers(0, 12), st.tuples(_states, st.one_of(st.none(), st.integers(0, 90))), max_size=12)
_worlds = _slots.map(lambda slots: tuple(resource(str(slot), *words) for slot, words in slots.items()))
_counts = st.integers(0, 12)


@given(_counts, _worlds, st.randoms(use_true_random=False))
def test_the_order_of_the_world_does_not_matter_and_deciding_twice_is_deciding_once(count, there, random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(there)
    random.shuffle(shuffled)
    assert replicas(count, owned=there) == replicas(count, owned=there) == replicas(count, owned=shuffled)


@given(_counts, _worlds)
def test_exactly_as_many_as_were_asked_for_are_wanted(count: int, there: tuple[Resource, ...]) -> None:
    keys = [desired.key for desired in replicas(count, owned=there).desired]
    assert len(keys) == len(set(keys)) == count


@given(_counts, _worlds)
def test_no_working_one_goes_while_a_broken_one_stays(count: int, there: tuple[Resource, ...]) -> None:
    decision = replicas(count, owned=there)
    gone = {removal.resource.id for removal in decision.removals or ()}
    kept = [one for one in there if one.alive and one.id not in gone]
    if any(one.state is State.READY for one in there if one.id in gone):
        assert all(one.state is State.READY for one in kept)


@given(_counts, _worlds)
def test_nothing_goes_that_works_and_is_wanted(count: int, there: tuple[Resource, ...]) -> None:
    decision = replicas(count, owned=there)
    keys = {desired.key for desired in decision.desired}
    going = [removal.resource for removal in decision.removals or ()]
    assert all(one.alive for one in going)
    assert not [one for one in going if one.state is State.READY and (one.tags or {})[KEY] in keys]


@given(_counts, _worlds)
def test_the_pace_never_lets_more_be_away_than_allowed(count: int, there: tuple[Resource, ...]) -> None:
    decision = replicas(count, owned=there)
    keys = {desired.key for desired in decision.desired}
    working = sum(one.state is State.READY and (one.tags or {})[KEY] in keys for one in there)
    assert decision.pace is not None
    assert 0 <= decision.pace.disruptions <= max(0, max(1, count // 10) - (count - working))


@settings(max_examples=50)
@given(_counts, _worlds)
def test_the_world_comes_to_rest(count: int, there: tuple[Resource, ...]) -> None:
    """Whatever is there: follow the decision, heal what is ill, and nothing more is wanted."""
    living = {one.id: resource(one.id) for one in there if one.alive}
    for _ in range(2):
        decision = replicas(count, owned=tuple(living.values()))
        for removal in decision.removals or ():
            del living[removal.resource.id]
        living |= {desired.key: living.get(desired.key, resource(desired.key)) for desired in decision.desired}
    assert len(living) == count
    assert not decision.removals
