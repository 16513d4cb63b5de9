"""The resource section of a policy, ready to render: what strategies turn items, slots and periods into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from pydantic import ValidationError

from policies.action import Desired
from policies.drift import hash_of
from policies.frozen import NOTHING, Json, merge, thaw, view
from policies.items import WHOLE
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
        wrong = self.kind.check(merge(initial, declared) if initial else declared)
        if wrong:
            raise UnfitError(wrong)
        return self._desired(key, declared, initial)

    def slot(self, index: int) -> Desired | str:
        """The resource of a numbered slot, or the reason why there is none; rendered once."""
        if index not in self.slots:
            try:
                self.slots[index] = self.render(str(index), index=index)
            except UnfitError as error:
                self.slots[index] = str(error)
        return self.slots[index]

    def apply(self, resource: Resource, extra: Template = NOTHING) -> Desired:
        """How a matched resource should look: the declared properties, and `extra` over them.

        `${match...}` in both stands for the resource's own. Raises UnfitError as `render` does.
        """
        return self.applied(extra)(resource)

    def applied(self, extra: Template = NOTHING) -> Callable[[Resource], Desired]:
        """`apply` for many resources: where nothing asks for the resource's own, they are rendered once for all."""
        once = cache(lambda: self._look(extra, {}))
        own = any(placeholders((self.properties, extra)))

        def apply(resource: Resource) -> Desired:
            properties, tags = self._look(extra, {"match": match_scope(resource)}) if own else once()
            return Desired(resource.id, resource.name, properties, tags, of=resource.id)

        return apply

    @cached_property
    def text_fields(self) -> frozenset[str]:
        """The item fields that stand inside texts or in the name: those whose characters matter."""
        named = [self.properties[word] for word in self.kind.identifiers]
        texts = [leaf for leaf in leaves_of((self.properties, self.initial)) if isinstance(leaf, Text)]
        return frozenset(".".join(one.path) or WHOLE for one in placeholders((*named, *texts)) if one.root == "item")

    @cached_property
    def rendered(self) -> dict[tuple[str, str, Json], Desired | str | None]:
        """What items were rendered to before (`policies/fitting.py`)."""
        return {}

    @cached_property
    def slots(self) -> dict[int, Desired | str]:
        """What numbered slots were rendered to before; four digits, so never more than ten thousand."""
        return {}

    @cached_property
    def looked(self) -> set[str]:
        """The ids of matched resources that were compared with this very policy since it was read."""
        return set()

    @cached_property
    def owned(self) -> dict[str, tuple[Desired, Desired]]:
        """By key: what was desired, and the same with its owner tags (`handler/loop/toward.py`)."""
        return {}

    @cached_property
    def item_words(self) -> frozenset[str]:
        """The words that placeholders ask items for: `QueueName` of `${item.QueueName}`."""
        used = placeholders((self.properties, self.initial))
        return frozenset(one.path[0] for one in used if one.root == "item" and one.path)

    def _look(self, extra: Template, scope: Mapping[str, Json]) -> tuple[Mapping[str, Json], Mapping[str, str]]:
        """Properties and tags of a matched resource."""
        declared = merge(self._legal(self.properties, scope), self._legal(extra, scope))
        return self.kind.without_tags(declared), view(self.kind.declared_tags(declared))

    def _legal(self, template: Template, scope: Mapping[str, Json]) -> Mapping[str, Json]:
        if not template:
            return NOTHING
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
        desired = Desired(
            key=key or name or "",
            name=name,
            properties=self.kind.without_tags(declared),
            tags=view(tags),
            initial=self.kind.without_tags(initial),
        )
        return replace(desired, spec=hash_of(self.kind, desired))


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
