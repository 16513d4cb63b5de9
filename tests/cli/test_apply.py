"""A saved plan does exactly what it says, once, held actions included; and nothing where the world has moved."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import names, queues

GONE = {"removal": "delete", "grace": "0s"}


@pytest.fixture
def held(aws, setpoint, write, tmp_path):
    """A folder whose next run would delete three queues of four, which maxDeletes holds; and that plan, saved."""
    folder = write("tenants", queues("tenant-queues", "a", "b", "c", "d", **GONE))
    assert setpoint("run", folder).exit_code == 0
    write("tenants", queues("tenant-queues", "a", **GONE))
    planned = setpoint("plan", folder, "--out", tmp_path / "plan.json")
    assert planned.exit_code == 2
    assert "3 held." in planned.stdout
    assert "held: 3 deletes are wanted and maxDeletes allows 1" in planned.stdout
    return folder


def test_a_held_plan_is_held_by_run_and_done_by_apply_once(held, aws, setpoint, tmp_path) -> None:
    ran = setpoint("run", held)
    assert ran.exit_code == 0
    assert "held: delete orders-b, delete orders-c, delete orders-d" in ran.stdout
    assert len(names(aws)) == 4
    applied = setpoint("apply", tmp_path / "plan.json")
    assert applied.exit_code == 0, applied.output
    assert "3 done." in applied.stdout
    assert names(aws) == ["orders-a"]
    again = setpoint("apply", tmp_path / "plan.json")
    assert again.exit_code == 1
    assert "not to be done any more: delete orders-b" in again.stderr
    assert setpoint("plan", held).exit_code == 0


def test_apply_is_refused_when_something_else_is_to_be_done(held, aws, setpoint, tmp_path) -> None:
    url = aws.client("sqs").get_queue_url(QueueName="orders-a")["QueueUrl"]
    aws.client("sqs").set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "7"})
    applied = setpoint("apply", tmp_path / "plan.json")
    assert applied.exit_code == 1
    assert "the world has moved" in applied.stderr
    assert "new: update orders-a" in applied.stderr
    assert len(names(aws)) == 4


def test_apply_is_refused_when_a_document_was_edited(held, aws, setpoint, write, tmp_path) -> None:
    write("tenants", queues("tenant-queues", "a", description="only a word", **GONE))
    applied = setpoint("apply", tmp_path / "plan.json")
    assert applied.exit_code == 1
    assert "document tenants: " in applied.stderr
    assert len(names(aws)) == 4


def test_apply_is_refused_in_another_account(held, setpoint, tmp_path) -> None:
    saved = json.loads((tmp_path / "plan.json").read_text())
    (tmp_path / "plan.json").write_text(json.dumps({**saved, "account": "111111111111"}))
    applied = setpoint("apply", tmp_path / "plan.json")
    assert applied.exit_code == 1
    assert "it was made for account 111111111111" in applied.stderr


@pytest.mark.parametrize(
    ("option", "said"), [("--region", "us-east-1"), ("--controller", "other"), ("--allow-type", "AWS::EC2::Instance")]
)
def test_apply_is_refused_with_an_option_that_contradicts_the_plan(held, aws, setpoint, tmp_path, option, said) -> None:
    applied = setpoint("apply", tmp_path / "plan.json", option, said)
    assert applied.exit_code == 1
    assert f"found {option} {said}, and the plan was made with" in applied.stderr
    assert len(names(aws)) == 4


def test_apply_may_be_told_what_the_plan_says(held, setpoint, tmp_path) -> None:
    assert (
        setpoint("apply", tmp_path / "plan.json", "--region", "eu-central-1", "--controller", "setpoint").exit_code == 0
    )


def test_apply_does_nothing_while_stopped(held, aws, setpoint, tmp_path) -> None:
    (held / "STOP").touch()
    applied = setpoint("apply", tmp_path / "plan.json")
    assert applied.exit_code == 1
    assert "STOP" in applied.stderr
    assert len(names(aws)) == 4


def test_no_approval_lifts_the_mode_of_a_policy(aws, setpoint, write, tmp_path) -> None:
    folder = write("tenants", queues("tenant-queues", "a", mode="observe"))
    planned = setpoint("plan", folder, "--out", tmp_path / "plan.json", "--json")
    assert planned.exit_code == 2
    assert json.loads(planned.stdout)["actions"][0]["approvable"] is False
    applied = setpoint("apply", tmp_path / "plan.json")
    assert applied.exit_code == 0
    assert "held: create orders-a: the policy's mode is observe" in applied.stdout
    assert names(aws) == []


@pytest.mark.parametrize("text", ["", "{}", '{"kind": "SetpointRun"}', "not json"])
def test_what_is_no_plan_is_refused(aws, setpoint, tmp_path, text) -> None:
    (tmp_path / "plan.json").write_text(text)
    applied = setpoint("apply", tmp_path / "plan.json")
    assert applied.exit_code == 1
    assert "is no saved plan" in applied.stderr
