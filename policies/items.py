"""Where items come from, and which of them a policy can use."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic.alias_generators import to_camel

from policies.conditions import Conditions
from policies.frozen import Json, freeze, nothing
from policies.grammar import Dispatch, Frozen, Grammar, mistake
from policies.match import Matches
from policies.names import check_pattern

DEFAULT_PATTERN = "[A-Za-z0-9._-]+"
WHOLE = ""
"""The field name that stands for the item itself."""


def _legal_pattern(pattern: str) -> str:
    check_pattern(pattern)
    return pattern


Pattern = Annotated[str, AfterValidator(_legal_pattern)]
Length = Annotated[int, Field(ge=1)]


def _one_or_per_field(value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """A single rule is read as the rule of every field, and keeps its own path in an error."""
    rule = Pattern if info.field_name == "pattern" else Length
    return (
        read(value)
        if isinstance(value, Mapping)
        else MappingProxyType({WHOLE: TypeAdapter(rule).validate_python(value, strict=True)})
    )


class ItemSource(Grammar, ABC):
    """A list of items, read with the policy's own role. Each is a text, a whole number, or an object."""

    source: str
    where: Annotated[Conditions, Field(description="Only items whose fields satisfy these conditions.")] = Field(
        default_factory=nothing
    )
    pattern: Annotated[
        Frozen[Pattern],
        WrapValidator(_one_or_per_field),
        Field(description="What a field may hold, whole match; one for all fields, or one per field."),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]}),
    ] = Field(default_factory=nothing)
    max_length: Annotated[
        Frozen[Length],
        WrapValidator(_one_or_per_field),
        Field(description="How long a field may be; one for all fields, or one per field."),
        WithJsonSchema(
            {"anyOf": [{"type": "integer"}, {"type": "object", "additionalProperties": {"type": "integer"}}]}
        ),
    ] = Field(default_factory=nothing)
    allow_empty: Annotated[bool, Field(description="Let an empty source delete everything.")] = False

    identity_field: ClassVar[str] = "key"

    @property
    def signal_key(self) -> str:
        """One text for one source: policies that read the same source share one reading."""
        where_from = type(self).model_fields.keys() - ItemSource.model_fields.keys() - {self.identity_field}
        return repr((self.source, [(field, getattr(self, field)) for field in sorted(where_from)]))

    @property
    def identity(self) -> str | None:
        """The field that tells object items apart."""
        return getattr(self, self.identity_field, None)

    @property
    def key_word(self) -> str:
        """How the policy spells the field of `identity`."""
        return to_camel(self.identity_field)

    @property
    def words(self) -> frozenset[str]:
        """The words that its own conditions and rules ask items for."""
        fields = (*self.where, *self.pattern, *self.max_length, self.identity or WHOLE)
        return frozenset(field.partition(".")[0] for field in fields if field != WHOLE)

    def pattern_of(self, field: str) -> str:
        return self.pattern.get(field) or self.pattern.get(WHOLE) or DEFAULT_PATTERN

    def longest(self, field: str) -> int | None:
        return self.max_length.get(field) or self.max_length.get(WHOLE)

    @property
    def known(self) -> tuple[Json, ...] | None:
        """The items, where they stand in the policy itself."""
        return None


class KeyedSource(ItemSource, ABC):
    key: Annotated[str | None, Field(description="The field that tells items apart, where names do not.")] = None


MOST_VALUES = 10_000


def _not_too_many(values: Any) -> Any:
    if isinstance(values, list | tuple) and len(values) > MOST_VALUES:
        raise mistake(
            f"found {len(values)} items; a policy lists at most {MOST_VALUES}: keep them in a source of their own"
        )
    return values


class ListItems(KeyedSource):
    """Items written in the policy."""

    source: Literal["list"]
    values: Annotated[
        tuple[Annotated[Any, PlainValidator(freeze)], ...], BeforeValidator(_not_too_many), Field(strict=False)
    ]

    @property
    def known(self) -> tuple[Json, ...]:
        return self.values


class SsmParameterItems(KeyedSource):
    """A JSON list in an SSM parameter. SecureStrings are never decrypted."""

    source: Literal["ssmParameter"]
    name: Annotated[str, Field(min_length=1, max_length=2048)]


class DynamodbTableItems(KeyedSource):
    """The rows of a DynamoDB table."""

    source: Literal["dynamodbTable"]
    name: Annotated[str, Field(min_length=3, max_length=1024)]


class S3ObjectItems(ItemSource):
    """A JSON list in an S3 object. `key` is the object's, so the field that tells items apart is `itemKey` here."""

    source: Literal["s3Object"]
    bucket: Annotated[str, Field(min_length=3, max_length=63)]
    key: Annotated[str, Field(min_length=1, max_length=1024)]
    item_key: Annotated[str | None, Field(description="The field that tells items apart, where names do not.")] = None

    identity_field: ClassVar[str] = "item_key"


class ResourceItems(KeyedSource):
    """Existing resources of a type, as objects of their properties, facts and tags: an alarm per queue."""

    source: Literal["resources"]
    type: str
    match: Matches | None = None
    except_: Annotated[Matches | None, Field(alias="except")] = None


SOURCES: Mapping[str, type[ItemSource]] = {
    "list": ListItems,
    "ssmParameter": SsmParameterItems,
    "dynamodbTable": DynamodbTableItems,
    "s3Object": S3ObjectItems,
    "resources": ResourceItems,
}


Items = Annotated[ItemSource, PlainValidator(Dispatch("source", "item source", lambda _: SOURCES))]
