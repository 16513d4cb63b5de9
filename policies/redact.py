"""Takes secret-like values out of everything that is written anywhere: logs, status, plans, events."""

from __future__ import annotations

import re
from collections.abc import Mapping

from policies.frozen import Json

HIDDEN = "(redacted)"

_SECRET_WORD = re.compile(
    r"pass(word|wd|phrase)|secret|token|credential|private_?key|api_?key|access_?key|auth|userdata", re.IGNORECASE
)
_SECRET_TEXT = re.compile(
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"  # AWS access key ids
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # JSON web tokens
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"  # user:password in a URL
)
_PROSE = r"(?!(?:found|deleted|not|nothing|the|an?|no|is|was|\d+ to) )"
"""How sentences go on after a name that speaks of a secret (`password-reset: deleted from ...`)."""

_SECRET_ASSIGNED = re.compile(
    r"""((?:pass(?:word|wd|phrase)|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)[\w-]*["']?\s*[=:]\s*)"""
    + _PROSE
    + r"""("[^"]*"|'[^']*'|[^\s&;,'"}]+)""",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9+/=._-]{6,}", re.IGNORECASE)


def is_secret(word: str) -> bool:
    """Whether a name speaks of a secret, so that its value is not to be shown."""
    return bool(_SECRET_WORD.search(word))


def redact(text: str) -> str:
    """The text without what looks like a secret."""
    text = _BEARER.sub(rf"\1 {HIDDEN}", _SECRET_TEXT.sub(HIDDEN, text))
    return _SECRET_ASSIGNED.sub(_hidden, text)


def _hidden(found: re.Match[str]) -> str:
    quote = found.group(2)[:1] if found.group(2)[:1] in "\"'" else ""
    return f"{found.group(1)}{quote}{HIDDEN}{quote}"


def redact_value(value: Json, word: str = "") -> Json:
    """A property value that may be shown: hidden where its name or its text looks like a secret's."""
    if isinstance(value, Mapping):
        if _secret_pair(value):
            return {**value, "Value": HIDDEN}
        return {key: redact_value(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact_value(item, word) for item in value]
    if _SECRET_WORD.search(word) and isinstance(value, str) and value:
        return HIDDEN
    return redact(value) if isinstance(value, str) else value


def _secret_pair(value: Mapping[str, Json]) -> bool:
    """A tag, or a variable, whose key speaks of a secret."""
    key = value.get("Key") or value.get("Name")
    return "Value" in value and isinstance(key, str) and bool(_SECRET_WORD.search(key))
