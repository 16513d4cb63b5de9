"""History out of CloudWatch: what the metrics of some policies were in the last days."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from handler.options import Settings
from handler.simulation.gauge import name_of
from handler.simulation.history import Column, History
from handler.simulation.twin import Twin
from handler.workbench import opened
from policies.document import Policy
from policies.duration import render
from policies.errors import RefusedError, SenseError
from policies.numbers.metric import Failed, MetricQuery


def recorded(settings: Settings, place: str, policies: Iterable[Policy], last: timedelta) -> History:
    """The metrics of the policies, each with its own account, region and role. Raises where one cannot be read."""
    now, columns = datetime.now(UTC).replace(second=0, microsecond=0), {}
    with opened(settings, [place], writable=False) as setpoint:
        for policy in policies:
            queries = [MetricQuery(query.metric, last) for query in _queries(policy, now)]
            scope = policy.scope if policy.scope.role else setpoint.home
            answers = setpoint.cloud.metrics(queries, scope, now) if queries else {}
            for query in queries:
                columns[name_of(query.metric)] = _column(query, answers[query.signal_key])
    if not columns:
        raise RefusedError("these policies ask CloudWatch for nothing; give a history with --metrics")
    return History(f"CloudWatch, the last {render(last)}", columns)


def _queries(policy: Policy, now: datetime) -> tuple[MetricQuery, ...]:
    """What it asks for; its resource must be one whose name the policy tells."""
    twin = Twin(policy, 1, now)
    known = {"Id", "Name", *policy.kind.identifiers} if any(one.names for one in policy.match or ()) else set()
    asked = policy.strategy.signals()
    holes = [hole for query in asked if isinstance(query, MetricQuery) for hole in query.metric.placeholders]
    vague = next((hole for hole in holes if not hole.path or hole.path[0] not in known), None)
    if vague is not None:
        advice = "match it by its name, or record the metric to a file and give it with --metrics"
        raise RefusedError(f"policy {policy.name!r}: {vague} depends on the matched resource; {advice}")
    return twin.queries()


def _column(query: MetricQuery, answer: object) -> Column:
    if isinstance(answer, Failed):
        raise SenseError(f"the metric could not be read: {query.metric}: {answer.reason}")
    points = getattr(answer, "points", ())
    if not points:
        raise SenseError(f"CloudWatch has nothing of {query.metric} in the last {render(query.window)}")
    times = array("q", (int(start.timestamp()) for start, _ in points))
    return Column(times, array("d", (value for _, value in points)))
