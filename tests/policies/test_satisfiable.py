"""A guard that can never hold is a mistake, and parsing says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handler.compose import vocabulary
from policies.errors import ParseError
from policies.parse import parse_document

WORDS = vocabulary("123456789012", "eu-west-1")


def told(**clause: Any) -> list[str]:
    """The mistakes of a queue policy with these words."""
    resource = {"type": "AWS::SQS::Queue", "properties": {"QueueName": "orders"}, **clause.pop("resource", {})}
    policy = {"name": "orders", "resource": resource, "strategy": {"type": "forEach"}, **clause}
    try:
        parse_document("doc", json.dumps({"version": 1, "policies": [policy]}).encode(), "1", WORDS)
    except ParseError as error:
        return [f"{problem.path} {problem.message}" for problem in error.problems]
    return []


@pytest.mark.parametrize(
    ("protect", "said"),
    [
        ({"Tags.keep": "true"}, "write tags.KEY"),
        ({"tags": "true"}, "write tags.KEY"),
        ({"tags.keep": True}, "found true; the value of a tag is a text, such as 'true'"),
        ({"tags.keep": [1, "a"]}, "found 1; the value of a tag is a text"),
        ({"tags.keep": {"not": 3}}, "found 3; the value of a tag is a text"),
        ({"tags.size": {"above": 3}}, "'above' compares numbers"),
        ({"VisibilityTimeout": "30"}, "this can never be: found '30'; allowed: a whole number"),
        ({"VisibilityTimeout": 99_999}, "this can never be"),
        ({"RedrivePolicy.maxReceiveCountt": 3}, "RedrivePolicy has no 'maxReceiveCountt'; did you mean"),
        ({"VisibilityTimout": 3}, "is no property or fact"),
        ({"QueueName": []}, "nothing is one of it"),
    ],
)
def test_a_guard_that_guards_nothing(protect: dict[str, Any], said: str) -> None:
    (only,) = told(guardrails={"protect": protect})
    assert only.startswith("$.policies[0].guardrails.protect")
    assert said in only


@pytest.mark.parametrize(
    "protect",
    [
        {"tags.keep": "true"},
        {"tags.keep": None},
        {"tags.keep": {"like": "y*"}},
        {"VisibilityTimeout": [30, 60]},
        {"VisibilityTimeout": {"above": 30}},
        {"RedrivePolicy.maxReceiveCount": 3},
        {"QueueName": {"not": {"like": "tmp-*"}}},
        {"ApproximateNumberOfMessages": {"above": 0}},
    ],
)
def test_a_guard_that_can_hold(protect: dict[str, Any]) -> None:
    assert told(guardrails={"protect": protect, "deleteIf": protect}) == []


def test_too_many_tags_are_told_before_the_service_does() -> None:
    tags = [{"Key": f"k{number}", "Value": "v"} for number in range(44)]
    (only,) = told(resource={"properties": {"QueueName": "orders", "Tags": tags}})
    assert "found 44 tags; at most 43" in only


@pytest.mark.parametrize("version", [True, 1.0, "1", 2])
def test_a_version_is_the_whole_number_one(version: Any) -> None:
    body = json.dumps({"version": version, "policies": []}).encode()
    with pytest.raises(ParseError, match=r"\$\.version"):
        parse_document("doc", body, "1", WORDS)


def test_a_document_of_mistakes_is_refused_soon() -> None:
    unknown = {f"k{number}": 1 for number in range(20_000)}
    assert len(told(**unknown)) <= 100
