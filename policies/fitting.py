"""Items to desired resources: one for each item that fits, and a reason for each that does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from policies.action import Desired
from policies.blueprint import Blueprint, UnfitError
from policies.frozen import Json, canonical_text
from policies.items import ItemSource
from policies.selection import Item, Skipped, key_of, select, show
from policies.template import RenderError, render

MOST_KEPT = 100_000
"""Items whose rendering a blueprint remembers; with more it begins anew."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What became of the items of a source."""

    desired: tuple[Desired, ...]
    skipped: tuple[Skipped, ...]
    spared: frozenset[str]
    """Names and keys of items that fight for one identity or do not fit: nothing is made, and what is there stays."""
    hold: str | None = None
    """Why nothing may be removed: an item does not fit, and nobody can tell whose resource it means."""


def fit(blueprint: Blueprint, source: ItemSource, values: Iterable[Json], **scope: Json) -> Fitted:
    """One desired resource per usable item; two items with one identity are both skipped.

    An item that cannot be used is there all the same: what exists of it is spared, not taken for unwanted.
    """
    skipped: list[Skipped] = []
    spared: set[str] = set()
    unclear = 0
    made: dict[str, list[tuple[int, Json, Desired]]] = {}
    for place, value, fitted in _each(blueprint, source, tuple(values), scope):
        if isinstance(fitted, str):
            skipped.append(Skipped(place, show(value), fitted))
            meant = identities(blueprint, source, value, scope)
            spared |= meant
            unclear += not meant
        else:
            made.setdefault(fitted.name or fitted.key, []).append((place, value, fitted))
    alone = tuple(twins[0][2] for twins in made.values() if len(twins) == 1)
    fights = {name: twins for name, twins in made.items() if len(twins) > 1}
    skipped += [
        Skipped(place, show(value), f"{len(twins)} items have the identity {name!r}")
        for name, twins in fights.items()
        for place, value, _ in twins
    ]
    hold = f"{unclear} items do not fit and cannot be told apart" if unclear else None
    return Fitted(alone, tuple(sorted(skipped, key=lambda one: one.place)), frozenset(fights) | spared, hold)


def identities(blueprint: Blueprint, source: ItemSource, value: Json, scope: dict[str, Json]) -> frozenset[str]:
    """The key and the name that an item would have, as far as it tells them."""
    kind, key = blueprint.kind, key_of(source, value) if isinstance(value, str | int | Mapping) else None
    found = set() if key is None else {key}
    with suppress(RenderError):
        identifying = {word: blueprint.properties[word] for word in kind.identifiers}
        name = kind.name(render(identifying, {"item": value, **scope}))
        found |= {name} if name is not None else set()
    return frozenset(found)


def _each(
    blueprint: Blueprint, source: ItemSource, values: tuple[Json, ...], scope: dict[str, Json]
) -> Iterator[tuple[int, Json, Desired | str]]:
    """Every item that the source wants, with its desired resource or the reason why there is none.

    Rendering is pure, so a blueprint remembers it: a warm function renders only the items that are new.
    """
    known = blueprint.rendered
    if len(known) > MOST_KEPT:
        known.clear()
    around = canonical_text(scope) if scope else ""
    for place, value in enumerate(values):
        key = (around, type(value).__name__, value if type(value) in (str, int) else canonical_text(value))
        if key not in known:
            known[key] = _one(blueprint, source, value, scope)
        fitted = known[key]
        if fitted is not None:
            yield place, value, fitted


def _one(blueprint: Blueprint, source: ItemSource, value: Json, scope: dict[str, Json]) -> Desired | str | None:
    """The desired resource, the reason why there is none, or None for an item that the source's `where` leaves out."""
    item = next(select(source, (value,), blueprint.text_fields), None)
    if not isinstance(item, Item):
        return None if item is None else item.reason
    if item.key is None and not blueprint.kind.named:
        return f"nothing tells it apart: {blueprint.kind.type} has no name, so object items need {source.key_word!r}"
    try:
        return blueprint.render(item.key, item=item.value, **scope)
    except UnfitError as error:
        return str(error)
