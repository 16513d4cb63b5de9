"""Conditions that could never hold, or always would: a guard that guards nothing is a mistake and not a wish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from policies.conditions import Condition, Test
from policies.errors import Problem
from policies.frozen import thaw
from policies.grammar import brief, nearest
from policies.kind import KindModel
from policies.paths import json_path
from policies.problems import Loc, explain
from policies.properties import JsonDocument, Shape


def check_conditions_of(conditions: Mapping[str, Condition], kind: KindModel, loc: Loc) -> Iterator[Problem]:
    """Every path that names nothing, and every value that what it names can never have."""
    for path, condition in conditions.items():
        wrong = _wrong_path(path, kind) or _empty(condition) or next(_wrong_values(path, condition, kind), None)
        if wrong:
            yield Problem(json_path((*loc, path)), wrong)


def check_tags(conditions: Mapping[str, Condition], loc: Loc) -> Iterator[Problem]:
    """Every condition on a tag that no tag can satisfy: their values are texts."""
    for key, condition in conditions.items():
        wrong = _empty(condition) or next(_wrong_tag_values(condition), None)
        if wrong:
            yield Problem(json_path((*loc, key)), wrong)


def _empty(condition: Condition) -> str | None:
    inner = condition.value if condition.test is Test.NOT else condition
    return "found an empty list: nothing is one of it" if inner.test is Test.ONE_OF and not inner.value else None


def _wrong_path(path: str, kind: KindModel) -> str | None:
    head, *rest = path.split(".")
    legal = kind.words | {"tags"}
    if head == kind.tag_property or (head == "tags" and not rest):
        return "tags are tested one by one: write tags.KEY"
    if head not in legal:
        return f"{head!r} is no property or fact of {kind.type}{nearest(head, sorted(legal))}"
    return None if head == "tags" or head in kind.facts else _wrong_steps(rest, kind.shape.inner(head), head)


def _wrong_steps(steps: list[str], shape: Shape, within: str) -> str | None:
    for step in steps:
        if shape.has(JsonDocument) or not shape.fields:
            return None  # free-form below here
        if step not in shape.fields:
            return f"{within} has no {step!r}{nearest(step, sorted(shape.fields))}"
        shape = shape.inner(step)
    return None


def _wrong_values(path: str, condition: Condition, kind: KindModel) -> Iterator[str]:
    head, *rest = path.split(".")
    if head == "tags":
        yield from _wrong_tag_values(condition)
    elif head in kind.properties.model_fields:
        for value in _constants(condition):
            yield from _never(value, (head, *rest), kind)


def _wrong_tag_values(condition: Condition) -> Iterator[str]:
    if condition.test in (Test.ABOVE, Test.BELOW):
        yield f"{condition.test.value!r} compares numbers, and the value of a tag is a text"
    for value in _constants(condition):
        if value is not None and not isinstance(value, str):
            yield f"found {brief(value)}; the value of a tag is a text, such as {str(value).lower()!r}"


def _constants(condition: Condition) -> Iterator[Any]:
    """The plain values that a condition compares with."""
    if condition.test is Test.NOT:
        yield from _constants(condition.value)
    elif condition.test is Test.EQUAL:
        yield condition.value
    elif condition.test is Test.ONE_OF:
        yield from condition.value


def _never(value: Any, path: tuple[str, ...], kind: KindModel) -> Iterator[str]:
    """Why the kind's own model refuses this value in this place."""
    if value is None:
        return
    nested: Any = thaw(value)
    for step in reversed(path):
        nested = {step: nested}
    try:
        kind.partial.model_validate(nested)
    except ValidationError as error:
        for line in error.errors(include_url=False):
            if tuple(line["loc"]) == path:
                yield f"this can never be: {explain(line, [])}"
