"""Reads the items of a source, complete or not at all. What is wrong with the list itself is one clear error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from infra.aws import Aws
from infra.refusals import translated
from policies.errors import ParseError, Problem, SenseError
from policies.frozen import Json, freeze
from policies.grammar import brief
from policies.items import DynamodbTableItems, ItemSource, S3ObjectItems, SsmParameterItems
from policies.text import TextError, read_json

LARGEST_OBJECT = 8 * 1024 * 1024
"""Bytes of an S3 object with items: far more than any list that one run could act on."""


def read_items(aws: Aws, source: ItemSource) -> tuple[Json, ...]:
    """Every item of the source, in its order. Raises ParseError or SenseError; then nothing may be concluded."""
    if source.known is not None:
        return source.known
    for kind, reader in _READERS.items():
        if isinstance(source, kind):
            with translated():
                items: tuple[Json, ...] = freeze(reader(aws, source))
                return items
    raise SenseError(f"item source {source.source!r} cannot be read here")


def _parameter(aws: Aws, source: Any) -> list[Json]:
    ssm = aws.client("ssm")
    try:
        found = ssm.get_parameter(Name=source.name, WithDecryption=False)["Parameter"]
    except ssm.exceptions.ParameterNotFound:
        raise SenseError(
            f"SSM parameter {source.name!r} does not exist in {aws.scope}; create it, or mend the name"
        ) from None
    if found["Type"] == "SecureString":
        raise SenseError(f"SSM parameter {source.name!r} is a SecureString, which is never decrypted; use a String")
    if found["Type"] == "StringList":
        return [part for part in found["Value"].split(",") if part]
    return _list(found["Value"].encode(), f"SSM parameter {source.name}")


def _object(aws: Aws, source: Any) -> list[Json]:
    s3 = aws.client("s3")
    try:
        body, _ = aws.body(source.bucket, source.key, LARGEST_OBJECT + 1)
    except s3.exceptions.NoSuchBucket:
        raise SenseError(f"the bucket {source.bucket!r} does not exist; create it, or mend the name") from None
    except s3.exceptions.NoSuchKey:
        raise SenseError(f"s3://{source.bucket}/{source.key} does not exist; create it, or mend the name") from None
    return _list(body, f"s3://{source.bucket}/{source.key}")


def _table(aws: Aws, source: Any) -> list[Json]:
    from boto3.dynamodb.types import TypeDeserializer

    deserializer = TypeDeserializer()
    try:
        rows = list(aws.pages("dynamodb", "scan", "Items", TableName=source.name, ConsistentRead=True))
    except aws.client("dynamodb").exceptions.ResourceNotFoundException:
        raise SenseError(
            f"DynamoDB table {source.name!r} does not exist in {aws.scope}; create it, or mend the name"
        ) from None
    return [{field: _plain(deserializer.deserialize(value)) for field, value in row.items()} for row in rows]


def _plain(value: Any) -> Json:
    """DynamoDB's numbers are decimals; whole ones are integers to us. Sets become sorted lists, bytes are left out."""
    from decimal import Decimal

    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((_plain(item) for item in value), key=str)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | bool) else None


def _list(body: bytes, where: str) -> list[Json]:
    """A JSON list, or one error that says where and why not."""
    try:
        value = read_json(body, limit=LARGEST_OBJECT)
    except TextError as error:
        raise ParseError(where, [Problem(path, message) for path, message in error.problems]) from None
    if not isinstance(value, list):
        raise ParseError(where, [Problem("$", f"found {brief(value)}; allowed: a JSON list of items")])
    return value


_READERS: Mapping[type[ItemSource], Callable[[Aws, Any], list[Json]]] = {
    SsmParameterItems: _parameter,
    S3ObjectItems: _object,
    DynamodbTableItems: _table,
}
