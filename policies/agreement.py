"""Whether several conditions can hold of one value at once, and for which.

Constants decide most. Everything else is cut into finitely many groups of values that no condition can tell apart:
numbers at and between the bounds, texts by how far they match each constant and wildcard. One of each group is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Protocol

from policies.conditions import Condition, Test
from policies.frozen import Json
from policies.wildcards import Pattern, distinct_texts, glob, literal


class Claimed(Protocol):
    """Anything that holds or does not hold of a value."""

    def holds(self, found: Json) -> bool: ...


@dataclass(frozen=True, slots=True)
class Begins:
    """How a name starts; unlike in `like`, nothing in it is wild."""

    text: str

    def holds(self, found: Json) -> bool:
        return isinstance(found, str) and found.startswith(self.text)


@dataclass(frozen=True, slots=True)
class Agreed:
    """A value for which all conditions hold; None stands for absent."""

    value: Json


def anything(_value: Json) -> bool:
    """What a property or fact may be."""
    return True


def tag_like(value: Json) -> bool:
    """What a tag may be: a text, or absent."""
    return value is None or isinstance(value, str)


def name_like(value: Json) -> bool:
    """What a name may be."""
    return isinstance(value, str) and value != ""


def agreed_value(conditions: Sequence[Claimed], possible: Callable[[Json], bool] = anything) -> Agreed | None:
    """A possible value that satisfies all the conditions, None where provably none does.

    Raises Unprovable where the texts to try are too many.
    """
    fixed = constants(conditions)
    values: Iterable[Json] = sorted(fixed, key=repr) if fixed is not None else _groups(conditions)
    for value in values:
        if possible(value) and all(condition.holds(value) for condition in conditions):
            return Agreed(value)
    return None


def constants(conditions: Iterable[Claimed]) -> frozenset[Json] | None:
    """The only values that can satisfy all the conditions, if some condition lists its values."""
    listed = [frozenset(_listed(condition)) for condition in conditions if _lists(condition)]
    return min(listed, key=len) if listed else None


def _lists(condition: Claimed) -> bool:
    return isinstance(condition, Condition) and condition.test in (Test.EQUAL, Test.ONE_OF)


def _listed(condition: Claimed) -> tuple[Json, ...]:
    if not isinstance(condition, Condition):
        return ()
    return condition.value if condition.test is Test.ONE_OF else (condition.value,)


def _groups(conditions: Sequence[Claimed]) -> Iterator[Json]:
    """At least one value of every group that the conditions tell apart, texts last: they are many."""
    atoms = list(chain.from_iterable(map(_atoms, conditions)))
    yield from (None, *_numbers(atoms), True, False, ("",))
    yield from distinct_texts({pattern for atom in atoms for pattern in _patterns(atom)})


def _atoms(condition: Claimed) -> Iterator[Claimed]:
    while isinstance(condition, Condition) and condition.test is Test.NOT:
        condition = condition.value
    yield condition


def _numbers(atoms: Iterable[Claimed]) -> Iterator[float]:
    values = [value for atom in atoms if isinstance(atom, Condition) for value in _values(atom)]
    known = sorted({value for value in values if isinstance(value, int | float) and not isinstance(value, bool)})
    yield from known or [0]
    yield from (_between(low, high) for low, high in pairwise(known))
    if known:
        yield from (known[0] - 1 - abs(known[0]), known[-1] + 1 + abs(known[-1]))


def _between(low: float, high: float) -> float:
    if isinstance(low, int) and isinstance(high, int) and high - low > 1:
        return low + 1
    try:
        return (low + high) / 2
    except OverflowError:
        return low


def _values(atom: Condition) -> tuple[Json, ...]:
    return _listed(atom) if _lists(atom) else (atom.value,)


def _patterns(atom: Claimed) -> Iterator[Pattern]:
    if isinstance(atom, Begins):
        yield (*literal(atom.text), "*")
    elif isinstance(atom, Condition) and atom.test is Test.LIKE:
        yield glob(atom.value)
    elif isinstance(atom, Condition):
        yield from (literal(value) for value in _values(atom) if isinstance(value, str))
