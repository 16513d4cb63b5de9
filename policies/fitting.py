"""Items to desired resources: one for each item that fits, and a reason for each that does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from policies.action import Desired
from policies.blueprint import Blueprint, UnfitError
from policies.frozen import Json, canonical_text
from policies.items import ItemSource
from policies.selection import Item, Skipped, select, show

MOST_KEPT = 100_000
"""Items whose rendering a blueprint remembers; with more it begins anew."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What became of the items of a source."""

    desired: tuple[Desired, ...]
    skipped: tuple[Skipped, ...]
    spared: frozenset[str]
    """Names and keys that two items fight for: neither is made, and what is there already stays."""


def fit(blueprint: Blueprint, source: ItemSource, values: Iterable[Json], **scope: Json) -> Fitted:
    """One desired resource per usable item. Two items with one identity: both skipped, and what exists is spared."""
    skipped: list[Skipped] = []
    made: dict[str, list[tuple[int, Json, Desired]]] = {}
    for place, value, fitted in _each(blueprint, source, tuple(values), scope):
        if isinstance(fitted, str):
            skipped.append(Skipped(place, show(value), fitted))
        else:
            made.setdefault(fitted.name or fitted.key, []).append((place, value, fitted))
    alone = tuple(twins[0][2] for twins in made.values() if len(twins) == 1)
    fights = {name: twins for name, twins in made.items() if len(twins) > 1}
    skipped += [
        Skipped(place, show(value), f"{len(twins)} items have the identity {name!r}")
        for name, twins in fights.items()
        for place, value, _ in twins
    ]
    return Fitted(alone, tuple(sorted(skipped, key=lambda one: one.place)), frozenset(fights))


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
        key = (around, value if type(value) in (str, int) else canonical_text([value]))
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
    try:
        return blueprint.render(item.key, item=item.value, **scope)
    except UnfitError as error:
        return str(error)
