"""Plan, run, plan again; what is held, what fails, and what is printed of it."""

from __future__ import annotations

import json

from tests.cli.conftest import names, queues


def test_a_plan_that_is_run_leaves_nothing_to_do(aws, setpoint, write) -> None:
    folder = write("tenants", queues("tenant-queues", "a", "b"))
    planned = setpoint("plan", folder)
    assert planned.exit_code == 2, planned.output
    assert "+ create AWS::SQS::Queue orders-a  missing" in planned.stdout
    assert "+ VisibilityTimeout: 120" in planned.stdout
    assert "2 to create." in planned.stdout
    assert names(aws) == []
    ran = setpoint("run", folder)
    assert ran.exit_code == 0, ran.output
    assert names(aws) == ["orders-a", "orders-b"]
    assert "2 done." in ran.stdout
    quiet = setpoint("plan", folder)
    assert (quiet.exit_code, quiet.stdout) == (0, "Nothing to do.\n")


def test_a_plan_compares_everything_whose_turn_it_is_or_not(aws, setpoint, write) -> None:
    folder = write("tenants", queues("tenant-queues", "a"))
    setpoint("run", folder)
    url = aws.client("sqs").get_queue_url(QueueName="orders-a")["QueueUrl"]
    aws.client("sqs").set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "7"})
    planned = setpoint("plan", folder)
    assert planned.exit_code == 2
    assert "~ VisibilityTimeout: 7 -> 120" in planned.stdout
    setpoint("run", folder)
    assert setpoint("plan", folder).exit_code == 0


def test_json_is_one_document_with_stable_keys(aws, setpoint, write) -> None:
    folder = write("tenants", queues("tenant-queues", "a"))
    plan = json.loads(setpoint("plan", folder, "--json", "--at", "2026-03-02T09:00:00Z").stdout)
    assert plan["kind"] == "SetpointPlan"
    assert plan["at"] == "2026-03-02T09:00:00Z"
    assert plan["changes"] is True
    [action] = plan["actions"]
    assert action["changes"] == [
        {"path": "QueueName", "before": None, "after": "orders-a"},
        {"path": "VisibilityTimeout", "before": None, "after": 120},
    ]
    run = json.loads(setpoint("run", folder, "--json").stdout)
    assert run["ok"] is True
    assert [(one["action"], one["resource"], one["state"]) for one in run["outcomes"]] == [
        ("create", "orders-a", "done")
    ]
