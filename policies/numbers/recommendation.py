"""One way to a number: a load that units share, or an average that should stay where it is.

Values are compared as the decimals that people read: what floating point could make of an integer is that integer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, WrapValidator, model_validator

from policies.grammar import Grammar, Some, mistake
from policies.numbers.metric import Metric
from policies.numbers.number import Quantity

_NOISE = Fraction(1, 10**12)
"""Relative; a float errs by a ten-thousandth of that."""


@lru_cache(maxsize=4096)
def exact(value: float) -> Fraction:
    """The decimal that a float is written as."""
    return Fraction(str(value))


def round_up(value: Fraction) -> int:
    """The smallest integer that is not below, but for what is a rounding error above one."""
    nearest = round(value)
    return nearest if abs(value - nearest) <= _NOISE * max(1, abs(nearest)) else math.ceil(value)


def _one_or_more(value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """A single metric is read as itself, so that its mistakes keep their paths."""
    return (Metric.model_validate(value, context=info.context),) if isinstance(value, Mapping) else read(value)


Load = Annotated[Some[Metric], WrapValidator(_one_or_more, json_schema_input_type=Metric | Some[Metric])]
_WAYS = (("load", "perUnit"), ("average", "of"), ("any",))


class Recommendation(Grammar):
    """One way to a number: a load shared by units, or an average that should stay where it is."""

    load: Annotated[Load | None, Field(description="A metric, or several, which are added.")] = None
    per_unit: Annotated[Quantity | None, Field(description="The load that one unit can carry.")] = None
    average: Annotated[Metric | None, Field(description="A metric per unit.")] = None
    of: Annotated[Quantity | None, Field(description="Where the average should be.")] = None

    @model_validator(mode="after")
    def _has_one_way(self) -> Recommendation:
        given = {word: getattr(self, name) is not None for name, word in self._ways().items()}
        whole = [ways for ways in _WAYS if all(given.get(word) for word in ways)]
        if len(whole) != 1 or sum(given.values()) != len(whole[0]):
            found = ", ".join(word for word, there in given.items() if there) or "none of them"
            legal = ", ".join(" with ".join(ways) for ways in _WAYS if ways[0] in given)
            raise mistake(f"found {found}; exactly one is needed of: {legal}")
        return self

    @classmethod
    def _ways(cls) -> Mapping[str, str]:
        """The fields that say where the number comes from, and their words."""
        return {"load": "load", "per_unit": "perUnit", "average": "average", "of": "of"}

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return self.load or ((self.average,) if self.average else ())

    def units(self, value: float, present: int, tolerance: float | None) -> int | None:
        """How many units the value asks for; None: as many as there are. Before clamping."""
        if self.load:
            wanted, slack = exact(value) / exact(self.per_unit or 1), tolerance or 0
            ratio = wanted / present if present else None
        else:
            ratio = exact(value) / exact(self.of or 1)
            wanted, slack = present * ratio, 0.1 if tolerance is None else tolerance
        near = ratio is not None and abs(1 - ratio) <= exact(slack)
        return None if near else round_up(wanted)
