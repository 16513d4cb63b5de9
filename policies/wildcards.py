"""Texts that wildcard patterns tell apart: one of every group, found by reading all patterns side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, takewhile
from string import ascii_lowercase, digits
from typing import TypeAlias

from policies.names import Unprovable

MOST_TEXTS = 2_000

Pattern: TypeAlias = tuple[str, ...]
"""`?` for any one character and `*` for any number; a literal character is written twice."""


def literal(text: str) -> Pattern:
    """Matches this text only."""
    return tuple(char * 2 for char in text)


def glob(text: str) -> Pattern:
    """Matches as the condition `like` does."""
    return tuple(char if char in "*?" else char * 2 for char in text)


def common_start(texts: Iterable[str]) -> str:
    """The longest text that all begin with."""
    ordered = sorted(texts)
    first, last = (ordered[0], ordered[-1]) if ordered else ("", "")
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(char for char, _ in same)


def distinct_texts(patterns: Iterable[Pattern]) -> Iterator[str]:
    """The shortest text of every group that no pattern tells apart, shortest first. The empty one is a group."""
    every = sorted({literal(""), *patterns})
    letters = _letters(every)
    start = tuple(_closed(pattern, {0}) for pattern in every)
    seen, layer = {start}, [("", start)]
    while layer:
        yield from (text for text, _ in layer)
        after = []
        for text, places in layer:
            for char in letters:
                moved = tuple(_step(pattern, here, char) for pattern, here in zip(every, places, strict=True))
                if moved not in seen:
                    seen.add(moved)
                    after.append((text + char, moved))
        if len(seen) > MOST_TEXTS:
            raise Unprovable("the conditions have too many wildcards to tell; give one of them a fixed value")
        layer = after


def _letters(patterns: Sequence[Pattern]) -> list[str]:
    """Every character that a pattern knows, after one that none does: it stands for all others."""
    known = {token[0] for pattern in patterns for token in pattern if len(token) == 2}
    others = chain(ascii_lowercase, digits, map(chr, range(0xA1, 0x10000)))
    return [next(char for char in others if char not in known), *sorted(known)]


def _step(pattern: Pattern, places: frozenset[int], char: str) -> frozenset[int]:
    after = set()
    for place in places:
        token = pattern[place] if place < len(pattern) else ""
        if token == "*":
            after.add(place)
        elif token in ("?", char * 2):
            after.add(place + 1)
    return _closed(pattern, after)


def _closed(pattern: Pattern, places: set[int]) -> frozenset[int]:
    """The places, and those behind the wildcards that may match nothing."""
    after = set(places)
    for place in places:
        stars = sum(1 for _ in takewhile(lambda token: token == "*", pattern[place:]))
        after.update(range(place + 1, place + stars + 1))
    return frozenset(after)
