"""A run in numbers and in facts: what metrics count, what a log line or an event says of one change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from handler.loop.reconcile import PolicyReport
from handler.loop.run import RunReport
from policies.action import Outcome, Result, Verb
from policies.redact import redact

_COUNTED = {
    Verb.CREATE: "Created",
    Verb.UPDATE: "Updated",
    Verb.ADOPT: "Updated",
    Verb.RELEASE: "Updated",
    Verb.MARK: "Updated",
    Verb.DELETE: "Deleted",
    Verb.REPLACE: "Deleted",
}
HAPPENED = frozenset({Result.DONE, Result.PARTIAL})


def tally(report: RunReport, errors: int) -> Mapping[str, int]:
    """The metrics of a run: actions by verb, drift, held, errors. Every name is always there."""
    counts = Counter(dict.fromkeys((*_COUNTED.values(), "Drift", "Held"), 0))
    for one in (*report.policies, *report.orphans):
        counts.update(_COUNTED[outcome.action.verb] for outcome in changes(one))
        counts["Drift"] += len(one.guarded.allowed) + len(one.guarded.held)
        counts["Held"] += len(one.guarded.held)
    return {**counts, "Errors": errors}


def changes(report: PolicyReport) -> Iterator[Outcome]:
    """The outcomes that changed something."""
    return (one for one in report.outcomes if one.result in HAPPENED and one.action.verb in _COUNTED)


def facts(outcome: Outcome) -> Mapping[str, str]:
    """One outcome in key-values, without secrets."""
    action = outcome.action
    differences = ", ".join(str(difference) for difference in action.change.differences)
    return {
        "action": action.verb.value,
        "result": outcome.result.value,
        "policy": action.policy,
        "resourceType": action.type,
        "resource": redact(action.title),
        "key": redact(action.key),
        "account": action.scope.account,
        "region": action.scope.region,
        "reason": redact(action.reason),
        **({"properties": differences} if differences else {}),
        **({"detail": redact(outcome.message)} if outcome.message else {}),
    }
