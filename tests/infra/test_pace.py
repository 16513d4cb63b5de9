"""Calls keep to the documented rates, and what would wait too long is left to the next run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from handler.compose import vocabulary
from handler.loop.conductor import InlineExecutor
from handler.loop.reconcile import Moment
from handler.loop.run import run
from infra import pace
from infra.cloud import AwsCloud
from infra.kinds.registry import KINDS
from infra.pace import DOCUMENTED, PATIENCE, Pacer
from policies.action import Result
from policies.errors import ThrottledError
from policies.estate import parse_estate
from tests.world import World
from tests.world.documents import body, document, policy


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now, self.slept = 1_000.0, 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds


@pytest.mark.parametrize("rate", DOCUMENTED, ids=lambda rate: f"{rate.service} {' '.join(rate.operations)}")
def test_one_less_than_the_burst_and_then_the_rate_for_all_that_share_it(rate: pace.Rate) -> None:
    time = Time()
    pacer = Pacer(lambda: time.now, time.sleep)
    made = []
    for number in range(rate.burst * 3):
        pacer.take(rate.service, rate.operations[number % len(rate.operations)])
        made.append(time.now)
    for start in made:
        assert sum(start <= moment < start + 1 - 1e-6 for moment in made) < rate.burst + rate.per_second
    assert time.slept == pytest.approx((rate.burst * 2 + 1) / rate.per_second)


def test_what_is_not_documented_is_not_paced() -> None:
    time = Time()
    pacer = Pacer(lambda: time.now, time.sleep)
    for _ in range(10_000):
        pacer.take("sqs", "GetQueueAttributes")
    assert time.slept == 0


def test_a_turn_that_is_too_far_away_is_not_waited_for() -> None:
    time = Time()
    pacer = Pacer(lambda: time.now, lambda _: None)  # as many threads do: all reserve before any has waited
    with pytest.raises(ThrottledError, match="cloudwatch:PutMetricAlarm is documented for 3 a second"):
        for _ in range(100):
            pacer.take("cloudwatch", "PutMetricAlarm")
    time.now += PATIENCE
    pacer.take("cloudwatch", "PutMetricAlarm")  # those that were refused took no turn


def test_threads_share_the_turns() -> None:
    time = Time()
    waits: list[float] = []
    pacer = Pacer(lambda: time.now, waits.append)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: pacer.take("logs", "TagResource"), range(25)))
    assert sorted(wait for wait in waits if wait > 1e-6) == pytest.approx([turn / 5 for turn in range(1, 22)])


def test_more_alarms_than_a_run_can_make_are_made_by_the_next_ones(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Time()
    monkeypatch.setattr(pace.time, "monotonic", lambda: time.now)
    monkeypatch.setattr(pace.time, "sleep", lambda _: None)
    alarm: dict[str, Any] = {
        "AlarmName": "deep-${item}", "Namespace": "Shop", "MetricName": "Depth", "Statistic": "Maximum", "Period": 60,
        "EvaluationPeriods": 1, "Threshold": 9, "ComparisonOperator": "GreaterThanThreshold",
    }  # fmt: skip
    items = {"source": "list", "values": [f"a{number}" for number in range(80)]}
    words = vocabulary(world.account, world.region)
    alarms = document(policy("alarms", "AWS::CloudWatch::Alarm", alarm, items))
    estate = parse_estate([("main", "1", body(alarms))], words, full=True)
    cloud = AwsCloud(world.session, KINDS, paced=True)
    made = []
    for _ in range(5):
        world.tick_started()
        (report,) = run(estate, words, cloud, InlineExecutor(), Moment(world.now)).policies
        results = [outcome.result for outcome in report.outcomes]
        assert set(results) <= {Result.DONE, Result.THROTTLED}
        made.append(results.count(Result.DONE))
        world.advance(minutes=1)
        time.now += 60
    assert made[0] < 80
    assert sum(made) == 80
    assert len(world.resources()["AWS::CloudWatch::Alarm"]) == 80
