"""Notices that the same correction is made again and again: the service, or somebody, undoes it every time.

The only thing that a warm process remembers of the past. It decides nothing and may be forgotten: a difference that
never converges is corrected all the same, but it no longer looks like health.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from policies.action import Action, Outcome, Result, Trouble, Verb
from policies.frozen import canonical_text

WITHIN = timedelta(hours=1)
TIMES = 3
PATIENCE = 20
"""Runs that wait for the same thing before it looks like a mistake: most of what AWS prepares is ready sooner."""

_WROTE = frozenset({Result.DONE, Result.PARTIAL})

Correction = tuple[str, str, str, str]


@dataclass
class Churn:
    """What was corrected, and when."""

    _made: dict[Correction, list[datetime]] = field(default_factory=dict)

    def note(self, outcomes: Iterable[Outcome], now: datetime) -> Iterator[Trouble]:
        """Remember these outcomes; a Trouble for each correction that was made three times within an hour.

        And for each wait that lasts: what is missing may be misspelt, and would be waited for in green for ever.
        """
        outcomes = tuple(outcomes)
        yield from self._waits(outcomes, now)
        for outcome in outcomes:
            if outcome.action.verb is Verb.UPDATE and outcome.result in _WROTE and outcome.action.change.differences:
                wanted = canonical_text([[one.path, one.after] for one in outcome.action.change.differences])
                times = self._times(outcome.action, wanted, now)
                if len(times) >= TIMES:
                    what = ", ".join(map(str, outcome.action.change.differences))
                    message = f"{outcome.action.title}: {what} was corrected {len(times)} times within an hour"
                    advice = "somebody, or the service itself, keeps changing it back"
                    yield Trouble("Degraded", "NotConverging", f"{message}: {advice}")

    def _waits(self, outcomes: Iterable[Outcome], now: datetime) -> Iterator[Trouble]:
        for outcome in outcomes:
            if outcome.result is Result.WAITING and outcome.error is not None:
                times = self._times(outcome.action, str(outcome.error), now)
                if len(times) >= PATIENCE:
                    message = f"{outcome.action.title} waited {len(times)} times within an hour: {outcome.message}"
                    yield Trouble("Degraded", "StillWaiting", f"{message}; is what it refers to spelt right?")

    def _times(self, action: Action, what: str, now: datetime) -> list[datetime]:
        key = (action.type, str(action.scope), action.seen.id if action.seen else action.key, what)
        times = [moment for moment in self._made.get(key, ()) if now - moment < WITHIN]
        self._made[key] = [*times, now]
        return self._made[key]
