"""What the commands do. Each returns its exit code; what goes wrong is raised as one of our errors."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from handler import saved_plan
from handler.compose import Setpoint
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport
from handler.options import Settings
from handler.picture import (
    held_picture,
    plan_picture,
    plan_summary,
    run_summary,
    screen,
    spinning,
)
from handler.records import document_errors, errors
from handler.workbench import moment, opened, origin, parsed, stop_of
from policies.errors import RefusedError, SetpointError
from policies.estate import Estate

OK, FAILED, CHANGES = 0, 1, 2


def validate(settings: Settings, places: Sequence[str], account: str | None, as_json: bool) -> int:
    """Parse, and prove disjoint."""
    shelf, estate = parsed(settings, places, account)
    wrong = list(document_errors(estate, partial(origin, places)))
    documents = [
        {"document": one.name, "generation": one.generation, "policies": list(_names(one.policies))}
        for one in estate.documents
    ]
    if as_json:
        show_json(
            {"kind": "SetpointValidation", "version": 1, "valid": not wrong, "documents": documents, "errors": wrong}
        )
    else:
        show_errors(wrong)
        count = sum(len(one["policies"]) for one in documents)
        screen().print(f"{len(shelf.documents)} documents, {count} policies: {'not ' if wrong else ''}valid.")
    return FAILED if wrong else OK


def _names(policies: Iterable[Any]) -> Iterable[str]:
    return dict.fromkeys(policy.name for policy in policies)


def plan(settings: Settings, places: Sequence[str], out: Path | None, as_json: bool, at: str | None) -> int:
    """What a run would do."""
    now = moment(at)
    with opened(settings, places, writable=False) as setpoint, spinning(progress(), "comparing ..."):
        shelf, estate = setpoint.load()
        report = setpoint.run(estate, Moment(now, stop=stop_of(shelf), dry=True, thorough=True))
    wrong = list(errors(estate, report, partial(origin, places)))
    record = saved_plan.record(setpoint, settings, shelf, report, now, wrong)
    if out is not None:
        saved_plan.write(out, record)
    if as_json:
        show_json(record)
    else:
        show(plan_picture(report))
        show_errors(wrong)
        screen().print(plan_summary(report) + (f" Saved: setpoint apply {out}" if out else ""))
    return FAILED if wrong else CHANGES if record["changes"] else OK


def run(settings: Settings, places: Sequence[str], watch: bool, as_json: bool, at: str | None) -> int:
    """One run, or one a minute until Ctrl-C."""
    if watch and at:
        raise RefusedError("found --watch and --at together; allowed: one of them, since --at stands still")
    with opened(settings, places, writable=True) as setpoint:
        if watch:
            return _watch(setpoint, as_json)
        return _once(setpoint, moment(at), as_json, thorough=True)


def _watch(setpoint: Setpoint, as_json: bool) -> int:
    """A run at every full minute. What fails is told, and tried again by the next one."""
    code = OK
    try:
        while True:
            try:
                code = _once(setpoint, datetime.now(UTC), as_json, thorough=False)
            except SetpointError as error:
                show_error(error, setpoint.places)
                code = FAILED
            time.sleep(60 - time.time() % 60)
    except KeyboardInterrupt:
        screen(stderr=True).print("Stopped.")
        return code


def _once(setpoint: Setpoint, now: datetime, as_json: bool, *, thorough: bool) -> int:
    with spinning(progress(), "running ..."):
        shelf, estate = setpoint.load()
        announce = (lambda _: None) if as_json else show_outcome
        report = setpoint.run(estate, Moment(now, stop=stop_of(shelf), announce=announce, thorough=thorough))
    return tell_run(setpoint, estate, report, now, as_json)


def tell_run(setpoint: Setpoint, estate: Estate, report: RunReport, now: datetime, as_json: bool) -> int:
    """Everything about a run but its outcomes, which were shown as they came; or, as JSON, everything."""
    wrong = list(errors(estate, report, partial(origin, setpoint.places)))
    if as_json:
        show_json(run_record(setpoint, report, now, wrong))
    else:
        held = [held for one in report.policies for held in one.guarded.held]
        waiting = [action for one in report.policies for action in one.guarded.waiting]
        show(held_picture(held))
        show(f"{action.policy}: waiting: {action.title}: {action.reason}" for action in waiting)
        show_errors(wrong)
        screen().print(run_summary(outcomes_of(report), len(held), len(wrong)))
    return FAILED if wrong else OK
