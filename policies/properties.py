"""How a kind describes its properties: CloudFormation's names, marked with what may be done to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType, UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from policies.frozen import Json, canonical_text


class Marker:
    """Something a kind says about a property beyond its type."""


@dataclass(frozen=True, slots=True)
class _Flag(Marker):
    word: str


CreateOnly = _Flag("create-only")
"""Changing it means another resource: `replace`."""

WriteOnly = _Flag("write-only")
"""The service never shows it: it is written at creation and never compared."""

Unordered = _Flag("unordered")
"""A list whose order means nothing: compared as a set."""

JsonDocument = _Flag("json-document")
"""JSON text at the service, an object in the policy; compared as JSON, never as text."""

Extension = _Flag("extension")
"""Ours: CloudFormation has no such property."""


@dataclass(frozen=True, slots=True)
class Keyed(Marker):
    """A list of objects that is a mapping by one of their fields (global secondary indexes by IndexName)."""

    by: str


@dataclass(frozen=True, slots=True)
class Default(Marker):
    """What the service uses where nothing is set: null resets to it, and it equals absent."""

    value: Json

    def __hash__(self) -> int:
        return hash(canonical_text(self.value))


@dataclass(frozen=True, slots=True)
class Name(Marker):
    """The property that names the resource: the characters it may hold (item-pattern dialect) and how many."""

    pattern: str
    longest: int

    def check(self, text: str) -> str:
        if len(text) > self.longest:
            raise ValueError(f"{text!r} has {len(text)} characters; at most {self.longest} are allowed")
        if not re.fullmatch(self.pattern, text, re.ASCII):
            raise ValueError(f"{text!r} does not match {self.pattern}")
        return text

    def allows(self, text: str) -> bool:
        try:
            return bool(self.check(text))
        except ValueError:
            return False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))


class Properties(BaseModel):
    """Base of every property object: frozen, strict (`"3"` is not 3), unknown words are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True, defer_build=True)


PropertyModel: TypeAlias = type[Properties]


def _free_key(key: str) -> str:
    if key.lower().startswith(("aws:", "setpoint:")):
        raise ValueError(f"{key!r} is reserved: keys that start with aws: or setpoint: are not a policy's to set")
    return key


class Tag(Properties):
    """One CloudFormation tag, in the characters that every service takes (Tagging API)."""

    Key: Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[\w .:/=+\-@]+$"), AfterValidator(_free_key)]
    Value: Annotated[str, Field(max_length=256, pattern=r"^[\w .:/=+\-@]*$")]


@dataclass(frozen=True, slots=True)
class Shape:
    """How one property is compared: its markers, and the shapes inside it."""

    markers: frozenset[Marker] = frozenset()
    fields: Mapping[str, Shape] = field(default_factory=lambda: MappingProxyType({}))

    def has(self, marker: Marker) -> bool:
        return marker in self.markers

    @property
    def keyed(self) -> str | None:
        return next((marker.by for marker in self.markers if isinstance(marker, Keyed)), None)

    @property
    def default(self) -> Json:
        return next((marker.value for marker in self.markers if isinstance(marker, Default)), None)

    def inner(self, name: str) -> Shape:
        return self.fields.get(name, PLAIN)


PLAIN = Shape()


@cache
def shape_of(model: type[Properties]) -> Shape:
    """The shape of a property model, nested models and lists of them included."""
    return Shape(fields=MappingProxyType({name: _shape(info) for name, info in model.model_fields.items()}))


def _shape(info: Any) -> Shape:
    markers = frozenset(marker for marker in info.metadata if isinstance(marker, Marker))
    models = [part for part in parts(info.annotation) if isinstance(part, type) and issubclass(part, Properties)]
    return Shape(markers, shape_of(models[0]).fields if models else MappingProxyType({}))


def parts(annotation: Any) -> Iterator[Any]:
    """Every plain type inside an annotation: through Optional, Annotated and list."""
    if get_origin(annotation) in (Union, UnionType, Annotated, list, tuple):
        for argument in get_args(annotation):
            yield from parts(argument)
    else:
        yield annotation
