"""The leaf properties that a policy keeps: no two policies may keep the same leaf of the same resource.

A list is one leaf, and so is a JSON document; every tag is a leaf of its own. `initial` is not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, takewhile
from typing import TYPE_CHECKING, TypeAlias

from policies.frozen import Json
from policies.kind import KindModel
from policies.properties import PLAIN, JsonDocument, Shape
from policies.template import Placeholder, Template, Text

if TYPE_CHECKING:
    from policies.document import Policy

Leaf: TypeAlias = tuple[str, ...]
"""The place of a property; a tag is `("tags", key)`, whatever the kind calls its tags."""

TAGS = "tags"
_SOMETHING = Placeholder("something")


def kept_leaves(policy: Policy) -> Mapping[Leaf, Template]:
    """Every leaf that the policy keeps at a value, and the value as far as the policy tells it."""
    if not policy.wanted:
        return {}
    kind = policy.kind
    kept = dict(_declared(policy.blueprint.properties, kind))
    for extra in {_leaf(dotted, kind) for dotted in policy.strategy.extra_leaves()}:
        kept = {leaf: _SOMETHING if related(leaf, extra) else value for leaf, value in kept.items()}
        kept[extra] = _SOMETHING
    return kept


def told_values(kept: Mapping[Leaf, Template], kind: KindModel) -> Mapping[str, Json]:
    """By dotted path the values that a resource is certain to show once it is as declared.

    Left out is what depends on placeholders, and a service's default, which may show as absent.
    """
    open_tags = (TAGS,) in kept
    return {
        dotted(leaf): value
        for leaf, value in kept.items()
        if isinstance(value, str | int | float)
        and not (open_tags and leaf[0] == TAGS)
        and (leaf[0] == TAGS or (leaf == leaf_at(dotted(leaf)) and value != _shape(leaf, kind).default))
    }


def dotted_leaves(properties: Mapping[str, Json]) -> frozenset[str]:
    """The leaves of a property object that a strategy holds itself, as `Strategy.extra_leaves` gives them."""
    return frozenset(dotted(leaf) for leaf in _spread(properties))


def dotted(leaf: Leaf) -> str:
    """The leaf as conditions spell it."""
    return ".".join(leaf)


def leaf_at(path: str) -> Leaf:
    """The leaf that a condition's dotted path tests; tag keys may hold dots."""
    head, _, rest = path.partition(".")
    return (TAGS, rest) if head == TAGS and rest else tuple(path.split("."))


def related(one: Leaf, other: Leaf) -> bool:
    """Whether they are the same place, or one is inside the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _declared(properties: Mapping[str, Template], kind: KindModel) -> Iterator[tuple[Leaf, Template]]:
    for word, value in properties.items():
        if word == kind.tag_property:
            yield from _tags(value)
        else:
            yield from _walk((word,), value, kind.shape.inner(word))


def _walk(leaf: Leaf, value: Template, shape: Shape) -> Iterator[tuple[Leaf, Template]]:
    if isinstance(value, Mapping) and value and not shape.has(JsonDocument):
        for word, item in value.items():
            yield from _walk((*leaf, word), item, shape.inner(word))
    else:
        yield leaf, value


def _tags(tags: Template) -> Iterator[tuple[Leaf, Template]]:
    if isinstance(tags, Placeholder | Text):
        yield (TAGS,), tags
    elif isinstance(tags, Mapping):
        yield from (((TAGS, key), value) for key, value in tags.items())
    else:
        for tag in tags or ():
            key, value = (tag.get("Key"), tag.get("Value")) if isinstance(tag, Mapping) else (None, tag)
            yield (TAGS, key) if isinstance(key, str) else (TAGS,), value


def _leaf(path: str, kind: KindModel) -> Leaf:
    """A leaf that a strategy spells: its tags may go by the kind's own word, and a JSON document ends it."""
    head, _, rest = path.partition(".")
    if head in (TAGS, kind.tag_property):
        return (TAGS, rest) if rest else (TAGS,)
    leaf = tuple(path.split("."))
    ends = (end for end in range(1, len(leaf)) if _shape(leaf[:end], kind).has(JsonDocument))
    return leaf[: next(ends, len(leaf))]


def _shape(leaf: Leaf, kind: KindModel) -> Shape:
    shape = kind.shape
    for word in leaf:
        shape = shape.inner(word)
    return shape


def _spread(properties: Mapping[str, Json]) -> Iterator[Leaf]:
    for leaf, value in chain.from_iterable(_walk((word,), value, PLAIN) for word, value in properties.items()):
        keys = [tag.get("Key") if isinstance(tag, Mapping) else None for tag in value] if _is_list(value) else []
        if keys and all(isinstance(key, str) and "${" not in key for key in keys):
            yield from ((*leaf, str(key)) for key in keys)
        else:
            yield (leaf[0], *takewhile(lambda word: "." not in word, leaf[1:]))


def _is_list(value: Json) -> bool:
    return isinstance(value, list | tuple)
