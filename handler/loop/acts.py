"""The acts of one policy, as far as the guard lets them: in which order, and what came of each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from handler.loop.cloud import Cloud
from handler.loop.conductor import Pipeline, Task
from handler.loop.lanes import Roomy
from policies.action import Action, Outcome, Result, Verb
from policies.errors import ConflictError, SetpointError, ThrottledError, WaitError


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
        others = self.cloud.parts([action for action in actions if action.verb is not Verb.CREATE])
        waiting = [(action,) for action in actions if action.verb is Verb.CREATE]
        tasks = [self._task(part, Roomy(part[0].scope)) for part in others]
        begun = list(zip(others, (yield [replace(task, awaited=False) for task in tasks]), strict=True))
        told, made = list[Outcome](), list[Outcome]()
        size, failed = 1, False
        while waiting and not failed:
            batch, waiting = waiting[:size], waiting[size:]
            done = self._outcomes(zip(batch, (yield list(map(self._task, batch))), strict=True))
            made += done
            told += self._outcomes(one for one in begun if one[1].done())
            begun = [one for one in begun if not one[1].done()]
            size, failed = size * 2, any(one.result is Result.FAILED for one in done)
        yield tasks
        told += self._outcomes(begun)
        reason = "an earlier create of this run failed; the next run goes on"
        return (*told, *made, *(Outcome(action, Result.UNVISITED, reason) for (action,) in waiting))

    def _task(self, part: Sequence[Action], lane: Hashable = None) -> Task:
        return Task(partial(self._perform, part), object(), self.lane or lane)

    def _perform(self, part: Sequence[Action]) -> Sequence[Outcome | SetpointError]:
        if self.over():
            reason = "the run's time was over; the next run goes on"
            return [Outcome(action, Result.UNVISITED, reason) for action in part]
        return self.cloud.act(part)

    def _outcomes(self, done: Iterable[tuple[Sequence[Action], Future[Any]]]) -> list[Outcome]:
        told = []
        for part, future in done:
            error = future.exception()
            for action, result in zip(part, [error] * len(part) if error else future.result(), strict=True):
                told.append(outcome_of(action, result))
                self.announce(told[-1])
        return told


def outcome_of(action: Action, result: Outcome | BaseException) -> Outcome:
    """What came of an action, or its error as its outcome; a crash is a crash."""
    if isinstance(result, Outcome):
        return result
    if not isinstance(result, Exception):
        raise result
    for kind, word in (
        (WaitError, Result.WAITING),
        (ConflictError, Result.CONFLICT),
        (ThrottledError, Result.THROTTLED),
    ):
        if isinstance(result, kind):
            return Outcome(action, word, str(result), result)
    return Outcome(action, Result.FAILED, str(result), result)
