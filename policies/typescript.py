"""TypeScript types of a policy document, for those who write policies as code: made from the JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from policies.schema import json_schema
from policies.subschemas import JsonSchema
from policies.vocabulary import Vocabulary

_HEAD = """\
// Types of Setpoint policy documents: `const document: PolicyDocument = {...}`, written out with JSON.stringify.
// Generated; changes are lost.
"""
_HOLES = {
    "Placeholder": "`\\${${string}}`",
    "PlaceholderText": "`${string}\\${${string}}${string}`",
    "GlobalText": '`${string}\\${${"account" | "region" | "policy"}}${string}`',
}
_PRIMITIVES = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}


def typescript(vocabulary: Vocabulary) -> str:
    """A `.d.ts` with `PolicyDocument`; picking a type or source narrows what else is allowed, as in the schema."""
    schema = json_schema(vocabulary)
    definitions = {"PolicyDocument": schema} | schema["definitions"]
    return "\n".join([_HEAD, *(_declaration(name, definition) for name, definition in definitions.items())])


def _declaration(name: str, schema: JsonSchema) -> str:
    spelled = _identifier(name)
    if name in _HOLES:
        body = f"export type {spelled} = {_HOLES[name]};"
    elif _is_interface(schema):
        body = f"export interface {spelled} {_object(schema, '')}"
    else:
        body = f"export type {spelled} = {_type(schema, '')};"
    return f"{_comment(schema, '')}{body}\n"


def _identifier(name: str) -> str:
    """`AWS::SQS::Queue.Redrive` is `AWS_SQS_Queue_Redrive`."""
    return re.sub(r"\W+", "_", name)


def _is_interface(schema: JsonSchema) -> bool:
    return schema.get("type") == "object" and "properties" in schema and not _branches(schema)


def _branches(schema: JsonSchema) -> list[JsonSchema]:
    """What a dispatched object may be: its own properties only say which."""
    closed = "additionalProperties" in schema
    return [] if closed else [branch["then"] for branch in schema.get("allOf", ()) if "then" in branch]


def _type(schema: Any, indent: str) -> str:
    """The type of a value, as an expression."""
    if not isinstance(schema, dict) or not schema:
        return "unknown"
    if "$ref" in schema:
        return _identifier(schema["$ref"].removeprefix("#/definitions/"))
    literals = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if literals:
        return _union(map(json.dumps, literals))
    alternatives = schema.get("anyOf") or _branches(schema) or schema.get("allOf")
    if alternatives:
        return _union(_type(one, indent) for one in alternatives)
    kinds = schema.get("type", [])
    return _union(_plain(kind, schema, indent) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _union(types: Iterable[str]) -> str:
    """Either of the types; a text of a certain form says nothing beside any text."""
    found = list(dict.fromkeys(types))
    shown = [one for one in found if not ("string" in found and one in _HOLES)]
    return " | ".join(shown) or "unknown"


def _plain(kind: str, schema: JsonSchema, indent: str) -> str:
    if kind == "array":
        return f"ReadonlyArray<{_type(schema.get('items'), indent)}>"
    return _object(schema, indent) if kind == "object" else _PRIMITIVES[kind]


def _object(schema: JsonSchema, indent: str) -> str:
    return "\n".join(["{", *_members(schema, indent + "  "), indent + "}"])


def _members(schema: JsonSchema, indent: str) -> Iterator[str]:
    required = schema.get("required", ())
    for word, field in schema.get("properties", {}).items():
        spelled = word if re.fullmatch(r"[A-Za-z_$][\w$]*", word) else json.dumps(word)
        mark = "" if word in required else "?"
        yield f"{_comment(field, indent)}{indent}readonly {spelled}{mark}: {_type(field, indent)};"
    if schema.get("additionalProperties", True) is not False:
        rest = _type(schema.get("additionalProperties"), indent)
        yield f"{indent}readonly [key: string]: {rest}{' | undefined' if 'properties' in schema else ''};"


def _comment(schema: Any, indent: str) -> str:
    said = schema.get("description") if isinstance(schema, dict) else None
    if not said:
        return ""
    lines = said.replace("*/", "* /").splitlines()
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return "\n".join([f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */\n"])
