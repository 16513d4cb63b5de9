"""Bytes to JSON, within bounds: whatever comes in, a value or a TextError comes out, and soon.

Stricter than JSON where JSON leaves room for two readings: no duplicate keys, no NaN or Infinity, no number
that a double cannot hold, no half of a surrogate pair. A UTF-8 byte order mark, which some editors write, is
skipped.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import TypeAlias

from policies.frozen import Json
from policies.paths import json_path

LIMIT = 1024 * 1024
DEPTH = 64
MOST_PROBLEMS = 100
_Loc: TypeAlias = tuple[str | int, ...]
_LONGEST_INTEGER = 308  # digits; more do not fit a double
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)


class TextError(ValueError):
    """This text is not a document. `problems` holds every mistake as (JSON path, message).

    `json_path` is where the first one stands, if a value stands there; `line` and `column` count from 1 and
    are known where the text itself is broken.
    """

    def __init__(
        self,
        *problems: tuple[str, str],
        json_path: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.problems = problems
        self.json_path = json_path
        self.line = line
        self.column = column
        self.message = problems[0][1]
        super().__init__("\n".join(f"{path}: {message}" for path, message in problems))


def read_json(body: bytes, limit: int = LIMIT, depth: int = DEPTH) -> Json:
    """The JSON value in these bytes, as plain dicts and lists, or a TextError that names every mistake."""
    text = _decode(body, limit)
    _check_depth(text, depth)
    mistakes = _Mistakes()
    value = _settle(_parse(text), (), mistakes)
    if mistakes.count:
        raise TextError(*mistakes.told(), json_path=mistakes.first[0][0])
    return value


def _decode(body: bytes, limit: int) -> str:
    if len(body) > limit:
        raise _broken(
            f"the document has more than {limit} bytes, the most that is allowed; split it into several documents"
        )
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = body[: error.start].decode("utf-8-sig", "replace")
        message = f"the document is not UTF-8: found byte 0x{body[error.start]:02x}; save it as UTF-8"
        raise _broken(message, before, len(before)) from None
    if not text.strip():
        raise _broken('the document is empty; the least is {"version": 1, "policies": []}')
    return text


def _check_depth(text: str, depth: int) -> None:
    """Nesting is counted before parsing: a parser that recurses would fail first, and not politely."""
    open_brackets = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        if token[0] in ("[", "{"):
            open_brackets += 1
        elif token[0] in ("]", "}"):
            open_brackets -= 1
        if open_brackets > depth:
            message = f"the document nests deeper than {depth} levels; allowed: at most {depth}"
            raise _broken(message, text, token.start())


class _Pairs(tuple[tuple[str, object], ...]):
    """An object as it was written, with its duplicates."""

    __slots__ = ()


class _Odd(str):
    """A number that JSON or a double cannot hold, as it was written."""

    __slots__ = ()


def _parse(text: str) -> object:
    try:
        return json.loads(
            text,
            object_pairs_hook=_Pairs,
            parse_constant=_Odd,
            parse_float=_read_float,
            parse_int=_read_integer,
        )
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        raise _broken(f"the document is not JSON: {reason}", text, error.pos) from None


def _read_float(digits: str) -> object:
    value = float(digits)
    return value if math.isfinite(value) else _Odd(digits)


def _read_integer(digits: str) -> object:
    return int(digits) if len(digits.lstrip("-")) <= _LONGEST_INTEGER else _Odd(digits)


class _Mistakes:
    """The first mistakes and the number of all: a mangled megabyte can hold a hundred thousand."""

    def __init__(self) -> None:
        self.first: list[tuple[str, str]] = []
        self.count = 0

    def add(self, loc: _Loc, message: str) -> None:
        self.count += 1
        if self.count <= MOST_PROBLEMS:
            self.first.append((json_path(loc), message))

    def told(self) -> list[tuple[str, str]]:
        rest = self.count - len(self.first)
        return [*self.first, ("$", f"and {rest} more mistakes like these")] if rest else self.first


def _settle(node: object, loc: _Loc, mistakes: _Mistakes) -> Json:
    """The plain value of a parsed node; what is wrong with it and below it goes to `mistakes`."""
    match node:
        case _Pairs():
            _check_keys(node, loc, mistakes)
            return {key: _settle(value, (*loc, key), mistakes) for key, value in node}
        case list():
            return [_settle(item, (*loc, index), mistakes) for index, item in enumerate(node)]
        case _Odd():
            mistakes.add(loc, _odd_number(node))
        case str():
            _check_characters(node, loc, mistakes)
    return node


def _check_keys(pairs: _Pairs, loc: _Loc, mistakes: _Mistakes) -> None:
    for key, count in Counter(key for key, _ in pairs).items():
        _check_characters(key, (*loc, key), mistakes)
        if count > 1:
            mistakes.add((*loc, key), f"this key is written {count} times; allowed: once; keep the one you mean")


def _check_characters(text: str, loc: _Loc, mistakes: _Mistakes) -> None:
    if not text.isascii() and (lone := re.search("[\ud800-\udfff]", text)):
        found = f"\\u{ord(lone[0]):04x}, half of a surrogate pair, which is no character"
        mistakes.add(loc, f"found {found}; write both halves or neither")


def _odd_number(digits: str) -> str:
    if digits.lstrip("-") in ("NaN", "Infinity"):
        return f"found {digits}; allowed: JSON numbers, which are finite; write the number or leave it out"
    shown = digits if len(digits) <= 20 else f"{digits[:20]}… ({len(digits)} characters)"
    return f"found {shown}; allowed: numbers up to about 1.8e308; write a smaller one"


def _broken(message: str, text: str | None = None, position: int = 0) -> TextError:
    """The error of the text as a whole; with `text`, the place is named by line and column."""
    if text is None:
        return TextError(("$", message))
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return TextError(("$", f"{message} (line {line}, column {column})"), line=line, column=column)
