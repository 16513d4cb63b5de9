"""The ways through a template, character by character, counting how much of each blank is used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from policies.automata import START, Automaton, Builder
from policies.item_pattern import add_pattern, compile_pattern
from policies.word_search import Edge, Node, shortest_word


@dataclass(frozen=True, slots=True)
class Blank:
    """What a placeholder may become: all that its pattern matches whole, up to a length."""

    pattern: str
    max_length: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """The automaton of a template, and for each state which blank it is in and how long that may get."""

    automaton: Automaton
    rooms: tuple[tuple[int, int] | None, ...]

    def moves(self, state: int, used: int) -> list[tuple[int, int]]:
        """The next states, and how much of its blank each has used then."""
        moves = []
        for after in self.automaton.follow[state]:
            room = self.rooms[after]
            count = 0 if room is None else used + 1 if room == self.rooms[state] else 1
            if room is None or count <= room[1]:
                moves.append((after, count))
        return moves

    def accept(self, name: str) -> bool:
        """Whether the name can be read with no blank longer than it may be."""
        if not any(self.rooms) or not self.automaton.accepts(name):
            return self.automaton.accepts(name)
        here = {0: 0}
        for char in name:
            after: dict[int, int] = {}
            for state, used in here.items():
                for state_next, count in self.moves(state, used):
                    if char in self.automaton.letters[state_next]:
                        after[state_next] = min(count, after.get(state_next, count))
            here = after
        return any(map(self.automaton.is_final, here))


@lru_cache(maxsize=1024)
def compile_parts(parts: tuple[str | Blank, ...]) -> Paths:
    """The ways through a template; raises ValueError where a blank has no legal pattern."""
    builder = Builder()
    rooms: list[tuple[int, int] | None] = [None]
    pieces = []
    for index, part in enumerate(parts):
        room = None
        if isinstance(part, str):
            pieces.append(builder.text(part))
        else:
            compile_pattern(part.pattern)  # refuses knots, which add_pattern does not see
            pieces.append(add_pattern(builder, part.pattern))
            room = None if part.max_length is None else (index, part.max_length)
        rooms += [room] * (len(builder.letters) - len(rooms))
    return Paths(builder.finish(builder.sequence(pieces)), tuple(rooms))


def shortest_shared(one: Paths, other: Paths, longest: int) -> str | None:
    """The shortest name, but not the empty one, that both accept: a walk through both, side by side."""

    def steps(node: Node) -> Iterator[Edge]:
        (p, q), (p_used, q_used) = node
        theirs = other.moves(q, q_used)
        for p_next, p_count in one.moves(p, p_used):
            letters = one.automaton.letters[p_next]
            for q_next, q_count in theirs:
                yield letters & other.automaton.letters[q_next], ((p_next, q_next), (p_count, q_count))

    def is_end(node: Node) -> bool:
        p, q = node[0]
        return p > 0 and one.automaton.is_final(p) and other.automaton.is_final(q)

    return shortest_word(((0, 0), (0, 0)), steps, is_end, longest)


def shortest_stray(paths: Paths, legal: Automaton, longest: int) -> str | None:
    """The shortest name that `paths` accepts and `legal` does not: its states are followed all at once."""

    def steps(node: Node) -> Iterator[Edge]:
        (state, states), (used,) = node
        for after, count in paths.moves(state, used):
            letters_by_states: defaultdict[int, set[str]] = defaultdict(set)
            for char in paths.automaton.letters[after]:
                letters_by_states[legal.step(states, char)].add(char)
            for states_after, letters in letters_by_states.items():
                yield frozenset(letters), ((after, states_after), (count,))

    def is_end(node: Node) -> bool:
        (state, states), _ = node
        return paths.automaton.is_final(state) and not states & legal.final

    return shortest_word(((0, START), (0,)), steps, is_end, longest)
