"""Bad items, names that are taken, and permissions that are missing: told clearly, and nothing else suffers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.engine.given import GROUP, Told, document, each, groups, names, parse, queues, run, settle
from tests.world import Fault, World, operation

GOOD = {"good": document(groups("x", name="good"))}
"""Runs beside whatever is broken, and must not suffer."""

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
        (
            "String",
            None,
            "SSM parameter '/tenants' does not exist in 123456789012/eu-west-1; create it, or mend the name",
        ),
        ("String", "acme, zeta", "SSM parameter /tenants: $: the document is not JSON"),
        ("String", '{"a": 1}', "SSM parameter /tenants: $: found an object; allowed: a JSON list of items"),
        ("String", '["a", "a"', "SSM parameter /tenants: $: the document is not JSON"),
        ("SecureString", '["a"]', "SSM parameter '/tenants' is a SecureString, which is never decrypted; use a String"),
    ],
)
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
        (
            {"source": "s3Object", "bucket": "tenants", "key": "all.json"},
            "the bucket 'tenants' does not exist; create it",
        ),
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
        from_source(SSM, name="one"),
        {**queues(name="two"), "strategy": each("acme", "zeta")},
        groups("x", name="third"),
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


def test_a_name_that_is_taken_is_left_to_whoever_has_it(world: World) -> None:
    world.outside.sqs.create_queue(QueueName="orders-a", tags={"team": "them"})
    before = world.resources()
    told = settle(world, {"main": document(queues("a"))})
    assert (world.resources(), world.calls(mutating=True)) == (before, [])
    assert 'AWS::SQS::Queue orders-a exists and is not ours; "adopt": true takes it over' in told.words


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


INSTANCE = {"ImageId": "ami-12c6146b", "InstanceType": "t3.micro"}
NAMED = {**INSTANCE, "Tags": [{"Key": "Name", "Value": "n-${item.a}"}]}


@pytest.mark.parametrize(
    ("properties", "items", "said"),
    [
        (NAMED, {"source": "list", "values": [{"a": "x"}]}, "$.policies[0].strategy.items.values[0]: nothing tells it"),
        (
            NAMED,
            {"source": "list", "values": [{"a": "x"}]},
            "AWS::EC2::Instance has no name, so object items need 'key'",
        ),
        (
            NAMED,
            {"source": "ssmParameter", "name": "/a"},
            "$.policies[0].strategy.items: AWS::EC2::Instance has no name",
        ),
        (NAMED, {"source": "s3Object", "bucket": "abc", "key": "a.json"}, "write 'itemKey', the field that does"),
        (INSTANCE, {"source": "resources", "type": "AWS::SQS::Queue"}, "write 'key', the field that does"),
    ],
)
def test_objects_need_a_key_where_no_name_tells_them_apart(properties: Any, items: Any, said: str) -> None:
    resource = {"type": "AWS::EC2::Instance", "properties": properties}
    one = {"name": "vms", "resource": resource, "strategy": {"type": "forEach", "items": items}}
    (failure,) = parse({"main": document(one)}).failures
    assert said in str(failure)


def test_a_key_or_a_plain_item_tells_them_apart() -> None:
    for properties, items in (
        (NAMED, {"source": "list", "values": [{"a": "x"}, {"a": "y"}], "key": "a"}),
        (INSTANCE, {"source": "list", "values": ["x", "y"]}),
        (INSTANCE, {"source": "ssmParameter", "name": "/a"}),
    ):
        resource = {"type": "AWS::EC2::Instance", "properties": properties}
        one = {"name": "vms", "resource": resource, "strategy": {"type": "forEach", "items": items}}
        assert not parse({"main": document(one)}).failures


def test_objects_without_a_key_that_come_from_elsewhere_make_nothing(world: World) -> None:
    world.outside.ssm.put_parameter(Name="/a", Type="String", Value=json.dumps([{"a": "x"}]))
    resource = {"type": "AWS::EC2::Instance", "properties": INSTANCE}
    strategy = {"type": "forEach", "items": {"source": "ssmParameter", "name": "/a"}}
    told = run(world, {"main": document({"name": "vms", "resource": resource, "strategy": strategy})})
    assert not world.resources().get("AWS::EC2::Instance")
    assert "object items need 'key'" in told.words
