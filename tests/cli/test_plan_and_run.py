"""Plan, run, plan again; what is held, what fails, and what is printed of it."""

from __future__ import annotations

import json
import re

import pytest

from infra.cloud import AwsCloud
from infra.kinds.ssm_parameter import SsmParameter
from tests.cli.conftest import names, queues

SHORTLY = {"removal": "delete", "grace": "1h", "guardrails": {"maxDeletes": "100%"}}


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
    assert result.exit_code == 130, result.output
    assert [re.sub(r"^2\S+Z  ", "AT ", line) for line in result.stdout.splitlines()[-2:]] == [
        "AT 1 done.",
        "AT Nothing to do.",
    ]
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


@pytest.fixture
def broken_off(monkeypatch) -> None:
    """Ctrl-C while the second act is under way."""
    acts, act = [], AwsCloud.act

    def interrupted(self, batch, over):
        acts.append(batch)
        if len(acts) == 2:
            raise KeyboardInterrupt
        return act(self, batch, over)

    monkeypatch.setattr(AwsCloud, "act", interrupted)


@pytest.mark.parametrize("more", [[], ["--watch"], ["--threads", "1"]])
def test_an_interrupted_run_tells_what_it_did(aws, setpoint, write, broken_off, more) -> None:
    result = setpoint("run", write("tenants", queues("tenant-queues", "a", "b")), *more)
    assert result.exit_code == 130, result.output
    assert "create AWS::SQS::Queue orders-a  done" in result.stdout
    assert "Interrupted: 1 done; what was under way may have happened; the next run goes on." in result.stderr


def test_an_interrupted_batch_tells_what_it_did(aws, setpoint, write, monkeypatch) -> None:
    """Ten parameters end in one call; while the eleventh is looked at, Ctrl-C."""
    parameters = {
        "type": "AWS::SSM::Parameter",
        "properties": {"Name": "/orders/${item}", "Type": "String", "Value": "1"},
    }
    items = {"source": "list", "values": [f"p{number}" for number in range(12)]}
    clause = {"name": "parameters", "resource": parameters, "strategy": {"type": "forEach", "items": items}}
    folder = write("tenants", clause)
    assert setpoint("run", folder).exit_code == 0
    gone = {"ensure": "absent", "removal": "delete", "grace": "0s", "guardrails": {"maxDeletes": "100%"}}
    folder = write("tenants", {**clause, **gone})
    proven, prove = [], SsmParameter.prove

    def interrupted(self, aws, seen):
        proven.append(seen)
        if len(proven) == 11:
            raise KeyboardInterrupt
        return prove(self, aws, seen)

    monkeypatch.setattr(SsmParameter, "prove", interrupted)
    result = setpoint("run", folder, "--threads", "1")
    assert result.exit_code == 130
    assert result.stdout.count("delete AWS::SSM::Parameter") == 10
    assert "Interrupted: 10 done" in result.stderr


