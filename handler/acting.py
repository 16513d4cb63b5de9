"""The commands that act: run, apply, orphans --delete. Each returns its exit code."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from handler import saved_plan
from handler.compose import Setpoint
from handler.loop.fingerprint import fingerprint
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport, run_orphans
from handler.options import Settings
from handler.picture import held_picture, orphan_picture, run_summary
from handler.records import Record, actions, document_errors, errors, head, outcome_record, policy_record
from handler.terminal import screen, show, show_error, show_errors, show_json, show_outcome, spinning
from handler.workbench import WrongOptionError, moment, opened, origin, stop_of
from policies.action import Outcome
from policies.errors import RefusedError, SetpointError
from policies.estate import Estate

OK, FAILED = 0, 1


def run(settings: Settings, places: Sequence[str], watch: bool, as_json: bool, at: str | None) -> int:
    """One run that compares everything, or one a minute that spreads its reads, until Ctrl-C."""
    if watch and at:
        raise WrongOptionError("found --watch and --at together; allowed: one of them, since --at stands still")
    with opened(settings, places, writable=True) as setpoint:
        return _watch(setpoint, as_json) if watch else _once(setpoint, moment(at), as_json, thorough=True)


def _watch(setpoint: Setpoint, as_json: bool) -> int:
    """What fails is told, and tried again in the next minute."""
    code = OK
    try:
        while True:
            try:
                code = _once(setpoint, datetime.now(UTC), as_json, thorough=False)
            except SetpointError as error:
                show_error(error, partial(origin, setpoint.places))
                code = FAILED
            time.sleep(60 - time.time() % 60)
    except KeyboardInterrupt:
        screen(stderr=True).print("Stopped.")
        return code


def _once(setpoint: Setpoint, now: datetime, as_json: bool, *, thorough: bool) -> int:
    with spinning("running ..."):
        shelf, estate = setpoint.load()
        report = setpoint.run(estate, _moment(now, stop_of(shelf), as_json, thorough=thorough))
    return _tell(setpoint, estate, report, now, as_json)


def _moment(now: datetime, stop: str | None, as_json: bool, *, thorough: bool = True) -> Moment:
    moment = Moment(now, stop=stop, thorough=thorough)
    return moment if as_json else replace(moment, announce=show_outcome)


def _tell(setpoint: Setpoint, estate: Estate, report: RunReport, now: datetime, as_json: bool) -> int:
    """All about a run but its outcomes, which were shown as they came; or, as JSON, everything."""
    wrong = list(errors(estate, report, partial(origin, setpoint.places)))
    if as_json:
        show_json(_record(setpoint, report, now, wrong))
        return FAILED if wrong else OK
    held = [held for one in report.policies for held in one.guarded.held]
    show(held_picture(held))
    for one in report.policies:
        show(f"{action.policy}: waiting: {action.title}: {action.reason}" for action in one.guarded.waiting)
        show(f"{one.policy.name}: held: {note.message}" for note in one.plan.troubles if note.condition == "Held")
    show_errors(wrong)
    screen().print(run_summary(list(outcomes(report)), len(held), len(wrong)))
    return FAILED if wrong else OK


def outcomes(report: RunReport) -> Iterator[Outcome]:
    for one in (*report.policies, *report.orphans):
        yield from one.outcomes


def _record(setpoint: Setpoint, report: RunReport, now: datetime, wrong: Sequence[Record]) -> Record:
    everything = [*report.policies, *report.orphans]
    return {
        **head("SetpointRun", now, setpoint.vocabulary, setpoint.places),
        "ok": not wrong,
        "outcomes": [outcome_record(outcome) for outcome in outcomes(report)],
        "held": [action for one in everything for action in actions(one) if action["state"] == "held"],
        "waiting": [action for one in everything for action in actions(one) if action["state"] == "waiting"],
        "policies": [policy_record(one) for one in report.policies],
        "errors": list(wrong),
    }


def apply(settings: Settings, path: Path, as_json: bool) -> int:
    """Exactly what the saved plan says, held actions included; nothing where the world has moved."""
    saved, now = saved_plan.read(path), moment(None)
    with opened(_as_saved(settings, saved), saved.places, writable=True) as setpoint, spinning("applying ..."):
        shelf, estate = setpoint.load()
        if shelf.stopped:
            raise RefusedError(f"nothing was done: {stop_of(shelf)}")
        dry = setpoint.run(estate, Moment(now, dry=True, thorough=True))
        saved_plan.check_same(saved, saved_plan.record(setpoint, shelf, dry, now, ()))
        approved = frozenset(saved.approved)
        report = setpoint.run(estate, replace(_moment(now, None, as_json), approved=approved))
    code = _tell(setpoint, estate, report, now, as_json)
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
    now = moment(None)
    with opened(settings, places, writable=delete) as setpoint, spinning("looking ..."):
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
            found = sweep(replace(_moment(now, stop_of(shelf), as_json), approved=_approvable(found)), delete=True)
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
