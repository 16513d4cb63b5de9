"""The Lambda function against an AWS: loads from S3, runs, writes statuses and metrics, and raises together."""

from __future__ import annotations

import json

import pytest

from policies.errors import ConflictError, ParseError, SenseError
from tests.engine.conftest import BUCKET, Deployment
from tests.engine.given import GROUP, document, groups, names, queues
from tests.world import Fault, operation


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
    assert found["ApiCalls"] == [float(len(deployed.world.history))]


def test_one_line_per_change_and_one_per_run(deployed: Deployment) -> None:
    deployed.put("main.json", document(queues("a", "b")))
    deployed.tick()
    changes = [line for line in deployed.lines if line["message"] == "resource"]
    (summary,) = [line for line in deployed.lines if line["message"] == "run finished"]
    assert {(one["action"], one["resource"], one["result"], one["policy"]) for one in changes} == {
        ("create", "orders-a", "done", "queues"),
        ("create", "orders-b", "done", "queues"),
    }
    assert (summary["counts"]["Created"], summary.get("stop"), summary["unvisited"]) == (2, None, [])
    before = len(deployed.lines)
    deployed.tick()
    assert [line["message"] for line in deployed.lines[before:]] == ["run finished"], (
        "nothing happened, nothing is told"
    )


def test_a_refused_change_is_logged_with_the_missing_action(deployed: Deployment) -> None:
    deployed.put("main.json", document(queues("a")))
    deployed.world.inject(Fault(at=operation("sqs", "CreateQueue"), kind="denied", times=None))
    with pytest.raises(ExceptionGroup) as raised:
        deployed.tick()
    assert "sqs:CreateQueue" in str(raised.value.exceptions[0])
    (line,) = [line for line in deployed.lines if line["message"] == "resource"]
    assert (line["result"], line["resource"]) == ("failed", "orders-a")
    assert "sqs:CreateQueue" in line["detail"]
    assert [line["policies"] for line in deployed.lines if line["message"] == "run failed"] == [["queues"]]


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
