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
from policies.properties import WriteOnly
from policies.world import Resource


def spec_of(kind: KindModel, desired: Desired) -> str:
    """The value of `setpoint:spec` for a resource that is as desired."""
    hidden = {word for word in desired.properties if kind.shape.inner(word).has(WriteOnly)}
    shown = {word: value for word, value in desired.properties.items() if word not in hidden}
    return spec_hash(shown, desired.tags, {word: desired.properties[word] for word in hidden})


def birth_of(desired: Desired) -> str:
    """What a nameless resource is born with: everything that its create call sends."""
    return spec_hash({**desired.initial, **desired.properties}, desired.tags).removeprefix("v1:")


def own(
    kind: KindModel, desired: Desired, owner: Owner, document: str, spec: str | None = None, birth: str | None = None
) -> Desired:
    """The desired resource with its owner tags."""
    spec, birth = spec or spec_of(kind, desired), birth or birth_of(desired)
    tags = owner_tags(owner, document, desired.key, desired.name, spec, birth)
    return replace(desired, tags=freeze({**desired.tags, **tags}))


def unfinished(desired: Desired, actual: Resource) -> Desired:
    """With `initial` still to be applied, while the create that should have applied it has not ended."""
    if (actual.tags or {}).get(SPEC) != PENDING or not desired.initial:
        return desired
    return replace(desired, properties=merge(desired.initial, desired.properties))


def drift(kind: KindModel, desired: Desired, actual: Resource, *, unmark: bool = True) -> Change:
    """The change that makes `actual` as desired; empty where nothing differs as far as is known."""
    differences = () if actual.properties is None else diff(desired.properties, actual.properties, kind.shape)
    differences += tuple(_unreadable(kind, desired, actual))
    tags = actual.tags or {}
    return Change(
        properties=_whole(desired, actual, differences),
        tags=freeze({key: value for key, value in desired.tags.items() if tags.get(key) != value}),
        untag=frozenset({MARKED} & tags.keys()) if unmark else frozenset(),
        differences=differences,
    )


def _unreadable(kind: KindModel, desired: Desired, actual: Resource) -> Iterator[Difference]:
    """Write-only properties that the policy has changed since, by the only trace they leave: their hash."""
    was, now = (unreadable_hash((tags or {}).get(SPEC)) for tags in (actual.tags, desired.tags))
    if was is not None and now is not None and was != now:
        for word, value in desired.properties.items():
            if kind.shape.inner(word).has(WriteOnly):
                yield Difference((word,), "(not readable)", value, kind.create_only(word))


def _whole(desired: Desired, actual: Resource, differences: tuple[Difference, ...]) -> Mapping[str, Json]:
    """Whole top-level properties to write: what is declared, over what is there."""
    words = dict.fromkeys(difference.path[0] for difference in differences)
    found = actual.properties or {}
    whole: Mapping[str, Json] = freeze({word: merge(found.get(word), desired.properties[word]) for word in words})
    return whole
