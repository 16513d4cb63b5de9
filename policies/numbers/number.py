"""The contract of a number that moves, and what may stand where one is expected.

A number is pure, as a strategy is. The metrics it needs it asks for by `signals`; the present value and the time are
arguments. What it cannot know it holds: a missing or failed metric never moves anything.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import EntryPoint
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, Field, PlainValidator, ValidationInfo, WithJsonSchema

from policies.frozen import Json, freeze
from policies.grammar import Dispatch, Grammar, brief, mistake
from policies.numbers.metric import Metric, MetricQuery
from policies.plugins import Plugins
from policies.world import Observation

M = TypeVar("M", bound=BaseModel)

PropertyObject = Annotated[Mapping[str, Any], AfterValidator(freeze)]
"""Properties in CloudFormation's words, as they stand in the policy."""

Quantity = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Bound = Annotated[int, Field(ge=0)]


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise mistake(f"found {brief(value)}; allowed: a whole number from 0")
    return value


Whole = Annotated[int, PlainValidator(_whole), WithJsonSchema({"type": "integer", "minimum": 0})]


def check_bounds(least: int, most: int) -> None:
    """Raises a parse error where nothing lies between the bounds."""
    if least > most:
        raise mistake(f"min {least} is above max {most}")


@dataclass(frozen=True, slots=True)
class Hold:
    """Leave it as it is, and why. `failed`: something is broken, and a person should hear of it."""

    reason: str
    failed: bool = False


class Number(Grammar, ABC):
    """A number that moves. One file each; picked by its `type`."""

    type: str

    def signals(self) -> tuple[MetricQuery, ...]:
        """The metrics it needs, each with as much of the past as it looks at."""
        return ()

    @abstractmethod
    def bounds(self) -> tuple[int, int]:
        """The least and the most that it can ever be."""

    @abstractmethod
    def value(self, present: int | None, seen: Observation, now: datetime) -> int | Hold:
        """What should hold now, where `present` is what does (None: nobody knows). Pure; within the bounds."""


GROUP = "setpoint.numbers"

NUMBERS: Plugins[type[Grammar]] = Plugins(
    GROUP,
    (
        EntryPoint("schedule", "policies.numbers.schedule:WholeSchedule", GROUP),
        EntryPoint("target", "policies.numbers.target:Target", GROUP),
        EntryPoint("band", "policies.numbers.band:Band", GROUP),
    ),
)
"""Every number that moves, one line each. Others ship theirs through the entry point group."""


class NumberDispatch(Dispatch):
    """Reads a whole number as itself, and an object by its type."""

    def __call__(self, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, Mapping | Grammar):
            return super().__call__(value, info)
        if isinstance(value, int) and not isinstance(value, bool):
            return _whole(value)
        legal = ", ".join(sorted(self.legal({})))
        raise mistake(f"found {brief(value)}; allowed: a whole number from 0, or an object with type: {legal}")


AnyNumber: TypeAlias = Annotated[int | Number, PlainValidator(NumberDispatch("type", "number", lambda _: NUMBERS))]
"""Every number that the language knows, a literal included."""


def signals_of(number: int | Number) -> tuple[MetricQuery, ...]:
    """The metrics that a number needs; a literal needs none."""
    return () if isinstance(number, int) else number.signals()


def bounds_of(number: int | Number) -> tuple[int, int]:
    """The least and the most that a number can be."""
    return (number, number) if isinstance(number, int) else number.bounds()


def value_of(number: int | Number, present: int | None, seen: Observation, now: datetime) -> int | Hold:
    """What should hold now."""
    return number if isinstance(number, int) else number.value(present, seen, now)


def bound(number: int | Number, scope: Mapping[str, Json]) -> int | Number:
    """The number for one resource: `${match...}` in the dimensions of its metrics replaced. Raises RenderError."""
    return number if isinstance(number, int) else _bound_model(number, scope)


def _bound_model(model: M, scope: Mapping[str, Json]) -> M:
    found = {name: getattr(model, name) for name in type(model).model_fields}
    filled = {name: _bound(value, scope) for name, value in found.items()}
    changed = {name: value for name, value in filled.items() if value is not found[name]}
    return model.model_copy(update=changed) if changed else model


def _bound(value: Any, scope: Mapping[str, Json]) -> Any:
    if isinstance(value, Metric):
        return value.bound(scope)
    if isinstance(value, BaseModel):
        return _bound_model(value, scope)
    if isinstance(value, tuple):
        filled = tuple(_bound(one, scope) for one in value)
        return filled if any(new is not old for new, old in zip(filled, value, strict=True)) else value
    return value
