"""The few words in which the tests of numbers describe a metric and a moment."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from policies.grammar import Grammar
from policies.numbers.metric import Answer, Failed, MetricQuery, Series
from policies.numbers.number import AnyNumber, Hold, Number, signals_of
from policies.world import Observation

NOW = datetime(2026, 3, 2, 9, 0, 20, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
METRIC = {"namespace": "AWS/SQS", "name": "Visible", "statistic": "Maximum", "period": "1m"}
OTHER = {**METRIC, "name": "Other"}


class Known(Grammar):
    """Takes the numbers that the language knows."""

    number: AnyNumber


def parse(value: Any) -> Any:
    return Known.model_validate(json.loads(json.dumps({"number": value}))).number


def minutes_ago(values: Mapping[int, float], now: datetime = NOW) -> Series:
    """A series of one-minute points; 1 is the last minute that is over."""
    this = now.replace(second=0, microsecond=0)
    return Series(tuple(sorted((this - MINUTE * ago, float(value)) for ago, value in values.items())))


def steady(value: float, minutes: int = 60, now: datetime = NOW) -> Series:
    """The same value in each of the last minutes."""
    return minutes_ago(dict.fromkeys(range(1, minutes + 1), value), now)


def from_minute(values: Sequence[float], start: datetime) -> Series:
    """One point a minute, from a start on."""
    return Series(tuple((start + MINUTE * place, float(value)) for place, value in enumerate(values)))


def seen(number: int | Number, answers: Mapping[str, Answer] | Answer, now: datetime = NOW) -> Observation:
    """What a run would see: each metric by its name, no older than was asked for, and nothing of the future."""
    named = (
        {query.metric.name: answers for query in signals_of(number)}
        if isinstance(answers, Series | Failed)
        else answers
    )
    found = {
        query.signal_key: cut(named[query.metric.name], query, now)
        for query in signals_of(number)
        if query.metric.name in named
    }
    return Observation(signals=found)


def cut(answer: Answer, query: MetricQuery, now: datetime) -> Answer:
    if isinstance(answer, Failed):
        return answer
    return Series(tuple((at, value) for at, value in answer.points if now - query.window < at <= now))


def value(number: Any, present: int | None, answers: Any, now: datetime = NOW) -> int | Hold:
    """What a number says of a present size and these metrics."""
    built = parse(number) if isinstance(number, dict) else number
    found: int | Hold = built.value(present, seen(built, answers, now), now)
    return found


def said(number: Any, present: int | None, answers: Any, now: datetime = NOW) -> str:
    """The number as text, or `hold`."""
    found = value(number, present, answers, now)
    return "hold" if isinstance(found, Hold) else str(found)
