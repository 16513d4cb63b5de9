"""Matched resources past an age or a date are marked, then deleted after a grace: sandboxes, unattached volumes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from policies.blueprint import Blueprint
from policies.duration import Duration, parse_duration
from policies.errors import RefusedError
from policies.grammar import Grammar, brief, mistake
from policies.numbers import PropertyObject
from policies.strategy import Decision, Strategy
from policies.world import Observation


class TimeInTag(Grammar):
    """The time that stands in a tag."""

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
    """Want nothing that is older than it may be: first marked, then deleted."""

    matches: ClassVar[bool] = True
    supported: ClassVar[bool] = False

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

    def decide(self, blueprint: Blueprint, seen: Observation, now: datetime) -> Decision:
        raise RefusedError("strategy 'expire' is not yet supported; nothing can be decided by it")
