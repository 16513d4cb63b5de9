"""One resource per item: which are wanted, which are spared, and what is said about the rest."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.action import Trouble
from policies.strategy import Decision
from tests.strategies.given import agents, decide, mistakes, policy, resource, wanted, workers

SSM = {"source": "ssmParameter", "name": "/tenants"}


def each(items: list[Any], section: dict[str, Any] | None = None, owned: str = "", **words: Any) -> Decision:
    built = policy(section or agents("agent-${item}"), type="forEach", items={**SSM, **words})
    return decide(built, [resource(key, type="Test::Agent", name=key) for key in owned.split()], items)


def test_without_items_there_is_exactly_one() -> None:
    decision = decide(policy(agents("agent", Size=3), type="forEach"))
    assert [(one.key, one.name, dict(one.properties)) for one in decision.desired] == [
        ("one", "agent", {"AgentName": "agent", "Size": 3})
    ]
    assert (decision.removals, decision.hold, decision.pace) == (None, None, None)


@pytest.mark.parametrize(
    ("items", "names", "said"),
    [
        (["acme"], ["agent-acme"], []),
        (["acme", "zeta"], ["agent-acme", "agent-zeta"], []),
        ([7], ["agent-7"], []),
        # what does not fit is reported and skipped, never cut
        (["acme", "no spaces"], ["agent-acme"], ["item 1 (\"no spaces\"): its text 'no spaces' does not match"]),
        (["acme", None], ["agent-acme"], ["item 1 (null): an item is a text, a whole number or an object"]),
        (["acme", "Zeta"], ["agent-acme"], ["item 1 (\"Zeta\"): AgentName: 'agent-Zeta' does not match"]),
        (["x" * 14, "x" * 15], ["agent-" + "x" * 14], [f'item 1 ("{"x" * 15}"): AgentName: \'agent-xxx']),
        # two with one identity: neither
        (["acme", "zeta", "acme"], ["agent-zeta"], ['item 0 ("acme"): 2 items have', 'item 2 ("acme"): 2 items have']),
        (["7", 7, "acme"], ["agent-acme"], ["item 0 (\"7\"): 2 items have the identity 'agent-7'", "item 1 (7): 2"]),
    ],
)
def test_what_is_wanted_of_items(items: list[Any], names: list[str], said: list[str]) -> None:
    decision = each(items)
    assert [desired.name for desired in decision.desired] == names
    assert all(isinstance(trouble, Trouble) and trouble.reason == "ItemSkipped" for trouble in decision.troubles)
    found = [trouble.message for trouble in decision.troubles]
    assert [message[: len(start)] for message, start in zip(found, said, strict=True)] == said


def test_what_two_items_fight_for_stays() -> None:
    decision = each(["acme", "acme", "zeta"], owned="agent-acme")
    assert decision.spared == {"agent-acme"}
    assert decision.removals is None


def test_fields_fill_properties_and_are_no_part_of_the_identity() -> None:
    section = agents("agent-${item.id}", Size="${item.size}")
    small, large = (each([{"id": "acme", "size": size}], section).desired for size in (1, 2))
    assert [one.name for one in small] == [one.name for one in large]
    assert [one.properties["Size"] for one in (*small, *large)] == [1, 2]


def test_a_field_of_the_wrong_type_skips_its_item() -> None:
    section = agents("agent-${item.id}", Size="${item.size}")
    decision = each([{"id": "acme", "size": "1"}, {"id": "zeta"}, {"id": "fine", "size": 1}], section)
    assert wanted(decision) == "agent-fine"
    assert [trouble.message.split(": ", 1)[1] for trouble in decision.troubles] == [
        "Size: found '1'; allowed: a whole number",
        "${item.size} has no value here",
    ]


def test_where_names_are_missing_the_key_tells_items_apart() -> None:
    items = [{"id": "acme", "image": "a"}, {"id": "zeta", "image": "a"}]
    decision = each(items, workers(Image="${item.image}"), key="id")
    assert [(one.key, one.name) for one in decision.desired] == [("acme", None), ("zeta", None)]


@pytest.mark.parametrize(
    ("items", "owned", "words", "held"),
    [
        ([], "agent-acme", {}, True),
        (["no spaces"], "agent-acme", {}, True),
        ([], "agent-acme", {"allowEmpty": True}, False),
        ([], "", {}, False),
        (["zeta"], "agent-acme", {}, False),
        (["Off"], "agent-acme", {"where": {"": "on"}}, True),
    ],
)
def test_an_empty_source_deletes_nothing_unless_told(items: list[Any], owned: str, words: Any, held: bool) -> None:
    decision = each(items, owned=owned, **words)
    assert (decision.hold is not None) == held
    assert decision.removals is None


def test_items_in_the_policy_are_judged_when_it_is_parsed() -> None:
    values = {"source": "list", "values": ["acme", "no spaces", "Zeta", "acme"]}
    assert [problem.split(": ")[0] for problem in mistakes(agents("agent-${item}"), type="forEach", items=values)] == [
        "strategy.items.values[0]",  # and the fourth: one mistake, told once
        "strategy.items.values[1]",
        "strategy.items.values[2]",
    ]


_items = st.lists(st.one_of(st.sampled_from(["a", "b", "c", "no spaces", "UP"]), st.integers(0, 3)), max_size=8)


@given(_items, st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter(items: list[Any], random: Any) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)
    one, other = each(items), each(shuffled)
    assert set(wanted(one).split()) == set(wanted(other).split())
    assert (one.spared, one.hold, len(one.troubles)) == (other.spared, other.hold, len(other.troubles))


@given(_items)
def test_deciding_twice_is_deciding_once_and_every_item_is_wanted_or_told(items: list[Any]) -> None:
    decision = each(items)
    assert decision == each(items)
    assert len(decision.desired) + len(decision.troubles) == len(items)
    assert len(set(wanted(decision).split())) == len(decision.desired)
