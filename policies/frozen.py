"""JSON that cannot change: mappings become read-only views, lists become tuples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""None, bool, int, float, str, or tuples and read-only mappings of these."""

NOTHING: Mapping[str, Json] = MappingProxyType({})


def nothing() -> Mapping[str, Json]:
    """The empty mapping, as a default of pydantic fields (which copy what they cannot hash)."""
    return NOTHING


_SCALARS = frozenset({str, int, float, bool, type(None)})


def is_scalar(value: Json) -> bool:
    """Whether there is nothing inside: asked first, since most values are."""
    return type(value) in _SCALARS


def view(values: dict[str, Json]) -> Mapping[str, Json]:
    """A mapping of values that are frozen already; nobody else may hold the dict."""
    return MappingProxyType(values)


def freeze(value: Json) -> Json:
    """The same value, unchangeable all the way down."""
    if is_scalar(value):
        return value
    if isinstance(value, Mapping):
        return view({key: item if type(item) in _SCALARS else freeze(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    return value


def thaw(value: Json) -> Json:
    """The same value as plain dicts and lists, for whoever insists on them (JSON, botocore, pydantic)."""
    if is_scalar(value):
        return value
    if isinstance(value, Mapping):
        return {key: item if type(item) in _SCALARS else thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


def merge(under: Json, over: Json) -> Json:
    """Objects merged key by key, `over` winning; anything else is replaced."""
    if isinstance(under, Mapping) and isinstance(over, Mapping):
        return freeze({**under, **{key: merge(under.get(key), value) for key, value in over.items()}})
    return over


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=dict)
"""Writes frozen mappings as they are; tuples are lists to JSON anyway."""


def canonical_text(value: Json) -> str:
    """One spelling for one value: sorted keys, no spaces. What hashes are made of."""
    return _ENCODER.encode(value)


def lookup(tree: Json, path: tuple[str, ...]) -> Json:
    """The value at a dotted path; raises KeyError where there is none."""
    for segment in path:
        if not isinstance(tree, Mapping) or segment not in tree:
            raise KeyError(".".join(path))
        tree = tree[segment]
    return tree