def test_an_interrupted_run_is_a_document(aws, setpoint, write, broken_off) -> None:
    result = setpoint("run", write("tenants", queues("tenant-queues", "a", "b")), "--json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told["kind"], told["ok"], told["interrupted"]) == (130, "SetpointRun", False, True)
    assert [one["resource"] for one in told["outcomes"]] == ["orders-a"]


def test_ctrl_c_ends_every_command_with_130(aws, setpoint, write, monkeypatch) -> None:
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("handler.looking.plan", interrupted)
    result = setpoint("plan", write("tenants", queues("q", "a")))
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")


def test_what_is_marked_is_listed_until_it_goes(aws, setpoint, write) -> None:
    folder = write("tenants", queues("tenant-queues", "a", "b", "c", **SHORTLY))
    setpoint("run", folder)
    write("tenants", queues("tenant-queues", "a", **SHORTLY))
    assert "2 done." in setpoint("run", folder).stdout
    planned, ran = setpoint("plan", folder), setpoint("run", folder)
    assert planned.exit_code == 0
    assert re.search(
        r"\. orders-b, orders-c: deleted from \S+Z on\n2 marked: deleted from \S+Z on\.\n$", planned.stdout
    )
    assert "tenant-queues: marked: orders-b, orders-c: deleted from" in ran.stdout
    assert "Nothing to do" not in planned.stdout + ran.stdout
    for command in ("plan", "run"):
        kept = json.loads(setpoint(command, folder, "--json").stdout)["kept"]
        assert [(one["policy"], one["orphaned"]) for one in kept] == [("tenant-queues", False)] * 2


def test_a_note_is_no_mark(aws, setpoint, write) -> None:
    match = {"type": "AWS::SQS::Queue", "match": {"names": ["gone"]}, "properties": {"DelaySeconds": 1}}
    ran = setpoint("run", write("d", {"name": "q", "resource": match, "strategy": {"type": "enforce"}}))
    assert ran.stdout.splitlines()[0] == "q: gone: nothing that is matched has this name"


@pytest.mark.parametrize("command", ["plan", "run"])
def test_nothing_to_do_is_said_only_where_it_is_so(aws, setpoint, write, command) -> None:
    folder = write("tenants", queues("q", "a", mode="paused"))
    paused = setpoint(command, folder)
    assert "paused" in paused.stdout
    assert paused.stdout.endswith("1 paused.\n")
    (folder / "bad.json").write_text("{")
    assert setpoint(command, folder).stdout.endswith("1 paused, 1 error.\n")
    (folder / "bad.json").unlink()
    write("tenants", queues("q"))
    (folder / "STOP").touch()
    stopped = setpoint(command, folder)
    assert "stopped: a STOP object lies beside the policies" in stopped.stdout
    assert stopped.stdout.endswith("\nstopped.\n")
    assert json.loads(setpoint(command, folder, "--json").stdout)["stopped"] is True


def test_orphans_stand_last_in_a_plan_one_line_for_each_policy(aws, setpoint, write) -> None:
    folder = write("old", queues("gone", "x", "y", "z", removal="delete"))
    setpoint("run", folder)
    (folder / "old.json").unlink()
    write("tenants", queues("tenant-queues", "a"))
    lines = setpoint("plan", folder).stdout.splitlines()
    assert lines[-2:] == [
        "orphaned: gone  123456789012/eu-central-1  3 AWS::SQS::Queue without a policy, from old: only reported",
        "1 to create. 3 orphaned: see setpoint orphans.",
    ]
    assert len(json.loads(setpoint("plan", folder, "--json").stdout)["orphans"]) == 3
    assert "3 done" not in setpoint("orphans", folder, "--delete").stdout
    assert (
        "3 AWS::SQS::Queue without a policy, from old: only reported, 3 marked before"
        in setpoint("plan", folder).stdout
    )


def test_a_replacement_says_what_it_costs(aws, setpoint, write) -> None:
    def table(key: str):
        properties = {
            "TableName": "${item}-ledger",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
        }
        resource = {"type": "AWS::DynamoDB::Table", "properties": properties}
        return {**queues("ledger", "a"), "resource": resource, "replace": "deleteFirst", "removal": "delete"}

    folder = write("tables", table("a"))
    setpoint("run", folder)
    write("tables", table("b"))
    planned = setpoint("plan", folder)
    assert "-/+ replace AWS::DynamoDB::Table a-ledger" in planned.stdout, planned.output
    assert "deletes the resource and what it holds; the create follows in a later run" in planned.stdout
    assert "a-ledger  partial" in setpoint("run", folder).stdout


def test_a_resource_that_is_taken_over_says_from_whom(aws, setpoint, write) -> None:
    folder = write("tenants", queues("old-name", "a"))
    setpoint("run", folder)
    write("tenants", queues("new-name", "a", formerly=["old-name"]))
    assert "~ update AWS::SQS::Queue orders-a  taken over from setpoint/old-name\n" in setpoint("plan", folder).stdout
    assert "taken over from setpoint/old-name" in setpoint("run", folder).stdout


def test_a_run_at_another_time_says_so(aws, setpoint, write) -> None:
    folder = write("tenants", queues("q", "a"))
    result = setpoint("run", folder, "--at", "2026-03-02T10:00:00+01:00")
    assert "This run acts as if it were 2026-03-02T09:00:00Z." in result.stderr
