"""The acts of one policy, as far as the guard lets them: in which order, and what came of each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from handler.loop.cloud import Cloud
from handler.loop.conductor import Pipeline, Task
from handler.loop.lanes import Roomy
from policies.action import Action, Outcome, Result, Verb
from policies.errors import ConflictError, ThrottledError, WaitError


@dataclass(frozen=True)
class Acts:
    """Acts through a cloud, in a lane, until the run's time is `over`; each outcome is announced as it comes."""

    cloud: Cloud
    lane: Hashable
    over: Callable[[], bool]
    announce: Callable[[Outcome], None]

    def pipeline(self, actions: Sequence[Action]) -> Pipeline[tuple[Outcome, ...]]:
        """Creates in batches of 1, 2, 4, … that stop after one that failed; everything else at once, and meanwhile.

        The small first batches leave the pool idle, so what else there is fills it, and yet lets each next batch pass.
        """
        others = [action for action in actions if action.verb is not Verb.CREATE]
        waiting = [action for action in actions if action.verb is Verb.CREATE]
        tasks = [self._task(action, Roomy(action.scope)) for action in others]
        begun = list(zip(others, (yield [replace(task, awaited=False) for task in tasks]), strict=True))
        told, made = list[Outcome](), list[Outcome]()
        size, failed = 1, False
        while waiting and not failed:
            batch, waiting = waiting[:size], waiting[size:]
            futures = yield [self._task(action) for action in batch]
            done = list(map(self._outcome, batch, futures))
            made += done
            told += (self._outcome(*one) for one in begun if one[1].done())
            begun = [one for one in begun if not one[1].done()]
            size, failed = size * 2, any(one.result is Result.FAILED for one in done)
        yield tasks
        told += (self._outcome(*one) for one in begun)
        reason = "an earlier create of this run failed; the next run goes on"
        return (*told, *made, *(Outcome(action, Result.UNVISITED, reason) for action in waiting))

    def _task(self, action: Action, lane: Hashable = None) -> Task:
        return Task(partial(self._perform, action), object(), self.lane or lane)

    def _perform(self, action: Action) -> Outcome:
        if self.over():
            return Outcome(action, Result.UNVISITED, "the run's time was over; the next run goes on")
        return self.cloud.act(action)

    def _outcome(self, action: Action, future: Any) -> Outcome:
        error = future.exception()
        outcome = future.result() if error is None else failure(action, error)
        self.announce(outcome)
        return outcome


def failure(action: Action, error: BaseException) -> Outcome:
    """An error as the outcome of its action; a crash is a crash."""
    if not isinstance(error, Exception):
        raise error
    for kind, result in (
        (WaitError, Result.WAITING),
        (ConflictError, Result.CONFLICT),
        (ThrottledError, Result.THROTTLED),
    ):
        if isinstance(error, kind):
            return Outcome(action, result, str(error), error)
    return Outcome(action, Result.FAILED, str(error), error)
