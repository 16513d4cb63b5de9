"""Keeps calls within the rates that AWS documents, per account and region, before AWS has to refuse them.

A call waits for its turn in the thread that makes it. What would have to wait too long is not made: it is throttled by
ourselves, and the next run goes on. Services whose rates are not documented, or far above ours, are not paced.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock

from policies.errors import ThrottledError

PATIENCE = 15.0
"""Seconds that a call waits at most; a tick has sixty, and the function stops beginning things after 47."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many calls at once, and then so many a second."""

    per_second: float
    burst: int


def _rates(service: str, per_second: float, burst: int, *operations: str) -> dict[tuple[str, str], Rate]:
    return {(service, operation): Rate(per_second, burst) for operation in operations}


RATES: Mapping[tuple[str, str], Rate] = {
    # CloudWatch service quotas
    **_rates("cloudwatch", 9, 9, "DescribeAlarms"),
    **_rates("cloudwatch", 3, 3, "PutMetricAlarm"),
    **_rates("cloudwatch", 20, 20, "TagResource", "UntagResource"),
    # CloudWatch Logs quotas
    **_rates("logs", 10, 10, "DescribeLogGroups"),
    **_rates("logs", 5, 5, "PutRetentionPolicy", "DeleteRetentionPolicy", "TagResource", "ListTagsForResource"),
    # ECS: request throttling, cluster service actions
    **_rates("ecs", 20, 100, "DescribeServices", "ListServices"),
    **_rates("ecs", 5, 50, "CreateService", "UpdateService", "DeleteService"),
    # Kinesis Data Streams control plane limits
    **_rates("kinesis", 5, 5, "ListStreams", "CreateStream", "DeleteStream"),
    # DynamoDB API reference, TagResource
    **_rates("dynamodb", 5, 5, "TagResource", "UntagResource"),
}
"""By botocore's names of service and operation, per account and region (documented quotas, 2026-11)."""


class Pacer:
    """The turns of one account and region, shared by all threads, policies and roles there."""

    def __init__(self, clock: Callable[[], float] | None = None, sleep: Callable[[float], None] | None = None) -> None:
        self._clock, self._sleep = clock or time.monotonic, sleep or time.sleep
        self._due: dict[tuple[str, str], float] = {}
        self._lock = Lock()

    def take(self, service: str, operation: str) -> None:
        """Return when it is this call's turn; raises ThrottledError at once where that is too far away.

        A leaky bucket: `_due` is when the next call would be made if all came evenly (GCRA).
        """
        rate = RATES.get((service, operation))
        if rate is None:
            return
        wait = self._reserve((service, operation), rate)
        if wait > 0:
            self._sleep(wait)

    def _reserve(self, call: tuple[str, str], rate: Rate) -> float:
        with self._lock:
            now = self._clock()
            due = max(self._due.get(call, now), now)
            wait = due - now - (rate.burst - 1) / rate.per_second
            if wait > PATIENCE:
                what = f"{call[0]}:{call[1]} is documented for {rate.per_second:g} a second"
                raise ThrottledError(f"{what}, and its turn is {wait:.0f} s away; the next run goes on")
            self._due[call] = due + 1 / rate.per_second
        return wait
