"""The commands that only look: validate, plan, status, iam, schema. Each returns its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from handler import permissions, saved_plan, status_board
from handler.loop.reconcile import Moment
from handler.options import Settings
from handler.picture import plan_picture, plan_summary
from handler.records import document_errors, errors
from handler.terminal import say, screen, show, show_errors, show_json, spinning
from handler.workbench import WHY_STOPPED, WrongOptionError, moment, offline, opened, origin, parsed, shelved, stop_of
from policies.document import PolicyDocument
from policies.errors import SenseError

OK, FAILED, CHANGES = 0, 1, 2


def validate(settings: Settings, places: Sequence[str], account: str | None, as_json: bool) -> int:
    """Parse, and prove disjoint."""
    shelf, estate = parsed(settings, places, account)
    wrong = list(document_errors(estate, partial(origin, places)))
    documents = [_document(one) for one in estate.documents]
    if as_json:
        head = {"kind": "SetpointValidation", "version": 1, "valid": not wrong}
        show_json({**head, "documents": documents, "errors": wrong})
        return FAILED if wrong else OK
    show_errors(wrong)
    count = sum(len(_names(one)) for one in estate.documents)
    verdict = "valid" if not wrong else f"{_count(len(wrong), 'error')}"
    screen().print(f"{_count(len(shelf.documents), 'document')}, {_count(count, 'legal policy')}: {verdict}.")
    return FAILED if wrong else OK


def _document(document: PolicyDocument) -> dict[str, object]:
    return {"document": document.name, "generation": document.generation, "policies": _names(document)}


def _names(document: PolicyDocument) -> list[str]:
    return list(dict.fromkeys(policy.name for policy in document.policies))


def _count(number: int, word: str) -> str:
    several = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{number} {word if number == 1 else several}"


def plan(settings: Settings, places: Sequence[str], out: Path | None, as_json: bool, at: str | None) -> int:
    """What a run would do now, everything compared."""
    if out is not None and at is not None:
        raise WrongOptionError(
            "found --at and --out together; allowed: one of them, since apply acts when it is called"
        )
    if out is not None:
        saved_plan.check_place(out, places)
    now = moment(at)
    with opened(settings, places, writable=False) as setpoint, spinning("comparing ..."):
        shelf, estate = setpoint.load()
        report = setpoint.run(estate, Moment(now, stop=stop_of(shelf), dry=True, thorough=True))
    wrong = list(errors(estate, report, partial(origin, places)))
    record = saved_plan.record(setpoint, shelf, report, now, wrong)
    if out is not None:
        saved_plan.write(out, record)
    if as_json:
        show_json(record)
    else:
        show([f"stopped: {WHY_STOPPED}"] if shelf.stopped else ())
        show(plan_picture(report))
        show_errors(wrong)
        screen().print(
            plan_summary(report, len(wrong), stopped=shelf.stopped)
            + (f" Saved: setpoint apply {out} does exactly this." if out else "")
        )
    return FAILED if wrong else CHANGES if record["changes"] else OK


def status(settings: Settings, places: Sequence[str], as_json: bool) -> int:
    """What the last run said of every policy."""
    try:
        found = [status_board.read(one) for one in shelved(settings, places).documents]
    except SenseError as error:
        raise SenseError(str(error).replace("holds no policy document", "holds no status document")) from error
    if as_json:
        show_json({"kind": "SetpointStatus", "version": 1, "documents": found})
    else:
        console = screen()
        show(status_board.board(found, console.width if console.is_terminal else None))
    return OK


def iam(settings: Settings, places: Sequence[str], account: str | None, role: str | None) -> int:
    """The least IAM policy that these policies need."""
    _, estate = parsed(settings, places, account)
    wrong = list(document_errors(estate, partial(origin, places)))
    show_errors(wrong)
    if wrong:
        return FAILED
    named = sorted(permissions.roles(estate.policies))
    if role is not None and role not in named:
        raise WrongOptionError(f"no policy acts through {role}; these roles are named: {', '.join(named) or 'none'}")
    show_json(permissions.policy(estate.documents, places, settings.owner, role))
    for other in named if role is None else ():
        say(f"{other} acts for some of these policies; what it needs: --for-role {other}")
    return OK


def schema(settings: Settings, typescript: bool) -> int:
    """What editors complete and underline."""
    from policies.schema import json_schema
    from policies.typescript import typescript as declarations

    if typescript:
        screen().print(declarations(offline(settings)))
    else:
        show_json(json_schema(offline(settings)))
    return OK
