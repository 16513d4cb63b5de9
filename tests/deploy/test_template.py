"""What cfn-lint does not know about the template, and what only shows once SAM has transformed it."""

import json
import re
from pathlib import Path
from typing import Any

from cfnlint.api import ManualArgs, lint

from tests.deploy import dashboard
from tests.deploy.conftest import Sam


def test_sam_accepts_the_template(sam: Sam) -> None:
    sam("validate", "--lint")


def test_cfn_lint_finds_nothing_in_the_transformed_template(template: dict[str, Any]) -> None:
    assert _lint(template) == []


def test_cfn_lint_would_find_a_misspelt_action(template: dict[str, Any]) -> None:
    misspelt = json.loads(json.dumps(template).replace("sqs:DeleteQueue", "sqs:DeletQueue"))
    assert {match[:5] for match in _lint(misspelt)} == {"W3037"}


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


def test_the_build_has_no_yaml_aliases_left(artifact: Path) -> None:
    """CloudFormation does not know them; SAM writes them out."""
    built = (artifact.parent / "template.yaml").read_text()
    assert not re.search(r"(: |- )[&*]\w", built)


def _lint(template: dict[str, Any]) -> list[str]:
    found = lint(json.dumps(template), config=ManualArgs(regions=["us-east-1"]))
    return [f"{match.rule.id} {match.message} at {match.path}" for match in found]


def _only(template: dict[str, Any], type_: str) -> dict[str, Any]:
    (found,) = [resource for resource in template["Resources"].values() if resource["Type"] == type_]
    return found["Properties"]
