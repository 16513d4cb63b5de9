"""The official CloudFormation schema of a kind's type beside the kind's own model, property by property.

cfn-lint ships the schemas of all types, as they are in us-east-1.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from infra.kinds.kind import Kind
from infra.kinds.registry import KINDS
from policies.properties import Marker, Properties

Schema = Mapping[str, Any]

UNOFFICIAL = {"AWS::EC2::Snapshot": "CloudFormation has no type for it"}
"""Types that CloudFormation does not have, and why there may be a kind for them."""

OFFICIAL = tuple(sorted(type_name for type_name in KINDS if type_name not in UNOFFICIAL))


@dataclass(frozen=True)
class Official:
    """The schema of one type, with references resolved and paths dotted (`GlobalSecondaryIndexes.KeySchema`)."""

    document: Schema

    def paths(self, word: str) -> frozenset[str]:
        return frozenset(dotted(pointer) for pointer in self.document.get(word, ()))

    def resolve(self, schema: Schema) -> Schema:
        """The schema with its reference followed, siblings kept, and the richest of its alternatives taken."""
        while "$ref" in schema:
            target: Any = self.document
            for segment in schema["$ref"].removeprefix("#/").split("/"):
                target = target[segment]
            schema = {**target, **{word: value for word, value in schema.items() if word != "$ref"}}
        alternatives = [self.resolve(part) for part in schema.get("oneOf", schema.get("anyOf", ()))]
        typed = [part for part in alternatives if "items" in part or "properties" in part] or alternatives
        if "type" not in schema and typed:
            return {**typed[0], **{word: value for word, value in schema.items() if word not in ("oneOf", "anyOf")}}
        return schema

    def properties(self, schema: Schema) -> Mapping[str, Schema]:
        """The properties of an object, or of the objects in an array."""
        schema = self.resolve(schema)
        return schema.get("properties", {}) if "items" not in schema else self.properties(schema["items"])


@cache
def official(type_name: str) -> Official:
    return Official(PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", type_name).schema)


@dataclass(frozen=True)
class Field:
    """One property of a model beside the official one of the same path."""

    path: str
    annotation: Any
    metadata: tuple[Any, ...]
    schema: Schema

    def has(self, marker: Marker) -> bool:
        return marker in self.metadata

    @property
    def types(self) -> frozenset[str]:
        words = self.schema.get("type", ())
        return frozenset({words} if isinstance(words, str) else words)

    @property
    def model(self) -> type[Properties] | None:
        inner = get_args(self.annotation)[0] if get_origin(self.annotation) is list else self.annotation
        inner, _ = plain(inner, ())
        return inner if inspect.isclass(inner) and issubclass(inner, Properties) else None


def fields(kind: Kind) -> Iterator[Field]:
    """Every property that both the model and the schema know, nested ones included."""
    yield from _fields(kind.properties, official(kind.type).document, official(kind.type), "")


def _fields(model: type[Properties], schema: Schema, of: Official, prefix: str) -> Iterator[Field]:
    known = of.properties(schema)
    for word, info in model.model_fields.items():
        if word in known:
            annotation, metadata = plain(info.annotation, tuple(info.metadata))
            yield from _field(Field(f"{prefix}{word}", annotation, metadata, of.resolve(known[word])), of)


def _field(field: Field, of: Official) -> Iterator[Field]:
    yield field
    if field.model:
        yield from _fields(field.model, field.schema, of, f"{field.path}.")
    elif get_origin(field.annotation) is list:
        annotation, metadata = plain(get_args(field.annotation)[0], ())
        schema = of.resolve(field.schema.get("items", {}))
        yield from _field(Field(f"{field.path}.*", annotation, metadata, schema), of)


def plain(annotation: Any, metadata: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The type without Optional and Annotated, and all that these said of it."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return plain(inner, (*metadata, *more))
    if get_origin(annotation) in (Union, UnionType):
        (inner,) = [part for part in get_args(annotation) if part is not NoneType]
        return plain(inner, metadata)
    for item in tuple(metadata):
        metadata += tuple(getattr(item, "metadata", ()))
    return annotation, metadata


def official_paths(of: Official, schema: Schema, prefix: str = "", depth: int = 0) -> Iterator[str]:
    """Every official property, nested ones dotted; schemas may contain themselves, so no deeper than five."""
    for word, inner in of.properties(schema).items() if depth < 5 else ():
        yield f"{prefix}{word}"
        yield from official_paths(of, inner, f"{prefix}{word}.", depth + 1)


def dotted(pointer: str) -> str:
    return ".".join(part for part in pointer.split("/") if part not in ("", "properties", "*", "items"))


@dataclass(frozen=True)
class Coverage:
    """How many of the official properties that one can write a kind supports; nested ones do not count."""

    type: str
    supported: int
    writable: int

    def __str__(self) -> str:
        return f"{self.type} {self.supported} of {self.writable} writable"


def coverage() -> tuple[Coverage, ...]:
    """One row per kind, in alphabetical order: what the documentation shows."""
    return tuple(_coverage(KINDS[type_name]) for type_name in OFFICIAL)


def _coverage(kind: Kind) -> Coverage:
    schema = official(kind.type)
    writable = frozenset(schema.document["properties"]) - schema.paths("readOnlyProperties")
    return Coverage(kind.type, len(writable & set(kind.properties.model_fields)), len(writable))
