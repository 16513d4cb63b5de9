"""Why a number moved is told with what its metrics said last; what stands still is not told of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from policies.frozen import freeze
from policies.numbers.metric import Failed, Series
from policies.numbers.telling import why
from policies.world import Observation
from tests.engine.given import agents, decide, policy_of

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
METRIC = {"namespace": "AWS/SQS", "name": "Visible", "statistic": "Maximum", "period": "1m"}
JOBS = {**METRIC, "dimensions": {"QueueName": "jobs"}}
TARGET = {"type": "target", "load": JOBS, "perUnit": 100, "min": 1, "max": 10}
SAID = "2 to 5 by its target, AWS/SQS Visible (QueueName=jobs) was 482.5 at 2026-03-02T09:00:00Z"


def target() -> Any:
    return policy_of(agents(0, strategy={"count": TARGET})).strategy


def seen(answer: Any) -> Observation:
    (query,) = target().count.signals()
    return Observation(signals=freeze({query.signal_key: answer}))


@pytest.mark.parametrize(
    ("present", "wanted", "answer", "said"),
    [
        (2, 5, Series(((AT, 482.5),)), SAID),
        (5, 2, Series(), "5 to 2 by its target"),
        (5, 2, Failed("no"), "5 to 2 by its target"),
        (5, 5, Series(((AT, 48.25),)), None),
        (None, 5, Series(), None),
    ],
)  # fmt: skip
def test_a_number_that_moves(present: int | None, wanted: int, answer: Any, said: str | None) -> None:
    assert why(target().count, present, wanted, seen(answer)) == said


def test_a_literal_is_the_policy_s_own_word() -> None:
    assert why(7, 5, 7, Observation()) is None
    assert not decide(policy_of(agents(3)), Observation()).notes


def test_a_schedule_is_named() -> None:
    windows = [{"days": ["mon"], "from": "00:00", "to": "24:00", "value": 4}]
    count = {"type": "schedule", "timezone": "UTC", "windows": windows, "otherwise": 0}
    decision = decide(policy_of(agents(0, strategy={"count": count})), Observation(), AT)
    assert decision.notes == ("count: 0 to 4 by its schedule",)
