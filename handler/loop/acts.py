"""The acts of one policy, as far as the guard lets them: in which order, and what came of each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from handler.loop.cloud import Cloud
from handler.loop.conductor import Pipeline, Task
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
        """Everything but creates at once; creates in batches of 1, 2, 4, … that stop after one that failed."""
        creates = [action for action in actions if action.verb is Verb.CREATE]
        batch = [action for action in actions if action.verb is not Verb.CREATE]
        outcomes: list[Outcome] = []
        size, failed = 1, False
        while batch or (creates and not failed):
            first, creates = creates[:size], creates[size:]
            batch += first
            futures = yield [Task(partial(self._perform, action), lane=self.lane) for action in batch]
            done = [self._outcome(action, future) for action, future in zip(batch, futures, strict=True)]
            outcomes += done
            failed = any(one.result is Result.FAILED and one.action.verb is Verb.CREATE for one in done)
            batch, size = [], size * 2
        reason = "an earlier create of this run failed; the next run goes on"
        outcomes += [Outcome(action, Result.UNVISITED, reason) for action in creates]
        return tuple(outcomes)

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
