"""Enforce: declared properties on what is matched, and nothing else ever."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.claim import claim_of
from policies.document import Policy
from policies.frozen import freeze
from policies.world import Observation, Resource, State
from tests.strategies.given import NOW, agents, decide, mistakes, policy, resource

ALL = {"namePrefix": ""}


def enforce(**properties: Any) -> Policy:
    return policy({"type": "Test::Agent", "match": ALL, "properties": properties}, type="enforce")


def agent(name: str, state: State = State.READY, **properties: Any) -> Resource:
    found = {"AgentName": name, **properties}
    return resource(
        name, state, type="Test::Agent", name=name, properties=freeze(found), facts=freeze({"Waiting": 7, "Old": None})
    )


def test_every_matched_resource_should_have_the_declared_properties() -> None:
    decision = decide(enforce(Size=3), [agent("b", Size=1), agent("a", Size=3, Note="mine")])
    assert [(one.of, one.name, dict(one.properties)) for one in decision.desired] == [
        ("a", "a", {"Size": 3}),
        ("b", "b", {"Size": 3}),
    ]
    assert (decision.removals, decision.troubles, decision.hold) == ((), (), None)


@pytest.mark.parametrize(
    ("declared", "rendered"),
    [
        ({"Note": "${match.AgentName}"}, {"Note": "a"}),
        ({"Note": "of ${match.Size} in ${region}"}, {"Note": "of 1 in eu-central-1"}),
        ({"Size": "${match.Waiting}"}, {"Size": 7}),
        ({"Note": "${match.tags.setpoint:key}"}, {"Note": "a"}),
        ({"Note": None}, {"Note": None}),
    ],
)
def test_what_the_resource_says_of_itself_fills_placeholders(declared: Any, rendered: Any) -> None:
    (desired,) = decide(enforce(**declared), [agent("a", Size=1)]).desired
    assert dict(desired.properties) == rendered


def test_declared_tags_are_wanted_as_tags() -> None:
    (desired,) = decide(enforce(Tags=[{"Key": "team", "Value": "${match.Name}"}]), [agent("a")]).desired
    assert (dict(desired.tags), dict(desired.properties)) == ({"team": "a"}, {})


def test_one_that_does_not_fit_is_named_and_the_others_go_on() -> None:
    decision = decide(enforce(Note="${match.Note}"), [agent("a"), agent("b", Note="x")])
    assert [one.of for one in decision.desired] == ["b"]
    assert [(one.condition, one.reason, one.message) for one in decision.troubles] == [
        ("Degraded", "Unfit", "a: ${match.Note} has no value here")
    ]


def test_one_that_could_not_be_read_is_no_mistake_of_the_policy() -> None:
    built = enforce(Note="${match.Note}")
    seen = Observation((resource("a", type="Test::Agent", name="a"),), unread=frozenset({"a"}))
    assert built.strategy.decide(built.blueprint, seen, NOW).troubles == ()


def test_what_is_on_its_way_out_is_left_alone() -> None:
    assert decide(enforce(Size=3), [agent("a", State.DELETING), agent("b", State.DEAD)]).desired == ()


def test_it_works_on_what_exists_only() -> None:
    (problem,) = mistakes(agents("agent"), type="enforce")
    assert problem == "resource: strategy 'enforce' works on existing resources: say which ones with 'match'"


def scheduled(**words: Any) -> dict[str, Any]:
    window = {"from": "08:00", "to": "18:00", "value": {"Size": 3}}
    return {"type": "schedule", "timezone": "UTC", "windows": [window], "otherwise": {"Size": 0}, **words}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"otherwise": 3}, "strategy.set.otherwise: found 3; allowed: an object"),
        ({"timezone": "Mars"}, "strategy.set.timezone: 'Mars' is no IANA time zone"),
        ({"windows": []}, "strategy.set.windows: found an empty list; allowed: at least one"),
        ({"type": "band"}, "strategy.set.type: found 'band'; allowed: 'schedule'"),
        ({"otherwise": {"Siz": 3}}, "strategy.set.otherwise.Siz: unknown key 'Siz'; did you mean 'Size'?"),
        ({"otherwise": {"Size": "3"}}, "strategy.set.otherwise.Size: found '3'; allowed: a whole number"),
        ({"otherwise": {"AgentName": "a"}}, "strategy.set.otherwise.AgentName: AgentName is create-only"),
        ({"otherwise": {"Secret": "a"}}, "strategy.set.otherwise.Secret: Secret is write-only"),
        ({"otherwise": {"Note": "${item}"}}, "strategy.set.otherwise.Note: unknown placeholder ${item}"),
    ],
)
def test_mistakes_in_a_schedule(words: Any, problem: str) -> None:
    section = {"type": "Test::Agent", "match": ALL}
    (found,) = mistakes(section, type="enforce", set=scheduled(**words))
    assert found.startswith(problem)


HOURS = {"days": ["mon"], "from": "08:00", "to": "18:00", "value": {"Size": 3, "Note": "day of ${match.Name}"}}


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("UTC", {"Size": 3, "Note": "day of a"}),  # it is Monday, nine o'clock
        ("America/New_York", {"Size": 0, "Note": "fixed"}),  # and four in the morning there
        ("Asia/Tokyo", {"Size": 0, "Note": "fixed"}),
    ],
)
def test_what_the_schedule_says_now_is_merged_over_the_declared(zone: str, expected: Any) -> None:
    section = {"type": "Test::Agent", "match": ALL, "properties": {"Note": "fixed", "Size": 9}}
    built = policy(section, type="enforce", set=scheduled(timezone=zone, windows=[HOURS]))
    (desired,) = decide(built, [agent("a")]).desired
    assert dict(desired.properties) == expected


def test_what_one_window_does_not_name_is_left_as_it_is_in_it() -> None:
    built = policy(
        {"type": "Test::Agent", "match": ALL}, type="enforce", set=scheduled(otherwise={}, timezone="Asia/Tokyo")
    )
    (desired,) = decide(built, [agent("a", Size=1)]).desired
    assert dict(desired.properties) == {}


def test_every_window_is_claimed_at_all_times() -> None:
    built = policy({"type": "Test::Agent", "match": ALL}, type="enforce", set=scheduled(windows=[HOURS]))
    assert claim_of(0, built).leaves == {("Size",), ("Note",)}


_agents = st.dictionaries(
    st.sampled_from("abcdef"), st.tuples(st.sampled_from(list(State)), st.integers(0, 9)), max_size=6
).map(lambda found: [agent(name, state, Size=size) for name, (state, size) in found.items()])


@given(_agents, st.randoms(use_true_random=False))
def test_order_does_not_matter_twice_is_once_and_nothing_is_ever_removed(there: list[Resource], random: Any) -> None:
    shuffled = list(there)
    random.shuffle(shuffled)
    built = enforce(Size=3)
    decision = decide(built, there)
    assert decision == decide(built, there) == decide(built, shuffled)
    assert decision.removals == ()
    assert {one.of for one in decision.desired} <= {one.id for one in there}
