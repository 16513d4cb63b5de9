"""What differs between the properties a policy declares and those a resource has.

Only declared properties are compared. Values are compared by meaning, never by text: unordered lists as sets, keyed
lists as mappings, JSON documents as JSON, a service's default as absent. (Numbers that a service keeps as text are
numbers already: its kind parsed them.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policies.frozen import Json, canonical_text, freeze
from policies.properties import CreateOnly, JsonDocument, Shape, Unordered, WriteOnly


@dataclass(frozen=True, slots=True)
class Difference:
    """One property that is not as declared."""

    path: tuple[str, ...]
    before: Json
    after: Json
    create_only: bool = False

    def __str__(self) -> str:
        return ".".join(self.path)


def diff(declared: Mapping[str, Json], actual: Mapping[str, Json], shape: Shape) -> tuple[Difference, ...]:
    """Every declared property whose actual value means something else, in the order of declaration."""
    return tuple(_objects((), declared, actual, shape, create_only=False))


def _objects(
    path: tuple[str, ...],
    declared: Mapping[str, Json],
    actual: Mapping[str, Json],
    shape: Shape,
    create_only: bool,
) -> Iterator[Difference]:
    for name, wanted in declared.items():
        inner = shape.inner(name)
        if not inner.has(WriteOnly):
            locked = create_only or inner.has(CreateOnly)
            yield from _values((*path, name), wanted, actual.get(name), inner, locked)


def _values(path: tuple[str, ...], wanted: Json, found: Json, shape: Shape, create_only: bool) -> Iterator[Difference]:
    if type(wanted) is type(found) and isinstance(wanted, str | int | float) and wanted == found:
        return  # by far the most frequent: what is as it should be
    if isinstance(wanted, Mapping) and isinstance(found, Mapping) and not shape.has(JsonDocument):
        yield from _objects(path, wanted, found, shape, create_only)
    elif shape.keyed and isinstance(wanted, tuple | list):
        yield from _keyed(path, wanted, found or (), shape, create_only)
    elif not same(wanted, found, shape):
        yield Difference(path, found, wanted, create_only)


def _keyed(path: tuple[str, ...], wanted: Json, found: Json, shape: Shape, create_only: bool) -> Iterator[Difference]:
    key = shape.keyed or ""
    before, after = ({item[key]: item for item in items} for items in (found, wanted))
    for name in [*after, *(name for name in before if name not in after)]:
        if name not in before or name not in after:
            yield Difference((*path, name), before.get(name), after.get(name), create_only)
        else:
            yield from _objects((*path, name), after[name], before[name], shape, create_only)


def same(wanted: Json, found: Json, shape: Shape) -> bool:
    """Whether two values mean the same to the service."""
    return bool(_meaning(wanted, shape) == _meaning(found, shape))


def _meaning(value: Json, shape: Shape) -> Any:
    if value is None or freeze(value) == freeze(shape.default):
        return None
    if shape.has(JsonDocument):
        return canonical_text(json.loads(value) if isinstance(value, str) else value)
    if shape.has(Unordered) and isinstance(value, tuple | list):
        return sorted(canonical_text(item) for item in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return canonical_text(value)
    return canonical_text(int(value) if value == int(value) else value)
