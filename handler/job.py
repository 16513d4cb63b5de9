"""One run of a command that acts: what came of it so far, and what is told when it is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from handler.command import INTERRUPTED
from handler.compose import Setpoint
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport
from handler.records import head, outcome_record
from handler.terminal import say, show_json, show_outcome, spinning
from policies.action import Outcome, Result

OK, FAILED = 0, 1


@dataclass
class Witness:
    """What came of every act so far, and which of it was shown: what an interrupted run can still tell."""

    heard: list[Outcome] = field(default_factory=list)
    _shown: set[int] = field(default_factory=set)

    def hear(self, outcome: Outcome) -> None:
        self.heard.append(outcome)

    def show(self, outcome: Outcome) -> None:
        self._shown.add(id(outcome.action))
        show_outcome(outcome)

    def show_rest(self) -> None:
        for outcome in self.heard:
            if id(outcome.action) not in self._shown:
                self.show(outcome)


@dataclass(frozen=True)
class Job:
    """One run of one command: with what, when, and how it is told."""

    setpoint: Setpoint
    witness: Witness
    now: datetime
    as_json: bool

    def moment(self, stop: str | None, *, thorough: bool = True) -> Moment:
        moment = Moment(self.now, stop=stop, thorough=thorough)
        return moment if self.as_json else replace(moment, announce=self.witness.show)


def interruptible(job: Job, body: Callable[[], int], kind: str = "SetpointRun") -> int:
    """On Ctrl-C nothing more begins, what is under way ends, and all that was done is told. (Again: it is left.)"""
    try:
        return body()
    except KeyboardInterrupt:
        with spinning("ending what is under way ..."):
            job.setpoint.executor.shutdown(cancel_futures=True)
    heard = job.witness.heard
    done = sum(one.result in (Result.DONE, Result.PARTIAL) for one in heard)
    told = f"Interrupted: {done} done; what was under way may have happened; the next run goes on."
    if job.as_json:
        start = head(kind, job.now, job.setpoint.vocabulary, job.setpoint.places)
        known = {"outcomes": [outcome_record(outcome) for outcome in heard], "errors": [{"message": told}]}
        show_json({**start, "ok": False, "interrupted": True, **known})
    else:
        job.witness.show_rest()
    say(told)
    return INTERRUPTED


def outcomes(report: RunReport) -> Iterator[Outcome]:
    for one in (*report.policies, *report.orphans):
        yield from one.outcomes
