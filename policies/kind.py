"""What the language knows of a resource kind: its words, not its API calls (those are in infra/kinds)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from enum import Enum
from functools import cached_property
from typing import ClassVar

from pydantic import create_model
from pydantic.fields import FieldInfo

from policies.diff import Difference
from policies.frozen import Json, view
from policies.properties import CreateOnly, Name, PropertyModel, Shape, WriteOnly, shape_of
from policies.world import Resource


class Creation(Enum):
    """What a create does where the name is taken."""

    EXCLUSIVE = "exclusive"  # it fails
    UPSERT = "upsert"  # it overwrites, and may ignore the tags
    RETURNS_EXISTING = "returnsExisting"  # it answers as if it had created


class KindModel:
    """One CloudFormation type as policies speak of it.

    `identifier` names the properties that together are the identity (`("Cluster", "ServiceName")`); an empty one means
    nameless, told apart by slot and client token. `facts` are words for `where`, `deleteIf` and placeholders only.
    `not_supported` are the official properties that are refused by name. `settle` is how long reads may lag.
    `complete_survey` says that the bulk call returns every property: nothing is ever read one by one to compare.
    `names_per_call` is how many names one bulk call looks up; 0: it lists what begins with a prefix, and no more.
    """

    type: ClassVar[str]
    properties: ClassVar[PropertyModel]
    identifier: ClassVar[str | tuple[str, ...]] = ()
    facts: ClassVar[frozenset[str]] = frozenset()
    not_supported: ClassVar[frozenset[str]] = frozenset()
    read_only: ClassVar[frozenset[str]] = frozenset()
    holds_data: ClassVar[bool] = False
    match_only: ClassVar[bool] = False
    creation: ClassVar[Creation] = Creation.EXCLUSIVE
    settle: ClassVar[timedelta] = timedelta(seconds=60)
    complete_survey: ClassVar[bool] = False
    names_per_call: ClassVar[int] = 0
    tag_property: ClassVar[str | None] = "Tags"

    @property
    def shape(self) -> Shape:
        return shape_of(self.properties)

    @cached_property
    def partial(self) -> PropertyModel:
        """The model for properties that need not be complete (`initial`, matched resources)."""
        fields = self.properties.model_fields
        optional = {word: (fields[word].annotation, _optional(fields[word])) for word in self.required}
        return create_model(self.properties.__name__, __base__=self.properties, **optional)  # type: ignore[call-overload,no-any-return]

    @property
    def required(self) -> tuple[str, ...]:
        """What a resource cannot be created without, as far as the model itself says."""
        return tuple(word for word, field in self.properties.model_fields.items() if field.is_required())

    @property
    def words(self) -> frozenset[str]:
        """Every word that conditions and `${match...}` may start with."""
        return frozenset(self.properties.model_fields) | self.facts

    @property
    def identifiers(self) -> tuple[str, ...]:
        return (self.identifier,) if isinstance(self.identifier, str) else self.identifier

    @property
    def named(self) -> bool:
        return bool(self.identifiers)

    @property
    def names(self) -> tuple[Name, ...]:
        """The rule for each identifying property, in the order of `identifiers`."""
        infos = (self.properties.model_fields[word].metadata for word in self.identifiers)
        return tuple(next(mark for mark in info if isinstance(mark, Name)) for info in infos)

    def name(self, properties: Mapping[str, Json]) -> str | None:
        """The identity that the properties spell, or None for a nameless kind."""
        return "/".join(str(properties[word]) for word in self.identifiers) if self.named else None

    @cached_property
    def write_only(self) -> frozenset[str]:
        """The properties that the service never shows."""
        return frozenset(word for word in self.properties.model_fields if self.shape.inner(word).has(WriteOnly))

    def create_only(self, word: str) -> bool:
        return self.shape.inner(word).has(CreateOnly)

    def locked(self, differences: Iterable[Difference], actual: Resource) -> tuple[str, ...]:
        """Those of the differences that only another resource can have."""
        return tuple(str(difference) for difference in differences if difference.create_only)

    def declared_tags(self, properties: Mapping[str, Json]) -> dict[str, str]:
        """The tags that a policy declares, as a mapping, whichever form CloudFormation gives them for this type."""
        tags = properties.get(self.tag_property or "") or ()
        if isinstance(tags, Mapping):
            return dict(tags)
        return {tag["Key"]: tag["Value"] for tag in tags}

    def without_tags(self, properties: Mapping[str, Json]) -> Mapping[str, Json]:
        return view({word: value for word, value in properties.items() if word != self.tag_property})

    def single_call(self, desired: Mapping[str, Json]) -> bool:
        """Whether one create call does everything that is declared; else the spec stays `pending` until it is done."""
        return True

    def check(self, properties: Mapping[str, Json]) -> str | None:
        """What is wrong with fully rendered properties beyond the model, if anything."""
        return None


def _optional(info: FieldInfo) -> FieldInfo:
    return FieldInfo.merge_field_infos(info, default=None)
