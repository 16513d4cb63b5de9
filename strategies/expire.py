"""Matched resources past an age or a date are marked, then deleted after a grace: sandboxes, unattached volumes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from policies.action import Desired, Trouble
from policies.blueprint import Blueprint, UnfitError
from policies.duration import Duration, parse_duration, render
from policies.frozen import NOTHING, Json
from policies.grammar import Grammar, brief, mistake
from policies.identity import claimed_by, parse_moment
from policies.leaves import dotted_leaves
from policies.numbers.number import PropertyObject
from policies.strategy import Decision, Removal, Strategy
from policies.template import compile_template
from policies.world import Observation, Resource


class TimeInTag(Grammar):
    """The time that stands in a tag, as RFC 3339."""

    tag: Annotated[str, Field(min_length=1, max_length=128)]


def _after(value: Any) -> timedelta | TimeInTag:
    if isinstance(value, timedelta | TimeInTag):
        return value
    if isinstance(value, Mapping):
        return TimeInTag.model_validate(value)
    if isinstance(value, str):
        return parse_duration(value)
    raise mistake(f'found {brief(value)}; allowed: a duration such as "14d", or an object with "tag"')


class Expire(Strategy):
    """Want nothing that is older than it may be: first marked, then deleted.

    What has an owner is never touched. One whose age nobody knows, or whose tag holds no time, is reported and stays.
    """

    matches: ClassVar[bool] = True

    type: Literal["expire"]
    after: Annotated[
        timedelta | TimeInTag,
        PlainValidator(_after),
        WithJsonSchema({"anyOf": [{"type": "string"}, TimeInTag.model_json_schema()]}),
        Field(description="The age since creation, or the tag with the time that counts."),
    ]
    grace: Annotated[Duration, Field(description="From the mark to the deletion.")]
    meanwhile: Annotated[
        PropertyObject | None, Field(description="What is set when it is marked, and stays until it is deleted.")
    ] = None

    def claims_existence(self, owning: bool) -> bool:
        return True

    def extra_leaves(self) -> frozenset[str]:
        return dotted_leaves(self.meanwhile or NOTHING)

    def sections(self) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Json]]]:
        if self.meanwhile is not None:
            yield ("meanwhile",), self.meanwhile

    def misfits(self, blueprint: Blueprint) -> Iterator[tuple[tuple[str | int, ...], str]]:
        if blueprint.properties:
            yield (), "expire keeps nothing as declared: resource.properties belong into 'meanwhile' or another policy"
        if isinstance(self.after, timedelta) and "CreateTime" not in blueprint.kind.facts:
            yield (
                ("after",),
                f'{blueprint.kind.type} tells no time of creation; say a tag with the time: {{"tag": ...}}',
            )

    def decide(self, blueprint: Blueprint, seen: Observation, now: datetime) -> Decision:
        judged = _Judged(self, blueprint, now)
        for resource in sorted(seen.owned, key=lambda resource: resource.id):
            if resource.alive and claimed_by(resource.tags) is None and resource.id not in seen.unread:
                judged.judge(resource)
        return Decision(
            desired=tuple(judged.desired),
            removals=tuple(judged.removals),
            troubles=tuple(judged.troubles),
            grace=self.grace,
            unmark=frozenset(judged.young),
        )

    def why(self, resource: Resource, now: datetime) -> str | None:
        """Why it should go; None: it may stay. Raises LookupError where nobody can tell."""
        if isinstance(self.after, timedelta):
            if resource.created is None:
                raise LookupError("its service tells no time of creation")
            return f"older than {render(self.after)}" if now - resource.created >= self.after else None
        text = (resource.tags or {}).get(self.after.tag)
        if text is None:
            return None
        moment = parse_moment(text)
        if moment is None:
            raise LookupError(f"its tag {self.after.tag} is {text!r}, which is no RFC 3339 time")
        return f"its tag {self.after.tag} says {text}" if moment <= now else None


class _Judged:
    """What becomes of the matched resources, one by one."""

    def __init__(self, strategy: Expire, blueprint: Blueprint, now: datetime) -> None:
        self.strategy, self.now = strategy, now
        self.apply = blueprint.applied(compile_template(strategy.meanwhile)) if strategy.meanwhile else None
        self.desired: list[Desired] = []
        self.removals: list[Removal] = []
        self.troubles: list[Trouble] = []
        self.young: list[str] = []

    def judge(self, resource: Resource) -> None:
        try:
            reason = self.strategy.why(resource, self.now)
        except LookupError as unknown:
            if resource.properties is not None or not isinstance(self.strategy.after, timedelta):
                self._trouble("Held", "NoTime", resource, f"it stays: {unknown.args[0]}")
            return  # not read yet: its turn comes within `driftCheck`
        if reason is None:
            self.young.append(resource.id)
            return
        self.removals.append(Removal(resource, reason))
        try:
            if self.apply:
                self.desired.append(self.apply(resource))
        except UnfitError as error:
            if resource.properties is not None:
                self._trouble("Degraded", "Unfit", resource, str(error))

    def _trouble(self, condition: str, reason: str, resource: Resource, message: str) -> None:
        self.troubles.append(Trouble(condition, reason, f"{resource.name or resource.id}: {message}"))
