"""The words of `AWS::CloudWatch::Alarm`, and which of them go together.

Complete on purpose: PutMetricAlarm wipes what it is not given, so an update must be able to say everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from policies.frozen import Json
from policies.properties import CreateOnly, Default, Keyed, Name, Properties, Tag, Unordered

# fmt: off
_Unit = Literal[
    "Seconds", "Microseconds", "Milliseconds", "Bytes", "Kilobytes", "Megabytes", "Gigabytes", "Terabytes", "Bits",
    "Kilobits", "Megabits", "Gigabits", "Terabits", "Percent", "Count", "Bytes/Second", "Kilobytes/Second",
    "Megabytes/Second", "Gigabytes/Second", "Terabytes/Second", "Bits/Second", "Kilobits/Second", "Megabits/Second",
    "Gigabits/Second", "Terabits/Second", "Count/Second", "None",
]
_Comparison = Literal[
    "GreaterThanOrEqualToThreshold", "GreaterThanThreshold", "GreaterThanUpperThreshold",
    "LessThanLowerOrGreaterThanUpperThreshold", "LessThanLowerThreshold", "LessThanOrEqualToThreshold",
    "LessThanThreshold",
]
# fmt: on
_Statistic = Literal["Average", "Maximum", "Minimum", "SampleCount", "Sum"]
_Missing = Literal["breaching", "ignore", "missing", "notBreaching"]
_Word = Annotated[str, Field(min_length=1, max_length=255)]
_Space = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[^:]")]
_Count = Annotated[int, Field(ge=1)]
_Patience = Annotated[int | None, Field(ge=0, le=86_400), Default(0)]
_Key = Annotated[str, Field(min_length=1, max_length=128)]
_Keys = Annotated[list[_Key] | None, Field(min_length=1, max_length=50), Unordered]
_Actions = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=1024)]] | None, Field(max_length=5), Unordered, Default(())
]


class Dimension(Properties):
    """What tells the metrics of one name apart."""

    Name: _Word
    Value: Annotated[str, Field(min_length=1, max_length=1024)]


_Dimensions = Annotated[list[Dimension] | None, Field(max_length=30), Unordered, Default(())]


class WatchedMetric(Properties):
    """One metric."""

    MetricName: _Word | None = None
    Namespace: _Space | None = None
    Dimensions: _Dimensions = None


class MetricStatistic(Properties):
    """A metric, and how it is summed up."""

    Metric: WatchedMetric
    Period: _Count
    Stat: str
    Unit: _Unit | None = None


class MetricQuery(Properties):
    """A metric, or an expression over the others."""

    Id: Annotated[str, Field(max_length=255, pattern=r"^[a-z][A-Za-z0-9_]*$")]
    AccountId: _Word | None = None
    Expression: Annotated[str | None, Field(min_length=1, max_length=2048)] = None
    Label: str | None = None
    MetricStat: MetricStatistic | None = None
    Period: _Count | None = None
    ReturnData: Annotated[bool | None, Default(True)] = None


class WallClock(Properties):
    """Windows that begin at the full minute, hour, day or week of a time zone."""

    Timezone: Annotated[str | None, Field(min_length=1, max_length=50), Default("UTC")] = None


class Window(Properties):
    """Which data an evaluation looks at. The sliding window is what null and absence mean."""

    WallClockWindow: WallClock


class WarmUp(Properties):
    """How long a new or changed alarm stays quiet."""

    WarmUpPeriodDurationInMinutes: Annotated[int, Field(ge=1, le=2880)]
    OnlyStartEvaluatingAfterWarmUpPeriodEnds: Annotated[bool | None, Default(False)] = None


class PromQL(Properties):
    """A PromQL query, and for how many seconds its series must breach, and recover."""

    Query: Annotated[str, Field(min_length=1, max_length=10_000)]
    PendingPeriod: _Patience = None
    RecoveryPeriod: _Patience = None


class Criteria(Properties):
    """What a PromQL alarm watches."""

    PromQLCriteria: PromQL


class TagsPropagation(Properties):
    """Which of its tags an alarm puts into its notifications."""

    Enabled: bool
    IncludedTagKeys: _Keys = None
    ExcludedTagKeys: _Keys = None


class Notifications(Properties):
    """What the notifications of an alarm hold."""

    AlarmTagsPropagation: TagsPropagation | None = None


class AlarmProperties(Properties):
    """`AWS::CloudWatch::Alarm`, all of it: an update would wipe what this left out."""

    AlarmName: Annotated[str, CreateOnly, Name(r"[ -~]+", 255)]
    ActionConfiguration: Notifications | None = None
    ActionsEnabled: Annotated[bool | None, Default(True)] = None
    AlarmActions: _Actions = None
    AlarmDescription: Annotated[str | None, Field(max_length=1024), Default("")] = None
    ComparisonOperator: _Comparison | None = None
    DatapointsToAlarm: _Count | None = None
    Dimensions: _Dimensions = None
    EvaluateLowSampleCountPercentile: Annotated[Literal["evaluate", "ignore"] | None, Default("evaluate")] = None
    EvaluationCriteria: Criteria | None = None
    EvaluationInterval: Annotated[int | None, Field(ge=10, le=3600)] = None
    EvaluationPeriods: _Count | None = None
    EvaluationWindow: Window | None = None
    ExtendedStatistic: str | None = None
    InsufficientDataActions: _Actions = None
    MetricName: _Word | None = None
    Metrics: Annotated[list[MetricQuery] | None, Keyed("Id"), Default(())] = None
    Namespace: _Space | None = None
    OKActions: _Actions = None
    Period: _Count | None = None
    Statistic: _Statistic | None = None
    Threshold: float | None = None
    ThresholdMetricId: _Word | None = None
    TreatMissingData: Annotated[_Missing | None, Default("missing")] = None
    Unit: _Unit | None = None
    WarmUpConfiguration: WarmUp | None = None
    Tags: list[Tag] | None = None


_ONE_METRIC = frozenset({"MetricName", "Namespace", "Dimensions", "Period", "Statistic", "ExtendedStatistic", "Unit"})
_JUDGEMENT = frozenset({"ComparisonOperator", "EvaluationPeriods", "Threshold", "ThresholdMetricId"})
_PROMQL = frozenset({"EvaluationCriteria", "EvaluationInterval"})
_MORE = frozenset({"DatapointsToAlarm", "EvaluateLowSampleCountPercentile", "EvaluationWindow", "TreatMissingData"})

_EXCLUDES: Mapping[str, frozenset[str]] = {
    "MetricName": _PROMQL | {"Metrics", "ThresholdMetricId"},
    "Metrics": _PROMQL | _ONE_METRIC,
    "EvaluationCriteria": _ONE_METRIC | _JUDGEMENT | _MORE | {"Metrics"},
    "Statistic": frozenset({"ExtendedStatistic"}),
    "ExtendedStatistic": frozenset({"Statistic"}),
    "Threshold": frozenset({"ThresholdMetricId"}),
    "ThresholdMetricId": frozenset({"Threshold"}),
}
"""What PutMetricAlarm refuses together (its documentation)."""

_JUDGED = (("Threshold", "ThresholdMetricId"), ("ComparisonOperator",), ("EvaluationPeriods",))
_NEEDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "MetricName": (("Namespace",), ("Period",), ("Statistic", "ExtendedStatistic"), *_JUDGED),
    "Metrics": _JUDGED,
    "EvaluationCriteria": (("EvaluationInterval",),),
}


def fault(properties: Mapping[str, Json]) -> str | None:
    """What PutMetricAlarm would refuse, if anything."""
    declared = {word: value for word, value in properties.items() if value is not None}
    return _clash(declared) or _gap(declared) or _mismatch(declared) or _wrong_query(declared)


def merge(present: Mapping[str, Json], change: Mapping[str, Json]) -> dict[str, Json]:
    """The present alarm with the change in it, and without what the change excludes (a percentile for a sum)."""
    excluded = frozenset[str]().union(*(_EXCLUDES.get(word, ()) for word, value in change.items() if value is not None))
    return {word: value for word, value in present.items() if word not in excluded} | dict(change)


def _clash(declared: Mapping[str, Json]) -> str | None:
    for word in declared:
        for other in sorted(_EXCLUDES.get(word, frozenset()) & declared.keys()):
            return f"{word} and {other} exclude each other"
    return None


def _gap(declared: Mapping[str, Json]) -> str | None:
    watched = next((word for word in _NEEDS if word in declared), None)
    if watched is None:
        return f"an alarm needs one of {', '.join(_NEEDS)}"
    for choice in _NEEDS[watched]:
        if not declared.keys() & set(choice):
            return f"an alarm with {watched} needs {' or '.join(choice)}"
    return None


def _mismatch(declared: Mapping[str, Json]) -> str | None:
    for word in ("Period", "EvaluationInterval"):
        if declared.get(word, 60) not in (10, 20, 30) and declared.get(word, 60) % 60:
            return f"{word} is 10, 20, 30 or a multiple of 60, not {declared[word]}"
    if declared.get("DatapointsToAlarm", 0) > declared.get("EvaluationPeriods", 0):
        return "DatapointsToAlarm is at most EvaluationPeriods"
    return None


def _wrong_query(declared: Mapping[str, Json]) -> str | None:
    queries: tuple[Mapping[str, Json], ...] = declared.get("Metrics", ())
    names = [query["Id"] for query in queries]
    if len(names) != len(set(names)):
        return "every Id in Metrics stands once"
    for query in queries:
        if (query.get("Expression") is None) == (query.get("MetricStat") is None):
            return f"{query['Id']} in Metrics has either Expression or MetricStat"
    band = declared.get("ThresholdMetricId")
    if band is not None and band not in names:
        return f"ThresholdMetricId {band} is no Id in Metrics"
    if queries and band is None and sum(query.get("ReturnData") is not False for query in queries) != 1:
        return "exactly one of Metrics returns data; the others have ReturnData false"
    return None
