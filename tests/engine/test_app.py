"""The Lambda function against an AWS: loads from S3, runs, writes statuses and metrics, and raises together."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from handler import app
from handler.config import read_config
from policies.errors import ConflictError, ParseError, SenseError
from tests.engine.given import GROUP, document, groups, names, queues
from tests.world import Fault, World, operation

BUCKET = "setpoint-bucket"
ENVIRONMENT = {
    "SETPOINT_BUCKET": BUCKET,
    "SETPOINT_MODE": "enforce",
    "SETPOINT_ACCOUNT": "123456789012",
    "AWS_REGION": "eu-west-1",
    "SETPOINT_THREADS": "4",
}


class Deployment:
    """A warm function in a world, the documents in its bucket, and what it writes."""

    def __init__(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        self.world, self.capsys, self.logs = world, capsys, io.StringIO()
        self.s3 = world.outside.s3
        self.s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})

    def put(self, name: str, body: Any) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.s3.put_object(Bucket=BUCKET, Key=f"policies/{name}", Body=raw)

    def tick(self, remaining: int = 55_000) -> Any:
        self.world.tick_started()
        try:
            return app.function().tick(self.world.now, lambda: remaining < app.SPARE_MILLISECONDS)
        finally:
            self.world.advance(minutes=1)

    def read(self, name: str) -> Any:
        return json.loads(self.s3.get_object(Bucket=BUCKET, Key=f"status/{name}.json")["Body"].read())

    def written(self) -> list[str]:
        return [call.params["Key"] for call in self.world.calls(operation="PutObject")]

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.logs.getvalue().splitlines()]

    def metrics(self) -> dict[str, Any]:
        found = [json.loads(line) for line in self.capsys.readouterr().out.splitlines() if '"_aws"' in line]
        return found[-1] if found else {}


@pytest.fixture
def deployed(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Deployment]:
    for name in (*ENVIRONMENT, "SETPOINT_EVENT_BUS", "SETPOINT_PREFIX", "SETPOINT_STATUS_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "Session", lambda **_: world.session)
    made = Deployment(world, capsys)
    stream = app.logger.registered_handler.stream
    app.logger.registered_handler.setStream(made.logs)
    app.function.cache_clear()
    yield made
    app.function.cache_clear()
    app.logger.registered_handler.setStream(stream)


def test_a_tick_makes_what_the_documents_say(deployed: Deployment) -> None:
    deployed.put("main.json", document(queues("a", "b")))
    deployed.put("second.json", document(groups("x")))
    deployed.put("notes.txt", b"not a policy")
    deployed.put("deeper/other.json", b"not a policy either")
    summary = deployed.tick()
    assert (names(deployed.world), names(deployed.world, GROUP)) == ({"orders-a", "orders-b"}, {"/orders/x"})
    assert (summary["Created"], summary["Errors"]) == (3, 0)
    deployed.tick()
    assert sorted(set(deployed.written())) == ["status/_run.json", "status/main.json", "status/second.json"]
    status = deployed.read("main")
    assert (status["document"], status["policies"][0]["name"]) == ("main", "queues")
    assert {one["type"]: one["status"] for one in status["policies"][0]["conditions"]}["Ready"] == "True"
    assert deployed.read("_run")["documents"] == ["main", "second"]


@pytest.mark.parametrize(
    ("mode", "stop", "reason"),
    [
        ("observe", False, "the function's Mode is observe"),
        ("enforce", True, "there is an object named STOP under policies/"),
        ("observe", True, "STOP"),
    ],
)
def test_observe_and_stop_look_and_do_not_touch(
    deployed: Deployment, monkeypatch: pytest.MonkeyPatch, mode: str, stop: bool, reason: str
) -> None:
    monkeypatch.setenv("SETPOINT_MODE", mode)
    deployed.put("main.json", document(queues("a")))
    if stop:
        deployed.put("STOP", b"")
    summary = deployed.tick()
    assert deployed.world.resources() == {}
    assert (summary["Created"], summary["Held"], summary["Drift"]) == (0, 1, 1)
    assert reason in deployed.read("main")["policies"][0]["held"][0]["reason"]


def test_a_mode_that_is_not_said_is_observe(deployed: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SETPOINT_MODE")
    deployed.put("main.json", document(queues("a")))
    deployed.tick()
    assert deployed.world.resources() == {}


def test_when_stop_is_taken_away_the_next_tick_acts(deployed: Deployment) -> None:
    deployed.put("main.json", document(queues("a")))
    deployed.put("STOP", b"")
    deployed.tick()
    deployed.s3.delete_object(Bucket=BUCKET, Key="policies/STOP")
    deployed.tick()
    assert names(deployed.world) == {"orders-a"}


def test_the_metrics_of_a_tick(deployed: Deployment) -> None:
    deployed.put("main.json", document(queues("a", "b")))
    deployed.tick()
    found = deployed.metrics()
    directive = found["_aws"]["CloudWatchMetrics"][0]
    assert directive["Namespace"] == "Setpoint"
    assert {one["Name"]: one["Unit"] for one in directive["Metrics"]} == {
        **dict.fromkeys(("Created", "Updated", "Deleted", "Drift", "Held", "Errors", "ApiCalls"), "Count"),
        "Seconds": "Seconds",
    }
    assert "Controller" in directive["Dimensions"][0]
    assert (found["Controller"], found["Created"], found["Errors"]) == ("setpoint", [2.0], [0.0])
    assert found["ApiCalls"] == [float(len(deployed.world.history) - len(deployed.written()))]


def test_one_line_per_change_and_one_per_run(deployed: Deployment) -> None:
    deployed.put("main.json", document(queues("a", "b")))
    deployed.tick()
    changes = [line for line in deployed.lines if line["message"] == "resource"]
    (summary,) = [line for line in deployed.lines if line["message"] == "run finished"]
    assert {(one["action"], one["resource"], one["result"], one["policy"]) for one in changes} == {
        ("create", "orders-a", "done", "queues"),
        ("create", "orders-b", "done", "queues"),
    }
    assert (summary["counts"]["Created"], summary["stop"], summary["unvisited"]) == (2, None, [])
    before = len(deployed.lines)
    deployed.tick()
    assert [line["message"] for line in deployed.lines[before:]] == ["run finished"], "nothing happened, nothing is told"


def test_a_broken_document_fails_the_invocation_at_its_end(deployed: Deployment) -> None:
    deployed.put("main.json", document(queues("a")))
    deployed.put("broken.json", b'{"version": 1,')
    with pytest.raises(ExceptionGroup) as raised:
        deployed.tick()
    assert [type(error) for error in raised.value.exceptions] == [ParseError]
    assert "the run went on with everything else" in str(raised.value)
    assert names(deployed.world) == {"orders-a"}
    assert deployed.read("broken")["errors"][0]["path"] == "$"
    assert deployed.read("_run")["failed"] == ["broken"]
    assert deployed.metrics()["Errors"] == [1.0]
    assert [line["level"] for line in deployed.lines if line["message"] == "run failed"] == ["ERROR"]


def test_everything_that_went_wrong_is_raised_together(deployed: Deployment) -> None:
    deployed.world.outside.sqs.create_queue(QueueName="orders-a")
    deployed.world.inject(Fault(at=operation("logs", "DescribeLogGroups"), kind="denied", times=None))
    deployed.put("main.json", document(queues("a"), groups("x"), queues("b", name="fine", stem="fine")))
    deployed.put("broken.json", b"[]")
    with pytest.raises(ExceptionGroup) as raised:
        deployed.tick()
    kinds = {type(error).__name__ for error in raised.value.exceptions}
    assert kinds == {"ParseError", "DeniedError", "ConflictError"}
    assert names(deployed.world) == {"orders-a", "fine-b"}
    assert raised.group_contains(ConflictError)


def test_an_unchanged_status_is_not_written_again_until_it_would_look_old(deployed: Deployment) -> None:
    deployed.put("main.json", document(queues("a")))
    deployed.tick()
    deployed.tick()
    ready = len(deployed.written())
    for _ in range(3):
        deployed.tick()
    assert len(deployed.written()) == ready
    for _ in range(3):
        deployed.tick()
    assert len(deployed.written()) == ready + 2, "both again, once, so that verifiedAt stays believable"


def test_a_status_that_cannot_be_written_fails_the_run_and_nothing_else(deployed: Deployment) -> None:
    deployed.put("main.json", document(queues("a")))
    deployed.world.inject(Fault(at=operation("s3", "PutObject"), kind="denied", times=None))
    with pytest.raises(ExceptionGroup) as raised:
        deployed.tick()
    assert "not allowed to call s3:PutObject" in str(raised.value.exceptions[0])
    assert names(deployed.world) == {"orders-a"}


def test_every_change_is_an_event_on_the_bus(deployed: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SETPOINT_EVENT_BUS", "changes")
    deployed.world.outside.events.create_event_bus(Name="changes")
    deployed.put("main.json", document(queues(*(f"q{number:02}" for number in range(12)))))
    deployed.tick()
    calls = deployed.world.calls(operation="PutEvents")
    entries = [entry for call in calls for entry in call.params["Entries"]]
    assert [len(call.params["Entries"]) for call in calls] == [10, 2]
    assert {(entry["EventBusName"], entry["Source"], entry["DetailType"]) for entry in entries} == {
        ("changes", "setpoint", "Setpoint Change")
    }
    told = json.loads(entries[0]["Detail"])
    assert (told["action"], told["policy"], told["resourceType"]) == ("create", "queues", "AWS::SQS::Queue")
    deployed.tick()
    assert len(deployed.world.calls(operation="PutEvents")) == 2, "no change, no event"


def test_without_time_nothing_is_begun(deployed: Deployment) -> None:
    deployed.put("main.json", document(queues("a")))
    summary = deployed.tick(remaining=5_000)
    assert (names(deployed.world), summary["Created"]) == (set(), 0)
    (finished,) = [line for line in deployed.lines if line["message"] == "run finished"]
    assert finished["unvisited"] == ["queues"]


def test_an_empty_prefix_is_an_error_and_not_an_empty_estate(deployed: Deployment) -> None:
    deployed.put("main.json", document(queues("a")))
    deployed.tick()
    deployed.s3.delete_object(Bucket=BUCKET, Key="policies/main.json")
    with pytest.raises(SenseError, match=r"s3://setpoint-bucket/policies/ holds no policy document"):
        deployed.tick()
    assert names(deployed.world) == {"orders-a"}


@pytest.mark.parametrize(("call", "action"), [("ListObjectsV2", "s3:ListBucket"), ("GetObject", "s3:GetObject")])
def test_policies_that_cannot_be_loaded_name_the_missing_action(deployed: Deployment, call: str, action: str) -> None:
    deployed.put("main.json", document(queues("a")))
    deployed.world.inject(Fault(at=operation("s3", call), kind="denied", times=None))
    with pytest.raises(Exception, match=f"not allowed to call {action}"):
        deployed.tick()


def test_a_bad_configuration_is_one_error_that_names_every_variable() -> None:
    with pytest.raises(ParseError) as raised:
        read_config({"SETPOINT_MODE": "on", "SETPOINT_THREADS": "0", "SETPOINT_ACCOUNT": "12"})
    assert sorted(problem.path for problem in raised.value.problems) == [
        "AWS_REGION",
        "SETPOINT_ACCOUNT",
        "SETPOINT_BUCKET",
        "SETPOINT_MODE",
        "SETPOINT_THREADS",
    ]
    assert "environment: SETPOINT_BUCKET: it is not set" in str(raised.value)
    assert "environment: SETPOINT_MODE: found 'on'; input should be 'observe' or 'enforce'" in str(raised.value).lower()


@pytest.mark.parametrize(("prefix", "status"), [("policies/", "policies/status/"), ("a/", "a/"), ("", "status/")])
def test_policies_and_statuses_must_lie_apart(prefix: str, status: str) -> None:
    with pytest.raises(ParseError, match="SETPOINT_STATUS_PREFIX: found .* must lie apart"):
        read_config({**ENVIRONMENT, "SETPOINT_PREFIX": prefix, "SETPOINT_STATUS_PREFIX": status})


def test_a_warm_function_keeps_its_configuration_and_a_wrong_one_is_tried_again(
    deployed: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SETPOINT_BUCKET")
    with pytest.raises(ParseError, match="SETPOINT_BUCKET"):
        app.function()
    monkeypatch.setenv("SETPOINT_BUCKET", BUCKET)
    assert app.function() is app.function()
