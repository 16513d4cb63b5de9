"""Reads metrics from CloudWatch: up to five hundred queries in a call, and an answer or a failure for each.

GetMetricData has one time span for all queries of a call: the longest that one of them needs, from a multiple of their
periods on, so that points stay where they are while the span moves. A query that the service refuses takes its whole
call with it; such a call is halved until only the culprit fails. Rights: cloudwatch:GetMetricData.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

from infra.aws import Aws
from infra.refusals import translated
from policies.errors import DeniedError, RefusedError
from policies.numbers.metric import Answer, Failed, MetricQuery, Series

_DAY = 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_metrics(aws: Aws, queries: Sequence[MetricQuery], now: datetime) -> Mapping[str, Answer]:
    """The answer to each query, by its `signal_key`. What fails for all of them (rights, throttling) is raised."""
    try:
        with translated():
            return _answers(queries, _pages(aws, queries, now), now)
    except DeniedError:
        raise
    except RefusedError as refused:
        if len(queries) == 1:
            return {queries[0].signal_key: Failed(str(refused))}
        half = len(queries) // 2
        return {**read_metrics(aws, queries[:half], now), **read_metrics(aws, queries[half:], now)}


def _pages(aws: Aws, queries: Sequence[MetricQuery], now: datetime) -> list[Mapping[str, Any]]:
    pages = aws.pages(
        "cloudwatch",
        "get_metric_data",
        "MetricDataResults",
        MetricDataQueries=[_query(place, query) for place, query in enumerate(queries)],
        StartTime=_start(queries, now),
        EndTime=now,
        ScanBy="TimestampAscending",
    )
    return list(pages)


def _start(queries: Sequence[MetricQuery], now: datetime) -> datetime:
    step = min(math.lcm(*(int(query.metric.period.total_seconds()) for query in queries)), _DAY)
    earliest = now - max(query.window for query in queries) - _EPOCH
    return _EPOCH + earliest // timedelta(seconds=step) * timedelta(seconds=step)


def _query(place: int, query: MetricQuery) -> dict[str, Any]:
    metric = query.metric
    dimensions = [{"Name": name, "Value": value} for name, value in sorted(metric.dimensions.items())]
    return {
        "Id": f"q{place}",
        "ReturnData": True,
        "MetricStat": {
            "Metric": {"Namespace": metric.namespace, "MetricName": metric.name, "Dimensions": dimensions},
            "Period": int(metric.period.total_seconds()),
            "Stat": metric.statistic,
        },
    }


def _answers(
    queries: Sequence[MetricQuery], results: Sequence[Mapping[str, Any]], now: datetime
) -> Mapping[str, Answer]:
    by_id: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        by_id.setdefault(result["Id"], []).append(result)
    return {query.signal_key: _answer(query, by_id.get(f"q{place}", ()), now) for place, query in enumerate(queries)}


def _answer(query: MetricQuery, pages: Sequence[Mapping[str, Any]], now: datetime) -> Answer:
    """Complete is complete: partial data on a page is continued on the next, and on the last it is a failure."""
    broken = next((page for page in pages if page.get("StatusCode") in ("InternalError", "Forbidden")), None)
    last = broken or (pages[-1] if pages else None)
    if last is None:
        return Failed("CloudWatch did not answer this query")
    if last.get("StatusCode", "Complete") != "Complete":
        said = "; ".join(str(message.get("Value", "")) for message in last.get("Messages") or ())
        return Failed(f"CloudWatch says {last['StatusCode']}{f': {said}' if said else ''}")
    points = chain.from_iterable(zip(page["Timestamps"], page["Values"], strict=True) for page in pages)
    known = {at.astimezone(UTC): value for at, value in points if at > now - query.window and math.isfinite(value)}
    return Series(tuple(sorted(known.items())))
