"""Keeps calls within the rates that AWS documents, per account and region, before AWS has to refuse them.

A call waits for its turn in the thread that makes it. What would have to wait too long is not made: it is throttled by
ourselves, and the next run goes on. Services whose rates are not documented, or far above ours, are not paced.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock

from policies.errors import ThrottledError

PATIENCE = 15.0
"""Seconds that one call waits at most; a tick has sixty, and the function stops beginning things after 47."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many calls of these operations, together, at once; and then so many a second."""

    service: str
    per_second: float
    burst: int
    operations: tuple[str, ...]


def _each(service: str, per_second: float, burst: int, *operations: str) -> Iterator[Rate]:
    """Operations that are counted each for itself."""
    return (Rate(service, per_second, burst, (operation,)) for operation in operations)


DOCUMENTED: tuple[Rate, ...] = (
    # CloudWatch service quotas
    *_each("cloudwatch", 9, 9, "DescribeAlarms"),
    *_each("cloudwatch", 3, 3, "PutMetricAlarm"),
    *_each("cloudwatch", 20, 20, "TagResource", "UntagResource"),
    # CloudWatch Logs quotas
    *_each("logs", 10, 10, "DescribeLogGroups"),
    *_each("logs", 5, 5, "PutRetentionPolicy", "DeleteRetentionPolicy", "TagResource", "ListTagsForResource"),
    # ECS API reference, request throttling: read actions of services and of clusters, modify actions of services
    Rate("ecs", 20, 100, ("DescribeServices", "ListServices")),
    Rate("ecs", 20, 50, ("DescribeClusters", "ListClusters")),
    Rate("ecs", 5, 50, ("CreateService", "UpdateService", "DeleteService")),
    # Kinesis Data Streams control plane limits
    *_each("kinesis", 5, 5, "ListStreams", "CreateStream", "DeleteStream"),
    # Amazon EC2 developer guide, request throttling: reads by id (neither filtered nor in pages), mutating actions, and
    # those with a bucket of their own
    *_each("ec2", 10, 50, "DescribeInstances", "DescribeInstanceStatus", "DescribeSnapshots", "DescribeVolumes"),
    *_each("ec2", 2, 5, "RunInstances", "StartInstances"),
    *_each("ec2", 5, 50, "ModifyInstanceAttribute", "ModifyVolume", "MonitorInstances", "StopInstances"),
    *_each("ec2", 5, 50, "ReplaceIamInstanceProfileAssociation", "UnmonitorInstances"),
    *_each("ec2", 5, 100, "AssociateIamInstanceProfile", "DisassociateIamInstanceProfile", "TerminateInstances"),
    *_each("ec2", 5, 100, "DeleteSnapshot", "DeleteVolume", "ModifyInstanceMetadataOptions"),
    *_each("ec2", 10, 100, "CreateTags", "DeleteTags"),
    # DynamoDB API reference, TagResource
    Rate("dynamodb", 5, 5, ("TagResource", "UntagResource")),
)
"""By botocore's names of services and operations, per account and region (documented quotas, 2026-12)."""

RATES: Mapping[tuple[str, str], Rate] = {
    (rate.service, operation): rate for rate in DOCUMENTED for operation in rate.operations
}


def rated(action: str) -> str | None:
    """The service of an IAM action that has a documented rate: of these, actions are named like operations."""
    service, _, operation = action.partition(":")
    return service if (service, operation) in RATES else None


class Pacer:
    """The turns of one account and region, shared by all threads, policies and roles there."""

    def __init__(self, clock: Callable[[], float] | None = None, sleep: Callable[[float], None] | None = None) -> None:
        self._clock, self._sleep = clock or time.monotonic, sleep or time.sleep
        self._due: dict[Rate, float] = {}
        self._lock = Lock()

    def take(self, service: str, operation: str) -> None:
        """Return when it is this call's turn; raises ThrottledError at once where that is too far away.

        A leaky bucket: `_due` is when the next call would be made if all came evenly (GCRA). One call of the burst is
        left unused: calls are counted where they arrive, and one that travels longer than the next looks like two.
        """
        rate = RATES.get((service, operation))
        if rate is None:
            return
        with self._lock:
            now = self._clock()
            due = max(self._due.get(rate, now), now)
            wait = due - now - (rate.burst - 2) / rate.per_second
            if wait > PATIENCE:
                what = f"{service}:{operation} is documented for {rate.per_second:g} a second"
                raise ThrottledError(f"{what}, and its turn is {wait:.0f} s away; the next run goes on")
            self._due[rate] = due + 1 / rate.per_second
        if wait > 0:
            self._sleep(wait)
