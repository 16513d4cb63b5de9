"""A count, or a share of a count: `3` or `"10%"`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from policies.grammar import brief, mistake


@dataclass(frozen=True, slots=True)
class Amount:
    """`number` things, or `number` percent of them: rounded down, but never from something to nothing."""

    number: int
    percent: bool = False

    def of(self, total: int) -> int:
        if not self.percent:
            return self.number
        return max(total * self.number // 100, min(1, self.number))

    def __str__(self) -> str:
        return f"{self.number}%" if self.percent else str(self.number)


def parse_amount(value: Any) -> Amount:
    """A whole number from 0, or a text such as "10%"."""
    if isinstance(value, Amount):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return Amount(value)
    if isinstance(value, str) and re.fullmatch(r"\d{1,3}%", value, re.ASCII) and int(value[:-1]) <= 100:
        return Amount(int(value[:-1]), percent=True)
    raise mistake(f'found {brief(value)}; allowed: a whole number from 0, or "0%" to "100%"')


AmountField = Annotated[
    Amount,
    PlainValidator(parse_amount),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": r"^\d{1,3}%$"}]}),
]
