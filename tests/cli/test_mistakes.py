"""What people get wrong: each time exit code 1, one clear line on stderr, and never a traceback."""

from __future__ import annotations

import json
import time

import pytest

from tests.cli.conftest import QUEUE, queues

ROLE = "arn:aws:iam::123456789012:role/other"


def one(**more) -> str:
    return json.dumps({"version": 1, "policies": [{**queues("q", "a"), **more}]})


BAD_TEXTS = {
    "not JSON": ("{nope", "$: the document is not JSON"),
    "empty": ("", "$: the document is empty"),
    "wrong version": ('{"version": 2, "policies": []}', "$.version: found 2; allowed: 1"),
    "unknown strategy": (one(strategy={"type": "forEech"}), "$.policies[0].strategy.type: 'forEech' is no strategy"),
    "unknown type": (one(resource={**QUEUE, "type": "AWS::SQS::Queu"}), "did you mean 'AWS::SQS::Queue'"),
    "role not allowed": (one(roleArn=ROLE), f"$.policies[0].roleArn: {ROLE} is not in this deployment's list"),
}


@pytest.mark.parametrize("command", ["validate", "plan", "run"])
@pytest.mark.parametrize("case", BAD_TEXTS)
def test_a_broken_document_says_where_and_what(aws, setpoint, write, command, case) -> None:
    text, message = BAD_TEXTS[case]
    folder = write("good", queues("good", "a"))
    (folder / "bad.json").write_text(text)
    result = setpoint(command, folder)
    assert result.exit_code == 1
    assert f"error: {folder}/bad.json:" in result.stderr
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_the_good_documents_go_on(aws, setpoint, write) -> None:
    folder = write("good", queues("good", "a"))
    (folder / "bad.json").write_text("{")
    assert "1 done, 1 error." in setpoint("run", folder).stdout


def test_overlapping_policies_name_each_other_and_a_witness(aws, setpoint, write) -> None:
    folder = write("tenants", queues("first", "a", "b"), queues("second", "b", "c"))
    for command in ("validate", "plan", "run"):
        result = setpoint(command, folder)
        assert result.exit_code == 1
        assert "first" in result.stderr
        assert "second" in result.stderr
        assert "orders-b" in result.stderr
        assert result.stderr.count("could both own") == 1, "one mistake, one error"
    assert aws.client("sqs").list_queues().get("QueueUrls", []) == []


def test_an_allowed_role_is_allowed_wherever_it_is_said(setpoint, write) -> None:
    folder = write("tenants", {**queues("q", "a"), "roleArn": ROLE})
    assert setpoint("validate", folder).exit_code == 1
    assert setpoint("validate", folder, "--allow-role", ROLE).exit_code == 0
    assert setpoint("--allow-role", ROLE, "validate", folder).exit_code == 0
    assert setpoint("validate", folder, SETPOINT_ALLOWED_ROLES=f"x,{ROLE}").exit_code == 0


