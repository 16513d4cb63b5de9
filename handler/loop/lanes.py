"""Takes tasks to the pool. Those of one lane go a few at a time, and the pipelines that use it take turns.

A lane is what waits for one documented rate. A task that waits for its turn there keeps a thread of the pool, so a lane
gets few of them, and gives them back after each task: whoever does not need it goes on, and a policy with a thousand
changes does not starve one with two. What waits for no rate has a roomy lane where it has no hurry.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from threading import Lock
from typing import Any

WIDTH = 3
"""Tasks of one lane at a time. The fastest documented rate, 20 calls a second, takes one and a half at 75 ms a call."""

ROOMY = 20
"""Tasks of a roomy lane at a time: nearly the whole pool, but whoever comes later need not wait until all are done."""


@dataclass(frozen=True, slots=True)
class Roomy:
    """A lane of what waits for no rate and has no hurry."""

    key: Hashable


Job = tuple[Callable[[], Any], "Future[Any]"]


class Lanes:
    """All lanes of one run."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._lanes: dict[Hashable, _Lane] = {}

    def submit(self, call: Callable[[], Any], lane: Hashable, whose: Hashable) -> Future[Any]:
        """The future of a call; `lane` None: at once. Only one thread submits."""
        if lane is None:
            return self._executor.submit(call)
        if lane not in self._lanes:
            self._lanes[lane] = _Lane(self._executor, ROOMY if isinstance(lane, Roomy) else WIDTH)
        return self._lanes[lane].submit(call, whose)


class _Lane:
    def __init__(self, executor: Executor, width: int) -> None:
        self._executor, self._width = executor, width
        self._waiting: dict[Hashable, deque[Job]] = {}
        self._runners = 0
        self._lock = Lock()

    def submit(self, call: Callable[[], Any], whose: Hashable) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            self._waiting.setdefault(whose, deque()).append((call, future))
            more = self._runners < self._width
            self._runners += more
        if more:
            self._executor.submit(self._run)
        return future

    def _run(self) -> None:
        """One job; then back to the end of the pool's queue, so that many lanes never shut out what has none."""
        call, future = self._next()
        try:
            if not future.set_running_or_notify_cancel():
                return
            result = call()
        except Exception as error:  # noqa: BLE001 - what every executor does: the future holds it
            future.set_exception(error)
        except BaseException as crash:
            future.set_exception(crash)
            raise
        else:
            future.set_result(result)
        finally:
            if self._goes_on():
                self._executor.submit(self._run)

    def _next(self) -> Job:
        """The next job of whoever has waited longest: there is one for every runner."""
        with self._lock:
            whose = next(iter(self._waiting))
            jobs = self._waiting.pop(whose)
            job = jobs.popleft()
            if jobs:
                self._waiting[whose] = jobs
            return job

    def _goes_on(self) -> bool:
        """Whether jobs are left for this runner; else there is one fewer."""
        with self._lock:
            left = sum(map(len, self._waiting.values()))
            more = left >= self._runners
            self._runners -= not more
            return more
