"""The walk to the shortest word: breadth first, one layer per character, within a budget of steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeAlias

from policies.automata import Letters, reading_order

Place: TypeAlias = tuple[int, int]
Node: TypeAlias = tuple[Place, tuple[int, ...]]
"""A place, and what getting there has used up: of two nodes in one place, less used can do all that more can."""

Edge: TypeAlias = tuple[Letters, Node]
Steps: TypeAlias = Callable[[Node], Iterable[Edge]]
Layer: TypeAlias = dict[Node, list[Edge]]

MOST_STEPS = 200_000  # about a fifth of a second
_ADVICE = (
    f"the patterns are too entangled to tell within {MOST_STEPS} steps; put different text before the first or "
    "after the last placeholder, or simplify the item patterns"
)


class Unprovable(ValueError):
    """Whether two patterns share a name could not be found out within bounds."""


def shortest_word(start: Node, steps: Steps, is_end: Callable[[Node], bool], longest: int) -> str | None:
    """The shortest word that leads from `start` to an end, the first in reading order; None: there is none.

    Words longer than `longest` do not count. Raises Unprovable when the walk takes too many steps.
    """
    walk = _Walk(steps)
    layers: list[Layer] = []
    nodes: Iterable[Node] = [start]
    for _ in range(longest + 1):
        layer: Layer = {node: [] for node in nodes}
        if ends := set(filter(is_end, layer)):
            return _spell(start, layers, ends)
        layers.append(layer)
        nodes = walk.expand(layer)
        if not nodes:
            return None
    return None


class _Walk:
    """Where the walk has been, and how many steps it may still take."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._left = MOST_STEPS
        self._seen: dict[Place, list[tuple[int, ...]]] = defaultdict(list)

    def expand(self, layer: Layer) -> set[Node]:
        """Fill in the edges of a layer; the nodes of the next one.

        Only earlier layers make a node superfluous: within one layer all stay, for the sake of reading order.
        """
        for place, used in layer:
            self._seen[place].append(used)
        for node, edges in layer.items():
            for letters, after in self._steps(node):
                self._left -= 1
                if self._left < 0:
                    raise Unprovable(_ADVICE)
                if letters and not self._is_superfluous(after):
                    edges.append((letters, after))
        return {after for edges in layer.values() for _, after in edges}

    def _is_superfluous(self, node: Node) -> bool:
        place, used = node
        return any(all(map(int.__le__, less, used)) for less in self._seen.get(place, ()))


def _spell(start: Node, layers: list[Layer], ends: set[Node]) -> str:
    """The first word in reading order that leads through all the layers to an end."""
    useful = [ends]
    for layer in reversed(layers):
        useful.append({node for node, edges in layer.items() if any(after in useful[-1] for _, after in edges)})
    word, nodes = "", {start}
    for layer, targets in zip(layers, reversed(useful[:-1]), strict=True):
        edges = [edge for node in nodes for edge in layer[node] if edge[1] in targets]
        char = min((min(letters, key=reading_order) for letters, _ in edges), key=reading_order)
        nodes = {after for letters, after in edges if char in letters}
        word += char
    return word
