"""The models of the language as definitions of a JSON Schema, each named after its class."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from inspect import cleandoc
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import CoreRef, GenerateJsonSchema
from pydantic_core import core_schema as core

from policies.amount import Amount
from policies.duration import render
from policies.frozen import canonical_text
from policies.grammar import Dispatch
from policies.numbers.number import NumberDispatch, Whole
from policies.properties import CreateOnly, Default, Extension, JsonDocument, Keyed, Name, Unordered, WriteOnly
from policies.subschemas import JsonSchema, dispatch, named_leaves, share

_SAID = {
    CreateOnly: "Create-only: another value means another resource (see `replace`).",
    WriteOnly: "Write-only: the service never shows it, so it counts at creation and is never compared.",
    Unordered: "The order means nothing.",
    JsonDocument: "A JSON document, written as an object; a placeholder in it is a whole value.",
    Extension: "Setpoint's own: CloudFormation has no such property.",
}
_GENERIC = re.compile(r"\[(?:typing\.)?(?:Annotated\[)?(\w+).*")
_WHOLE = TypeAdapter(Whole).json_schema()


def promise(model: type) -> str:
    """The first sentence or two of a class: what stands before the first empty line of its docstring."""
    return " ".join(_docstring(model).split("\n\n")[0].split())


def _docstring(model: type) -> str:
    """All that a class says of itself; of `Schedule[int]` what `Schedule` says."""
    origin = getattr(model, "__pydantic_generic_metadata__", {}).get("origin")
    said = cleandoc(model.__doc__ or (origin and origin.__doc__) or "")
    return said if getattr(model, "supported", True) else f"Not yet supported. {said}".rstrip()


def grammar_definitions(models: Iterable[type[BaseModel]], context: Mapping[str, Any]) -> dict[str, JsonSchema]:
    """Everything that the models are made of. `context` is the validation context, from which dispatchers choose."""
    generator = _Generator(ref_template="#/definitions/{model}", context=context)
    found = generator.generate(core.tuple_schema([model.__pydantic_core_schema__ for model in models]))["$defs"]
    named = named_leaves()
    return named | {name: share(definition, named) for name, definition in sorted(found.items())}


def property_definitions(name: str, model: type[BaseModel]) -> dict[str, JsonSchema]:
    """A property model as the definition `name`, and what it is made of as `name.Class`."""
    generator = _Generator(ref_template=f"#/definitions/{name}.{{model}}")
    root = generator.generate(model.__pydantic_core_schema__)
    inner: dict[str, JsonSchema] = root.pop("$defs", {})
    return {name: root} | {f"{name}.{word}": definition for word, definition in inner.items()}


class _Generator(GenerateJsonSchema):
    """pydantic's own, which knows our dispatchers and markers and says nothing that helps nobody."""

    def __init__(self, ref_template: str, context: Mapping[str, Any] | None = None) -> None:
        super().__init__(by_alias=True, ref_template=ref_template)
        self._context = context or {}
        self._met: set[int] = set()

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> JsonSchema:
        """What cannot be described is not restricted: a third party's validator must not cost the schema."""
        return {}

    def normalize_name(self, name: str) -> str:
        """`Schedule[Annotated[int, ..]]` is `ScheduleOfInt`."""
        return super().normalize_name(_GENERIC.sub(lambda found: f"Of{found.group(1).capitalize()}", name))

    def function_plain_schema(self, schema: core.PlainValidatorFunctionSchema) -> JsonSchema:
        dispatcher = schema["function"]["function"]
        if not isinstance(dispatcher, Dispatch):
            return super().function_plain_schema(schema)
        word = dispatcher.what.title().replace(" ", "")
        name, found = self.get_cache_defs_ref_schema(CoreRef(f"{word}:{id(dispatcher)}"))
        if id(dispatcher) not in self._met:
            self._met.add(id(dispatcher))
            self.definitions[name] = self._dispatched(dispatcher)
        return {"anyOf": [_WHOLE, found]} if isinstance(dispatcher, NumberDispatch) else found

    def _dispatched(self, dispatcher: Dispatch) -> JsonSchema:
        legal = dispatcher.legal(self._context)
        models = {word: legal[word] for word in sorted(legal)}
        branches = {word: self.generate_inner(model.__pydantic_core_schema__) for word, model in models.items()}
        said = {word: promise(model) for word, model in models.items()}
        return dispatch(dispatcher.where, dispatcher.what, branches, said)

    def encode_default(self, dft: Any) -> Any:
        """A default as the language spells it."""
        if isinstance(dft, timedelta):
            return render(dft)
        if isinstance(dft, Amount):
            return str(dft) if dft.percent else dft.number
        return super().encode_default(dft)

    def default_schema(self, schema: core.WithDefaultSchema) -> JsonSchema:
        """Only defaults that are worth inserting: editors do that."""
        made = super().default_schema(schema)
        if not isinstance(made.get("default"), str | int | float):
            made.pop("default", None)
        return made

    def model_schema(self, schema: core.ModelSchema) -> JsonSchema:
        made = super().model_schema(schema)
        made.pop("title", None)
        model: type[BaseModel] = schema["cls"]
        made |= {"description": said} if (said := _docstring(model)) else {}
        for name, info in model.model_fields.items():
            _annotate(made["properties"][info.alias or name], info)
        return made


def _annotate(field: JsonSchema, info: FieldInfo) -> None:
    """Say at a field what its markers mean."""
    default = next((marker.value for marker in info.metadata if isinstance(marker, Default)), None)
    if isinstance(default, str | int):
        field["default"] = default
    said = [note for note in (field.get("description"), *map(_note, info.metadata)) if note]
    if said:
        field["description"] = " ".join(said)


def _note(marker: object) -> str | None:
    match marker:
        case Name(pattern, longest):
            return f"Names the resource: at most {longest} characters, {pattern}"
        case Keyed(by):
            return f"Entries are told apart by {by}."
        case Default(value):
            return f"The service's default is {canonical_text(value)}; null resets to it."
    return next((said for flag, said in _SAID.items() if flag is marker), None)
