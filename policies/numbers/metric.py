"""Metrics of CloudWatch: what is asked for, what came back, and what was known of it at a moment.

CloudWatch is the memory of a controller that has none: what a number would have said some minutes ago is computed again
from the metric's own history.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema

from policies.duration import Duration, render
from policies.frozen import Json, canonical_text, freeze, nothing
from policies.grammar import Frozen, Grammar, brief, mistake, nearest
from policies.template import Placeholder, compile_template, placeholders, spell
from policies.template import render as fill
from policies.world import Observation

LAG = timedelta(minutes=3)
"""How late a point of a metric may show. CloudWatch promises nothing; most services need one to three minutes."""

_STATISTICS = ["Average", "IQM", "Maximum", "Minimum", "SampleCount", "Sum"]
_FINE_STATISTIC = r"(p|tm|wm|tc|ts)[0-9]{1,3}(\.[0-9]{1,10})?|(TM|WM|TC|TS|PR)\([0-9.]*%?:[0-9.]*%?\)"


def _seconds(value: timedelta) -> timedelta:
    seconds = int(value.total_seconds())
    if seconds not in (1, 5, 10, 20, 30) and (seconds == 0 or seconds % 60):
        raise mistake(f"found {seconds}s; allowed: what CloudWatch takes, 1s, 5s, 10s, 20s, 30s or whole minutes")
    return value


def _missing(value: Any) -> Any:
    if value == "hold" or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise mistake(f'found {brief(value)}; allowed: "hold", or the number that counts where nothing was reported')


def _statistic(value: str) -> str:
    if value not in _STATISTICS and not re.fullmatch(_FINE_STATISTIC, value):
        shown = ", ".join(_STATISTICS)
        raise mistake(f"found {value!r}{nearest(value, _STATISTICS)} (allowed: {shown}, or one like p99 or tm90)")
    return value


def _dimension(value: str) -> str:
    try:
        found = list(placeholders(compile_template(value)))
    except ValueError as error:
        raise mistake(str(error)) from None
    strange = next((one for one in found if one.root != "match"), None)
    if strange:
        raise mistake(f"unknown placeholder {strange}{nearest(strange.root, ['match'])}; a dimension knows ${{match}}")
    return value


class Metric(Grammar):
    """One CloudWatch metric. `missing` counts only if the query succeeded and returned nothing."""

    namespace: Annotated[str, Field(min_length=1, max_length=255)]
    name: Annotated[str, Field(min_length=1, max_length=255)]
    dimensions: Annotated[Frozen[Annotated[str, AfterValidator(_dimension)]], Field(max_length=30)] = Field(
        default_factory=nothing
    )
    statistic: Annotated[str, AfterValidator(_statistic)]
    period: Annotated[Duration, AfterValidator(_seconds)]
    missing: Annotated[
        Literal["hold"] | float,
        PlainValidator(_missing),
        WithJsonSchema({"anyOf": [{"const": "hold"}, {"type": "number"}]}),
    ] = "hold"

    @property
    def placeholders(self) -> tuple[Placeholder, ...]:
        """What its dimensions take from a matched resource."""
        return tuple(placeholders(compile_template(self.dimensions)))

    def bound(self, scope: Mapping[str, Json]) -> Metric:
        """The metric of one resource. Raises RenderError where a placeholder has no value."""
        if not self.placeholders:
            return self
        filled = fill(compile_template(self.dimensions), scope)
        return self.model_copy(
            update={"dimensions": freeze({word: spell(value, word) for word, value in filled.items()})}
        )

    def __str__(self) -> str:
        where = ", ".join(f"{word}={value}" for word, value in sorted(self.dimensions.items()))
        return f"{self.namespace} {self.name}{f' ({where})' if where else ''}"


@dataclass(frozen=True, slots=True)
class MetricQuery:
    """One metric, and how far back it is needed."""

    metric: Metric
    window: timedelta

    @property
    def signal_key(self) -> str:
        """One text for one query: policies that ask the same share one answer."""
        metric = self.metric
        words = [metric.namespace, metric.name, metric.dimensions, metric.statistic, render(metric.period)]
        return f"metric {canonical_text([*words, render(self.window)])}"


@dataclass(frozen=True, slots=True)
class Series:
    """What a query that succeeded returned: each point is the start of its period and the value, the oldest first."""

    points: tuple[tuple[datetime, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a query has no answer. That is not the same as an answer without points."""

    reason: str


Answer: TypeAlias = Series | Failed


def answer(query: MetricQuery, seen: Observation) -> Answer:
    """What came back; a query that was not made has failed."""
    found: Answer = seen.signals.get(query.signal_key, Failed("it was not asked for"))
    return found


def readings(metric: Metric, series: Series, moments: Iterable[datetime]) -> Iterator[float | None]:
    """What was known of the metric at each of these moments; None where it was missing and `missing` is `hold`.

    A point is known once its period is over, and counts until the next one is overdue: for one period and `LAG`. So a
    period that has only begun never looks like a drop, and what is late is not yet missing.
    """
    ends = [start + metric.period for start, _ in series.points]
    for moment in moments:
        place = bisect_right(ends, moment) - 1
        if place >= 0 and moment - ends[place] <= metric.period + LAG:
            yield series.points[place][1]
        else:
            yield None if metric.missing == "hold" else metric.missing


def reach(metric: Metric, back: timedelta) -> timedelta:
    """The window that holds every point which was known at some moment of the time back from now."""
    return back + 2 * metric.period + LAG
