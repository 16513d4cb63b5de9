"""The condition language of `match`, `except`, `where` and `deleteIf`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from policies.frozen import Json, freeze, lookup
from policies.grammar import Frozen, brief, mistake, nearest
from policies.world import Resource


class Test(Enum):
    """What a condition asks of a value."""

    EQUAL = "equal"
    ONE_OF = "oneOf"
    NOT = "not"
    LIKE = "like"
    ABOVE = "above"
    BELOW = "below"


@dataclass(frozen=True, slots=True)
class Condition:
    """One parsed condition: `value`, `[values]`, null, {"not": ..}, {"like": ..}, {"above": n} or {"below": n}."""

    test: Test
    value: Any

    def holds(self, found: Json) -> bool:
        """Whether a value, None where there is none, satisfies the condition."""
        match self.test:
            case Test.EQUAL:
                return _equal(found, self.value)
            case Test.ONE_OF:
                return any(_equal(found, value) for value in self.value)
            case Test.NOT:
                return not self.value.holds(found)
            case Test.LIKE:
                return isinstance(found, str) and fnmatchcase(found, self.value)
            case Test.ABOVE:
                return _number(found) and found > self.value
            case Test.BELOW:
                return _number(found) and found < self.value


def parse_condition(value: Any) -> Condition:
    """A condition as it stands in JSON; raises a parse error for anything else."""
    if isinstance(value, Condition):
        return value
    if isinstance(value, Mapping):
        return _operator(value)
    if isinstance(value, list | tuple):
        if any(isinstance(item, Mapping | list | tuple) for item in value):
            raise mistake("found a list with objects or lists in it; a condition's list holds plain values")
        return Condition(Test.ONE_OF, tuple(value))
    return Condition(Test.EQUAL, value)


def _operator(value: Mapping[str, Any]) -> Condition:
    words = ["not", "like", "above", "below"]
    if len(value) != 1 or next(iter(value)) not in words:
        found = ", ".join(map(repr, value)) or "an empty object"
        raise mistake(
            f"found {found}; a condition object has exactly one of: {', '.join(words)}{nearest(found, words)}"
        )
    word, operand = next(iter(value.items()))
    if word == "not":
        return Condition(Test.NOT, parse_condition(operand))
    if word == "like":
        if not isinstance(operand, str) or "[" in operand:
            raise mistake(f"found {brief(operand)}; 'like' takes a text in which * and ? are wild")
        return Condition(Test.LIKE, operand)
    if not _number(operand):
        raise mistake(f"found {brief(operand)}; {word!r} takes a number")
    return Condition(Test(word), operand)


_SCALAR = {"type": ["string", "number", "boolean", "null"]}
_SCHEMA: dict[str, Any] = {
    "description": "A value (equal), a list (one of), null (absent), or an object with not, like, above or below.",
    "anyOf": [
        _SCALAR,
        {"type": "array", "items": _SCALAR},
        {
            "type": "object",
            "properties": {
                "not": True,
                "like": {"type": "string"},
                "above": {"type": "number"},
                "below": {"type": "number"},
            },
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        },
    ],
}

Conditions = Frozen[Annotated[Condition, PlainValidator(parse_condition), WithJsonSchema(_SCHEMA)]]
"""Conditions by dotted path or tag key; all must hold."""


def all_hold(conditions: Mapping[str, Condition], resource: Resource) -> bool | None:
    """Whether every condition holds; None where it takes a deep read to tell."""
    verdict: bool | None = True
    for path, condition in conditions.items():
        try:
            if not condition.holds(value_at(resource, path)):
                return False
        except LookupError:
            verdict = None
    return verdict


def value_at(resource: Resource, path: str) -> Json:
    """The tag, fact or property at a dotted path, None for absent; raises LookupError while unknown."""
    head, _, rest = path.partition(".")
    if head == "tags" and rest:
        if resource.tags is None:
            raise LookupError(path)
        return resource.tags.get(rest)
    try:
        return lookup(resource.facts, tuple(path.split(".")))
    except KeyError:
        if resource.properties is None:
            raise LookupError(path) from None
    try:
        return lookup(resource.properties, tuple(path.split(".")))
    except KeyError:
        return None


def _equal(found: Json, wanted: Json) -> bool:
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    return bool(freeze(found) == wanted)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
