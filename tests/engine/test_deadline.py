"""When the run's time is up nothing more begins; what was not visited is told, and nobody starves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from handler.loop.run import rotate
from tests.engine.given import NOW, document, names, policy_of, queues, run
from tests.world import World

MANY = {"main": document(*(queues("a", name=f"p{place}", stem=f"s{place}") for place in range(5)))}


def after(calls: int, world: World) -> Callable[[], bool]:
    """The time is up once so many writes were made."""
    return lambda: len(world.calls(mutating=True)) >= calls


def test_a_run_without_time_touches_nothing_and_says_so(world: World) -> None:
    told = run(world, MANY, over=lambda: True)
    assert (world.history, world.resources()) == ([], {})
    for place in range(5):
        assert told.of(f"p{place}").unvisited
        assert told.true(f"p{place}") == {"Progressing"}
        assert "the run's time was over" in told.message(f"p{place}", "Progressing")
    assert not told.errors


def test_the_time_ends_in_the_middle_of_a_policy(world: World) -> None:
    told = run(world, {"main": document(queues(*"abcdefgh"))}, over=after(3, world))
    assert len(names(world)) == 3
    results = [line.rpartition(": ")[2] for line in told.done("queues")]
    assert (results.count("done"), results.count("unvisited")) == (3, 5)
    assert "Progressing" in told.true("queues")
    assert "the next run goes on" in told.message("queues", "Progressing")


def test_the_next_run_goes_on(world: World) -> None:
    documents = {"main": document(queues(*"abcdefgh"))}
    for step in (3, 6, 9):
        run(world, documents, over=after(step, world))
        world.advance(minutes=1)
    assert len(names(world)) == 8


def test_orphans_are_not_looked_for_when_the_time_is_up(world: World) -> None:
    assert run(world, MANY, over=lambda: True).report.orphans == ()


def test_nobody_starves(world: World) -> None:
    """With time for one write a minute, every policy gets its queue within as many minutes."""
    for minute in range(5):
        run(world, MANY, over=after(minute + 1, world))
        world.advance(minutes=1)
    assert names(world) == {f"s{place}-a" for place in range(5)}


@given(st.integers(1, 12), st.integers(0, 10**6))
def test_every_policy_is_first_once_in_as_many_minutes(count: int, minute: int) -> None:
    policies = [policy_of(queues("a")) for _ in range(count)]
    start = NOW + timedelta(minutes=minute)
    orders = [rotate(policies, start + timedelta(minutes=place)) for place in range(count)]
    assert {id(order[0]) for order in orders} == {id(one) for one in policies}
    assert all({id(one) for one in order} == {id(one) for one in policies} for order in orders)


def test_no_policies_rotate_to_none() -> None:
    assert rotate([], NOW) == []
