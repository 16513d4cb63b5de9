"""Bad input: each ends in a clear error that says where, what, and what to do, and nothing is changed.

The rest goes on: other documents, other policies, other items.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from handler.compose import vocabulary
from tests.engine.given import document, groups, parse, queues, run, settle
from tests.world import World

GOOD = {"good": document(groups("x", name="good"))}
"""Runs beside whatever is broken, and must not suffer."""


def text(value: Any) -> bytes:
    return json.dumps(value).encode()


def wrong(world: World, body: Any, **more: Any) -> str:
    """What is said of a broken document beside a good one; nothing of the world may change."""
    settle(world, GOOD)
    before, writes = world.resources(), len(world.calls(mutating=True))
    told = run(world, {**GOOD, "bad": body if isinstance(body, bytes) else text(body)}, **more)
    assert world.resources() == before
    assert len(world.calls(mutating=True)) == writes
    assert told.true("good") == {"Ready"}, told.words
    assert told.errors, "the run must fail at its end, so that the alarm rings"
    return told.words


# --- the document as a whole ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "where", "what", "advice"),
    [
        (b'{"version": 1,', "bad: $:", "the document is not JSON", "line 1, column 15"),
        (b'{"version": 1 "policies": []}', "bad: $:", "the document is not JSON: expecting ',' delimiter", "column 15"),
        (b"version: 1\npolicies: []\n", "bad: $:", "the document is not JSON", "line 1, column 1"),
        (b"", "bad: $:", "the document is empty", 'the least is {"version": 1, "policies": []}'),
        (b" \n", "bad: $:", "the document is empty", 'the least is {"version": 1, "policies": []}'),
        (b" " * (1024 * 1024 + 1), "bad: $:", "more than 1048576 bytes", "split it into several"),
        (b"[" * 65 + b"]" * 65, "bad: $:", "nests deeper than 64 levels", "allowed: at most 64"),
        (b"\xff\xfe{}", "bad: $:", "not UTF-8: found byte 0xff", "save it as UTF-8"),
        (b'{"version": 1e999, "policies": []}', "bad: $.version:", "found 1e999", "write a smaller one"),
        (b'{"version": NaN, "policies": []}', "bad: $.version:", "found NaN", "write the number or leave it out"),
        (b'{"version": 1, "policies": [], "policies": []}', "bad: $.policies:", "is written 2 times", "keep the one"),
        (text({"version": 2, "policies": []}), "bad: $.version:", "found 2", "allowed: 1"),
        (text({"version": "1", "policies": []}), "bad: $.version:", "found '1'", "allowed: 1"),
        (text({"policies": []}), "bad: $.version:", "'version' is required", ""),
        (text({"version": 1}), "bad: $.policies:", "'policies' is required", ""),
        (text([]), "bad: $:", "found a list", "allowed: an object"),
        (text({"version": 1, "polices": []}), "bad: $.polices:", "unknown key 'polices'", "did you mean 'policies'?"),
    ],
)
def test_a_document_that_is_none(world: World, body: bytes, where: str, what: str, advice: str) -> None:
    said = wrong(world, body)
    assert said.startswith(where)
    assert what in said
    assert advice in said
    assert len(said.splitlines()) == 1, "one mistake, one error"


# --- a policy ------------------------------------------------------------------------------------------------------


def with_strategy(strategy: Any, resource: Any = None) -> dict[str, Any]:
    return {**queues("a"), "strategy": strategy, **({"resource": resource} if resource else {})}


def with_type(word: str) -> dict[str, Any]:
    return {**queues("a"), "resource": {"type": word, "properties": {"QueueName": "x-${item}"}}}


@pytest.mark.parametrize(
    ("clause", "where", "what"),
    [
        (with_strategy({"type": "foreach"}), "strategy.type", "'foreach' is no strategy; did you mean 'forEach'?"),
        (with_strategy({"type": "replica", "count": 1}), "strategy.type", "did you mean 'replicas'?"),
        (with_strategy({"items": {}}), "strategy", "without 'type'; strategy has one of: enforce"),
        (with_type("AWS::SQS::Que"), "resource.type", "did you mean 'AWS::SQS::Queue'?"),
        (with_type("AWS::Dynamo::Table"), "resource.type", "did you mean 'AWS::DynamoDB::Table'?"),
        (
            with_type("AWS::IAM::Role"),
            "resource.type",
            "grants power and is refused unless the deployment allows it by name (AllowedTypes)",
        ),
        (with_type("AWS::KMS::Key"), "resource.type", "grants power"),
        (with_type("AWS::Organizations::Account"), "resource.type", "grants power"),
        (
            queues("a", properties={"QueueName": "x-${items.id}"}),
            "resource.properties.QueueName",
            "unknown placeholder ${items.id}; did you mean 'item'?",
        ),
        (
            queues("a", properties={"QueueName": "x-${index}"}),
            "resource.properties.QueueName",
            "forEach knows ${account}, ${item}",
        ),
        (
            queues("a", properties={"QueueName": "x-${item"}),
            "resource.properties.QueueName",
            "write '$${' for a literal '${'",
        ),
        (
            queues("a", properties={"QueueName": "x"}),
            "resource.properties.QueueName",
            "needs ${item}: without it all have one name",
        ),
        (
            queues("a", properties={"VisibilityTimout": 5}),
            "resource.properties.VisibilityTimout",
            "did you mean 'VisibilityTimeout'?",
        ),
        (
            queues("a", properties={"VisibilityTimeout": "5"}),
            "resource.properties.VisibilityTimeout",
            "found '5'; allowed: a whole number",
        ),
        (
            queues("a", properties={"VisibilityTimeout": 50000}),
            "resource.properties.VisibilityTimeout",
            "found 50000; allowed: at most 43200",
        ),
        (
            queues("a", properties={"Arn": "x"}),
            "resource.properties.Arn",
            "Arn of AWS::SQS::Queue is read-only: the service sets it",
        ),
        (
            queues("a", properties={"CreateTime": "x"}),
            "resource.properties.CreateTime",
            "is a fact of AWS::SQS::Queue: legal in where, deleteIf and placeholders only",
        ),
        (
            groups("a", properties={"DataProtectionPolicy": {}}),
            "resource.properties.DataProtectionPolicy",
            "DataProtectionPolicy is not yet supported for AWS::Logs::LogGroup",
        ),
        (
            queues("a", roleArn="arn:aws:iam::999999999999:role/x"),
            "roleArn",
            "is not in this deployment's list of allowed roles (AllowedRoleArns: none)",
        ),
        (queues("a", guardrails={"maxDelete": 3}), "guardrails.maxDelete", "did you mean 'maxDeletes'?"),
        (
            queues("a", grace="5 minutes"),
            "grace",
            'found "5 minutes"; allowed: a whole number followed by s, m, h or d',
        ),
        (queues("a", mode="enforced"), "mode", "did you mean 'enforce'?"),
        (queues("a", name="Queues"), "name", "found 'Queues'"),
        (queues("a b"), "strategy.items.values[0]", "'a b' does not match the pattern"),
        (queues("x" * 90), "strategy.items.values[0]", "97 characters; at most 80 are allowed"),
    ],
)
def test_a_policy_with_one_mistake(world: World, clause: dict[str, Any], where: str, what: str) -> None:
    said = wrong(world, document(clause))
    assert said.startswith(f"bad: $.policies[0].{where}: ")
    assert what in said
    assert len(said.splitlines()) == 1, "one mistake, one error"


def test_duplicate_keys_deep_inside_are_an_error(world: World) -> None:
    body = text(document(queues("a", grace="1h"))).replace(b'"grace": "1h"', b'"grace": "1h", "grace": "2h"')
    assert "bad: $.policies[0].grace: this key is written 2 times; allowed: once" in wrong(world, body)


def test_a_type_that_grants_power_may_be_allowed_by_name() -> None:
    words = vocabulary("123456789012", "eu-west-1", allowed_types=["AWS::IAM::Role"])
    (failure,) = parse({"main": document(with_type("AWS::IAM::Role"))}, words=words).failures
    assert "grants power" not in str(failure)


def test_one_policy_name_twice_in_a_document(world: World) -> None:
    said = wrong(world, document(queues("a"), queues("b", stem="other")))
    assert said == "bad: $.policies[1].name: policy 'queues' is already $.policies[0]; names are unique"


@pytest.mark.parametrize(
    ("type_", "strategy", "said"),
    [
        ("AWS::SQS::Queue", {"type": "enforce"}, "$.policies[0].resource.properties: nothing is declared"),
        ("AWS::SNS::Topic", {"type": "expire", "after": "7d", "grace": "1d"}, ".after: AWS::SNS::Topic tells no time"),
    ],
)
def test_policies_that_could_never_do_anything(type_: str, strategy: dict[str, Any], said: str) -> None:
    resource = {"type": type_, "match": {"namePrefix": "sandbox-"}}
    one = {"name": "idle", "resource": resource, "strategy": strategy}
    (failure,) = parse({"main": document(one)}).failures
    assert said in str(failure)
