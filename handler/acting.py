"""The commands `run` and `apply`. Each returns its exit code."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from handler import saved_plan
from handler.command import INTERRUPTED
from handler.compose import Setpoint
from handler.job import FAILED, OK, Job, Witness, interruptible, outcomes
from handler.loop.fingerprint import fingerprint
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport
from handler.options import Settings
from handler.picture import held_picture, run_summary, standing_picture
from handler.records import (
    Record,
    actions,
    errors,
    head,
    kept_records,
    outcome_record,
    policy_record,
)
from handler.terminal import say, screen, show, show_error, show_errors, show_json, spinning
from handler.workbench import WHY_STOPPED, WrongOptionError, moment, opened, origin, stop_of
from policies.errors import RefusedError, SetpointError
from policies.estate import Estate
from policies.identity import rfc3339


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
        return _tell(job, estate, report, stopped=shelf.stopped, begins="" if thorough else f"{rfc3339(job.now)}  ")

    return interruptible(job, body)


def _tell(job: Job, estate: Estate, report: RunReport, *, stopped: bool = False, begins: str = "") -> int:
    """All about a run but its outcomes, which were shown as they came; or, as JSON, everything.

    `begins` stands before the last line: of many runs each says when it was.
    """
    wrong = list(errors(estate, report, partial(origin, job.setpoint.places)))
    if job.as_json:
        show_json(_record(job, report, wrong, stopped=stopped))
        return FAILED if wrong else OK
    held = [held for one in report.policies for held in one.guarded.held]
    show(held_picture(held))
    show(standing_picture(report))
    show([f"stopped: {WHY_STOPPED}"] if stopped else ())
    show_errors(wrong)
    screen().print(begins + run_summary(report, len(wrong), stopped=stopped))
    return FAILED if wrong else OK


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
    _check_same_words(settings, saved)
    with opened(_as_saved(settings, saved), saved.places, writable=True, hear=witness.hear) as setpoint:
        job = Job(setpoint, witness, moment(None), as_json)
        return interruptible(job, lambda: _apply(job, saved))


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


def _check_same_words(settings: Settings, saved: saved_plan.SavedPlan) -> None:
    """An option that a plan settles may be said again, and not otherwise."""
    for option, said, meant in (
        ("--region", settings.region, saved.region),
        ("--controller", settings.controller, saved.controller),
        ("--allow-role", settings.allow_role and tuple(sorted(settings.allow_role)), saved.allowed_roles),
        ("--allow-type", settings.allow_type and tuple(sorted(settings.allow_type)), saved.allowed_types),
    ):
        if said and said != meant:
            words = (" ".join(one) if isinstance(one, tuple) else one for one in (said, meant or "none"))
            raise WrongOptionError("found {} {}, and the plan was made with {}; make a new plan".format(option, *words))


def _as_saved(settings: Settings, saved: saved_plan.SavedPlan) -> Settings:
    return replace(
        settings,
        region=saved.region,
        controller=saved.controller,
        allow_role=saved.allowed_roles,
        allow_type=saved.allowed_types,
    )
