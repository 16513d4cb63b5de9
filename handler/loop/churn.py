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

_WROTE = frozenset({Result.DONE, Result.PARTIAL})

Correction = tuple[str, str, str, str]


@dataclass
class Churn:
    """What was corrected, and when."""

    _made: dict[Correction, list[datetime]] = field(default_factory=dict)

    def note(self, outcomes: Iterable[Outcome], now: datetime) -> Iterator[Trouble]:
        """Remember these corrections; a Trouble for each that was made three times within an hour."""
        for outcome in outcomes:
            if outcome.action.verb is Verb.UPDATE and outcome.result in _WROTE and outcome.action.change.differences:
                times = self._times(outcome.action, now)
                if len(times) >= TIMES:
                    what = ", ".join(map(str, outcome.action.change.differences))
                    message = f"{outcome.action.title}: {what} was corrected {len(times)} times within an hour"
                    advice = "somebody, or the service itself, keeps changing it back"
                    yield Trouble("Degraded", "NotConverging", f"{message}: {advice}")

    def _times(self, action: Action, now: datetime) -> list[datetime]:
        wanted = canonical_text([[one.path, one.after] for one in action.change.differences])
        key = (action.type, str(action.scope), action.seen.id if action.seen else action.key, wanted)
        times = [moment for moment in self._made.get(key, ()) if now - moment < WITHIN]
        self._made[key] = [*times, now]
        return self._made[key]
