"""Runs many pipelines at once on one bounded pool: each waits only for what it asked for.

A pipeline is a generator: it yields a batch of tasks, gets their futures when all are done, and returns its result.
Only leaf tasks run on the pool, so pipelines never wait for each other inside it. Tasks with the same key run once.
With an inline executor everything happens in one order, again and again the same.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock
from typing import Any, TypeAlias, TypeVar

from handler.loop.lanes import Lanes

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do on the pool; tasks with the same key are done once and shared.

    Tasks of one `lane` wait for the same documented rate (`handler/loop/lanes.py`), where those of one pipeline and
    `turn` come one after the other, and others between them. One that is not `awaited` is only begun: whoever needs it
    asks for it again by its key, and what nobody asked for until the end is dropped.
    """

    call: Callable[[], Any]
    key: Hashable = None
    lane: Hashable = None
    awaited: bool = True
    turn: str = ""


Futures: TypeAlias = list["Future[Any]"]
Pipeline: TypeAlias = Generator[Sequence[Task], Futures, R]


class InlineExecutor(Executor):
    """One worker, this thread: makes a run replayable. A crash (BaseException) is a crash, not a result."""

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(call(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - what every executor does: the future holds it
            future.set_exception(error)
        return future


def conduct(pipelines: Sequence[Pipeline[R]], executor: Executor) -> list[R | Exception]:
    """Every pipeline's result, or the exception that ended it: this is the boundary of a policy."""
    return _Conductor(executor, len(pipelines)).run(pipelines)


class _Conductor:
    def __init__(self, executor: Executor, count: int) -> None:
        self._lanes = Lanes(executor)
        self._shared: dict[Hashable, Future[Any]] = {}
        self._begun: list[Future[Any]] = []
        self._done: SimpleQueue[tuple[int, Futures]] = SimpleQueue()
        self._results: list[Any] = [None] * count

    def run(self, pipelines: Sequence[Pipeline[R]]) -> list[R | Exception]:
        going = sum(self._step(place, pipeline, None) for place, pipeline in enumerate(pipelines))
        while going:
            place, futures = self._done.get()
            going -= not self._step(place, pipelines[place], futures)
        for future in self._begun:
            future.cancel()
        return self._results

    def _step(self, place: int, pipeline: Pipeline[R], futures: Futures | None) -> bool:
        """Resume one pipeline up to its next batch; False when it has ended."""
        try:
            tasks = next(pipeline) if futures is None else pipeline.send(futures)
        except StopIteration as end:
            self._results[place] = end.value
            return False
        except Exception as error:  # noqa: BLE001 - the one place: the others go on, the run raises it at its end
            self._results[place] = error
            return False
        self._submit(place, tasks)
        return True

    def _submit(self, place: int, tasks: Sequence[Task]) -> None:
        futures = [self._future(place, task) for task in tasks]
        awaited = [future for task, future in zip(tasks, futures, strict=True) if task.awaited]
        self._begun += (future for task, future in zip(tasks, futures, strict=True) if not task.awaited)
        countdown = _Countdown(len(awaited) + 1, lambda: self._done.put((place, futures)))
        for future in awaited:
            future.add_done_callback(countdown)
        countdown()

    def _future(self, place: int, task: Task) -> Future[Any]:
        if task.key is None:
            return self._lanes.submit(task.call, task.lane, (place, task.turn))
        if task.key not in self._shared:
            self._shared[task.key] = self._lanes.submit(task.call, task.lane, (place, task.turn))
        return self._shared[task.key]


class _Countdown:
    """Calls `then` once it has been called so many times, from whichever threads."""

    def __init__(self, times: int, then: Callable[[], None]) -> None:
        self._left, self._then, self._lock = times, then, Lock()

    def __call__(self, _: object = None) -> None:
        with self._lock:
            self._left -= 1
            last = self._left == 0
        if last:
            self._then()
