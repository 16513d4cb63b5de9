"""The pieces that the JSON Schema is put together from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from pydantic import TypeAdapter

from policies.amount import AmountField
from policies.conditions import Conditions
from policies.duration import Duration
from policies.frozen import thaw

JsonSchema: TypeAlias = dict[str, Any]


def reference(name: str) -> JsonSchema:
    """A reference to a definition."""
    return {"$ref": f"#/definitions/{name}"}


def dispatch(where: str, what: str, branches: Mapping[str, JsonSchema], said: Mapping[str, str]) -> JsonSchema:
    """One of several closed objects, picked by the word at `where`.

    Made of `enum` and `if`/`then`: editors complete the word and then its fields, which they do not inside a `oneOf`.
    """
    words = sorted(branches)
    notes = [said[word] for word in words]
    chosen = {"description": f"Which {what}: it decides what else is allowed here.", "enum": words}
    return {
        "type": "object",
        "required": [where],
        "properties": {where: chosen | {"enumDescriptions": notes}},
        "allOf": [
            {"if": {"required": [where], "properties": {where: {"const": word}}}, "then": branches[word]}
            for word in words
        ],
    }


def detach(schema: JsonSchema) -> JsonSchema:
    """The same schema, in which a `$ref` stands alone: draft 7 and editors ignore what stands beside it."""
    detached = {word: _detach_all(value) for word, value in schema.items() if word != "$ref"}
    if not isinstance(schema.get("$ref"), str):
        return detached | ({"$ref": detach(schema["$ref"])} if "$ref" in schema else {})
    target = {"$ref": schema["$ref"]}
    return detached | {"allOf": [target]} if detached else target


def _detach_all(value: Any) -> Any:
    if isinstance(value, list):
        return [_detach_all(item) for item in value]
    return detach(value) if isinstance(value, dict) else value


def named_leaves() -> dict[str, JsonSchema]:
    """What stands in many places and deserves a name."""
    condition = TypeAdapter(Conditions).json_schema()["additionalProperties"]
    return {
        "Amount": TypeAdapter(AmountField).json_schema(),
        "Condition": thaw(condition),
        "Duration": TypeAdapter(Duration).json_schema(),
    }


def share(schema: Any, named: Mapping[str, JsonSchema]) -> Any:
    """The same schema with references for what has a name; a description or default of its own is kept."""
    if isinstance(schema, list):
        return [share(item, named) for item in schema]
    if not isinstance(schema, dict):
        return schema
    for name, leaf in named.items():
        if _bare(schema) == _bare(leaf):
            own = {word: schema[word] for word in _OWN if word in schema and schema[word] != leaf.get(word)}
            return own | reference(name)
        if "anyOf" in leaf and all(one in schema.get("anyOf", ()) for one in leaf["anyOf"]):
            rest = [share(one, named) for one in schema["anyOf"] if one not in leaf["anyOf"]]
            return schema | {"anyOf": [reference(name), *rest]}
    return {word: share(value, named) for word, value in schema.items()}


_OWN = ("description", "default")


def _bare(schema: JsonSchema) -> JsonSchema:
    return {word: value for word, value in schema.items() if word not in _OWN}
