"""Items are read complete or not at all; what is wrong with a list is one clear error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from infra.aws import Aws
from infra.sources import LARGEST_OBJECT, read_items
from policies.errors import ParseError, SenseError, ThrottledError
from policies.items import Items
from policies.world import Scope
from tests.world import Fault, World, operation


class Clause(BaseModel):
    """Something with items in it."""

    items: Items


def read(world: World, **source: Any) -> tuple[Any, ...]:
    parsed = Clause.model_validate({"items": source}).items
    return read_items(Aws(world.session, Scope(world.account, world.region)), parsed)


PARAMETER = {"source": "ssmParameter", "name": "/tenants"}
OBJECT = {"source": "s3Object", "bucket": "tenants", "key": "all.json"}
TABLE = {"source": "dynamodbTable", "name": "tenants"}


def parameter(world: World, value: str, type_: Any = "String") -> None:
    world.outside.ssm.put_parameter(Name="/tenants", Type=type_, Value=value)


def put(world: World, body: bytes) -> None:
    where = {"LocationConstraint": "eu-west-1"}
    world.outside.s3.create_bucket(Bucket="tenants", CreateBucketConfiguration=where)
    world.outside.s3.put_object(Bucket="tenants", Key="all.json", Body=body)


def table(world: World, *rows: dict[str, Any]) -> None:
    dynamodb = world.outside.dynamodb
    dynamodb.create_table(
        TableName="tenants",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    world.advance(minutes=1)
    for row in rows:
        dynamodb.put_item(TableName="tenants", Item=row)


VALUES = ["acme", 7, {"id": "zeta", "size": 3, "tags": ["a"]}]


def test_a_list_is_read_from_the_policy_itself(world: World) -> None:
    assert read(world, source="list", values=["a", 7]) == ("a", 7)
    assert not world.history


def test_a_parameter(world: World) -> None:
    parameter(world, json.dumps(VALUES))
    first, second, third = read(world, **PARAMETER)
    assert (first, second, dict(third)) == ("acme", 7, {"id": "zeta", "size": 3, "tags": ("a",)})
    with pytest.raises(TypeError):
        third["id"] = "other"


@pytest.mark.parametrize(("value", "items"), [("a,b", ("a", "b")), ("a", ("a",)), ("a,,b,", ("a", "b"))])
def test_a_list_of_strings(world: World, value: str, items: tuple[str, ...]) -> None:
    parameter(world, value, "StringList")
    assert read(world, **PARAMETER) == items


def test_a_secret_parameter_is_never_decrypted(world: World) -> None:
    parameter(world, '["tr0ub4dor"]', "SecureString")
    with pytest.raises(SenseError, match="is a SecureString, which is never decrypted; use a String") as raised:
        read(world, **PARAMETER)
    assert "tr0ub4dor" not in str(raised.value)
    assert [call.params["WithDecryption"] for call in world.history] == [False]


def test_an_object(world: World) -> None:
    put(world, json.dumps(VALUES).encode())
    assert len(read(world, **OBJECT)) == 3


def test_a_table_page_by_page(world: World) -> None:
    table(world, *({"id": {"S": f"t{number}"}, "size": {"N": str(number)}} for number in range(7)))
    world.page_size = 2
    rows = read(world, **TABLE)
    assert sorted((row["id"], row["size"]) for row in rows) == [(f"t{number}", number) for number in range(7)]
    assert all(call.params["ConsistentRead"] for call in world.calls(operation="Scan"))
    assert len(world.calls(operation="Scan")) >= 4


def test_the_types_of_a_table(world: World) -> None:
    row = {
        "id": {"S": "a"}, "whole": {"N": "3"}, "half": {"N": "0.5"}, "on": {"BOOL": True}, "none": {"NULL": True},
        "set": {"SS": ["b", "a"]}, "list": {"L": [{"N": "1"}]}, "deep": {"M": {"x": {"N": "2"}}}, "raw": {"B": b"x"},
    }  # fmt: skip
    table(world, row)
    (found,) = read(world, **TABLE)
    assert dict(found) == {
        "id": "a", "whole": 3, "half": 0.5, "on": True, "none": None,
        "set": ("a", "b"), "list": (1,), "deep": {"x": 2}, "raw": None,
    }  # fmt: skip
    assert isinstance(found["whole"], int)


@pytest.mark.parametrize(
    ("body", "path", "words"),
    [
        ("acme", "$", "the document is not JSON"),
        ("", "$", "is empty"),
        ('{"items": []}', "$", "found an object; allowed: a JSON list of items"),
        ('"acme"', "$", "found 'acme'; allowed: a JSON list of items"),
        ("null", "$", "found null; allowed: a JSON list of items"),
        ("[1e999]", "$[0]", "write a smaller one"),
        ('[{"id": 1, "id": 2}]', "$[0].id", "written 2 times"),
        ("[" * 70 + "]" * 70, "$", "nests deeper than 64"),
    ],
)
def test_what_is_no_list_of_items(world: World, body: str, path: str, words: str) -> None:
    put(world, body.encode())
    with pytest.raises(ParseError) as raised:
        read(world, **OBJECT)
    (problem,) = raised.value.problems
    assert (raised.value.source, problem.path) == ("s3://tenants/all.json", path)
    assert words in problem.message


def test_an_object_that_is_too_large(world: World) -> None:
    put(world, b" " * (LARGEST_OBJECT + 1))
    with pytest.raises(ParseError, match="more than 8388608 bytes"):
        read(world, **OBJECT)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (PARAMETER, "SSM parameter '/tenants' does not exist in 123456789012/eu-west-1; create it, or mend the name"),
        (OBJECT, "the bucket 'tenants' does not exist; create it, or mend the name"),
        (TABLE, "DynamoDB table 'tenants' does not exist in 123456789012/eu-west-1; create it, or mend"),
    ],
)
def test_a_source_that_is_not_there_is_an_error_and_not_empty(world: World, source: Any, words: str) -> None:
    with pytest.raises(SenseError, match=words):
        read(world, **source)


def test_a_key_that_is_not_there_is_an_error_and_not_empty(world: World) -> None:
    put(world, b"[]")
    with pytest.raises(SenseError, match="s3://tenants/other does not exist"):
        read(world, **{**OBJECT, "key": "other"})


def test_an_empty_source_is_empty(world: World) -> None:
    put(world, b"[]")
    table(world)
    assert read(world, **OBJECT) == read(world, **TABLE) == ()


def test_a_table_that_fails_half_way_is_an_error(world: World) -> None:
    table(world, *({"id": {"S": f"t{number}"}} for number in range(4)))
    world.page_size = 2
    world.inject(Fault(at=operation("dynamodb", "Scan"), kind="partial_page"))
    with pytest.raises(SenseError, match="Scan: ServiceUnavailable"):
        read(world, **TABLE)


def test_throttling_is_told_as_such(world: World) -> None:
    parameter(world, "[]")
    world.inject(Fault(at=operation("ssm", "GetParameter"), kind="throttled"))
    with pytest.raises(ThrottledError):
        read(world, **PARAMETER)
