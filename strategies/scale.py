"""One numeric property of matched resources follows a number: desired count, shards, capacity.

How far it may go in one step, and how often, is the service's rule and so the kind's business: an update that takes
several comes back as partial, and the next run goes on towards what is wanted then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field, ValidationError

from policies.action import Desired, Trouble
from policies.blueprint import Blueprint, UnfitError, match_scope
from policies.frozen import NOTHING, Json, freeze, lookup, thaw
from policies.grammar import nearest
from policies.kind import KindModel
from policies.numbers.metric import MetricQuery
from policies.numbers.number import AnyNumber, Hold, bound, bounds_of, signals_of, value_of
from policies.numbers.telling import why
from policies.problems import explain
from policies.properties import CreateOnly, Shape, WriteOnly
from policies.strategy import Decision, Signal, Strategy, held
from policies.template import RenderError
from policies.world import Observation, Resource


class Scale(Strategy):
    """Want one property of every matched resource at a number that moves."""

    matches: ClassVar[bool] = True

    type: Literal["scale"]
    property_: Annotated[
        str,
        Field(
            alias="property",
            pattern=r"^[A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*)*$",
            description="Its dotted path.",
        ),
    ]
    to: Annotated[AnyNumber, Field(description="What the property is kept at.")]

    @property
    def looks_every_run(self) -> bool:
        return not isinstance(self.to, int)

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self.property_.split("."))

    def signals(self) -> tuple[Signal, ...]:
        return signals_of(self.to)

    def signals_of(self, resource: Resource) -> tuple[MetricQuery, ...]:
        if not any(query.metric.placeholders for query in signals_of(self.to)):
            return ()
        try:
            return signals_of(bound(self.to, {"match": match_scope(resource)}))
        except RenderError:
            return ()  # told where it is decided

    def extra_leaves(self) -> frozenset[str]:
        return frozenset({self.property_})

    def misfits(self, blueprint: Blueprint) -> Iterator[tuple[tuple[str | int, ...], str]]:
        problem = next(_misfits(self.path, bounds_of(self.to), blueprint), None)
        if problem:
            yield ("property",), problem
        legal = blueprint.kind.words | {"Id", "Name", "Arn", "tags"}
        for one in {one for query in signals_of(self.to) for one in query.metric.placeholders}:
            if not one.path or one.path[0] not in legal:
                word = one.path[0] if one.path else ""
                known = nearest(word, sorted(legal))
                yield (
                    ("to",),
                    f"unknown placeholder {one}: {word!r} is no property or fact of {blueprint.kind.type}{known}",
                )

    def decide(self, blueprint: Blueprint, seen: Observation, now: datetime) -> Decision:
        desired: list[Desired] = []
        troubles: list[Trouble] = []
        notes: list[str] = []
        for resource in sorted(seen.owned, key=lambda resource: resource.id):
            if not resource.alive or resource.properties is None or resource.id in seen.unread:
                continue  # unknown is not small
            try:
                number = bound(self.to, {"match": match_scope(resource)})
                present = _present(self.path, resource, blueprint.kind)
                value = value_of(number, present, seen, now)
                wanted = blueprint.apply(resource, NOTHING if isinstance(value, Hold) else _nested(self.path, value))
            except (UnfitError, RenderError) as error:
                troubles.append(Trouble("Degraded", "Unfit", f"{resource.name or resource.id}: {error}"))
                continue
            desired.append(wanted)
            what = f"{self.property_} of {resource.name or resource.id}"
            if isinstance(value, Hold):
                troubles.append(held(value, what))
            elif reason := why(number, present, value, seen):
                notes.append(f"{what}: {reason}")
        return Decision(desired=tuple(desired), removals=(), troubles=tuple(troubles), notes=tuple(notes))


def _present(path: tuple[str, ...], resource: Resource, kind: KindModel) -> int | None:
    """What the property is now; what the service does not show is at its default."""
    try:
        value = lookup(resource.properties, path)
    except KeyError:
        value = None
    if value is None:
        value = _shapes(path, kind.shape)[-1].default
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _misfits(path: tuple[str, ...], bounds: tuple[int, int], blueprint: Blueprint) -> Iterator[str]:
    """Why the property cannot be scaled, or not to these bounds."""
    kind, word = blueprint.kind, ".".join(path)
    shapes = _shapes(path, kind.shape)
    if any(shape.has(CreateOnly) for shape in shapes):
        yield f"{word} is create-only: it cannot be changed on an existing resource"
    if any(shape.has(WriteOnly) for shape in shapes):
        yield f"{word} is write-only: nobody can see what it is"
    if _is_there(path, blueprint.properties):
        yield f"{word} stands in resource.properties too; keep one"
    for value in bounds:
        try:
            kind.partial.model_validate(thaw(_nested(path, value)))
        except ValidationError as error:
            for line in error.errors(include_url=False):
                if line["type"] == "extra_forbidden":
                    yield _unknown(path, kind)
                elif line["type"] != "missing":
                    yield f"{word} cannot be {value}: {explain(line, [])}"


def _unknown(path: tuple[str, ...], kind: KindModel) -> str:
    legal = sorted(kind.properties.model_fields)
    known = nearest(path[0], legal) if path[0] not in legal else ""
    return f"{'.'.join(path)!r} is no property of {kind.type} that can be changed{known}"


def _is_there(path: tuple[str, ...], properties: Mapping[str, Json]) -> bool:
    """Whether the path, or a part of it that is no object, is declared."""
    for word in path:
        if not isinstance(properties, Mapping) or word not in properties:
            return not isinstance(properties, Mapping)
        properties = properties[word]
    return True


def _shapes(path: tuple[str, ...], shape: Shape) -> list[Shape]:
    shapes = []
    for word in path:
        shape = shape.inner(word)
        shapes.append(shape)
    return shapes


def _nested(path: tuple[str, ...], value: int) -> Mapping[str, Json]:
    nested: Json = value
    for word in reversed(path):
        nested = {word: nested}
    frozen: Mapping[str, Json] = freeze(nested)
    return frozen
