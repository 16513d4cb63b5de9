"""The JSON Schema of a policy document: what an editor completes, explains and underlines.

Draft 7, the newest that VS Code knows in full. It accepts all that the parser accepts. What takes more than a look at
one place (names that collide, texts that render too long, words that do not go together) only the parser refuses.
"""

from __future__ import annotations

import re
from typing import Any

from policies.definitions import grammar_definitions, promise, property_definitions
from policies.document import DocumentClause, PolicyClause
from policies.holes import HOLES, admit, hole_in_grammar, hole_in_properties, noted
from policies.kind import KindModel
from policies.subschemas import JsonSchema, detach, dispatch, reference
from policies.vocabulary import Vocabulary


def json_schema(vocabulary: Vocabulary) -> JsonSchema:
    """The schema of all documents that a parser with this vocabulary may accept: one vocabulary, one text."""
    kinds = {word: vocabulary.kinds[word] for word in sorted(vocabulary.kinds)}
    strategies = {word: vocabulary.strategies[word] for word in sorted(vocabulary.strategies)}
    grammar = grammar_definitions((DocumentClause, PolicyClause), {"strategies": strategies})
    grammar = {name: admit(definition, hole_in_grammar) for name, definition in grammar.items()}
    document = grammar.pop("DocumentClause")
    document["properties"]["policies"]["items"] = reference("PolicyClause")
    if "ResourceItems" in grammar:
        grammar["ResourceItems"]["properties"]["type"] |= {"enum": list(kinds)}
    grammar["PolicyClause"]["allOf"] = [_guarded(word) for word in kinds]
    resource = grammar.pop("ResourceClause")
    for word, kind in kinds.items():
        grammar |= _kind_definitions(word, kind, resource, grammar["Match"])
    said = {word: promise(type(kind)) for word, kind in kinds.items()}
    grammar["ResourceClause"] = dispatch("type", "type", {word: reference(f"Resource.{word}") for word in kinds}, said)
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "setpoint.schema.json"}
    definitions = HOLES | dict(sorted(grammar.items()))
    return detach(head | {"title": "Setpoint policy document"} | document | {"definitions": definitions})


def _kind_definitions(word: str, kind: KindModel, resource: JsonSchema, match: JsonSchema) -> dict[str, JsonSchema]:
    """The properties of one kind, and the resource section, matches and conditions in its words."""
    properties = property_definitions(word, kind.partial)
    properties[word]["description"] = promise(kind.properties)
    return {
        **{name: admit(definition, hole_in_properties) for name, definition in properties.items()},
        f"Resource.{word}": _resource(word, kind, resource),
        f"Match.{word}": {
            **match,
            "properties": match["properties"]
            | {"where": noted(match["properties"]["where"]) | reference(f"Conditions.{word}")},
        },
        f"Conditions.{word}": _conditions(kind),
    }


def _resource(word: str, kind: KindModel, resource: JsonSchema) -> JsonSchema:
    fields = _renamed(resource["properties"], {"#/definitions/Match": f"#/definitions/Match.{word}"})
    fields["type"] = {"const": word}
    for section in ("properties", "initial"):
        fields[section] = noted(fields[section]) | reference(word)
    made = resource | {"description": promise(type(kind)), "properties": fields}
    if kind.named:
        named = {"properties": {"required": list(kind.identifiers)}}
        made |= {"if": {"not": {"required": ["match"]}}, "then": {"required": ["properties"], "properties": named}}
    return made


def _conditions(kind: KindModel) -> JsonSchema:
    """Conditions whose paths begin with a word of the kind."""
    words = sorted(kind.words)
    return {
        "type": "object",
        "properties": {word: reference("Condition") for word in words},
        "propertyNames": {
            "pattern": f"^({'|'.join(map(re.escape, [*words, 'tags']))})(\\.|$)",
            "patternErrorMessage": f"This is no property or fact of {kind.type}.",
        },
        "additionalProperties": reference("Condition"),
    }


def _guarded(word: str) -> JsonSchema:
    """The conditions of the guardrails, in the words of the policy's kind."""
    here = {"required": ["type"], "properties": {"type": {"const": word}}}
    paths = {field: reference(f"Conditions.{word}") for field in ("protect", "deleteIf")}
    return {
        "if": {"required": ["resource"], "properties": {"resource": here}},
        "then": {"properties": {"guardrails": {"properties": paths}}},
    }


def _renamed(schema: Any, names: dict[str, str]) -> Any:
    if isinstance(schema, dict):
        return {word: _renamed(value, names) for word, value in schema.items()}
    if isinstance(schema, list):
        return [_renamed(item, names) for item in schema]
    return names.get(schema, schema) if isinstance(schema, str) else schema
