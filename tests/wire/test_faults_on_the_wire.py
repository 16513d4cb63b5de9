"""The same promises with nothing in between: real sockets, the SDK's own retries, and a server that breaks off.

Kinds whose service moto serves faithfully without help only: it does not know EC2's client tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from handler.loop.conductor import InlineExecutor
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport, run
from infra.cloud import AwsCloud
from infra.kinds.registry import KINDS
from infra.session import SdkSession
from tests.sweep.harness import VOCABULARY, is_idle, parse, told
from tests.sweep.scenarios import GONE, fifo, group, of, table
from tests.wire.unreliable import Kind, Rule, UnreliableServer, is_write

SESSION = boto3.Session("testing", "testing", region_name="eu-west-1")
SCENARIOS: Mapping[str, tuple[Any, Any]] = {
    "new": (None, of(fifo("a", "b"), group("a"), table("a", expiry=None))),
    "edited": (of(fifo("a"), group("a")), of(fifo("a", deduplicate=False), group("a", days=7))),
    "leaving": (of(fifo("a", "b", **GONE), group("a", "b", **GONE)), of(fifo("a", **GONE), group("a", **GONE))),
}
ATTEMPTS = 3
"""Of the SDK for one call, in its standard mode."""

KINDS_OF_FAULT: tuple[Kind, ...] = ("throttled", "unavailable", "denied", "lost", "reset", "broken")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[UnreliableServer]:
    """A server on which retries come at once: how long the SDK waits between them is not ours to test."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    running = UnreliableServer()
    yield running
    running.stop()


class Minutes:
    """A controller on that server, a run a minute."""

    def __init__(self, server: UnreliableServer) -> None:
        self.server = server
        self.now = datetime(2026, 3, 2, 9, tzinfo=UTC)
        self.cloud = AwsCloud(SdkSession(region="eu-west-1"), KINDS, endpoint_url=server.url)

    def run(self, documents: Any) -> RunReport:
        self.now += timedelta(minutes=1)
        return run(parse(documents), VOCABULARY, self.cloud, InlineExecutor(), Moment(self.now))

    def settle(self, documents: Any) -> None:
        idle = 0
        for _ in range(15):
            report = self.run(documents)
            idle = idle + 1 if is_idle(report) else 0
            if idle == 3:
                return
        raise AssertionError(f"Converges: {told(report)}")

    def world(self) -> Mapping[str, Any]:
        """What is there, as far as it was asked for."""
        sqs, logs, dynamodb = (
            SESSION.client(word, endpoint_url=self.server.url) for word in ("sqs", "logs", "dynamodb")
        )
        urls = sqs.list_queues().get("QueueUrls", [])
        groups = logs.describe_log_groups()["logGroups"]
        return {
            "queues": {
                url.rpartition("/")[2]: (
                    sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ContentBasedDeduplication"])["Attributes"],
                    sqs.list_queue_tags(QueueUrl=url)["Tags"],
                )
                for url in urls
            },
            "groups": {
                one["logGroupName"]: (
                    one.get("retentionInDays"),
                    logs.list_tags_for_resource(resourceArn=one["arn"].removesuffix(":*"))["tags"],
                )
                for one in groups
            },
            "tables": sorted(dynamodb.list_tables()["TableNames"]),
        }


def way(server: UnreliableServer, scenario: str) -> tuple[Minutes, Mapping[str, Any], list[str]]:
    """The controller before the edit; what the edit leads to; and the requests that lead there."""
    before, after = SCENARIOS[scenario]
    straight = Minutes(server)
    for documents in (before, after):
        if documents is not None:
            server.operations.clear()
            straight.settle(documents)
    wanted, operations = straight.world(), list(server.operations)
    server.stop()
    server.__init__()  # type: ignore[misc] - an empty account
    fresh = Minutes(server)
    if before is not None:
        fresh.settle(before)
    server.operations.clear()
    return fresh, wanted, operations


@pytest.mark.parametrize("times", [1, ATTEMPTS])
@pytest.mark.parametrize("kind", KINDS_OF_FAULT)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_write_may_fail_once_or_for_good(server: UnreliableServer, scenario: str, kind: Kind, times: int) -> None:
    minutes, wanted, operations = way(server, scenario)
    places = [number for number, operation in enumerate(operations, 1) if is_write(operation)]
    place = places[KINDS_OF_FAULT.index(kind) % len(places)]
    server.rule = Rule(kind, place, times)
    minutes.settle(SCENARIOS[scenario][1])
    assert server.rule.fired == times or kind == "denied", "the SDK does not try again what is denied"
    assert minutes.world() == wanted, "Converges"
    server.operations.clear()
    minutes.run(SCENARIOS[scenario][1])
    minutes.run(SCENARIOS[scenario][1])
    assert not list(filter(is_write, server.operations)), "Quiet"


@pytest.mark.parametrize("kind", KINDS_OF_FAULT)
def test_the_first_read_may_fail_for_good(server: UnreliableServer, kind: Kind) -> None:
    """BlindNeverDeletes, and not before the SDK has given up."""
    minutes, wanted, _ = way(server, "leaving")
    server.rule = Rule(kind, 1, ATTEMPTS)
    minutes.run(SCENARIOS["leaving"][1])
    blinded = {"ListQueues": "DeleteQueue", "DescribeLogGroups": "DeleteLogGroup"}[server.operations[0]]
    assert blinded not in server.operations, "BlindNeverDeletes"
    minutes.settle(SCENARIOS["leaving"][1])
    assert minutes.world() == wanted, "Converges"
