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


def test_somebody_elses_resource_is_a_conflict(aws, setpoint, write) -> None:
    aws.client("sqs").create_queue(QueueName="orders-a")
    folder = write("tenants", queues("tenant-queues", "a", "b"))
    for command in ("plan", "run"):
        result = setpoint(command, folder)
        assert result.exit_code == 1
        assert "tenant-queues: AWS::SQS::Queue orders-a exists and is not ours" in result.stderr
        assert '"adopt": true' in result.stderr
    assert names(aws) == ["orders-a", "orders-b"]


def test_a_stopped_prefix_is_only_observed(aws, setpoint, write) -> None:
    folder = write("tenants", queues("tenant-queues", "a"))
    (folder / "STOP").touch()
    result = setpoint("run", folder)
    assert result.exit_code == 0
    assert "held: create orders-a: a STOP object lies beside the policies" in result.stdout
    assert names(aws) == []


def test_watch_runs_every_minute_survives_a_failure_and_ends_cleanly(aws, setpoint, write, monkeypatch) -> None:
    folder = write("tenants", queues("tenant-queues", "a"))
    naps = []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 1:
            (folder / "tenants.json").rename(folder / "tenants.gone")
        elif len(naps) == 2:
            (folder / "tenants.gone").rename(folder / "tenants.json")
        else:
            raise KeyboardInterrupt

    monkeypatch.setattr("handler.acting.time.sleep", sleep)
    result = setpoint("run", folder, "--watch")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-2:] == ["1 done.", "Nothing to do."]
    assert "holds no policy document" in result.stderr
    assert "Stopped." in result.stderr
    assert all(0 < nap <= 60 for nap in naps)


def test_policies_in_a_bucket(aws, setpoint, write) -> None:
    folder, s3 = write("tenants", queues("tenant-queues", "a")), aws.client("s3")
    s3.create_bucket(Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    s3.upload_file(str(folder / "tenants.json"), "bucket", "policies/tenants.json")
    s3.put_object(Bucket="bucket", Key="policies/bad.json", Body=b"{")
    result = setpoint("run", "s3://bucket/policies/")
    assert result.exit_code == 1
    assert "s3://bucket/policies/bad.json:$: " in result.stderr
    assert names(aws) == ["orders-a"]
