"""Where something stands in a document, as people and editors write it: `$.policies[0].strategy`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_IDENTIFIER = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_KEY = 80


def json_path(loc: Sequence[str | int]) -> str:
    """The JSONPath (RFC 9535) of a location: keys are text, positions in a list are numbers.

    A key that is no identifier is quoted; of a very long one only the beginning is shown. The result is
    always printable and can always be encoded.
    """
    return "$" + "".join(map(_segment, loc))


def _segment(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if len(step) > _LONGEST_KEY:
        step = step[:_LONGEST_KEY] + "…"
    if _IDENTIFIER.fullmatch(step):
        return f".{step}"
    return "['" + "".join(map(_quoted, step)) + "']"


def _quoted(character: str) -> str:
    if character in "'\\":
        return "\\" + character
    return character if character.isprintable() else json.dumps(character)[1:-1]
