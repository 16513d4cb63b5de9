"""The commands that act: run, apply, orphans --delete. Each returns its exit code."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from handler import saved_plan
from handler.command import INTERRUPTED
from handler.compose import Setpoint
from handler.loop.fingerprint import fingerprint
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport, run_orphans
from handler.options import Settings
from handler.picture import held_picture, orphan_picture, run_summary, standing_picture
from handler.records import (
    Record,
    actions,
    document_errors,
    errors,
    head,
    kept_records,
    outcome_record,
    policy_record,
)
from handler.terminal import say, screen, show, show_error, show_errors, show_json, show_outcome, spinning
from handler.workbench import WHY_STOPPED, WrongOptionError, moment, opened, origin, stop_of
from policies.action import Outcome, Result
from policies.errors import RefusedError, SetpointError
from policies.estate import Estate
from policies.identity import rfc3339

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


def run(settings: Settings, places: Sequence[str], watch: bool, as_json: bool, at: str | None) -> int:
    """One run that compares everything, or one a minute that spreads its reads, until Ctrl-C."""
    if watch and at:
        raise WrongOptionError("found --watch and --at together; allowed: one of them, since --at stands still")
    now, witness = moment(at), Witness()
    if at is not None:
        say(f"This run acts as if it were {rfc3339(now)}.")
    with opened(settings, places, writable=True, hear=witness.hear) as setpoint:
        return _watch(setpoint, witness, as_json) if watch else _once(Job(setpoint, witness, now, as_json))


def _watch(setpoint: Setpoint, witness: Witness, as_json: bool) -> int:
    """What fails is told, and tried again in the next minute."""
    try:
        while True:
            witness.heard.clear()
            try:
                if _once(Job(setpoint, witness, datetime.now(UTC), as_json), thorough=False) == INTERRUPTED:
                    return INTERRUPTED
            except SetpointError as error:
                show_error(error, partial(origin, setpoint.places))
            time.sleep(60 - time.time() % 60)
    except KeyboardInterrupt:
        say("Stopped.")
        return INTERRUPTED


def _once(job: Job, *, thorough: bool = True) -> int:
    def body() -> int:
        with spinning("running ..."):
            shelf, estate = job.setpoint.load()
            report = job.setpoint.run(estate, job.moment(stop_of(shelf), thorough=thorough))
        return _tell(job, estate, report, stopped=shelf.stopped)

    return _interruptible(job, body)


def _interruptible(job: Job, body: Callable[[], int], kind: str = "SetpointRun") -> int:
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


def _tell(job: Job, estate: Estate, report: RunReport, *, stopped: bool = False) -> int:
    """All about a run but its outcomes, which were shown as they came; or, as JSON, everything."""
    wrong = list(errors(estate, report, partial(origin, job.setpoint.places)))
    if job.as_json:
        show_json(_record(job, report, wrong, stopped=stopped))
        return FAILED if wrong else OK
    held = [held for one in report.policies for held in one.guarded.held]
    show(held_picture(held))
    show(standing_picture(report))
    show([f"stopped: {WHY_STOPPED}"] if stopped else ())
    show_errors(wrong)
    screen().print(run_summary(report, len(wrong), stopped=stopped))
    return FAILED if wrong else OK


def outcomes(report: RunReport) -> Iterator[Outcome]:
    for one in (*report.policies, *report.orphans):
        yield from one.outcomes


def _record(job: Job, report: RunReport, wrong: Sequence[Record], *, stopped: bool) -> Record:
    everything = [*report.policies, *report.orphans]
    return {
        **head("SetpointRun", job.now, job.setpoint.vocabulary, job.setpoint.places),
        "ok": not wrong,
        "interrupted": False,
        "stopped": stopped,
        "outcomes": [outcome_record(outcome) for outcome in outcomes(report)],
        "held": [action for one in everything for action in actions(one) if action["state"] == "held"],
        "waiting": [action for one in everything for action in actions(one) if action["state"] == "waiting"],
        "kept": kept_records(report),
        "policies": [policy_record(one) for one in report.policies],
        "errors": list(wrong),
    }


def apply(settings: Settings, path: Path, as_json: bool) -> int:
    """Exactly what the saved plan says, held actions included; nothing where the world has moved."""
    saved, witness = saved_plan.read(path), Witness()
    with opened(_as_saved(settings, saved), saved.places, writable=True, hear=witness.hear) as setpoint:
        job = Job(setpoint, witness, moment(None), as_json)
        return _interruptible(job, lambda: _apply(job, saved))


def _apply(job: Job, saved: saved_plan.SavedPlan) -> int:
    setpoint, approved = job.setpoint, frozenset(saved.approved)
    with spinning("applying ..."):
        shelf, estate = setpoint.load()
        if shelf.stopped:
            raise RefusedError(f"nothing was done: {stop_of(shelf)}")
        dry = setpoint.run(estate, Moment(job.now, dry=True, thorough=True))
        saved_plan.check_same(saved, saved_plan.record(setpoint, shelf, dry, job.now, ()))
        report = setpoint.run(estate, replace(job.moment(None), approved=approved))
    code = _tell(job, estate, report)
    missed = approved - {fingerprint(outcome.action) for outcome in outcomes(report)}
    show_errors({"message": f"not done, since the world moved meanwhile: {saved.approved[one]}"} for one in missed)
    return FAILED if missed else code


def _approvable(report: RunReport) -> frozenset[str]:
    """The fingerprints of all that is planned and that no lock holds."""
    records = (record for one in report.orphans for record in actions(one))
    return frozenset(record["fingerprint"] for record in records if record.get("approvable", True))


def _as_saved(settings: Settings, saved: saved_plan.SavedPlan) -> Settings:
    return replace(
        settings,
        region=saved.region,
        controller=saved.controller,
        allow_role=saved.allowed_roles,
        allow_type=saved.allowed_types,
    )


def orphans(settings: Settings, places: Sequence[str], delete: bool, as_json: bool) -> int:
    """What nobody owns any more; with `delete`, its end.

    Proof, grace, protection and holds are those of any removal. Limits of number are not: what was shown was meant.
    """
    witness = Witness()
    with opened(settings, places, writable=delete, hear=witness.hear) as setpoint:
        job = Job(setpoint, witness, moment(None), as_json)
        return _interruptible(job, lambda: _orphans(job, delete), "SetpointOrphans")


def _orphans(job: Job, delete: bool) -> int:
    setpoint, places, as_json, now = job.setpoint, job.setpoint.places, job.as_json, job.now
    with spinning("looking ..."):
        shelf, estate = setpoint.load()
        if not shelf.full:
            raise WrongOptionError("orphans are known only of a whole folder or prefix; found single files")
        if estate.failures:
            show_errors(document_errors(estate, partial(origin, places)))
            raise RefusedError(
                "orphans are known only when every document parses: a policy that is not here may be alive"
            )
        sweep = partial(run_orphans, estate, setpoint.vocabulary, setpoint.cloud, setpoint.executor)
        found = sweep(Moment(now, dry=True), delete=True)
        if not as_json:
            show(orphan_picture(found))
        if delete:
            found = sweep(replace(job.moment(stop_of(shelf)), approved=_approvable(found)), delete=True)
    wrong = list(errors(estate, found, partial(origin, places)))
    if as_json:
        left = [{**policy_record(one), "actions": list(actions(one))} for one in found.orphans]
        record = head("SetpointOrphans", now, setpoint.vocabulary, places)
        done = [outcome_record(outcome) for outcome in outcomes(found)]
        show_json({**record, "orphans": left, "outcomes": done, "errors": wrong})
    else:
        show(held_picture([held for one in found.orphans for held in one.guarded.held]) if delete else ())
        show_errors(wrong)
    return FAILED if wrong else OK
