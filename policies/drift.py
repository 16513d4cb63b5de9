"""What it takes to bring one resource to what is desired: the pure middle between sensing and writing.

The plan uses it on what was sensed, and the act once more on what was read at that very moment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from policies.action import Change, Desired
from policies.diff import Difference, diff
from policies.frozen import Json, freeze, merge
from policies.identity import MARKED, PENDING, SPEC, Owner, owner_tags, spec_hash, unreadable_hash
from policies.kind import KindModel
from policies.properties import JsonDocument, Shape, WriteOnly
from policies.world import Resource

UNCHANGED = Change()


def spec_of(kind: KindModel, desired: Desired) -> str:
    """The value of `setpoint:spec` for a resource that is as desired."""
    return desired.spec or hash_of(kind, desired)


def hash_of(kind: KindModel, desired: Desired) -> str:
    """The spec hash, made anew."""
    hidden = kind.write_only & desired.properties.keys()
    shown = {word: value for word, value in desired.properties.items() if word not in hidden}
    return spec_hash(shown, desired.tags, {word: desired.properties[word] for word in hidden})


def birth_of(desired: Desired) -> str:
    """What a nameless resource is born with: everything that its create call sends."""
    return spec_hash({**desired.initial, **desired.properties}, desired.tags).removeprefix("v1:")


def own(
    kind: KindModel, desired: Desired, owner: Owner, document: str, spec: str | None = None, birth: str | None = None
) -> Desired:
    """The desired resource with its owner tags."""
    spec = spec or spec_of(kind, desired)
    birth = birth or ("" if desired.name else birth_of(desired))
    tags = owner_tags(owner, document, desired.key, desired.name, spec, birth)
    return replace(desired, tags=freeze({**desired.tags, **tags}))


def unfinished(desired: Desired, actual: Resource) -> Desired:
    """With `initial` still to be applied, while the create that should have applied it has not ended."""
    if (actual.tags or {}).get(SPEC) != PENDING or not desired.initial:
        return desired
    return replace(desired, properties=merge(desired.initial, desired.properties))


def drift(kind: KindModel, desired: Desired, actual: Resource, *, unmark: bool = True) -> Change:
    """The change that makes `actual` as desired; empty where nothing differs as far as is known."""
    tags = actual.tags or {}
    marked = unmark and MARKED in tags
    if actual.properties is None and not marked and desired.tags.items() <= tags.items():
        return UNCHANGED
    differences = () if actual.properties is None else diff(desired.properties, actual.properties, kind.shape)
    differences += tuple(_unreadable(kind, desired, actual))
    missing = {key: value for key, value in desired.tags.items() if tags.get(key) != value}
    if not (differences or missing or marked):
        return UNCHANGED
    return Change(
        properties=_whole(kind, desired, actual, differences),
        tags=freeze(missing),
        untag=frozenset({MARKED}) if marked else frozenset(),
        differences=differences,
    )


def _unreadable(kind: KindModel, desired: Desired, actual: Resource) -> Iterator[Difference]:
    """Write-only properties that the policy has changed since, by the only trace they leave: their hash."""
    was, now = (unreadable_hash((tags or {}).get(SPEC)) for tags in (actual.tags, desired.tags))
    if was is not None and now is not None and was != now:
        for word, value in desired.properties.items():
            if kind.shape.inner(word).has(WriteOnly):
                yield Difference((word,), "(not readable)", value, kind.create_only(word))


def _whole(
    kind: KindModel, desired: Desired, actual: Resource, differences: tuple[Difference, ...]
) -> Mapping[str, Json]:
    """Whole top-level properties to write: what is declared, over what is there."""
    found, shape = actual.properties or {}, kind.shape
    words = dict.fromkeys(difference.path[0] for difference in differences)
    whole = {word: _over(found.get(word), desired.properties[word], shape.inner(word)) for word in words}
    frozen: Mapping[str, Json] = freeze(whole)
    return frozen


def _over(found: Json, declared: Json, shape: Shape) -> Json:
    """Objects merged key by key; a JSON document is one value, so what was left out of it goes."""
    if shape.has(JsonDocument) or not (isinstance(found, Mapping) and isinstance(declared, Mapping)):
        return declared
    return {**found, **{key: _over(found.get(key), value, shape.inner(key)) for key, value in declared.items()}}
