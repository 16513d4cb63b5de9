"""Plans and runs as JSON: what `--json` prints and `plan --out` saves. Keys are stable; secrets are taken out.

The shapes are told in docs/cli.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from handler.loop.fingerprint import fingerprint
from handler.loop.reconcile import PolicyReport
from handler.loop.run import RunReport
from handler.loop.status import conditions_of
from policies.action import Action, Held, Outcome, Verb
from policies.errors import ParseError
from policies.estate import Estate
from policies.frozen import Json, thaw
from policies.identity import DOCUMENT, PREFIX, rfc3339
from policies.redact import redact, redact_value
from policies.vocabulary import Vocabulary

Record = dict[str, Any]
Origin = Callable[[str], str]
"""From the name of a document to where it was found."""

_OF_WRITES = ". Whether a write happened is for the next run to see"


def of_a_read(message: str) -> str:
    """What went wrong with a read, without the words that only a write needs."""
    return message.replace(_OF_WRITES, "")


def head(kind: str, now: datetime, words: Vocabulary, places: Sequence[str]) -> Record:
    """What every plan and run begins with."""
    where = {"account": words.account, "region": words.region, "controller": words.controller}
    return {"kind": kind, "version": 1, "at": rfc3339(now), **where, "places": list(places)}


def actions(report: PolicyReport) -> Iterator[Record]:
    """Everything that a policy wants to happen, and whether it may."""
    for action in report.guarded.allowed:
        yield action_record(action, "allowed")
    for held in report.guarded.held:
        yield held_record(held)
    for action in report.guarded.waiting:
        yield action_record(action, "waiting")


def held_record(held: Held) -> Record:
    record = action_record(held.action, "held")
    return {**record, "heldBecause": redact(held.reason), "approvable": not held.final}


def action_record(action: Action, state: str) -> Record:
    return {
        "state": state,
        "action": action.verb.value,
        "policy": action.policy,
        "type": action.type,
        "resource": action.title,
        "account": action.scope.account,
        "region": action.scope.region,
        "reason": redact(reason_of(action)),
        "changes": list(changes(action)),
        "fingerprint": fingerprint(action),
    }


def reason_of(action: Action) -> str:
    """Why; where only the tag of its document changes, from which to which."""
    before, after = (action.seen and action.seen.tags) or {}, action.change.tags
    if action.verb is not Verb.UPDATE or DOCUMENT not in before or action.change.differences or action.change.untag:
        return action.reason
    if set(after) == {DOCUMENT}:
        return f"its tag {DOCUMENT} says {before[DOCUMENT]}; it is {after[DOCUMENT]} now"
    return action.reason


def kept_records(report: RunReport) -> list[Record]:
    """What is not wanted and stays, until when."""
    return [
        {
            "policy": one.policy.name,
            "account": one.policy.scope.account,
            "region": one.policy.scope.region,
            "orphaned": one.policy.gone,
            "message": redact(line),
        }
        for one in (*report.policies, *report.orphans)
        for line in one.plan.kept
    ]


def outcome_record(outcome: Outcome) -> Record:
    record = action_record(outcome.action, "allowed")
    return {**record, "state": outcome.result.value, "message": redact(outcome.message)}


def changes(action: Action) -> Iterator[Record]:
    """What would be written, property by property and tag by tag; our own tags are left out."""
    whose = action.title
    if action.verb is Verb.CREATE and action.desired is not None:
        for word, value in {**action.desired.initial, **action.desired.properties}.items():
            yield _change((word,), None, value, whose)
        yield from _tags({}, action.desired.tags)
        return
    for difference in action.change.differences:
        yield _change(difference.path, difference.before, difference.after, whose)
    before = (action.seen and action.seen.tags) or {}
    yield from _tags(before, {**action.change.tags, **dict.fromkeys(action.change.untag)})


def _tags(before: Mapping[str, str], after: Mapping[str, str | None]) -> Iterator[Record]:
    for key, value in sorted(after.items()):
        if not key.startswith(PREFIX):
            yield _change(("tags", key), before.get(key), value)


def _change(path: tuple[str, ...], before: Json, after: Json, whose: str = "") -> Record:
    """One change; the value of what is named like a secret (a parameter /db/password) is one."""
    word = ".".join(path)
    named = whose if word == "Value" else word
    return {"path": word, "before": _shown(before, named), "after": _shown(after, named)}


def _shown(value: Json, word: str) -> Json:
    return thaw(redact_value(value, word))


def policy_record(report: PolicyReport) -> Record:
    """One policy in one account and region: its numbers, and what keeps it from being Ready."""
    policy, plan = report.policy, report.plan
    return {
        "policy": policy.name,
        "document": policy.document,
        "account": policy.scope.account,
        "region": policy.scope.region,
        "desired": plan.desired,
        "actual": plan.actual,
        "ready": plan.ready,
        "kept": [redact(line) for line in plan.kept],
        "conditions": [
            {"type": word, "reason": reason, "message": _told(reason, message)}
            for word, reason, message in conditions_of(report)
        ],
    }


def errors(estate: Estate, report: RunReport, origin: Origin) -> Iterator[Record]:
    """Everything that makes a run fail, each with the place where it can be mended."""
    yield from document_errors(estate, origin)
    yield from ({"message": redact(of_a_read(str(error) or repr(error)))} for error in report.errors)
    for one in (*report.policies, *report.orphans):
        for word, reason, message in conditions_of(one):
            if word in ("Degraded", "Conflict"):
                where = {"policy": one.policy.name, "region": one.policy.scope.region}
                yield {**where, "condition": word, "reason": reason, "message": _told(reason, message)}


def _told(reason: str, message: str) -> str:
    return redact(message if reason == "ActionFailed" else of_a_read(message))


def document_errors(estate: Estate, origin: Origin) -> Iterator[Record]:
    """What is wrong with the documents: those that do not parse, and policies that collide."""
    for failure in estate.failures:
        yield from problems(failure, origin(failure.source))
    told: dict[str, str] = {}
    for name, messages in estate.conflicts.items():
        for message in messages:
            if told.setdefault(message, name) == name:  # each is told of two policies
                yield {"policy": name, "condition": "Conflict", "reason": "Overlap", "message": message}


def problems(failure: ParseError, where: str) -> Iterator[Record]:
    for problem in failure.problems:
        yield {"document": failure.source, "file": where, "path": problem.path, "message": redact(problem.message)}
