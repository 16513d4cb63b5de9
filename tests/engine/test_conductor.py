"""Many pipelines on one bounded pool: each waits only for what it asked for, and none for another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.loop.conductor import InlineExecutor, Pipeline, Task, conduct

EXECUTORS: dict[str, Callable[[], Executor]] = {
    "inline": InlineExecutor,
    "one worker": lambda: ThreadPoolExecutor(1),
    "eight workers": lambda: ThreadPoolExecutor(8),
}


@pytest.fixture(params=EXECUTORS.values(), ids=EXECUTORS.keys())
def executor(request: Any) -> Iterator[Executor]:
    with request.param() as made:
        yield made


class Mishap(Exception):
    pass


class Crash(BaseException):
    pass


def fail(error: BaseException) -> Any:
    raise error


def asking(*batches: Sequence[Task]) -> Pipeline[list[Any]]:
    """Asks for each batch in turn, and returns everything that came of them."""
    found = []
    for batch in batches:
        futures = yield batch
        found += [future.result() for future in futures]
    return found


def number(value: int) -> Task:
    return Task(lambda: value)


def test_every_pipeline_gets_the_results_of_its_own_tasks_in_order(executor: Executor) -> None:
    pipelines = [asking([number(n), number(n + 1)], [number(n + 2)]) for n in range(0, 90, 3)]
    assert conduct(pipelines, executor) == [[n, n + 1, n + 2] for n in range(0, 90, 3)]


def test_a_pipeline_may_ask_for_nothing(executor: Executor) -> None:
    assert conduct([asking(), asking([]), asking([], [number(1)])], executor) == [[], [], [1]]
    assert conduct([], executor) == []


def test_tasks_with_one_key_run_once_and_everybody_gets_the_answer(executor: Executor) -> None:
    runs: list[str] = []

    def look(what: str) -> str:
        time.sleep(0.001)
        runs.append(what)
        return what

    shared = [asking([Task(lambda: look("queues"), "queues"), Task(lambda: look("alone"))]) for _ in range(12)]
    assert conduct(shared, executor) == [["queues", "alone"]] * 12
    assert (runs.count("queues"), runs.count("alone")) == (1, 12)


def test_a_shared_task_that_fails_fails_for_everybody_who_asked_and_runs_once(executor: Executor) -> None:
    runs: list[int] = []

    def broken() -> None:
        runs.append(1)
        raise Mishap("no answer")

    found = conduct([*(asking([Task(broken, "k")]) for _ in range(4)), asking([number(7)])], executor)
    assert [str(one) for one in found[:4]] == ["no answer"] * 4
    assert (found[4], len(runs)) == ([7], 1)


def test_an_exception_ends_its_own_pipeline_and_nothing_else(executor: Executor) -> None:
    def breaks_itself() -> Pipeline[list[Any]]:
        yield [number(1)]
        raise Mishap("in the middle")

    found = conduct(
        [asking([number(1)]), breaks_itself(), asking([Task(lambda: fail(Mishap("in a task")))]), asking([number(2)])],
        executor,
    )
    assert (found[0], found[3]) == ([1], [2])
    assert [(type(one), str(one)) for one in found[1:3]] == [(Mishap, "in the middle"), (Mishap, "in a task")]


def test_a_pipeline_may_live_with_the_failure_of_a_task(executor: Executor) -> None:
    def patient() -> Pipeline[Any]:
        bad, good = yield [Task(lambda: fail(Mishap("unknown"))), number(2)]
        return str(bad.exception()), good.result()

    assert conduct([patient()], executor) == [("unknown", 2)]


@pytest.mark.parametrize("make", EXECUTORS.values(), ids=EXECUTORS.keys())
def test_a_crash_is_a_crash(make: Callable[[], Executor]) -> None:
    with make() as executor, pytest.raises(Crash):
        conduct([asking([Task(lambda: fail(Crash()))]), asking([number(1)])], executor)


def test_one_worker_never_waits_for_itself() -> None:
    """Pipelines that share, in long chains and wide batches: only leaf tasks are ever on the pool."""
    chain = [[Task(lambda: 1, f"k{step}"), *(number(n) for n in range(5))] for step in range(20)]
    done: list[Any] = []
    with ThreadPoolExecutor(1) as executor:
        thread = threading.Thread(
            target=lambda: done.append(conduct([asking(*chain) for _ in range(20)], executor)), daemon=True
        )
        thread.start()
        thread.join(timeout=10)
        assert done, "deadlock"
    assert len(done[0]) == 20


def test_tasks_of_one_batch_run_side_by_side_on_a_pool() -> None:
    meeting = threading.Barrier(4, timeout=5)
    with ThreadPoolExecutor(4) as executor:
        (found,) = conduct([asking([Task(lambda: meeting.wait() >= 0) for _ in range(4)])], executor)
    assert found == [True] * 4


def test_a_slow_pipeline_holds_up_nobody() -> None:
    gate, order = threading.Event(), []

    def noting(name: str, *batches: Sequence[Task]) -> Pipeline[None]:
        yield from asking(*batches)
        order.append(name)

    quick = [[number(1)], [number(2)], [Task(gate.set)]]
    with ThreadPoolExecutor(2) as executor:
        conduct([noting("slow", [Task(lambda: gate.wait(5))]), noting("quick", *quick)], executor)
    assert gate.is_set()
    assert sorted(order) == ["quick", "slow"]


_batches = st.lists(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.booleans()), max_size=4), max_size=3)


@given(st.lists(_batches, max_size=5))
def test_a_pool_and_one_inline_worker_give_the_same(plans: list[Any]) -> None:
    def task(value: int, shared: bool, broken: bool) -> Task:
        def call() -> int:
            return fail(Mishap(str(value))) if broken else value  # type: ignore[no-any-return]

        return Task(call, (value, broken) if shared else None)

    def results(executor: Executor) -> list[str]:
        pipelines = [asking(*([task(*one) for one in batch] for batch in plan)) for plan in plans]
        return [repr(one) for one in conduct(pipelines, executor)]

    with ThreadPoolExecutor(3) as pool:
        assert results(pool) == results(InlineExecutor()) == results(InlineExecutor())


def test_what_is_not_awaited_holds_up_nobody_and_its_key_finds_it() -> None:
    gate = threading.Event()

    def patient() -> Pipeline[Any]:
        slow = Task(lambda: gate.wait(5), "slow")
        begun, quick = yield [replace(slow, awaited=False), number(1)]
        early = begun.done()
        gate.set()
        (found,) = yield [slow]
        return early, quick.result(), found is begun, found.result()

    with ThreadPoolExecutor(2) as executor:
        assert conduct([patient()], executor) == [(False, 1, True, True)]


def test_what_nobody_asked_for_until_the_end_is_dropped() -> None:
    runs, gate = [], threading.Event()

    def hasty() -> Pipeline[int]:
        yield [Task(gate.wait, awaited=False), *(Task(lambda: runs.append(1), awaited=False) for _ in range(9))]
        return 1

    with ThreadPoolExecutor(1) as executor:
        assert conduct([hasty()], executor) == [1]
        gate.set()
    assert runs == []


def test_the_failure_of_what_is_not_awaited_is_nobodys(executor: Executor) -> None:
    assert conduct([asking([number(1)]), _begins(lambda: fail(Mishap()))], executor) == [[1], None]


def _begins(call: Callable[[], Any]) -> Pipeline[None]:
    yield [Task(call, awaited=False)]
