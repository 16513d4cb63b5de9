"""pydantic's errors as problems of a document: where, what was found, what is allowed, the nearest legal word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ValidationError

from policies.errors import Problem
from policies.frozen import NOTHING, Json
from policies.grammar import Dispatch, brief, nearest
from policies.paths import json_path
from policies.properties import parts
from policies.redact import HIDDEN, is_secret

_WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "string_type": "a text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "mapping_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}

_BOUNDS = {
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "string_pattern_mismatch": "a text that matches {pattern}",
    "too_short": "at least {min_length}",
    "too_long": "at most {max_length}",
}

Loc = tuple[str | int, ...]

MOST_TOLD = 100
"""Mistakes told of one policy: nobody mends more at once, and looking for nearest words takes time."""


def problems_of(
    error: ValidationError, model: type[BaseModel], prefix: Loc = (), raw: Json = None, context: Json = NOTHING
) -> Iterator[Problem]:
    """Every mistake that pydantic found, one each, at its JSON path."""
    for line in told_once(error.errors(include_url=False)):
        loc = tuple(line["loc"])
        yield Problem(json_path((*prefix, *loc)), explain(line, legal_words(model, loc[:-1], raw, context)))


def told_once(lines: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Without the missing keys that an unknown key beside them was meant to be: one mistake, one error."""
    lines = lines[:MOST_TOLD]
    unknown = [tuple(line["loc"]) for line in lines if line["type"] == "extra_forbidden"]
    for line in lines:
        if line["type"] != "missing" or not _misspelt(tuple(line["loc"]), unknown):
            yield line


def _misspelt(loc: Loc, unknown: Sequence[Loc]) -> bool:
    """Whether an unknown key beside a missing one was meant to be it."""
    return any(other[:-1] == loc[:-1] and nearest(other[-1], [str(loc[-1])]) for other in unknown)


def summary(error: ValidationError) -> str:
    """All mistakes in one line, for a message about one item."""
    return "; ".join(
        f"{'.'.join(map(str, line['loc'])) or 'it'}: {explain(line, [])}" for line in error.errors(include_url=False)
    )


def explain(line: Mapping[str, Any], legal: Sequence[str]) -> str:
    """One mistake in one sentence."""
    kind, found, context = line["type"], line.get("input"), line.get("ctx") or {}
    shown = HIDDEN if any(is_secret(str(step)) for step in line["loc"]) else brief(found)
    if kind == "extra_forbidden":
        word = line["loc"][-1]
        allowed = f"; allowed here: {', '.join(legal)}" if legal and len(legal) <= 30 else ""
        return f"unknown key {word!r}{nearest(word, list(legal))}{allowed}"
    if kind == "missing":
        return f"{line['loc'][-1]!r} is required here"
    if kind == "literal_error":
        return f"found {shown}; allowed: {context['expected']}{_closest(found, context)}"
    if kind in _WANTED:
        return f"found {shown}; allowed: {_WANTED[kind]}"
    if kind in _BOUNDS:
        plain = {word: str(bound).removesuffix(".0") for word, bound in context.items()}
        return f"found {shown}; allowed: {_BOUNDS[kind].format(**plain)}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "setpoint":
        return str(line["msg"])
    found_it = "" if kind == "json_invalid" else f"found {shown}; "
    return f"{found_it}{line['msg'][:1].lower()}{line['msg'][1:]}"


def _closest(found: object, context: Mapping[str, Any]) -> str:
    words = [part.strip() for part in context["expected"].replace(" or ", ", ").split(",")]
    if isinstance(found, str) and not any(word.startswith("'") for word in words):
        return nearest(found, words).replace("'", "").replace("?", ", without quotes?")
    words = [word.strip("'") for word in words]
    return nearest(found, words) if isinstance(found, str) and found not in words else ""


def legal_words(
    model: type[BaseModel], loc: Sequence[str | int], raw: Json = None, context: Json = NOTHING
) -> list[str]:
    """The keys that are allowed at a place inside a model; `raw` is the value, by which dispatched models are found."""
    here: type[BaseModel] | None = model
    for step in loc:
        raw = _step(raw, step)
        if isinstance(step, str) and here is not None:
            here = _inside(here, step, raw, context)
    return [] if here is None else [info.alias or name for name, info in here.model_fields.items()]


def _step(raw: Json, step: str | int) -> Json:
    try:
        return raw[step]
    except (KeyError, IndexError, TypeError):
        return None


def _inside(model: type[BaseModel], word: str, raw: Json, context: Json) -> type[BaseModel] | None:
    info = next((info for name, info in model.model_fields.items() if word in (name, info.alias)), None)
    if info is None:
        return None
    dispatch = next(_dispatches(Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation), None)
    if dispatch is not None:
        try:
            return dispatch.model(raw, context)
        except ValueError:
            return None
    models = (part for part in parts(info.annotation) if isinstance(part, type) and issubclass(part, BaseModel))
    return next(models, None)


def _dispatches(annotation: Any) -> Iterator[Dispatch]:
    """The dispatching validators anywhere in an annotation."""
    for part in (*get_args(annotation), *getattr(annotation, "__metadata__", ())):
        if isinstance(getattr(part, "func", None), Dispatch):
            yield part.func
        elif get_args(part):
            yield from _dispatches(part)
