"""The documented request rates of AWS, as the proxy enforces them and as the floor under a run's duration.

All of them are per account and region. Sources: "CloudWatch service quotas" and "CloudWatch Logs quotas" (user guides),
"Request throttling for the Amazon ECS API" (API reference).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """Calls a second, and how many may come at once. Operations of one rate share one bucket."""

    operations: tuple[str, ...]
    per_second: float
    burst: float


_ECS_READS = ("ecs.DescribeServices", "ecs.ListServices", "ecs.DescribeClusters", "ecs.ListClusters")
_ECS_WRITES = ("ecs.CreateService", "ecs.UpdateService", "ecs.DeleteService", "ecs.TagResource", "ecs.UntagResource")

RATES = (
    Rate(("cloudwatch.DescribeAlarms",), 9, 9),
    Rate(("cloudwatch.PutMetricAlarm",), 3, 3),
    Rate(("cloudwatch.TagResource",), 20, 20),
    Rate(("logs.DescribeLogGroups",), 10, 10),
    Rate(("logs.PutRetentionPolicy",), 5, 5),
    Rate(("logs.TagResource",), 5, 5),
    Rate(_ECS_READS, 20, 100),
    Rate(_ECS_WRITES, 5, 50),
)


class Bucket:
    """A token bucket, full at first."""

    def __init__(self, rate: Rate, now: float) -> None:
        self._rate, self._tokens, self._since = rate, rate.burst, now

    def take(self, now: float) -> bool:
        """One token, where there is one."""
        self._tokens = min(self._rate.burst, self._tokens + (now - self._since) * self._rate.per_second)
        self._since = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


def floor(calls: Mapping[str, int]) -> float:
    """The least seconds that these calls take under the rates, beginning with full buckets."""
    waits = ((sum(calls.get(one, 0) for one in rate.operations) - rate.burst) / rate.per_second for rate in RATES)
    return max(0.0, *waits)


def is_rated(calls: Mapping[str, int]) -> bool:
    """Whether any of these calls has a documented rate."""
    return any(one in calls for rate in RATES for one in rate.operations)
