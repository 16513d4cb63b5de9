"""Durations as the language writes them: "90s", "5m", "36h", "14d"."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

LONGEST = timedelta(days=3650)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_FORM = "[0-9]{1,9}[smhd]"
_ALLOWED = 'allowed: a whole number followed by s, m, h or d, such as "5m"'


def parse_duration(text: str) -> timedelta:
    """The length of time that the text stands for; ValueError says what was found and what is allowed."""
    if not re.fullmatch(_FORM, text):
        raise ValueError(f"found {_excerpt(text)}; {_ALLOWED}")
    seconds = int(text[:-1]) * _SECONDS[text[-1]]
    if seconds > LONGEST.total_seconds():
        raise ValueError(f'found "{text}"; allowed: at most {LONGEST.days}d')
    return timedelta(seconds=seconds)


def render(duration: timedelta) -> str:
    """The shortest honest spelling, in whole seconds: parse_duration reads it back as the same length."""
    seconds = int(duration.total_seconds())
    if seconds == 0:
        return "0s"
    unit = next(unit for unit in "dhms" if seconds % _SECONDS[unit] == 0)
    return f"{seconds // _SECONDS[unit]}{unit}"


def _validate(value: object) -> timedelta:
    if isinstance(value, timedelta):  # already parsed: a model built in Python, or validated again
        return parse_duration(render(value))
    if isinstance(value, str):
        return parse_duration(value)
    hint = f'; write "{value}s" for seconds' if type(value) is int and value >= 0 else ""
    raise ValueError(f"found {_excerpt(value)}; {_ALLOWED}{hint}")


def _excerpt(found: object, longest: int = 60) -> str:
    text = f'"{found}"' if isinstance(found, str) else repr(found)
    return text if len(text) <= longest else f"{text[:longest]}…"


Duration = Annotated[
    timedelta,
    PlainValidator(_validate),
    PlainSerializer(render, return_type=str),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": f"^{_FORM}$",
            "description": 'A whole number followed by s, m, h or d, such as "5m".',
            "examples": ["90s", "5m", "36h", "14d"],
        }
    ),
]
"""A field of a model: text in JSON, timedelta once parsed."""
