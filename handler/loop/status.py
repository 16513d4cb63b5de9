"""What a run says of itself: one status per document, in the Kubernetes form. Pure; no run ever reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from handler.loop.reconcile import PolicyReport
from handler.loop.run import RunReport
from policies.action import Action, Held, Outcome, Result
from policies.estate import Estate
from policies.identity import rfc3339
from policies.redact import redact

CONDITIONS = ("Ready", "Progressing", "Degraded", "Conflict", "Held")
SHOWN = 50
"""Actions of each sort that a status lists by name; the rest is counted."""

Condition = tuple[str, str, str]
"""Condition, reason, message."""


def statuses(estate: Estate, reports: Sequence[PolicyReport], now: datetime) -> Mapping[str, Mapping[str, Any]]:
    """The status of every document, by its name: of those that parsed, and of those that did not."""
    found: dict[str, dict[str, Any]] = {}
    for document in estate.documents:
        names = dict.fromkeys(policy.name for policy in document.policies)
        policies = [_policy(name, estate, [r for r in reports if r.policy.name == name], now) for name in names]
        found[document.name] = {"observedGeneration": document.generation, "policies": policies}
    for failure in estate.failures:
        errors = [{"path": problem.path, "message": redact(problem.message)} for problem in failure.problems]
        found[failure.source] = {"errors": errors, "policies": []}
    return {name: {"document": name, "version": 1, **body} for name, body in sorted(found.items())}


def run_status(estate: Estate, report: RunReport, now: datetime) -> Mapping[str, Any]:
    """The status of the run as a whole: what was loaded, and what nobody owns any more."""
    return {
        "version": 1,
        "documents": sorted(document.name for document in estate.documents),
        "failed": sorted(failure.source for failure in estate.failures),
        "orphans": [_orphan(one) for one in report.orphans],
        "errors": [redact(str(error)) for error in report.errors],
        "verifiedAt": rfc3339(now),
    }


def _orphan(report: PolicyReport) -> dict[str, Any]:
    """What a policy that is gone left behind, and what becomes of it."""
    policy = report.policy
    listed = [_held(held) for held in report.guarded.held] + [_outcome(outcome) for outcome in report.outcomes]
    return {
        "policy": str(policy.owner),
        "document": policy.document,
        "type": policy.kind.type,
        "region": policy.scope.region,
        "count": report.plan.actual,
        "resources": listed[:SHOWN],
    }


def _policy(name: str, estate: Estate, reports: Sequence[PolicyReport], now: datetime) -> dict[str, Any]:
    """One policy over all of its regions."""
    conditions = [("Conflict", "Overlap", message) for message in estate.conflicts.get(name, ())]
    conditions += [_at(report, reports, condition) for report in reports for condition in conditions_of(report)]
    ready = bool(reports) and not conditions
    status: dict[str, Any] = {
        "name": name,
        "conditions": list(_conditions(conditions, ready)),
        "desired": sum(report.plan.desired for report in reports),
        "actual": sum(report.plan.actual for report in reports),
        "ready": sum(report.plan.ready for report in reports),
        "lastActions": [_outcome(outcome) for report in reports for outcome in report.outcomes][:SHOWN],
        "held": [_held(held) for report in reports for held in report.guarded.held][:SHOWN],
        "kept": [redact(line) for report in reports for line in report.plan.kept][:SHOWN],
    }
    return {**status, "verifiedAt": rfc3339(now)} if ready else status


def _at(report: PolicyReport, reports: Sequence[PolicyReport], condition: Condition) -> Condition:
    """Names the region where a policy has more than one."""
    word, reason, message = condition
    return condition if len(reports) == 1 else (word, reason, f"{report.policy.scope.region}: {message}")


def _conditions(found: Sequence[Condition], ready: bool) -> Iterator[dict[str, str]]:
    for word in CONDITIONS:
        same = [(reason, message) for condition, reason, message in found if condition == word]
        if word == "Ready":
            yield {
                "type": word,
                "status": str(ready),
                "reason": "AsDesired" if ready else "NotAsDesired",
                "message": "",
            }
        elif same:
            messages = [message for _, message in same]
            more = f" (and {len(messages) - SHOWN} more)" if len(messages) > SHOWN else ""
            message = redact("; ".join(messages[:SHOWN]) + more)
            yield {"type": word, "status": "True", "reason": same[0][0], "message": message}
        else:
            yield {"type": word, "status": "False", "reason": "None", "message": ""}


def conditions_of(report: PolicyReport) -> Iterator[Condition]:
    """Everything that keeps a policy from being Ready. An accepted call is Progressing until it is seen done."""
    if report.error is not None:
        yield "Degraded", type(report.error).__name__, str(report.error) or repr(report.error)
    if report.unvisited:
        yield "Progressing", "Unvisited", "the run's time was over before this policy; the order rotates"
    if report.policy.clause.mode == "paused":
        yield "Held", "Paused", "the policy's mode is paused"
    for error in report.unread:
        yield "Degraded", "ReadFailed", str(error)
    for trouble in report.plan.troubles:
        yield trouble.condition, trouble.reason, trouble.message
    for action in report.guarded.waiting:
        yield "Progressing", "Waiting", f"{action.title}: {action.reason}"
    for held in report.guarded.held:
        yield "Held", "Guardrail", f"{held.action.verb.value} {held.action.title}: {held.reason}"
    for outcome in report.outcomes:
        yield _condition(outcome)


def _condition(outcome: Outcome) -> Condition:
    what = f"{outcome.action.verb.value} {outcome.action.title}"
    message = f"{what}: {outcome.message}" if outcome.message else what
    match outcome.result:
        case Result.CONFLICT:
            return "Conflict", "NotOurs", message
        case Result.FAILED:
            return "Degraded", "ActionFailed", message
        case Result.NOTHING:
            return "Progressing", "ReadAgain", message
        case _:
            return "Progressing", outcome.result.value.capitalize(), message


def _outcome(outcome: Outcome) -> dict[str, str]:
    return {
        **_shown(outcome.action, outcome.action.reason),
        "result": outcome.result.value,
        "message": redact(outcome.message),
    }


def _held(held: Held) -> dict[str, str]:
    return _shown(held.action, held.reason)


def _shown(action: Action, reason: str) -> dict[str, str]:
    what = {"action": action.verb.value, "resource": redact(action.title), "region": action.scope.region}
    return {**what, "reason": redact(reason)}
