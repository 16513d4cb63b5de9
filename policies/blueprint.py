"""The resource section of a policy, ready to render: what strategies turn items, slots and periods into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import ValidationError

from policies.action import Desired
from policies.frozen import NOTHING, Json, freeze, merge, thaw
from policies.items import WHOLE, Item, ItemSource, Skipped, select, show
from policies.kind import KindModel
from policies.problems import summary
from policies.template import RenderError, Template, Text, placeholders, render
from policies.template import leaves as leaves_of
from policies.world import Resource


class UnfitError(ValueError):
    """What was rendered is not a legal resource of this kind; the message says which property and why."""


@dataclass(frozen=True)
class Blueprint:
    """The properties of one policy as templates. Renders legal resources, or says why not."""

    kind: KindModel
    properties: Template
    initial: Template = field(default_factory=lambda: NOTHING)

    def render(self, key: str | None = None, **scope: Json) -> Desired:
        """The resource for one item, slot or period; `key` None means that its name is its key.

        Raises UnfitError where a placeholder has no value or the result is not legal for the kind.
        """
        declared, initial = self._legal(self.properties, scope), self._legal(self.initial, scope)
        wrong = self.kind.check(merge(initial, declared))
        if wrong:
            raise UnfitError(wrong)
        return self._desired(key, declared, initial)

    def apply(self, resource: Resource, extra: Template = NOTHING) -> Desired:
        """How a matched resource should look: the declared properties, and `extra` over them.

        `${match...}` in both stands for the resource's own.
        """
        scope = {"match": match_scope(resource)}
        declared = merge(self._legal(self.properties, scope), self._legal(extra, scope))
        tags = self.kind.declared_tags(declared)
        return Desired(
            resource.id, resource.name, freeze(self.kind.without_tags(declared)), freeze(tags), of=resource.id
        )

    @cached_property
    def text_fields(self) -> frozenset[str]:
        """The item fields that stand inside texts or in the name: those whose characters matter."""
        named = [self.properties[word] for word in self.kind.identifiers]
        texts = [leaf for leaf in leaves_of((self.properties, self.initial)) if isinstance(leaf, Text)]
        return frozenset(".".join(one.path) or WHOLE for one in placeholders((*named, *texts)) if one.root == "item")

    @cached_property
    def item_words(self) -> frozenset[str]:
        """The words that placeholders ask items for: `QueueName` of `${item.QueueName}`."""
        used = placeholders((self.properties, self.initial))
        return frozenset(one.path[0] for one in used if one.root == "item" and one.path)

    def _legal(self, template: Template, scope: Mapping[str, Json]) -> Mapping[str, Json]:
        try:
            rendered: Mapping[str, Json] = render(template, scope)
        except RenderError as error:
            raise UnfitError(str(error)) from None
        try:
            self.kind.partial.model_validate(thaw(rendered))
        except ValidationError as error:
            raise UnfitError(summary(error)) from None
        return rendered

    def _desired(self, key: str | None, declared: Mapping[str, Json], initial: Mapping[str, Json]) -> Desired:
        name = self.kind.name(declared)
        tags = {**self.kind.declared_tags(initial), **self.kind.declared_tags(declared)}
        return Desired(
            key=key or name or "",
            name=name,
            properties=freeze(self.kind.without_tags(declared)),
            tags=freeze(tags),
            initial=freeze(self.kind.without_tags(initial)),
        )


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
    made: dict[str, list[tuple[Item, Desired]]] = {}
    for item in select(source, tuple(values), blueprint.text_fields):
        if isinstance(item, Skipped):
            skipped.append(item)
            continue
        try:
            desired = blueprint.render(item.key, item=item.value, **scope)
        except UnfitError as error:
            skipped.append(Skipped(item.place, show(item.value), str(error)))
            continue
        made.setdefault(desired.name or desired.key, []).append((item, desired))
    alone = tuple(twins[0][1] for twins in made.values() if len(twins) == 1)
    fights = {name: twins for name, twins in made.items() if len(twins) > 1}
    skipped += [
        Skipped(item.place, show(item.value), f"{len(twins)} items have the identity {name!r}")
        for name, twins in fights.items()
        for item, _ in twins
    ]
    return Fitted(alone, tuple(sorted(skipped, key=lambda one: one.place)), frozenset(fights))


def match_scope(resource: Resource) -> Mapping[str, Json]:
    """What `${match.Path}` and the items of source `resources` can name: properties, facts, id, name and tags."""
    return {
        "Id": resource.id,
        "Name": resource.name,
        "Arn": resource.arn,
        **(resource.properties or {}),
        **resource.facts,
        "tags": resource.tags or {},
    }
