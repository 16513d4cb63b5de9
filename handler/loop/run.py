"""One run: every policy senses, decides, plans, guards and acts, side by side, and says what came of it.

An exception ends its own policy and nothing else; the run ends by telling of all of them together (`failures`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handler.loop.cloud import Cloud
from handler.loop.conductor import Pipeline, conduct
from handler.loop.metrics import plan_metrics
from handler.loop.orphans import orphans, scopes
from handler.loop.reconcile import Moment, PolicyReport, Reconciler
from handler.loop.surveys import plan_surveys
from policies.action import Result
from policies.document import Policy
from policies.errors import ConflictError
from policies.estate import Estate
from policies.vocabulary import Vocabulary
from policies.world import Scope

MOST_TROUBLES = 20
"""Troubles of one policy that are told one by one."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """What came of a run: of every policy that could act, and of what policies that are gone left behind."""

    policies: tuple[PolicyReport, ...]
    orphans: tuple[PolicyReport, ...] = ()
    errors: tuple[Exception, ...] = ()


def run(estate: Estate, vocabulary: Vocabulary, cloud: Cloud, executor: Executor, moment: Moment) -> RunReport:
    """One run over every policy that may act; the order rotates with the minute, so that nobody starves."""
    policies = rotate([policy for policy in estate.policies if policy.name not in estate.conflicts], moment.now)
    surveys, batches = plan_surveys(policies), plan_metrics(policies)
    pipelines: list[Pipeline[Any]] = [
        Reconciler(policy, estate.former_owners(policy), surveys, cloud, moment, batches, estate.complete).pipeline()
        for policy in policies
    ]
    for scope in scopes(estate, Scope(vocabulary.account, vocabulary.region)):
        pipelines.append(orphans(estate, vocabulary.kinds, vocabulary.controller, scope, cloud, moment))
    return _report(policies, conduct(pipelines, executor))


def run_orphans(
    estate: Estate, vocabulary: Vocabulary, cloud: Cloud, executor: Executor, moment: Moment, delete: bool
) -> RunReport:
    """Only what policies that are gone left behind; `delete`: somebody says so, whatever the documents say."""
    pipelines: list[Pipeline[Any]] = [
        orphans(estate, vocabulary.kinds, vocabulary.controller, scope, cloud, moment, delete)
        for scope in scopes(estate, Scope(vocabulary.account, vocabulary.region))
    ]
    return _report((), conduct(pipelines, executor))


def _report(policies: Sequence[Policy], results: Sequence[Any]) -> RunReport:
    ours, rest = results[: len(policies)], results[len(policies) :]
    reports = (
        result if isinstance(result, PolicyReport) else PolicyReport(policy, error=result)
        for policy, result in zip(policies, ours, strict=True)
    )
    errors = tuple(result for result in rest if isinstance(result, Exception))
    left = tuple(report for result in rest if not isinstance(result, Exception) for report in result)
    return RunReport(tuple(reports), left, errors)


def rotate(policies: Sequence[Policy], now: datetime) -> list[Policy]:
    """The policies, beginning with another one every minute."""
    start = int(now.timestamp() // 60) % len(policies) if policies else 0
    return [*policies[start:], *policies[:start]]


def failures(estate: Estate, report: RunReport) -> Iterator[Exception]:
    """Everything that must make the run fail at its end, so that an alarm rings; what failed several policies, once."""
    yield from {id(error): error for error in _all_failures(estate, report)}.values()


def concerned(report: RunReport, error: Exception) -> list[str]:
    """The policies that one of these failures is about; none where it says so itself, or is about the whole run."""
    everything = (*report.policies, *report.orphans)
    return [one.policy.name for one in everything if any(failure is error for failure in _failures(one))]


def _all_failures(estate: Estate, report: RunReport) -> Iterator[Exception]:
    yield from estate.failures
    both = (message for messages in estate.conflicts.values() for message in messages)
    yield from (ConflictError(message) for message in dict.fromkeys(both))  # each is told of two policies
    yield from report.errors
    for one in (*report.policies, *report.orphans):
        yield from _failures(one)


def _failures(report: PolicyReport) -> Iterator[Exception]:
    if report.error is not None:
        yield report.error
    yield from report.unread
    for outcome in report.outcomes:
        if outcome.result in (Result.FAILED, Result.CONFLICT) and isinstance(outcome.error, Exception):
            yield outcome.error
    bad = [trouble for trouble in report.plan.troubles if trouble.condition in ("Degraded", "Conflict")]
    for trouble in bad[:MOST_TROUBLES]:
        yield ConflictError(f"{report.policy.name}: {trouble.message}")
    if len(bad) > MOST_TROUBLES:
        yield ConflictError(f"{report.policy.name}: and {len(bad) - MOST_TROUBLES} more like these")
