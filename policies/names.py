"""The names that templates can render, and the proof that two templates never render the same one.

Almost all proofs are a comparison of literal ends, which costs next to nothing. The rest walk the automata of
both patterns side by side. Placeholders count as independent of each other, even where one stands twice: that may
name a conflict which the items would not produce, and never overlooks one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile

from policies.automata import reading_order
from policies.item_pattern import compile_pattern
from policies.name_paths import Blank, compile_parts, shortest_shared, shortest_stray
from policies.word_search import Unprovable

__all__ = [
    "Blank",
    "NamePattern",
    "Unprovable",
    "check_pattern",
    "common_name",
    "common_start",
    "longest_length",
    "matches",
    "renders",
    "shortest_length",
    "subset_witness",
]


@dataclass(frozen=True, slots=True)
class NamePattern:
    """Every name that one template can render, none longer than `max_length`.

    Where all names are known (a literal, or listed items), `names` holds them; parts and limit do not matter then.
    """

    parts: tuple[str | Blank, ...]
    max_length: int
    names: frozenset[str] | None = None
    prefix: str = field(init=False, repr=False, compare=False)
    suffix: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = self.names
        if names is None and not any(isinstance(part, Blank) for part in self.parts):
            names = frozenset({"".join(map(str, self.parts))})
        prefix, suffix = _literal_ends(self.parts) if names is None else _common_ends(names)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "prefix", prefix)
        object.__setattr__(self, "suffix", suffix)


def check_pattern(regex: str) -> None:
    """Raise ValueError, with position and reason, unless this is a pattern of the item dialect."""
    compile_pattern(regex)


def matches(regex: str, text: str) -> bool:
    """Whether the pattern matches the whole text, in time linear in the text. Only printable ASCII ever does."""
    return compile_pattern(regex).accepts(text)


def common_name(a: NamePattern, b: NamePattern) -> str | None:
    """The shortest name, and of those the first in reading order, that both can render; None: proven that none is.

    The empty name does not count. Raises Unprovable when the patterns are too entangled to tell.
    """
    if _ends_differ(a, b):
        return None
    if a.names is not None and b.names is not None:
        return _plainest(a.names & b.names)
    if a.names is not None:
        return _plainest(name for name in a.names if renders(b, name))
    if b.names is not None:
        return _plainest(name for name in b.names if renders(a, name))
    return shortest_shared(compile_parts(a.parts), compile_parts(b.parts), min(_limit(a), _limit(b)))


def renders(a: NamePattern, name: str) -> bool:
    """Whether this very name is one that the template can render."""
    if a.names is not None:
        return name in a.names
    if len(name) > a.max_length or not name.startswith(a.prefix) or not name.endswith(a.suffix):
        return False
    return compile_parts(a.parts).accept(name)


def subset_witness(a: NamePattern, allowed: str) -> str | None:
    """The shortest name that the template can render and `allowed`, an item pattern, does not match whole.

    None: every name matches. Raises Unprovable when the patterns are too entangled to tell.
    """
    legal = compile_pattern(allowed)
    if a.names is not None:
        return _plainest((name for name in a.names if not legal.accepts(name)), shortest=0)
    return shortest_stray(compile_parts(a.parts), legal, _limit(a))


def shortest_length(a: NamePattern) -> int | None:
    """The length of the shortest name, were there no limit to the whole; None if there is no name at all."""
    if a.names is not None:
        return min(map(len, a.names), default=None)
    lengths = [_lengths(part) for part in a.parts]
    if any(longest is not None and longest < shortest for shortest, longest in lengths):
        return None
    return sum(shortest for shortest, _ in lengths)


def longest_length(a: NamePattern) -> int | None:
    """A length that no name exceeds, were there no limit to the whole; None if nothing else bounds it."""
    if a.names is not None:
        return max(map(len, a.names), default=0)
    lengths = [longest for _, longest in map(_lengths, a.parts)]
    known = [longest for longest in lengths if longest is not None]
    return sum(known) if len(known) == len(lengths) else None


def _lengths(part: str | Blank) -> tuple[int, int | None]:
    if isinstance(part, str):
        return len(part), len(part)
    automaton = compile_pattern(part.pattern)
    bounds = [length for length in (automaton.longest, part.max_length) if length is not None]
    return automaton.shortest, min(bounds, default=None)


def _limit(a: NamePattern) -> int:
    longest = longest_length(a)
    return a.max_length if longest is None else min(longest, a.max_length)


def _ends_differ(a: NamePattern, b: NamePattern) -> bool:
    starts_meet = a.prefix.startswith(b.prefix) or b.prefix.startswith(a.prefix)
    return not starts_meet or not (a.suffix.endswith(b.suffix) or b.suffix.endswith(a.suffix))


def _plainest(names: Iterable[str], shortest: int = 1) -> str | None:
    fit = (name for name in names if len(name) >= shortest)
    return min(fit, key=lambda name: (len(name), reading_order(name)), default=None)


def _literal_ends(parts: tuple[str | Blank, ...]) -> tuple[str, str]:
    start = takewhile(lambda part: isinstance(part, str), parts)
    end = takewhile(lambda part: isinstance(part, str), reversed(parts))
    return "".join(map(str, start)), "".join(map(str, reversed(list(end))))


def _common_ends(names: frozenset[str]) -> tuple[str, str]:
    return common_start(names), common_start(name[::-1] for name in names)[::-1]


def common_start(names: Iterable[str]) -> str:
    """The longest text that all the names begin with."""
    names = list(names)
    return _shared(min(names), max(names)) if names else ""


def _shared(one: str, other: str) -> str:
    return "".join(char for char, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
