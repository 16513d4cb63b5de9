r"""The dialect of item patterns: printable ASCII, matched whole, so simple that all about it can be proven.

    pattern    sequences with | between them
    sequence   one or more atoms, each with at most one of ? * + behind it
    atom       a character, . (any), \d \w \s \D \W \S, \ and a punctuation mark, [class], (pattern), (?:pattern)

Matching is that of Python's `re.fullmatch` with `re.ASCII`, restricted to printable ASCII (space to tilde).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NoReturn

from policies.automata import LETTERS, PRINTABLE, Automaton, Builder, Letters, Part

MAX_LENGTH = 512
MAX_NESTING = 32
MAX_LINKS = 16_384  # what a pattern of the greatest length can have without being a knot

_DIGITS = frozenset("0123456789")
_WORD = frozenset(LETTERS) | {"_"}
_SPACE = frozenset(" ")
_CLASSES = {
    "d": _DIGITS,
    "w": _WORD,
    "s": _SPACE,
    "D": PRINTABLE - _DIGITS,
    "W": PRINTABLE - _WORD,
    "S": PRINTABLE - _SPACE,
}
_QUANTIFIERS = frozenset("?*+")
_WHOLE = "a pattern always matches the whole item; leave it out, or write \\{0} for the character"
_REFUSED = {
    **dict.fromkeys("?*+", "there is nothing to repeat before it; write \\{0} for the character"),
    **dict.fromkeys("^$", _WHOLE),
    "{": "counted repeats are not allowed; use maxLength for the length, or write \\{{ for the character",
    **dict.fromkeys("}]", "it closes nothing; write \\{0} for the character"),
}


@lru_cache(maxsize=1024)
def compile_pattern(regex: str) -> Automaton:
    """The automaton of a pattern; raises ValueError with position and reason if it is not in the dialect."""
    builder = Builder()
    automaton = builder.finish(add_pattern(builder, regex))
    if sum(map(len, automaton.follow)) > MAX_LINKS:
        raise ValueError(f"the pattern {_shown(regex)} can be read in too many ways; make fewer parts of it optional")
    return automaton


def add_pattern(builder: Builder, regex: str) -> Part:
    """Add a pattern to an automaton under construction; raises ValueError like compile_pattern."""
    if len(regex) > MAX_LENGTH:
        raise ValueError(f"the pattern has {len(regex)} characters; allowed: at most {MAX_LENGTH}")
    reader = _Reader(regex, builder)
    whole = reader.choice(nesting=0)
    if reader.peek():
        reader.refuse("it closes no group; write \\) for the character")
    return whole


class _Reader:
    """Reads a pattern from left to right, once."""

    def __init__(self, regex: str, builder: Builder) -> None:
        self._regex = regex
        self._at = 0
        self._builder = builder

    def choice(self, nesting: int) -> Part:
        options = [self._sequence(nesting)]
        while self._take("|"):
            options.append(self._sequence(nesting))
        return self._builder.choice(options)

    def _sequence(self, nesting: int) -> Part:
        parts = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self._repeated(nesting))
        if not parts:
            self.refuse("nothing stands before it; write (..)? for something that may be missing")
        return self._builder.sequence(parts)

    def _repeated(self, nesting: int) -> Part:
        part = self._atom(nesting)
        if self.peek() not in _QUANTIFIERS:
            return part
        if (quantifier := self._next()) != "?":
            part = self._builder.repeated(part)
        if self.peek() in _QUANTIFIERS:
            self.refuse("only one of ? * + may follow; lazy and possessive repeats are not allowed")
        return part if quantifier == "+" else self._builder.optional(part)

    def _atom(self, nesting: int) -> Part:
        if self._take("("):
            return self._group(nesting + 1)
        if self._take("["):
            return self._builder.letter(self._class())
        if self._take("."):
            return self._builder.letter(PRINTABLE)
        if self._take("\\"):
            return self._builder.letter(self._escaped())
        if reason := _REFUSED.get(self.peek()):
            self.refuse(reason.format(self.peek()))
        return self._builder.letter(frozenset(self._next()))

    def _group(self, nesting: int) -> Part:
        if nesting > MAX_NESTING:
            self.refuse(f"groups nest deeper than {MAX_NESTING}")
        if self._take("?") and not self._take(":"):
            self.refuse("look-around, flags and named groups are not allowed; write (..) or (?:..)")
        part = self.choice(nesting)
        if not self._take(")"):
            self.refuse("a group is not closed; write )")
        return part

    def _class(self) -> Letters:
        start = self._at - 1
        negated = self._take("^")
        letters: Letters = frozenset()
        while not self._take("]"):
            letters |= self._range(first=not letters)
        if not letters or (negated and letters == PRINTABLE):
            self._at = start
            self.refuse("this class holds no character")
        return PRINTABLE - letters if negated else letters

    def _range(self, first: bool) -> Letters:
        """One character, escape or range `a-z` of a class."""
        if self.peek() == "-" and not first and self._second() not in ("]", ""):
            self.refuse("a - inside a class stands first, last or between two single characters; write \\-")
        low = self._member()
        if self.peek() != "-" or self._second() in ("]", ""):
            return low
        self._next()
        high = self._member()
        if len(low) != 1 or len(high) != 1 or min(low) > min(high):
            self.refuse("a range goes from one character to a later one, such as a-z", back=1)
        return frozenset(map(chr, range(ord(min(low)), ord(min(high)) + 1)))

    def _member(self) -> Letters:
        if self._take("\\"):
            return self._escaped()
        if self.peek() == "":
            self.refuse("a class is not closed; write ]")
        if self.peek() == "[" or self._regex[self._at : self._at + 2] in ("&&", "~~", "||"):
            self.refuse(f"inside a class write \\{self.peek()} for the character")
        return frozenset(self._next())

    def _escaped(self) -> Letters:
        char = self.peek()
        if char in _CLASSES:
            return _CLASSES[self._next()]
        if char == "" or char.isalnum():
            self.refuse("after \\ only d w s D W S or a punctuation mark may follow")
        return frozenset(self._next())

    def peek(self) -> str:
        """The next character, or nothing at the end."""
        return self._regex[self._at : self._at + 1]

    def _second(self) -> str:
        return self._regex[self._at + 1 : self._at + 2]

    def _next(self) -> str:
        char = self.peek()
        if char not in PRINTABLE:
            self.refuse("only printable ASCII is allowed")
        self._at += 1
        return char

    def _take(self, char: str) -> bool:
        taken = self.peek() == char
        self._at += taken
        return taken

    def refuse(self, reason: str, back: int = 0) -> NoReturn:
        at = self._at - back
        found = _shown(self._regex[at]) if at < len(self._regex) else "the end"
        raise ValueError(f"found {found} at position {at + 1} of the pattern {_shown(self._regex)}: {reason}")


def _shown(regex: str, longest: int = 80) -> str:
    text = regex if regex.isprintable() else ascii(regex)[1:-1]
    return text if len(text) <= longest else f"{text[:longest]}…"
