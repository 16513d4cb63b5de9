"""Takes tasks to the pool. Those of one lane go a few at a time, and the pipelines that use it take turns.

A lane is what waits for one documented rate. A task that waits for its turn there keeps a thread of the pool, so a lane
gets few of them: whoever does not need it goes on, and a policy with a thousand changes does not starve one with two.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future
from threading import Lock
from typing import Any

WIDTH = 3
"""Threads of one lane. The fastest documented rate, 20 calls a second, takes one and a half at 75 ms a call."""

Job = tuple[Callable[[], Any], "Future[Any]"]


class Lanes:
    """All lanes of one run."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._lanes: dict[Hashable, _Lane] = {}

    def submit(self, call: Callable[[], Any], lane: Hashable, whose: int) -> Future[Any]:
        """The future of a call; `lane` None: at once. Only one thread submits."""
        if lane is None:
            return self._executor.submit(call)
        if lane not in self._lanes:
            self._lanes[lane] = _Lane(self._executor)
        return self._lanes[lane].submit(call, whose)


class _Lane:
    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._waiting: dict[int, deque[Job]] = {}
        self._runners = 0
        self._lock = Lock()

    def submit(self, call: Callable[[], Any], whose: int) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            self._waiting.setdefault(whose, deque()).append((call, future))
            more = self._runners < WIDTH
            self._runners += more
        if more:
            self._executor.submit(self._run)
        return future

    def _run(self) -> None:
        """Work in one thread of the pool until nothing is left."""
        while (job := self._next()) is not None:
            call, future = job
            try:
                result = call()
            except Exception as error:  # noqa: BLE001 - what every executor does: the future holds it
                future.set_exception(error)
            except BaseException as crash:
                future.set_exception(crash)
                raise
            else:
                future.set_result(result)

    def _next(self) -> Job | None:
        """The next job of whoever has waited longest; None, and one runner fewer, where there is none."""
        with self._lock:
            if not self._waiting:
                self._runners -= 1
                return None
            whose = next(iter(self._waiting))
            jobs = self._waiting.pop(whose)
            job = jobs.popleft()
            if jobs:
                self._waiting[whose] = jobs
            return job
