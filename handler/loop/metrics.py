"""What a run asks of CloudWatch: the queries of all policies together, in as few calls as the API allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from handler.loop.cloud import Cloud
from handler.loop.conductor import Pipeline, Task
from policies.document import Policy
from policies.numbers.metric import Answer, Failed, MetricQuery
from policies.world import Scope

MOST = 500
"""Queries of one GetMetricData call."""

FINE_FOR = timedelta(hours=3)
"""How long CloudWatch keeps points of less than a minute."""

Batch = tuple[MetricQuery, ...]
Batches = Mapping[tuple[Scope, str], Batch]
"""By account, region and role, and by query, the batch that it goes out with."""


@dataclass(frozen=True)
class Metrics:
    """The metrics of one run; `batches` are the queries that were known before anything was sensed."""

    cloud: Cloud
    now: datetime
    batches: Batches = field(default_factory=dict)

    def ask(self, queries: Iterable[MetricQuery], scope: Scope) -> Pipeline[Mapping[str, Answer]]:
        """The answers by `signal_key`. What no batch holds is asked in batches of its own.

        A call that fails leaves its queries failed and raises nothing: numbers hold, and the rest of a policy goes on.
        """
        unique = {query.signal_key: query for query in queries}
        shared = {id(batch): batch for key in unique if (batch := self.batches.get((scope, key)))}
        alone = [query for key, query in unique.items() if (scope, key) not in self.batches]
        chosen = [*shared.values(), *split(alone)]
        if not chosen:
            return {}
        futures = yield [self._task(batch, scope) for batch in chosen]
        answers: dict[str, Answer] = {}
        for batch, future in zip(chosen, futures, strict=True):
            error = future.exception()
            if error is not None and not isinstance(error, Exception):
                raise error
            answers |= {query.signal_key: Failed(str(error)) for query in batch} if error else future.result()
        return {key: answers[key] for key in unique}

    def _task(self, batch: Batch, scope: Scope) -> Task:
        key = ("metrics", scope, *(query.signal_key for query in batch))
        return Task(partial(self.cloud.metrics, batch, scope, self.now), key)


def plan_metrics(policies: Iterable[Policy]) -> Batches:
    """The queries of these policies by account, region and role. Those with placeholders wait for their resources."""
    wanted: dict[Scope, dict[str, MetricQuery]] = {}
    for policy in policies:
        if policy.wanted and policy.clause.mode != "paused":
            for signal in policy.strategy.signals():
                if isinstance(signal, MetricQuery) and not signal.metric.placeholders:
                    wanted.setdefault(policy.scope, {})[signal.signal_key] = signal
    return {
        (scope, query.signal_key): batch
        for scope, queries in wanted.items()
        for batch in split(queries.values())
        for query in batch
    }


def split(queries: Iterable[MetricQuery]) -> Iterator[Batch]:
    """Batches of at most 500, alike in how far back they look: a call has one time span for all.

    Fine points go out alone where the others look further back than fine points are kept.
    """
    ordered = sorted(queries, key=lambda query: (query.window, query.signal_key))
    fine = [query for query in ordered if query.metric.period < timedelta(minutes=1)]
    coarse = [query for query in ordered if query.metric.period >= timedelta(minutes=1)]
    apart = bool(fine) and bool(coarse) and coarse[-1].window > FINE_FOR
    for part in (fine, coarse) if apart else (ordered,):
        yield from (tuple(part[start : start + MOST]) for start in range(0, len(part), MOST))
