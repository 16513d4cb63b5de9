"""Which items of a source a policy can use, and why not the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from policies.frozen import Json, canonical_text, lookup
from policies.grammar import brief
from policies.items import DEFAULT_PATTERN, WHOLE, ItemSource
from policies.names import matches
from policies.redact import HIDDEN, is_secret, redact_value
from policies.template import RenderError, spell

_DEFAULT = re.compile(DEFAULT_PATTERN)
"""The pattern of nearly every item, in the C engine: one class and one plus cannot backtrack."""


@dataclass(frozen=True, slots=True)
class Item:
    """One usable item."""

    value: Json
    place: int
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """One item that cannot be used, and why. It is reported, never cut to fit."""

    place: int
    shown: str
    reason: str

    def __str__(self) -> str:
        return f"item {self.place} ({self.shown}): {self.reason}"


def select(source: ItemSource, values: tuple[Json, ...], text_fields: frozenset[str]) -> Iterator[Item | Skipped]:
    """Every item that the source's `where` wants, as usable or not. `text_fields` are those that stand inside texts."""
    for place, value in enumerate(values):
        if _wanted(source, value):
            yield _usable(source, value, place, text_fields)


def _wanted(source: ItemSource, value: Json) -> bool:
    return all(condition.holds(_field(value, path)) for path, condition in source.where.items())


def _usable(source: ItemSource, value: Json, place: int, text_fields: frozenset[str]) -> Item | Skipped:
    if not isinstance(value, str | int | Mapping) or isinstance(value, bool):
        return Skipped(place, brief(value), "an item is a text, a whole number or an object")
    checked = text_fields | source.pattern.keys() | source.max_length.keys() | {source.identity or WHOLE}
    for field in sorted(checked):
        reason = _misfit(source, value, field)
        if reason:
            return Skipped(place, show(value), reason)
    return Item(value, place, key_of(source, value))


def _misfit(source: ItemSource, value: Json, field: str) -> str | None:
    found = _field(value, field)
    if found is None or isinstance(found, Mapping | tuple):
        lost = field == source.identity and isinstance(value, Mapping)
        return f"has no plain field {field!r}, which tells items apart" if lost else None
    try:
        text = spell(found, field or "the item")
    except RenderError as error:
        return str(error)
    pattern = source.pattern_of(field)
    if not (_DEFAULT.fullmatch(text) if pattern == DEFAULT_PATTERN else matches(pattern, text)):
        return f"{field or 'its text'} {_quoted(field, text)} does not match the pattern {pattern}"
    longest = source.longest(field)
    if longest is not None and len(text) > longest:
        return f"{field or 'its text'} {_quoted(field, text)} has {len(text)} characters; maxLength is {longest}"
    return None


def _quoted(field: str, text: str) -> str:
    return HIDDEN if is_secret(field) else brief(text)


def key_of(source: ItemSource, value: Json) -> str | None:
    """What tells the item apart by itself, where anything does; else it is its name."""
    if not isinstance(value, Mapping):
        return str(value)
    found = _field(value, source.identity) if source.identity else None
    return None if found is None else str(found)


def _field(value: Json, path: str) -> Json:
    if path == WHOLE:
        return value
    try:
        return lookup(value, tuple(path.split(".")))
    except KeyError:
        return None


def show(value: Json) -> str:
    """An item in a message: its first 60 characters as JSON."""
    text = canonical_text(redact_value(value))
    return text if len(text) <= 60 else text[:57] + "..."
