"""Names that two templates share, or that one renders and a selection wants: each proof made once, within bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policies.agreement import Begins, Claimed, agreed_value, constants, name_like
from policies.conditions import Condition, Test
from policies.names import Blank, NamePattern, Unprovable, common_name, renders

MOST_WALKS = 1_000  # of some milliseconds each
MOST_ENTANGLED = 10  # of a fifth of a second each

_ANYTHING, _ANY_CHARACTER = Blank(".*"), Blank(".")


class SharedNames:
    """The shortest common name of patterns, remembered for one run; gives up where the proofs would take too long."""

    def __init__(self) -> None:
        self._known: dict[tuple[NamePattern, NamePattern], str | Unprovable | None] = {}
        self._walks = self._entangled = 0

    def of(self, one: NamePattern, other: NamePattern) -> str | None:
        """As `common_name`. Raises Unprovable also where it was not tried, since too many proofs were needed before."""
        if not _ends_meet(one, other):
            return None
        if one.names is not None and other.names is not None:
            return common_name(one, other)
        pair = (one, other)
        if pair not in self._known:
            self._known[pair] = self._walk(one, other)
        known = self._known[pair]
        if isinstance(known, Unprovable):
            raise known
        return known

    def _walk(self, one: NamePattern, other: NamePattern) -> str | Unprovable | None:
        if self._walks >= MOST_WALKS or self._entangled >= MOST_ENTANGLED:
            return Unprovable(
                "too many policies have names that only a long proof tells apart; this pair was not tried"
            )
        self._walks += 1
        try:
            return common_name(one, other)
        except Unprovable as error:
            self._entangled += 1
            return error


def agreed_name(pattern: NamePattern | None, conditions: Sequence[Claimed], shared: SharedNames) -> str | None:
    """A name that satisfies all the conditions and that the pattern, if any, renders; None where provably none does.

    Raises Unprovable where it takes more than pairs of patterns to tell.
    """
    agreed = agreed_value(conditions, name_like)
    if pattern is None or agreed is None:
        return None if agreed is None else str(agreed.value)
    fixed = constants(conditions)
    listed = pattern.names if fixed is None else {name for name in fixed if isinstance(name, str)}
    if listed is not None:
        fit = (name for name in listed if _holds(conditions, name) and renders(pattern, name))
        return min(fit, key=lambda name: (len(name), name), default=None)
    return _rendered(pattern, conditions, shared)


def _rendered(pattern: NamePattern, conditions: Sequence[Claimed], shared: SharedNames) -> str | None:
    """The same for a pattern of endless names and conditions that list none."""
    wanted = [NamePattern(parts, pattern.max_length) for parts in _templates(conditions)]
    names = [shared.of(pattern, one) for one in wanted or [NamePattern((_ANYTHING,), pattern.max_length)]]
    if None in names or any(_denies_all(condition, pattern) for condition in conditions):
        return None
    for name in names:
        if name is not None and _holds(conditions, name):
            return name
    raise Unprovable("the exceptions leave some of the names, and which is not known; match other names")


def _templates(conditions: Iterable[Claimed]) -> Iterable[tuple[str | Blank, ...]]:
    for condition in conditions:
        if isinstance(condition, Begins):
            yield (condition.text, _ANYTHING)
        elif isinstance(condition, Condition) and condition.test is Test.LIKE:
            yield tuple({"*": _ANYTHING, "?": _ANY_CHARACTER}.get(char, char) for char in condition.value)


def _denies_all(condition: Claimed, pattern: NamePattern) -> bool:
    """Whether the condition refuses the very beginning that all names of the pattern share."""
    if not isinstance(condition, Condition) or condition.test is not Test.NOT:
        return False
    return isinstance(condition.value, Begins) and pattern.prefix.startswith(condition.value.text)


def _holds(conditions: Iterable[Claimed], name: str) -> bool:
    return all(condition.holds(name) for condition in conditions)


def _ends_meet(one: NamePattern, other: NamePattern) -> bool:
    starts = one.prefix.startswith(other.prefix) or other.prefix.startswith(one.prefix)
    return starts and (one.suffix.endswith(other.suffix) or other.suffix.endswith(one.suffix))
