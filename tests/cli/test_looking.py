"""Validate, schema, status and iam; colour, pipes and the demo."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import queues

STATUS = {
    "document": "tenants",
    "version": 1,
    "observedGeneration": "abc",
    "policies": [
        {
            "name": "tenant-queues",
            "conditions": [
                {"type": "Ready", "status": "False", "reason": "NotAsDesired", "message": ""},
                {"type": "Held", "status": "True", "reason": "Guardrail", "message": "3 deletes are wanted"},
            ],
            "desired": 1,
            "actual": 4,
            "ready": 1,
        }
    ],
}


def test_validate_needs_no_account(setpoint, write) -> None:
    result = setpoint("validate", write("tenants", queues("q", "a")))
    assert (result.exit_code, result.stdout) == (0, "1 document, 1 legal policy: valid.\n")


def test_validate_as_json(setpoint, write) -> None:
    folder = write("tenants", queues("q", "a"))
    (folder / "bad.json").write_text("{")
    told = json.loads(setpoint("validate", folder, "--json").stdout)
    assert told["valid"] is False
    assert [one["document"] for one in told["documents"]] == ["tenants"]
    assert [(one["document"], one["file"], one["path"]) for one in told["errors"]] == [
        ("bad", f"{folder}/bad.json", "$")
    ]


def test_the_schema_is_printed_in_both_forms(setpoint) -> None:
    assert json.loads(setpoint("schema").stdout)["$id"] == "setpoint.schema.json"
    assert "export interface PolicyDocument" in setpoint("schema", "--typescript").stdout


def test_status_is_a_table_that_no_pipe_cuts(setpoint, tmp_path) -> None:
    (tmp_path / "tenants.json").write_text(json.dumps(STATUS))
    broken = {"document": "bad", "version": 1, "policies": [], "errors": [{"path": "$.x", "message": "unknown key"}]}
    (tmp_path / "bad.json").write_text(json.dumps(broken))
    orphan = {"policy": "setpoint/old", "document": "tenants", "type": "AWS::SQS::Queue", "count": 2}
    (tmp_path / "_run.json").write_text(json.dumps({"version": 1, "orphans": [orphan], "errors": []}))
    result = setpoint("status", tmp_path)
    assert result.exit_code == 0, result.output
    assert "Held" in result.stdout
    for shown in ("3 deletes are wanted", "$.x: unknown key", "setpoint/old", "AWS::SQS::Queue: the policy is gone"):
        assert shown in result.stdout
    assert json.loads(setpoint("status", tmp_path, "--json").stdout)["documents"][-1]["document"] == "tenants"


def test_status_of_what_is_none(setpoint, write) -> None:
    result = setpoint("status", write("tenants", "not a status"))
    assert result.exit_code == 1
    assert "is no status document" in result.stderr


def test_status_of_policies_and_of_nothing(setpoint, write, tmp_path) -> None:
    result = setpoint("status", write("tenants", queues("q", "a")))
    assert result.exit_code == 1
    assert "these are policies; the status lies under status/" in result.stderr
    (tmp_path / "empty").mkdir()
    assert "holds no status document" in setpoint("status", tmp_path / "empty").stderr


def test_status_says_once_what_holds_for_many_and_pads_nothing(setpoint, tmp_path) -> None:
    message = "; ".join(f"create orders-{one}: not allowed; ask somebody" for one in range(20))
    condition = {"type": "Degraded", "status": "True", "reason": "ActionFailed", "message": f"{message}; no answer"}
    status = {**STATUS, "policies": [*STATUS["policies"], {"name": "q", "conditions": [condition]}]}
    (tmp_path / "tenants.json").write_text(json.dumps(status))
    lines = setpoint("status", tmp_path).stdout.splitlines()
    assert len(lines) == 3
    assert all(line == line.rstrip() for line in lines)
    assert "create orders-0, orders-1, orders-2 and 16 more: not allowed; ask somebody" in lines[-1]
    folded = setpoint("status", tmp_path, FORCE_COLOR="1", NO_COLOR="1", COLUMNS="60", TTY_COMPATIBLE="1").stdout
    assert "3 deletes are wanted" in folded
    assert "    create orders-0, orders-1, orders-2 and 16 more" in folded


def test_iam_is_the_least(setpoint, write) -> None:
    alarms = {
        "name": "logs",
        "resource": {
            "type": "AWS::Logs::LogGroup",
            "match": {"namePrefix": "/aws/lambda/"},
            "properties": {"RetentionInDays": 14},
        },
        "strategy": {"type": "enforce"},
    }
    folder = write("tenants", queues("q", "a", removal="delete"), alarms)
    policy = json.loads(setpoint("iam", folder, "--region", "eu-central-1").stdout)
    actions = {action for one in policy["Statement"] for action in one["Action"]}
    assert {"sqs:CreateQueue", "sqs:DeleteQueue", "logs:PutRetentionPolicy", "tag:GetResources"} <= actions
    assert actions.isdisjoint({"logs:CreateLogGroup", "logs:DeleteLogGroup", "ssm:GetParameter"})
    [deletes] = [one for one in policy["Statement"] if "sqs:DeleteQueue" in one["Action"]]
    assert deletes["Condition"]["StringLike"] == {"aws:ResourceTag/setpoint:policy": "setpoint/*"}
    assert deletes["Action"] == ["sqs:DeleteQueue"]


@pytest.mark.parametrize(("orphans", "deletes"), [("report", False), ("delete", True)])
def test_iam_allows_deletes_only_where_something_is_deleted(setpoint, write, orphans, deletes) -> None:
    policy = setpoint("iam", write("tenants", queues("q", "a"), orphans=orphans)).stdout
    assert ("sqs:DeleteQueue" in policy) == deletes


def test_iam_of_a_role_is_asked_for_apart(setpoint, write) -> None:
    role = "arn:aws:iam::111122223333:role/other"
    folder = write("tenants", {**queues("q", "a"), "roleArn": role})
    own = setpoint("iam", folder, "--allow-role", role)
    assert [one["Action"] for one in json.loads(own.stdout)["Statement"]] == [["sts:AssumeRole"]]
    assert f"--for-role {role}" in own.stderr
    assert "sqs:CreateQueue" in setpoint("iam", folder, "--allow-role", role, "--for-role", role).stdout
    unknown = setpoint("iam", folder, "--allow-role", role, "--for-role", f"{role}s")
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert f"these roles are named: {role}\n" in unknown.stderr


def test_iam_reads_the_item_sources_and_the_bucket(setpoint, write, aws) -> None:
    items = {"source": "ssmParameter", "name": "/orders/tenants"}
    folder = write("tenants", {**queues("q"), "strategy": {"type": "forEach", "items": items}})
    s3 = aws.client("s3")
    s3.create_bucket(Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    s3.put_object(Bucket="bucket", Key="p/tenants.json", Body=(folder / "tenants.json").read_bytes())
    policy = json.loads(setpoint("iam", "s3://bucket/p", "--account", "111122223333").stdout)
    by_action = {action: one["Resource"] for one in policy["Statement"] for action in one["Action"]}
    assert by_action["ssm:GetParameter"] == "arn:aws:ssm:eu-central-1:111122223333:parameter/orders/tenants"
    assert by_action["s3:GetObject"] == "arn:aws:s3:::bucket/p/*"
    assert by_action["s3:ListBucket"] == "arn:aws:s3:::bucket"


def test_colour_only_where_it_is_wanted(aws, setpoint, write) -> None:
    folder = write("tenants", queues("q", "a"))
    assert "\x1b[" not in setpoint("plan", folder).stdout
    assert "\x1b[3" in setpoint("plan", folder, FORCE_COLOR="1").stdout
    assert "\x1b[3" not in setpoint("plan", folder, FORCE_COLOR="1", NO_COLOR="1").stdout


def test_secrets_are_not_shown(aws, setpoint, write) -> None:
    secret = {"Key": "api_key", "Value": "hunter2"}
    policy = queues("q", "a")
    policy["resource"] = {**policy["resource"]}
    policy["resource"]["properties"] = {**policy["resource"]["properties"], "Tags": [secret]}
    folder = write("tenants", policy)
    for words in (["plan", folder], ["plan", folder, "--json"], ["run", folder, "--json"]):
        result = setpoint(*words)
        assert "hunter2" not in result.output
        assert "(redacted)" in result.output


def test_what_is_named_like_a_secret_is_one(aws, setpoint, write) -> None:
    """Of a parameter the name says what its value is, both when it is made and when it changes."""

    def parameter(value: str):
        properties = {"Name": "/db/password", "Type": "String", "Value": value}
        resource = {"type": "AWS::SSM::Parameter", "properties": properties}
        return {"name": "p", "resource": resource, "strategy": {"type": "forEach"}}

    for value in ("hunter2", "hunter3"):
        folder = write("d", parameter(value))
        for words in (["plan", folder], ["plan", folder, "--json"], ["run", folder, "--json"]):
            result = setpoint(*words)
            assert "hunter" not in result.output
            assert "(redacted)" in result.output


def test_the_version(setpoint) -> None:
    assert setpoint("--version").stdout.startswith("setpoint 0.")


def test_the_demo_keeps_its_word(setpoint) -> None:
    result = setpoint("demo", AWS_PROFILE="nobody", AWS_ENDPOINT_URL="http://127.0.0.1:1")
    assert result.exit_code == 0, result.output
    assert "Everything came as announced." in result.stdout


@pytest.mark.parametrize("delete", [False, True])
def test_orphans_are_listed_and_deleted_only_when_asked_for(aws, setpoint, write, delete) -> None:
    alarm = {
        "type": "AWS::CloudWatch::Alarm",
        "properties": {
            "AlarmName": "lonely-${item}",
            "Namespace": "AWS/SQS",
            "MetricName": "NumberOfMessagesSent",
            "Statistic": "Sum",
            "Period": 60,
            "EvaluationPeriods": 1,
            "ComparisonOperator": "GreaterThanThreshold",
            "Threshold": 1,
        },
    }
    policy = {"name": "alarm", "resource": alarm, "strategy": queues("", "x", "y", "z")["strategy"]}
    folder = write("tenants", queues("q", "a"), policy)
    assert setpoint("run", folder).exit_code == 0
    write("tenants", queues("q", "a"))
    planned = setpoint("plan", folder)
    assert (planned.exit_code, planned.stdout.splitlines()[-1]) == (
        0,
        "Nothing to do. 3 orphaned: see setpoint orphans.",
    )
    listed = setpoint("orphans", folder, *(["--delete"] if delete else []))
    assert listed.exit_code == 0, listed.output
    assert "alarm  123456789012/eu-central-1  3 AWS::CloudWatch::Alarm, from tenants" in listed.stdout
    assert ("3 orphaned. Nothing was done: --delete" in listed.stdout) is not delete
    left = aws.client("cloudwatch").describe_alarms()["MetricAlarms"]
    assert len(left) == (0 if delete else 3)


def test_orphans_need_the_whole_folder(aws, setpoint, write) -> None:
    folder = write("tenants", queues("q", "a"))
    result = setpoint("orphans", folder / "tenants.json")
    assert result.exit_code == 1
    assert "whole folder or prefix" in result.stderr


def test_orphans_are_unknown_while_a_document_does_not_parse(aws, setpoint, write) -> None:
    folder = write("tenants", queues("q", "a"))
    (folder / "bad.json").write_text("{")
    result = setpoint("orphans", folder)
    assert result.exit_code == 1
    assert "known only when every document parses" in result.stderr
    assert "No orphans" not in result.output
