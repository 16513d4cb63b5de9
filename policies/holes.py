"""Where the JSON Schema lets a placeholder stand: what it becomes is not known before it is rendered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from policies.subschemas import JsonSchema, reference

HOLES: dict[str, JsonSchema] = {
    "Placeholder": {
        "description": "A placeholder as the whole value, such as ${item.size}: it keeps the type of what it becomes.",
        "type": "string",
        "pattern": r"^\$\{[^{}]+\}$",
    },
    "PlaceholderText": {
        "description": "A text with placeholders in it, such as orders-${item.id}.",
        "type": "string",
        "pattern": r"\$\{",
    },
    "GlobalText": {
        "description": "A text with ${account}, ${region} or ${policy} in it.",
        "type": "string",
        "pattern": r"\$\{(account|region|policy)\}",
    },
}
"""What stands where a value is not known before it is rendered."""

Hole = Callable[[list[JsonSchema]], str | None]
"""Names what may stand in the place of a value with these alternatives, if anything may."""

_NOTES = ("description", "default", "examples")


def noted(schema: JsonSchema) -> JsonSchema:
    """What a schema says of a value besides restricting it."""
    return {word: schema[word] for word in _NOTES if word in schema}


def admit(schema: JsonSchema, hole: Hole) -> JsonSchema:
    """The same schema, in which every value may also be what `hole` names for its alternatives."""
    admitted = dict(schema)
    if "properties" in schema:
        admitted["properties"] = {word: _value(field, hole) for word, field in schema["properties"].items()}
    for word in ("items", "additionalProperties"):
        if word in schema:
            admitted[word] = _value(schema[word], hole)
    if "anyOf" in schema:
        admitted["anyOf"] = [admit(one, hole) for one in schema["anyOf"]]
    return admitted


def _value(schema: Any, hole: Hole) -> Any:
    if not isinstance(schema, dict):
        return schema
    rest = {word: value for word, value in schema.items() if word not in _NOTES}
    alternatives = list(rest["anyOf"]) if rest.keys() == {"anyOf"} else [rest]
    name = hole(alternatives)
    if name is None:
        return admit(schema, hole)
    return noted(schema) | {"anyOf": [*(admit(one, hole) for one in alternatives), reference(name)]}


def hole_in_properties(alternatives: list[JsonSchema]) -> str | None:
    """Any value may be one placeholder; a text may also hold some. An unrestricted text admits both as it is."""
    if any(one in ({}, {"type": "string"}) for one in alternatives):
        return None
    return "PlaceholderText" if any(one.get("type") == "string" for one in alternatives) else "Placeholder"


def hole_in_grammar(alternatives: list[JsonSchema]) -> str | None:
    """Outside of properties only those that are the same for the whole policy, in texts that are not words of ours."""
    return "GlobalText" if any(_restricted_text(one) for one in alternatives) else None


def _restricted_text(schema: JsonSchema) -> bool:
    return schema.get("type") == "string" and not schema.keys() & {"enum", "const"} and len(schema) > 1
