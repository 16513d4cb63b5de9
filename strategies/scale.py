"""One numeric property of matched resources follows a number: desired count, shards, capacity."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from policies.blueprint import Blueprint
from policies.errors import RefusedError
from policies.numbers import AnyNumber
from policies.strategy import Decision, Strategy
from policies.world import Observation


class Scale(Strategy):
    """Want one property of every matched resource at a number that moves."""

    matches: ClassVar[bool] = True
    supported: ClassVar[bool] = False

    type: Literal["scale"]
    property: Annotated[
        str,
        Field(pattern=r"^[A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*)*$", description="Its dotted path."),
    ]
    to: Annotated[AnyNumber, Field(description="What the property is kept at.")]

    def decide(self, blueprint: Blueprint, seen: Observation, now: datetime) -> Decision:
        raise RefusedError("strategy 'scale' is not yet supported; nothing can be decided by it")
