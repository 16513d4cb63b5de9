"""That the bench is of one piece with the code it measures. How fast anything is, it says itself: `make bench`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bench.test_core_speed as core
from bench.cold_start import Start
from bench.mixed import ENFORCED, RECIPES, left_out, mixed
from bench.peers import PEERS, environment
from bench.places import ARTIFACT
from bench.race import Row
from bench.server.calls import is_read, name_of
from bench.server.rates import RATES, Bucket, floor
from bench.verdicts import Results, judge
from bench.worlds import World, alarms, converge, document, groups, paced_alarms, queues, retention, tables
from handler.compose import vocabulary
from infra.kinds.registry import KINDS
from policies.text import LIMIT
from tests.engine.given import parse

ROOT = Path(__file__).parents[2]
WORDS = vocabulary("123456789012", "us-east-1")
WORLDS = [
    queues(30),
    alarms(30),
    tables(30),
    groups(30),
    retention(30),
    retention(30, 10),
    paced_alarms(30),
    converge(3, 2, 1),
    mixed(60, list(KINDS)),
]
ROW = Row(
    world="queues",
    title="1,000 SQS queues",
    size=1000,
    peer="setpoint",
    setting="http",
    rounds=1,
    wall=1.0,
    wall_least=1.0,
    wall_most=1.0,
    cpu=1.0,
    peak=50.0,
    calls=200,
    by_operation={"sqs.ListQueues": 1, "sqs.GetQueueAttributes": 199},
    throttled=0,
    late=0,
    connections=1,
    statuses=[0],
    least={},
    summary={},
)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_the_policies_of_every_world_are_legal_and_apart(world: World) -> None:
    for policies in filter(None, (world.policies, world.before)):
        for setting_up in (False, True):
            estate = parse({"main": document(policies, setting_up=setting_up)}, words=WORDS)
            assert (list(estate.failures), estate.conflicts) == ([], {})
            assert len(estate.policies) == len(policies)


def test_the_largest_world_fits_into_a_document() -> None:
    assert len(str(document(queues(10_000).policies))) < LIMIT


def test_the_mixed_world_has_thirty_policies_of_known_kinds() -> None:
    world = mixed(600, list(KINDS))
    assert len(world.policies) == 30
    assert {*RECIPES, *ENFORCED} <= {*KINDS}
    assert {*left_out(list(KINDS)), *RECIPES, *ENFORCED} >= {*KINDS}


@pytest.mark.parametrize("strategy", core.CLAUSES)
def test_deciding_alone_finds_nothing_to_do(monkeypatch: pytest.MonkeyPatch, strategy: str) -> None:
    monkeypatch.setattr(core, "COUNT", 10)
    monkeypatch.setattr(core, "REPEATS", 1)
    clauses = {**core.CLAUSES, "replicas": {**core.CLAUSES["replicas"], "strategy": {"type": "replicas", "count": 10}}}
    monkeypatch.setattr(core, "CLAUSES", clauses)
    assert core.least(strategy).keys() == {"observe", "decide", "reads", "plan", "guard"}


def _signed(service: str) -> str:
    return (
        f"AWS4-HMAC-SHA256 Credential=AKIA/20261102/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=0"
    )


@pytest.mark.parametrize(
    ("service", "request_", "name"),
    [
        ("sqs", {"headers": {"X-Amz-Target": "AmazonSQS.ListQueues"}}, "sqs.ListQueues"),
        ("monitoring", {"path": "/service/Granite/operation/PutMetricAlarm"}, "cloudwatch.PutMetricAlarm"),
        ("ec2", {"body": b"Action=DescribeInstances&Version=2016-11-15"}, "ec2.DescribeInstances"),
        ("s3", {"method": "GET", "path": "/bucket", "query": {"list-type": "2"}}, "s3.ListObjectsV2"),
        ("s3", {"method": "GET", "path": "/bucket/a/b.json"}, "s3.GetObject"),
        ("s3", {"method": "PUT", "path": "/bucket/a/b.json"}, "s3.PutObject"),
        ("lambda", {"method": "GET", "path": "/2015-03-31/functions/"}, "lambda.Get /*/functions/"),
    ],
)  # fmt: skip
def test_calls_are_named_whatever_their_protocol(service: str, request_: dict[str, Any], name: str) -> None:
    asked = {"method": "POST", "path": "/", "query": {}, "body": b"", **request_}
    headers = {"Authorization": _signed(service), **request_.get("headers", {})}
    assert name_of(**{**asked, "headers": headers}) == name


def test_reads_and_writes_are_told_apart() -> None:
    assert is_read("sqs.GetQueueUrl")
    assert not is_read("s3.PutObject")


def test_a_bucket_gives_its_burst_and_then_its_rate() -> None:
    bucket = Bucket(next(rate for rate in RATES if "cloudwatch.PutMetricAlarm" in rate.operations), 0.0)
    assert [bucket.take(0.0) for _ in range(4)] == [True, True, True, False]
    assert bucket.take(0.5)
    assert not bucket.take(0.5)


def test_the_floor_is_that_of_the_slowest_operation() -> None:
    assert floor({"cloudwatch.PutMetricAlarm": 63, "cloudwatch.DescribeAlarms": 10}) == 20.0
    assert floor({"sqs.CreateQueue": 1000}) == 0.0


def test_verdicts_say_what_is_met_what_is_not_and_what_was_not_measured() -> None:
    rows = [
        ROW,
        replace(ROW, peer="custodian", wall=20.0, cpu=2.0, calls=1000, peak=80.0),
        replace(ROW, peer="script-32", wall=1.9, calls=1000),
    ]
    starts = [Start("setpoint", "", 0.5, 50, 1), Start("naive", "", 1.0, 60, 1)]
    found = {verdict.promise: verdict.word for verdict in judge(Results(rows, starts, {}))}
    assert found["queues: calls, of the peer with the fewest (new process)"] == "met"
    assert found["queues: wall, of the script's with 32 threads (new process)"] == "not met"
    assert found["queues: wall, of the script's with 32 threads (second run)"] == "not measured"
    assert found["tables: wall, of Cloud Custodian's (new process)"] == "not measured"
    assert found["cold start: to the first API call, of the naive list's"] == "met"


def test_the_floor_under_the_rates_begins_with_the_first_call_that_has_one() -> None:
    rated = replace(ROW, setting="rates", least={"logs.DescribeLogGroups": 20}, paced_from=0.5, wall=1.65)
    found = {verdict.promise: verdict for verdict in judge(Results([rated, replace(ROW, wall=0.9)], [], {}))}
    verdict = found["queues: wall under the rates, of the floor"]
    assert verdict.found == pytest.approx(1.65 / (0.5 + 1.0))
    assert verdict.how.startswith("1.65 s; start 0.50 s and token buckets 1.00 s, without rates 0.90 s")


def test_a_write_in_a_quiet_run_is_told() -> None:
    written = replace(ROW, by_operation={"s3.PutObject": 2, "sqs.TagQueue": 1})
    verdicts = judge(Results([written, replace(written, peer="setpoint-warm")], [], {}))
    quiet = {one.promise: (one.word, one.how) for one in verdicts if "nothing to do" in one.promise}
    assert quiet == {
        "queues: a run with nothing to do makes no write": ("not met", "sqs.TagQueue 1"),
        "queues: a run with nothing to do makes no write and no status": ("not met", "s3.PutObject 2, sqs.TagQueue 1"),
    }


@pytest.mark.parametrize("lock", sorted(ROOT.glob("requirements-bench*.txt")), ids=lambda lock: lock.name)
def test_locks_are_hashed_and_name_no_host(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    assert len(re.findall(r"^[a-z0-9-]+==", text, re.M | re.I)) <= text.count("--hash=sha256:")
    assert (ROOT / "bench" / "requirements" / lock.name.removeprefix("requirements-").replace(".txt", ".in")).exists()


def test_make_knows_the_bench() -> None:
    targets = re.findall(r"^(bench[a-z-]*):", (ROOT / "Makefile").read_text(), re.M)
    assert {"bench", "bench-quick", "bench-setup"} <= {*targets}


def test_only_setpoint_runs_on_the_libraries_of_its_artifact() -> None:
    """The others have their own: a trimmed SDK is nothing that they would have."""
    stand: Any = SimpleNamespace(bundle="all.pem", roots="roots.pem")
    artifact = {peer.name for peer in PEERS if str(ARTIFACT) in environment(stand, "http://aws", peer).values()}
    assert artifact == {"setpoint", "setpoint-warm"}
