"""Why a number moved, in one line: for whoever reads a plan at night and asks whether it is the load or the policy."""

from __future__ import annotations

from policies.identity import rfc3339
from policies.numbers.metric import Series, answer
from policies.numbers.number import Number, signals_of
from policies.world import Observation


def why(number: int | Number, present: int | None, wanted: int, seen: Observation) -> str | None:
    """From what to what, and the latest that each metric says; None where nothing moves, or the policy says it."""
    if isinstance(number, int) or present is None or present == wanted:
        return None
    said = [f"{present} to {wanted} by its {number.type}"]
    for query in signals_of(number):
        found = answer(query, seen)
        if isinstance(found, Series) and found.points:
            moment, value = found.points[-1]
            said.append(f"{query.metric} was {value:.6g} at {rfc3339(moment)}")
    return ", ".join(said)
