"""Automata over the characters of a name.

Position automata (Glushkov 1961): every place of a pattern where a character is read is one state, so that an
automaton is as large as its pattern is long, whatever the pattern says. Nothing is determinized ahead of time,
which is where regular expressions explode.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Letters: TypeAlias = frozenset[str]

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PRINTABLE: Letters = frozenset(map(chr, range(0x20, 0x7F)))
_REST = "".join(sorted(PRINTABLE - set(LETTERS + "-_./"), reverse=True))  # the space comes last
_RANK = {char: rank for rank, char in enumerate(LETTERS + "-_./" + _REST)}

States: TypeAlias = int
"""A set of states: bit i stands for state i."""

START: States = 1


def reading_order(name: str) -> list[int]:
    """Sort key of names of one length: lower case, digits, upper case, then the rest."""
    return [_RANK.get(char, 1000 + ord(char)) for char in name]


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """State 0 is the start; being in state i means that one of `letters[i]` was just read."""

    letters: tuple[Letters, ...]
    follow: tuple[tuple[int, ...], ...]
    final: States
    shortest: int
    longest: int | None
    _reach: tuple[States, ...] = field(init=False, repr=False)
    _readers: Mapping[str, States] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        readers: dict[str, States] = {}
        for state, letters in enumerate(self.letters):
            for char in letters:
                readers[char] = readers.get(char, 0) | 1 << state
        object.__setattr__(self, "_readers", readers)
        object.__setattr__(self, "_reach", tuple(map(_bits, self.follow)))

    def accepts(self, text: str) -> bool:
        """Whether the whole text is a word, in time linear in its length."""
        states = START
        for char in text:
            states = self.step(states, char)
        return bool(states & self.final)

    def is_final(self, state: int) -> bool:
        """Whether a word may end in this state."""
        return bool(self.final >> state & 1)

    def step(self, states: States, char: str) -> States:
        """All states that reading `char` leads to from any of these."""
        reach = 0
        while states:
            lowest = states & -states
            reach |= self._reach[lowest.bit_length() - 1]
            states ^= lowest
        return reach & self._readers.get(char, 0)


def _bits(states: Iterable[int]) -> States:
    return sum(1 << state for state in states)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an automaton under construction: where its words begin and end, and how long they are."""

    first: frozenset[int]
    last: frozenset[int]
    shortest: int
    longest: int | None


NOTHING = Part(frozenset(), frozenset(), 0, 0)


class Builder:
    """Puts an automaton together from its parts. Each part is used once."""

    def __init__(self) -> None:
        self.letters: list[Letters] = [frozenset()]
        self._follow: list[set[int]] = [set()]

    def letter(self, letters: Letters) -> Part:
        here = frozenset({len(self.letters)})
        self.letters.append(letters)
        self._follow.append(set())
        return Part(here, here, 1, 1)

    def text(self, text: str) -> Part:
        return self.sequence([self.letter(frozenset(char)) for char in text])

    def sequence(self, parts: Iterable[Part]) -> Part:
        whole = NOTHING
        for part in parts:
            self._link(whole.last, part.first)
            first = whole.first | part.first if whole.shortest == 0 else whole.first
            last = whole.last | part.last if part.shortest == 0 else part.last
            longest = None if None in (whole.longest, part.longest) else (whole.longest or 0) + (part.longest or 0)
            whole = Part(first, last, whole.shortest + part.shortest, longest)
        return whole

    def choice(self, parts: Sequence[Part]) -> Part:
        first = frozenset[int]().union(*(part.first for part in parts))
        last = frozenset[int]().union(*(part.last for part in parts))
        longest = [part.longest for part in parts if part.longest is not None]
        whole = max(longest) if len(longest) == len(parts) else None
        return Part(first, last, min(part.shortest for part in parts), whole)

    def optional(self, part: Part) -> Part:
        return Part(part.first, part.last, 0, part.longest)

    def repeated(self, part: Part) -> Part:
        self._link(part.last, part.first)
        return Part(part.first, part.last, part.shortest, None)

    def finish(self, whole: Part) -> Automaton:
        self._follow[0] |= whole.first
        final = _bits(whole.last) | (START if whole.shortest == 0 else 0)
        follow = tuple(tuple(sorted(after)) for after in self._follow)
        return Automaton(tuple(self.letters), follow, final, whole.shortest, whole.longest)

    def _link(self, before: Iterable[int], after: frozenset[int]) -> None:
        for state in before:
            self._follow[state] |= after