@pytest.mark.parametrize("command", ["validate", "plan", "run", "orphans"])
def test_places_without_documents(aws, setpoint, tmp_path, command) -> None:
    aws.client("s3").create_bucket(Bucket="policies", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    (tmp_path / "empty").mkdir()
    for place, message in (
        (tmp_path / "missing.json", "cannot read"),
        (tmp_path / "empty", "holds no policy document"),
        ("s3://policies/none/", "holds no policy document"),
        ("s3://nowhere-at-all/policies/", "the bucket 'nowhere-at-all' does not exist"),
    ):
        result = setpoint(command, place)
        assert (result.exit_code, "Traceback" in result.output) == (1, False), result.output
        assert message in result.stderr


def test_two_documents_of_one_name(aws, setpoint, write, tmp_path) -> None:
    folder = write("tenants", queues("q", "a"))
    (tmp_path / "tenants.json").write_text(one())
    result = setpoint("plan", folder, tmp_path / "tenants.json")
    assert result.exit_code == 1
    assert "two documents are named tenants" in result.stderr


@pytest.mark.parametrize("command", ["validate", "plan", "run", "orphans"])
def test_an_empty_place_is_not_the_folder_one_is_in(setpoint, command) -> None:
    result = setpoint(command, "")
    assert result.exit_code == 1
    assert "found an empty text for a place of policies; '.' means the folder you are in" in result.stderr


@pytest.mark.parametrize("name", ["tenants.json", "other.json", "STOP"])
def test_a_plan_is_not_saved_where_policies_are_read(aws, setpoint, write, name) -> None:
    folder = write("tenants", queues("q", "a"))
    before = {path.name: path.read_text() for path in folder.iterdir()}
    for place in (folder, folder / "tenants.json"):
        if (place, name) == (folder / "tenants.json", "other.json"):
            continue  # nobody reads it there
        result = setpoint("plan", place, "--out", folder / name)
        assert result.exit_code == 1
        assert "where policies are read from" in result.stderr
    assert {path.name: path.read_text() for path in folder.iterdir()} == before


@pytest.mark.parametrize("command", ["validate", "plan", "run", "status", "apply"])
def test_a_command_that_ends_early_is_a_document_too(aws, setpoint, tmp_path, command) -> None:
    result = setpoint(command, tmp_path / "missing.json", "--json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told["kind"], told["version"]) == (1, "SetpointError", 1)
    assert "missing.json" in told["errors"][0]["message"]
    assert "missing.json" in result.stderr.replace("\n", "")


def test_a_plan_among_policies_is_one_mistake(aws, setpoint, write, tmp_path) -> None:
    folder = write("tenants", queues("q", "a"))
    assert setpoint("plan", folder, "--out", tmp_path / "plan.json").exit_code == 2
    (folder / "saved.json").write_text((tmp_path / "plan.json").read_text())
    result = setpoint("validate", folder)
    assert result.exit_code == 1
    assert "this is a SetpointPlan, which a command wrote, and no policy document; keep it elsewhere" in result.stderr
    assert result.stderr.count("saved.json") == 1


@pytest.mark.parametrize("days", ["30", "30d"])
def test_a_number_in_quotes_is_told_as_such(setpoint, write, days) -> None:
    clause = {
        "name": "logs",
        "resource": {"type": "AWS::Logs::LogGroup", "properties": {"LogGroupName": "/a", "RetentionInDays": days}},
        "strategy": {"type": "forEach"},
    }
    result = setpoint("validate", write("logs", clause))
    assert "did you mean 30, without quotes?" in result.stderr


def test_no_region(setpoint, write) -> None:
    folder = write("tenants", queues("q", "a"))
    result = setpoint("plan", folder, AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="y")
    assert result.exit_code == 1
    assert "no AWS region" in result.stderr
    assert "--region" in result.stderr


def test_no_credentials(setpoint, write) -> None:
    result = setpoint("plan", write("tenants", queues("q", "a")), "--region", "eu-central-1")
    assert result.exit_code == 1
    assert "no AWS credentials" in result.stderr
    assert "--profile" in result.stderr


def test_no_such_profile(setpoint, write) -> None:
    result = setpoint("plan", write("tenants", queues("q", "a")), "--profile", "nobody")
    assert result.exit_code == 1
    assert "nobody" in result.stderr


def test_an_endpoint_that_does_not_answer_fails_within_seconds(setpoint, write) -> None:
    folder, began = write("tenants", queues("q", "a")), time.monotonic()
    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_REGION": "eu-central-1"}
    result = setpoint("plan", folder, "--endpoint-url", "http://127.0.0.1:1", **keys)
    assert result.exit_code == 1
    assert "http://127.0.0.1:1" in result.stderr
    assert "a write happened" not in result.stderr
    assert time.monotonic() - began < 15
    assert (
        "allowed: an http:// or https:// address" in setpoint("plan", folder, "--endpoint-url", "nope", **keys).stderr
    )


@pytest.mark.parametrize("text", ["yesterday", "2026-03-02", "2026-03-02T09:00:00"])
def test_a_time_needs_its_offset(aws, setpoint, write, text) -> None:
    result = setpoint("plan", write("tenants", queues("q", "a")), "--at", text)
    assert result.exit_code == 1
    assert f"found --at '{text}'" in result.stderr
    assert ("whose offset is missing" in result.stderr) == ("T" in text)


def test_watch_and_at_exclude_each_other(aws, setpoint, write) -> None:
    result = setpoint("run", write("tenants", queues("q", "a")), "--watch", "--at", "2026-03-02T09:00:00Z")
    assert result.exit_code == 1
    assert "--watch and --at" in result.stderr


@pytest.mark.parametrize("words", [["plan"], ["plan", "--bogus", "x"], ["bogus"], ["--bogus"]])
def test_a_mistyped_command_is_never_taken_for_a_plan_with_changes(setpoint, words) -> None:
    assert setpoint(*words).exit_code == 1


def test_a_plan_that_cannot_be_saved(aws, setpoint, write, tmp_path) -> None:
    result = setpoint("plan", write("tenants", queues("q", "a")), "--out", tmp_path / "none" / "plan.json")
    assert result.exit_code == 1
    assert "cannot write" in result.stderr


def test_a_mistake_of_ours_is_short_and_traced_only_when_asked_for(aws, setpoint, write, monkeypatch) -> None:
    monkeypatch.setattr("handler.looking.plan", lambda *_: 1 / 0)
    folder = write("tenants", queues("q", "a"))
    brief = setpoint("plan", folder)
    assert brief.exit_code == 1
    assert "ZeroDivisionError" in brief.stderr
    assert "Traceback" not in brief.stderr
    assert "Traceback" in setpoint("plan", folder, "--debug").stderr


def test_at_and_out_exclude_each_other(aws, setpoint, write, tmp_path) -> None:
    folder, out = write("tenants", queues("q", "a")), tmp_path / "plan.json"
    result = setpoint("plan", folder, "--at", "2026-03-02T09:00:00Z", "--out", out)
    assert (result.exit_code, out.exists()) == (1, False)
    assert "--at and --out" in result.stderr


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_a_controller_has_a_name_that_tags_can_hold(aws, setpoint, write, command) -> None:
    folder = write("tenants", queues("q", "a"))
    for name in ("My Team", "a/b", "x" * 65):
        result = setpoint(command, folder, "--controller", name)
        assert result.exit_code == 1
        assert "found --controller" in result.stderr
    assert (
        "warning: --allow-type AWS::IAM::Rolle" in setpoint(command, folder, "--allow-type", "AWS::IAM::Rolle").stderr
    )


@pytest.mark.parametrize(
    "place, hint", [("s3:/pol", "'s3://pol'"), ("pol/*.json", "name the folder 'pol'"), ("*", "'.'")]
)
def test_places_with_slips_of_the_pen(setpoint, place, hint) -> None:
    result = setpoint("validate", place)
    assert result.exit_code == 1
    assert hint in result.stderr


def test_nothing_unprintable_reaches_the_terminal(aws, setpoint, write) -> None:
    nasty = "a\x1b]0;pwned\x07\x9b31m\u202eb"
    policy = queues("q", "a")
    policy["resource"] = {**policy["resource"], "tags": {"note": nasty}}
    folder = write("tenants", policy)
    (folder / "bad.json").write_text(json.dumps({"version": 1, "policies": [], nasty: 1}))
    for words in (["plan", folder], ["run", folder], ["plan", folder, "--json"]):
        output = setpoint(*words).output
        assert not set(nasty) & set(output) - set("a]0;pwned31mb"), words
        assert "pwned" in output


@pytest.mark.parametrize("command", ["demo", "schema"])
def test_commands_without_an_account_have_no_options_of_it(setpoint, command) -> None:
    assert "--profile" not in setpoint(command, "--help").stdout
