"""Scale: one property of every matched resource at a number that moves, and nothing where the number holds."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.claim import claim_of
from policies.document import Policy
from policies.frozen import freeze
from policies.numbers.metric import Failed, Series
from policies.strategy import Decision
from policies.world import Observation, Resource, State
from tests.numbers.given import METRIC, steady
from tests.strategies.given import NOW, agents, mistakes, policy

SECTION = {"type": "Test::Agent", "match": {"namePrefix": ""}}
HOURS = {
    "type": "schedule",
    "timezone": "UTC",
    "windows": [{"from": "08:00", "to": "18:00", "value": 7}],
    "otherwise": 2,
}
LOAD = {"type": "target", "load": METRIC, "perUnit": 100, "min": 0, "max": 50}
EACH = {**LOAD, "load": {**METRIC, "dimensions": {"Agent": "${match.AgentName}"}}}
STRANGE = {**LOAD, "load": {**METRIC, "dimensions": {"A": "${match.Nme}"}}}


def scale(to: Any, section: Any = None, **words: Any) -> Policy:
    return policy(section or SECTION, type="scale", property="Size", to=to, **words)


def agent(name: str, size: int | None = 3, state: State = State.READY, read: bool = True) -> Resource:
    found = {"AgentName": name, **({} if size is None else {"Size": size})}
    return Resource("Test::Agent", name, name, tags=freeze({}), state=state, properties=freeze(found) if read else None)


def decide(built: Policy, *there: Resource, answers: Any = None, **words: Any) -> Decision:
    seen = Observation(there, signals=answers or {}, **words)
    return built.strategy.decide(built.blueprint, seen, NOW)


def wanted(decision: Decision) -> dict[str | None, Any]:
    return {one.of: dict(one.properties) for one in decision.desired}


@pytest.mark.parametrize(("to", "value"), [(5, 5), (HOURS, 7), (0, 0)])
def test_every_matched_resource_is_brought_to_the_number(to: Any, value: int) -> None:
    assert wanted(decide(scale(to), agent("a"), agent("b", 9))) == {"a": {"Size": value}, "b": {"Size": value}}


def test_other_declared_properties_are_kept_along() -> None:
    built = scale(HOURS, {**SECTION, "properties": {"Note": "of ${match.Name}"}})
    assert wanted(decide(built, agent("a"))) == {"a": {"Note": "of a", "Size": 7}}


def test_one_metric_for_all() -> None:
    built = scale(LOAD)
    (query,) = built.strategy.signals()
    answers = {query.signal_key: steady(1_000)}
    assert wanted(decide(built, agent("a"), agent("b", 20), answers=answers)) == {"a": {"Size": 10}, "b": {"Size": 10}}
    assert list(built.strategy.signals_of(agent("a"))) == []


def test_a_metric_for_each() -> None:
    built, one, two = scale(EACH), agent("a"), agent("b")
    queries = {name: built.strategy.signals_of(there)[0] for name, there in (("a", one), ("b", two))}
    assert [query.metric.dimensions for query in queries.values()] == [{"Agent": "a"}, {"Agent": "b"}]
    answers = {queries["a"].signal_key: steady(900), queries["b"].signal_key: Failed("denied")}
    decision = decide(built, one, two, answers=answers)
    assert wanted(decision) == {"a": {"Size": 9}, "b": {}}
    (trouble,) = decision.troubles
    assert (trouble.condition, trouble.reason) == ("Degraded", "NumberHeld")
    assert trouble.message.startswith(
        "Size of b stays as it is: the metric could not be read: AWS/SQS Visible (Agent=b)"
    )


def test_missing_metrics_hold_without_an_alarm() -> None:
    built = scale(LOAD)
    (query,) = built.strategy.signals()
    decision = decide(built, agent("a"), answers={query.signal_key: Series()})
    assert [trouble.condition for trouble in decision.troubles] == ["Held"]
    assert wanted(decision) == {"a": {}}


def test_before_metrics_are_asked_for_nothing_moves() -> None:
    assert wanted(decide(scale(EACH), agent("a"))) == {"a": {}}


def test_a_band_moves_from_the_present_value_of_each() -> None:
    edge = {"for": "1m", "step": "50%", "cooldown": "1m"}
    up, down = {**edge, "above": 70}, {**edge, "below": 10}
    built = scale({"type": "band", "metric": METRIC, "min": 1, "max": 50, "up": up, "down": down})
    (query,) = built.strategy.signals()
    answers = {query.signal_key: steady(99)}
    assert wanted(decide(built, agent("a", 4), agent("b", 10), answers=answers)) == {
        "a": {"Size": 6},
        "b": {"Size": 15},
    }


@pytest.mark.parametrize(
    "one", [agent("a", read=False), agent("a", state=State.DELETING), agent("a", state=State.DEAD)]
)
def test_what_is_not_known_or_leaving_is_left_alone(one: Resource) -> None:
    assert wanted(decide(scale(HOURS), one)) == {}


def test_what_could_not_be_read_is_left_alone() -> None:
    assert wanted(decide(scale(HOURS), agent("a"), unread=frozenset({"a"}))) == {}


def test_a_value_that_the_service_does_not_show_is_unknown() -> None:
    built = scale(LOAD)
    (query,) = built.strategy.signals()
    assert wanted(decide(built, agent("a", None), answers={query.signal_key: steady(900)})) == {"a": {}}
    assert wanted(decide(scale(HOURS), agent("a", None))) == {"a": {"Size": 7}}


def test_a_dimension_that_has_no_value_is_told() -> None:
    built = scale({**LOAD, "load": {**METRIC, "dimensions": {"Note": "${match.Note}"}}})
    decision = decide(built, agent("a"))
    assert [trouble.message for trouble in decision.troubles] == ["a: ${match.Note} has no value here"]
    assert built.strategy.signals_of(agent("a")) == ()


def test_it_looks_every_run_unless_the_number_is_fixed() -> None:
    assert (scale(3).strategy.looks_every_run, scale(HOURS).strategy.looks_every_run) == (False, True)


def test_it_claims_its_property() -> None:
    assert claim_of(0, scale(3)).leaves == {("Size",)}


@pytest.mark.parametrize(
    ("section", "words", "problem"),
    [
        (SECTION, {"property": "Siz"}, "strategy.property: 'Siz' is no property of Test::Agent that can be"),
        (SECTION, {"property": "Waiting"}, "strategy.property: 'Waiting' is no property of Test::Agent that can be"),
        (SECTION, {"property": "AgentName"}, "strategy.property: AgentName is create-only"),
        (SECTION, {"property": "Secret"}, "strategy.property: Secret is write-only"),
        (SECTION, {"property": "Note"}, "strategy.property: Note cannot be 3: found 3; allowed: a text"),
        (SECTION, {"property": "Tags"}, "strategy.property: Tags cannot be 3: found 3; allowed: a list"),
        (SECTION, {"to": 901}, "strategy.property: Size cannot be 901: found 901; allowed: at most 900"),
        (SECTION, {"to": {**LOAD, "max": 1000}}, "strategy.property: Size cannot be 1000"),
        ({**SECTION, "properties": {"Size": 1}}, {}, "strategy.property: Size stands in resource.properties too"),
        (SECTION, {"to": STRANGE}, "strategy.to: unknown placeholder ${match.Nme}"),
        (agents("a"), {}, "resource: strategy 'scale' works on existing resources"),
    ],
)  # fmt: skip
def test_mistakes(section: Any, words: Any, problem: str) -> None:
    (found,) = mistakes(section, **{"type": "scale", "property": "Size", "to": 3, **words})
    assert found.startswith(problem)


_agents = st.dictionaries(
    st.sampled_from("abcdef"),
    st.tuples(st.sampled_from(list(State)), st.one_of(st.none(), st.integers(0, 60))),
    max_size=6,
).map(lambda found: [agent(name, size, state) for name, (state, size) in found.items()])


@given(_agents, st.randoms(), st.sampled_from([Series(), Failed("x"), steady(0), steady(700)]))
def test_order_does_not_matter_and_twice_is_once(there: list[Resource], mixer: random.Random, answer: Any) -> None:
    built, mixed = scale(LOAD), list(there)
    mixer.shuffle(mixed)
    answers = {query.signal_key: answer for query in built.strategy.signals()}
    decision = decide(built, *there, answers=answers)
    assert decision == decide(built, *there, answers=answers) == decide(built, *mixed, answers=answers)
    assert decision.removals == ()
