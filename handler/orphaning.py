"""The command `orphans`: what policies that are gone left behind, and with --delete its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from handler.job import FAILED, OK, Job, Witness, interruptible, outcomes
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport, run_orphans
from handler.options import Settings
from handler.picture import held_picture, orphan_picture
from handler.records import actions, document_errors, errors, head, outcome_record, policy_record
from handler.terminal import show, show_errors, show_json, spinning
from handler.workbench import WrongOptionError, moment, opened, origin, stop_of
from policies.errors import RefusedError


def orphans(settings: Settings, places: Sequence[str], delete: bool, as_json: bool) -> int:
    """What nobody owns any more; with `delete`, its end.

    Proof, grace, protection and holds are those of any removal. Limits of number are not: what was shown was meant.
    """
    witness = Witness()
    with opened(settings, places, writable=delete, hear=witness.hear) as setpoint:
        job = Job(setpoint, witness, moment(None), as_json)
        return interruptible(job, lambda: _orphans(job, delete), "SetpointOrphans")


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
        show(held_picture([held for one in found.orphans for held in one.guarded.held]) if delete else _unharmed(found))
        show_errors(wrong)
    return FAILED if wrong else OK


def _unharmed(report: RunReport) -> Iterator[str]:
    """That what was shown was not done, and how it would be."""
    count = sum(one.plan.actual for one in report.orphans)
    if count:
        yield f"{count} orphaned. Nothing was done: --delete does what is shown, and what limits of number hold too."


def _approvable(report: RunReport) -> frozenset[str]:
    """The fingerprints of all that is planned and that no lock holds."""
    records = (record for one in report.orphans for record in actions(one))
    return frozenset(record["fingerprint"] for record in records if record.get("approvable", True))
