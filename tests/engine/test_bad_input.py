"""Bad input: each ends in a clear error that says where, what, and what to do, and nothing is changed.

The rest goes on: other documents, other policies, other items.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from handler.compose import vocabulary
from tests.engine.given import GROUP, QUEUE, Told, document, each, groups, names, parse, queues, run, settle
from tests.world import Fault, World, operation

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
        (b" " * (1024 * 1024 + 1), "bad: $:", "1048577 bytes; allowed: at most 1048576", "split it into several"),
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
)  # fmt: skip
def test_a_document_that_is_none(world: World, body: bytes, where: str, what: str, advice: str) -> None:
    said = wrong(world, body)
    assert said.startswith(where)
    assert what in said
    assert advice in said
    assert len(said.splitlines()) == 1, "one mistake, one error"


# --- a policy ------------------------------------------------------------------------------------------------------

SPLIT = {"namespace": "AWS/SQS", "name": "m", "statistic": "Sum", "period": "1m"}
HOURS = {"type": "schedule", "timezone": "UTC", "windows": [{"from": "09:00", "to": "17:00", "value": 3}], "otherwise": 0}
TARGET = {"type": "target", "load": SPLIT, "perUnit": 10, "min": 0, "max": 9}
ROTATION = {"type": "rotation", "period": "day", "timezone": "UTC", "format": "%Y-%m-%d", "ahead": 1, "keep": "all"}
EXPIRE = {"type": "expire", "after": "14d", "grace": "1d"}
SCALE = {"type": "scale", "property": "DelaySeconds", "to": 3}
MATCHED = {"type": QUEUE, "match": {"namePrefix": "x"}}


def with_strategy(strategy: Any, resource: Any = None) -> dict[str, Any]:
    return {**queues("a"), "strategy": strategy, **({"resource": resource} if resource else {})}


def with_type(word: str) -> dict[str, Any]:
    return {**queues("a"), "resource": {"type": word, "properties": {"QueueName": "x-${item}"}}}


def fleet(count: Any) -> dict[str, Any]:
    return with_strategy({"type": "replicas", "count": count}, {"type": QUEUE, "properties": {"QueueName": "q-${index}"}})


def dated(strategy: Any) -> dict[str, Any]:
    return with_strategy(strategy, {"type": QUEUE, "properties": {"QueueName": "q-${period}"}})


@pytest.mark.parametrize(
    ("clause", "where", "what"),
    [
        (with_strategy({"type": "foreach"}), "strategy.type", "'foreach' is no strategy; did you mean 'forEach'?"),
        (with_strategy({"type": "replica", "count": 1}), "strategy.type", "did you mean 'replicas'?"),
        (with_strategy({"items": {}}), "strategy", "without 'type'; strategy has one of: enforce"),
        (with_type("AWS::SQS::Que"), "resource.type", "did you mean 'AWS::SQS::Queue'?"),
        (with_type("AWS::Dynamo::Table"), "resource.type", "did you mean 'AWS::DynamoDB::Table'?"),
        (with_type("AWS::IAM::Role"), "resource.type", "grants power and is refused unless the deployment allows it by name (AllowedTypes)"),
        (with_type("AWS::KMS::Key"), "resource.type", "grants power"),
        (with_type("AWS::Organizations::Account"), "resource.type", "grants power"),
        (queues("a", properties={"QueueName": "x-${items.id}"}), "resource.properties.QueueName", "unknown placeholder ${items.id}; did you mean 'item'?"),
        (queues("a", properties={"QueueName": "x-${index}"}), "resource.properties.QueueName", "forEach knows ${account}, ${item}"),
        (queues("a", properties={"QueueName": "x-${item"}), "resource.properties.QueueName", "write '$${' for a literal '${'"),
        (queues("a", properties={"QueueName": "x"}), "resource.properties.QueueName", "needs ${item}: without it all have one name"),
        (queues("a", properties={"VisibilityTimout": 5}), "resource.properties.VisibilityTimout", "did you mean 'VisibilityTimeout'?"),
        (queues("a", properties={"VisibilityTimeout": "5"}), "resource.properties.VisibilityTimeout", "found '5'; allowed: a whole number"),
        (queues("a", properties={"VisibilityTimeout": 50000}), "resource.properties.VisibilityTimeout", "found 50000; input should be less than or equal to 43200"),
        (queues("a", properties={"Arn": "x"}), "resource.properties.Arn", "Arn of AWS::SQS::Queue is read-only: the service sets it"),
        (queues("a", properties={"CreateTime": "x"}), "resource.properties.CreateTime", "is a fact of AWS::SQS::Queue: legal in where, deleteIf and placeholders only"),
        (groups("a", properties={"DataProtectionPolicy": {}}), "resource.properties.DataProtectionPolicy", "DataProtectionPolicy is not yet supported for AWS::Logs::LogGroup"),
        (queues("a", roleArn="arn:aws:iam::999999999999:role/x"), "roleArn", "is not in this deployment's list of allowed roles (AllowedRoleArns: none)"),
        (dated(ROTATION), "strategy.type", "strategy 'rotation' is not yet supported"),
        (with_strategy(EXPIRE, MATCHED), "strategy.type", "strategy 'expire' is not yet supported"),
        (with_strategy(SCALE, MATCHED), "strategy.type", "strategy 'scale' is not yet supported"),
        (fleet(HOURS), "strategy.count", "a number of type 'schedule' is not yet supported; write a whole number"),
        (fleet(TARGET), "strategy.count", "a number of type 'target' is not yet supported; write a whole number"),
        (with_strategy({"type": "enforce", "set": {**HOURS, "otherwise": {}, "windows": [{"from": "09:00", "to": "17:00", "value": {"DelaySeconds": 3}}]}}, {**MATCHED, "properties": {"VisibilityTimeout": 3}}), "strategy.set", "enforce.set is not yet supported; declare fixed values in resource.properties"),
        (queues("a", guardrails={"maxDelete": 3}), "guardrails.maxDelete", "did you mean 'maxDeletes'?"),
        (queues("a", grace="5 minutes"), "grace", 'found "5 minutes"; allowed: a whole number followed by s, m, h or d'),
        (queues("a", mode="enforced"), "mode", "did you mean 'enforce'?"),
        (queues("a", name="Queues"), "name", "found 'Queues'"),
        (queues("a b"), "strategy.items.values[0]", "'a b' does not match the pattern"),
        (queues("x" * 90), "strategy.items.values[0]", "97 characters; at most 80 are allowed"),
    ],
)  # fmt: skip
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


# --- items ---------------------------------------------------------------------------------------------------------

SSM = {"source": "ssmParameter", "name": "/tenants"}


def from_source(items: dict[str, Any], name: str = "queues", **more: Any) -> dict[str, Any]:
    return {**queues(name=name, **more), "strategy": {"type": "forEach", "items": items}}


def asking(world: World, items: dict[str, Any]) -> Told:
    """A policy that asks a broken source, beside a good one; what exists must survive it."""
    settle(world, {**GOOD, "asks": document(queues("a"))})
    before, writes = world.resources(), len(world.calls(mutating=True))
    told = run(world, {**GOOD, "asks": document(from_source(items, removal="delete", grace="0s"))})
    assert world.resources() == before
    assert len(world.calls(mutating=True)) == writes
    assert (told.true("good"), told.true("queues")) == ({"Ready"}, {"Degraded"})
    assert told.message("queues", "Degraded") in told.words
    return told


@pytest.mark.parametrize(
    ("type_", "value", "words"),
    [
        ("String", None, "SSM parameter '/tenants' does not exist in 123456789012/eu-west-1; create it, or mend the name"),
        ("String", "acme, zeta", "SSM parameter /tenants: $: the document is not JSON"),
        ("String", '{"a": 1}', "SSM parameter /tenants: $: found an object; allowed: a JSON list of items"),
        ("String", '["a", "a"', "SSM parameter /tenants: $: the document is not JSON"),
        ("SecureString", '["a"]', "SSM parameter '/tenants' is a SecureString, which is never decrypted; use a String"),
    ],
)  # fmt: skip
def test_a_parameter_that_is_no_list(world: World, type_: Any, value: str | None, words: str) -> None:
    if value is not None:
        world.outside.ssm.put_parameter(Name="/tenants", Type=type_, Value=value)
    told = asking(world, SSM)
    assert words in told.words
    assert not value or type_ != "SecureString" or value not in told.words


def test_a_table_of_items_that_fails_half_way_is_not_a_short_list(world: World) -> None:
    dynamodb = world.outside.dynamodb
    key = {"AttributeName": "id", "KeyType": "HASH"}
    types = [{"AttributeName": "id", "AttributeType": "S"}]
    dynamodb.create_table(
        TableName="tenants", KeySchema=[key], AttributeDefinitions=types, BillingMode="PAY_PER_REQUEST"
    )
    for item in "abcd":
        dynamodb.put_item(TableName="tenants", Item={"id": {"S": item}})
    world.advance(minutes=1)
    world.page_size = 2
    world.inject(Fault(at=operation("dynamodb", "Scan"), kind="partial_page", times=None))
    told = asking(world, {"source": "dynamodbTable", "name": "tenants", "key": "id"})
    assert "Scan: ServiceUnavailable" in told.words
    assert [call.outcome == "ok" for call in world.calls(operation="Scan")] == [True, False]


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ({"source": "dynamodbTable", "name": "tenants", "key": "id"}, "DynamoDB table 'tenants' does not exist in"),
        ({"source": "s3Object", "bucket": "tenants", "key": "all.json"}, "s3://tenants/all.json does not exist"),
    ],
)
def test_a_source_that_is_not_there(world: World, items: dict[str, Any], words: str) -> None:
    assert words in asking(world, items).words


@pytest.mark.parametrize(
    ("service", "call", "items", "action"),
    [
        ("ssm", "GetParameter", SSM, "ssm:GetParameter"),
        ("dynamodb", "Scan", {"source": "dynamodbTable", "name": "tenants", "key": "id"}, "dynamodb:Scan"),
        ("s3", "GetObject", {"source": "s3Object", "bucket": "tenants", "key": "all.json"}, "s3:GetObject"),
    ],
)
def test_a_source_that_is_denied_names_the_missing_action(
    world: World, service: str, call: str, items: Any, action: str
) -> None:
    world.inject(Fault(at=operation(service, call), kind="denied", times=None))
    assert f"not allowed to call {action}" in asking(world, items).words


def test_an_item_that_the_name_cannot_hold_is_reported_and_the_others_are_made(world: World) -> None:
    values = json.dumps(["acme", "no spaces", "zeta", "x" * 200, "a/b", 7, None])
    world.outside.ssm.put_parameter(Name="/tenants", Type="String", Value=values)
    told = settle(world, {**GOOD, "main": document(from_source(SSM))}, minutes=6)
    assert names(world) == {"orders-acme", "orders-zeta", "orders-7"}
    assert names(world, GROUP) == {"/orders/x"}
    for place, item in ((1, '"no spaces"'), (3, '"xxx'), (4, '"a/b"'), (6, "(null)")):
        assert f"item {place} " in told.words
        assert item in told.words
    assert "item 0 " not in told.words


# --- names that are taken, and permissions -------------------------------------------------------------------------


def test_two_policies_with_overlapping_names_do_nothing_and_the_others_run(world: World) -> None:
    clash = document(
        from_source(SSM, name="one"), {**queues(name="two"), "strategy": each("acme", "zeta")}, groups("x", name="third")
    )
    world.outside.ssm.put_parameter(Name="/tenants", Type="String", Value='["b"]')
    told = run(world, {"main": clash})
    assert (names(world), names(world, GROUP)) == (set(), {"/orders/x"})
    for policy in ("one", "two"):
        assert told.true(policy) == {"Conflict"}
        message = told.message(policy, "Conflict")
        assert "'one'" in message
        assert "'two'" in message
        assert "orders-acme" in message or "orders-zeta" in message, "a witness: a name that both could give"


def test_one_policy_name_in_two_documents_is_a_conflict_of_both(world: World) -> None:
    told = run(world, {**GOOD, "first": document(queues("a")), "second": document(queues("b", stem="other"))})
    assert (names(world), names(world, GROUP)) == (set(), {"/orders/x"})
    assert "names are unique over all documents of a controller; rename one" in told.words
    assert "'first'" in told.words
    assert "'second'" in told.words


def test_one_policy_name_twice_in_a_document(world: World) -> None:
    said = wrong(world, document(queues("a"), queues("b", stem="other")))
    assert said == "bad: $.policies[1].name: policy 'queues' is already $.policies[0]; names are unique"


def test_a_name_that_is_taken_is_left_to_whoever_has_it(world: World) -> None:
    world.outside.sqs.create_queue(QueueName="orders-a", tags={"team": "them"})
    before = world.resources()
    told = settle(world, {"main": document(queues("a"))})
    assert (world.resources(), world.calls(mutating=True)) == (before, [])
    assert 'AWS::SQS::Queue orders-a exists and is not ours; set "adopt": true to take it over' in told.words


@pytest.mark.parametrize(
    ("service", "call", "action"),
    [
        ("sqs", "ListQueues", "sqs:ListQueues"),
        ("resourcegroupstaggingapi", "GetResources", "tag:GetResources"),
        ("sqs", "CreateQueue", "sqs:CreateQueue"),
    ],
)
def test_no_permission_names_the_missing_action(world: World, service: str, call: str, action: str) -> None:
    world.inject(Fault(at=operation(service, call), kind="denied", times=None))
    told = run(world, {"main": document(queues("a"))})
    assert world.resources() == {}
    assert f"not allowed to call {action}" in told.message("queues", "Degraded")
