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
from policies.action import Action, Outcome, Result, Verb, failed


@dataclass(frozen=True)
class _Begun:
    batch: Sequence[Action]
    task: Task
    future: Future[Any]


@dataclass(frozen=True)
class Acts:
    """Acts through a cloud, in a lane, until the run's time is `over`; each outcome is announced as it comes."""

    cloud: Cloud
    lane: Hashable
    over: Callable[[], bool]
    announce: Callable[[Outcome], None]

    def pipeline(self, actions: Sequence[Action]) -> Pipeline[tuple[Outcome, ...]]:
        """Creates in waves of 1, 2, 4, … that stop after one that failed; everything else at once, and meanwhile.

        The small first waves leave the pool idle, so what else there is fills it, and yet lets each next wave pass. In
        a lane creates take turns with the rest. A batch that is refused for the sake of one is begun anew in halves.
        """
        others = self.cloud.batches([action for action in actions if action.verb is not Verb.CREATE])
        waiting = [(action,) for action in actions if action.verb is Verb.CREATE]
        begun = yield from self._begin(others)
        told, made = list[Outcome](), list[Outcome]()
        size, failing = 1, False
        while waiting and not failing:
            wave, waiting = waiting[:size], waiting[size:]
            tasks = [Task(partial(self._perform, one), lane=self.lane, turn="create") for one in wave]
            done, _ = self._outcomes(zip(wave, (yield tasks), strict=True))
            made += done
            ready = {place for place, one in enumerate(begun) if one.future.done()}
            some, halves = self._outcomes((begun[place].batch, begun[place].future) for place in ready)
            told += some
            begun = [one for place, one in enumerate(begun) if place not in ready]
            begun += yield from self._begin(halves)
            size, failing = size * 2, any(one.result is Result.FAILED for one in done)
        while begun:
            yield [one.task for one in begun]
            some, halves = self._outcomes((one.batch, one.future) for one in begun)
            told += some
            begun = yield from self._begin(halves)
        reason = "an earlier create of this run failed; the next run goes on"
        return (*told, *made, *(Outcome(action, Result.UNVISITED, reason) for (action,) in waiting))

    def _begin(self, batches: Sequence[Sequence[Action]]) -> Pipeline[list[_Begun]]:
        """Without waiting for them."""
        tasks = [Task(partial(self._perform, batch), object(), self.lane or Roomy(batch[0].scope)) for batch in batches]
        futures = yield [replace(task, awaited=False) for task in tasks]
        return list(map(_Begun, batches, tasks, futures))

    def _perform(self, batch: Sequence[Action]) -> Sequence[Outcome | None]:
        if self.over():
            reason = "the run's time was over; the next run goes on"
            return [Outcome(action, Result.UNVISITED, reason) for action in batch]
        return self.cloud.act(batch, self.over)

    def _outcomes(
        self, done: Iterable[tuple[Sequence[Action], Future[Any]]]
    ) -> tuple[list[Outcome], list[Sequence[Action]]]:
        """What came of all these, and the halves of what is to be begun anew."""
        told, halves = list[Outcome](), list[Sequence[Action]]()
        for batch, future in done:
            error = future.exception()
            results = future.result() if error is None else [failed(action, error) for action in batch]
            for one in filter(None, results):
                told.append(one)
                self.announce(one)
            anew = [action for action, one in zip(batch, results, strict=True) if one is None]
            middle = len(anew) // 2
            halves += filter(None, (anew[:middle], anew[middle:]))
        return told, halves
