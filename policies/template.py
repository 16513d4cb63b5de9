"""Placeholders: `${item.id}` in the values of a policy, parsed once, rendered per item.

A value that is exactly one placeholder keeps the type of what it becomes; inside a longer text it is spelled out.
`$${` is a literal `${`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from policies.frozen import Json, freeze, is_scalar, lookup, view
from policies.grammar import brief

_PLACEHOLDER = re.compile(r"\$\$\{|\$\{([^{}]*)\}|\$\{")
_DOTTED = re.compile(r"[A-Za-z_][\w-]*(?:\.[\w:/@+=-]+)*")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """`${root.path}`, for example root `item` and path `("size",)`."""

    root: str
    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "${" + ".".join((self.root, *self.path)) + "}"


@dataclass(frozen=True, slots=True)
class Text:
    """A text with placeholders in it."""

    parts: tuple[str | Placeholder, ...]

    def __str__(self) -> str:
        return "".join(part.replace("${", "$${") if isinstance(part, str) else str(part) for part in self.parts)


Template: TypeAlias = Json
"""Frozen JSON whose leaves may be Placeholder or Text."""

Scope: TypeAlias = Mapping[str, Json]
"""What each root stands for."""


class RenderError(ValueError):
    """A placeholder has no value here, or one that cannot stand inside a text."""


def compile_template(value: Json) -> Template:
    """Every string as what it renders from; raises ValueError for a `${` that opens no placeholder."""
    if isinstance(value, str):
        return _compile_text(value)
    if isinstance(value, Mapping):
        return view({key: compile_template(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(compile_template(item) for item in value)
    return value


def _compile_text(text: str) -> str | Placeholder | Text:
    parts: list[str | Placeholder] = []
    at = 0
    for found in _PLACEHOLDER.finditer(text):
        parts.append(text[at : found.start()])
        parts.append("${" if found.group() == "$${" else _placeholder(found.group(1), text))
        at = found.end()
    parts.append(text[at:])
    return _join(parts)


def _placeholder(dotted: str | None, text: str) -> Placeholder:
    if dotted is None or not _DOTTED.fullmatch(dotted):
        raise ValueError(
            f"found {text!r}: '${{' opens a placeholder such as ${{item.id}}; write '$${{' for a literal '${{'"
        )
    root, *path = dotted.split(".")
    return Placeholder(root, tuple(path))


def _join(parts: list[str | Placeholder]) -> str | Placeholder | Text:
    merged: list[str | Placeholder] = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif part != "":
            merged.append(part)
    if len(merged) == 1:
        return merged[0]
    return Text(tuple(merged)) if merged else ""


def placeholders(template: Template) -> Iterator[Placeholder]:
    """Every placeholder in a template, with repeats."""
    for leaf in leaves(template):
        if isinstance(leaf, Placeholder):
            yield leaf
        elif isinstance(leaf, Text):
            yield from (part for part in leaf.parts if isinstance(part, Placeholder))


def leaves(template: Template) -> Iterator[Json]:
    """Every leaf of a template."""
    if isinstance(template, Mapping):
        for item in template.values():
            yield from leaves(item)
    elif isinstance(template, tuple):
        for item in template:
            yield from leaves(item)
    else:
        yield template


def render(template: Template, scope: Scope) -> Json:
    """The template with every placeholder replaced; raises RenderError naming the one that has no value."""
    if is_scalar(template):
        return template
    if isinstance(template, Placeholder):
        return _value(template, scope)
    if isinstance(template, Text):
        return "".join(part if isinstance(part, str) else spell(_value(part, scope), part) for part in template.parts)
    if isinstance(template, tuple):
        return tuple([render(item, scope) for item in template])
    return view({key: item if is_scalar(item) else render(item, scope) for key, item in template.items()})


def map_leaves(template: Template, change: Callable[[Json], Json]) -> Json:
    """The same tree with every leaf changed to something frozen."""
    if isinstance(template, Mapping):
        return view({key: map_leaves(item, change) for key, item in template.items()})
    if isinstance(template, tuple):
        return tuple(map_leaves(item, change) for item in template)
    return change(template)


def _value(placeholder: Placeholder, scope: Scope) -> Json:
    try:
        value = lookup(scope[placeholder.root], _tag_path(placeholder.path))
    except KeyError:
        raise RenderError(f"{placeholder} has no value here") from None
    return freeze(value)


def _tag_path(path: tuple[str, ...]) -> tuple[str, ...]:
    """Tag keys may hold dots: everything after `tags` is one key."""
    return ("tags", ".".join(path[1:])) if path[:1] == ("tags",) and len(path) > 1 else path


def spell(value: Json, what: object) -> str:
    """A scalar as it stands inside a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise RenderError(f"{what} is {brief(value)}, which cannot stand inside a text")
