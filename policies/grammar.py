"""How every object of the language is read: frozen, strict, camelCase, unknown words refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer, ValidationError, ValidationInfo
from pydantic.alias_generators import to_camel
from pydantic_core import InitErrorDetails, PydanticCustomError

from policies.errors import PluginError

T = TypeVar("T")

Frozen = Annotated[
    Mapping[str, T],
    AfterValidator(lambda value: MappingProxyType(dict(value))),
    PlainSerializer(dict),
]
"""A mapping that cannot change after it was parsed."""


class Grammar(BaseModel):
    """Base of every object that a policy document may hold."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=False,
        validate_by_alias=True,
        arbitrary_types_allowed=True,
        defer_build=True,
    )


def mistake(message: str) -> PydanticCustomError:
    """A parse error in our own words; what `policies/problems.py` passes on untouched."""
    return PydanticCustomError("setpoint", message)


def nearest(word: object, allowed: list[str]) -> str:
    """`; did you mean 'x'?`, or nothing where no legal word is close."""
    lower = {legal.lower(): legal for legal in allowed}
    close = get_close_matches(str(word).lower(), list(lower), n=1, cutoff=0.6)
    return f"; did you mean {lower[close[0]]!r}?" if close else ""


def _some(values: tuple[T, ...]) -> tuple[T, ...]:
    if not values:
        raise mistake("found an empty list; allowed: at least one")
    return values


Some = Annotated[tuple[T, ...], Field(strict=False, json_schema_extra={"minItems": 1}), AfterValidator(_some)]
"""A list that is not empty. Not `min_length`: that would count wrong members as missing ones."""


class Dispatch:
    """Reads an object with the model that one of its words names, and leaves the rest to that model.

    `legal` gives the words and models for a validation context.
    """

    def __init__(
        self, where: str, what: str, legal: Callable[[Mapping[str, Any]], Mapping[str, type[Grammar]]]
    ) -> None:
        self.where, self.what, self.legal = where, what, legal

    def __call__(self, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, Grammar):
            return value
        context = info.context or {}
        return self.model(value, context).model_validate(value, context=context)

    def model(self, value: Any, context: Mapping[str, Any]) -> type[Grammar]:
        """The model for a value; a parse error at the dispatching word where there is none."""
        legal = self.legal(context)
        shown = ", ".join(sorted(legal))
        if not isinstance(value, Mapping) or self.where not in value:
            raise mistake(f"found {brief(value)} without {self.where!r}; {self.what} has one of: {shown}")
        word = value[self.where]
        if not isinstance(word, str) or word not in legal:
            message = f"{brief(word)} is no {self.what}{nearest(word, sorted(legal))} (allowed: {shown})"
            line = InitErrorDetails(type=mistake(message), loc=(self.where,), input=word)
            raise ValidationError.from_exception_data(self.what, [line])
        try:
            return legal[word]
        except PluginError as error:
            raise mistake(str(error)) from error


def brief(value: object) -> str:
    """A found value, short enough for a message."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "null"
    shown = repr(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."
