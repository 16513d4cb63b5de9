"""One policy against one history, tick by tick, in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from handler.simulation.feed import Feed, Response, as_recorded, load_on
from handler.simulation.gauge import Gauge, gauge_of, loads_of, name_of
from handler.simulation.history import Column, History
from handler.simulation.score import Score
from handler.simulation.trace import Trace
from handler.simulation.twin import Twin, number_of
from policies.document import Policy
from policies.errors import RefusedError
from policies.numbers.metric import Metric
from policies.numbers.number import bounds_of

LOAD = "load"
"""The column that drives a closed loop, where there is one of this name."""

_MOST = 20
"""Different troubles that are remembered of one replay."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How to replay: the size at the start (None: the least), the time between ticks, the capacity of one unit.

    The loop is closed where there is a capacity.
    """

    start: int | None = None
    every: timedelta = timedelta(minutes=1)
    capacity: float | None = None


@dataclass(frozen=True)
class Replay:
    """What a policy would have done."""

    policy: Policy
    gauge: Gauge | None
    score: Score
    sizes: Trace
    values: Trace
    troubles: Mapping[str, int]
    """What stood in the way, and in how many ticks; 0: of the history itself."""
    closed: bool
    """Whether some metric felt the size."""


def column_of(history: History, metric: Metric, *, alone: bool) -> Column:
    """The column of a metric. A policy with one metric takes the only column, whatever it is called."""
    for name in (name_of(metric), str(metric), metric.name):
        if name in history.columns:
            return history.columns[name]
    if alone and len(history.columns) == 1:
        return next(iter(history.columns.values()))
    found = ", ".join(history.columns)
    advice = "name the column of each metric after it, in the first line of a CSV"
    raise RefusedError(f"{history.source} has {found}, and the policy asks for {metric.name}; {advice}")


def span_of(history: History, every: timedelta) -> tuple[int, int]:
    """The first tick and the end, in seconds since the epoch."""
    step = int(every.total_seconds())
    return history.begin // step * step, history.end


def replay(policy: Policy, history: History, setup: Setup) -> Replay:
    """Tick through the history; equal arguments give an equal result."""
    begin, end = span_of(history, setup.every)
    number = number_of(policy)
    start = bounds_of(number)[0] if setup.start is None else setup.start
    now = datetime.fromtimestamp(begin, UTC)
    twin = Twin(policy, start, now)
    gauge = gauge_of(twin.number)
    score = Score(bounds_of(number), gauge.edges if gauge else None)
    sizes, values = Trace(begin, end), Trace(begin, end)
    feeds = _feeds(twin, history, setup)
    names = {key: name_of(query.metric) for query, key in ((one, one.signal_key) for one in twin.queries())}
    troubles: Counter[str] = Counter({text: 0 for feed in feeds.values() for text in feed.gaps()})
    seconds, size = int(setup.every.total_seconds()), twin.size
    for moment in range(begin, end + seconds, seconds):
        signals = {key: feed.advance(now, size) for key, feed in feeds.items()}
        reading = gauge.read({names[key]: feed.latest(now) for key, feed in feeds.items()}, size) if gauge else None
        shown = reading.value if reading else None
        if moment > begin:
            score.note(seconds, size, reading)
            sizes.note(moment - seconds, seconds, size)
            if shown is not None:
                values.note(moment - seconds, seconds, shown)
        if moment < end:
            for trouble in twin.tick(signals, now):
                if trouble in troubles or len(troubles) < _MOST:
                    troubles[trouble] += 1
            if twin.size != size:
                score.change(now, size, twin.size, shown)
                size = twin.size
        now += setup.every
    responds = setup.capacity is not None and any(feed.responds for feed in feeds.values())
    return Replay(policy, gauge, score, sizes, values, troubles, responds)


def _feeds(twin: Twin, history: History, setup: Setup) -> Mapping[str, Feed]:
    queries = twin.queries()
    alone = len({name_of(query.metric) for query in queries}) == 1
    shared = {name_of(metric) for metric in loads_of(twin.number)}
    feeds = {}
    for query in queries:
        column: Column | None = None
        response: Response = as_recorded
        if setup.capacity is not None and name_of(query.metric) not in shared:
            column, response = history.columns.get(LOAD), load_on(setup.capacity)
        feeds[query.signal_key] = Feed(query, column or column_of(history, query.metric, alone=alone), response)
    return feeds
