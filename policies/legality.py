"""Is the resource section of a policy legal, whatever its placeholders will become?

Placeholders are replaced by stand-ins, and the kind's own model judges the result: a placeholder that is the whole
value may become anything, a text with placeholders is a text. What depends on the actual value is judged when it is
rendered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from policies.errors import Problem
from policies.frozen import Json, freeze, thaw
from policies.grammar import nearest
from policies.kind import KindModel
from policies.paths import json_path
from policies.problems import Loc, explain, legal_words, told_once
from policies.properties import CreateOnly, JsonDocument, Shape, WriteOnly
from policies.strategy import Strategy
from policies.template import Placeholder, Template, Text, compile_template, map_leaves, placeholders

GLOBALS = ("account", "region", "policy")


class Hole:
    """Stands in for a placeholder that is a whole value: of any type."""


class TextSample(str):
    """Stands in for a text with placeholders: a text of some kind."""

    __slots__ = ()


def walk(tree: Json, loc: Loc = ()) -> Iterator[tuple[Loc, Json]]:
    """Every leaf of a JSON value or template, with its place."""
    if isinstance(tree, Mapping):
        for key, item in tree.items():
            yield from walk(item, (*loc, key))
    elif isinstance(tree, list | tuple):
        for place, item in enumerate(tree):
            yield from walk(item, (*loc, place))
    else:
        yield loc, tree


def compile_lenient(section: Json) -> Template:
    """The section as a template, with what does not compile (and was told) left open."""
    return map_leaves(freeze(section), _compile_leaf)


def _compile_leaf(leaf: Json) -> Template:
    try:
        return compile_template(leaf)
    except ValueError:
        return Placeholder("broken")


def check_placeholders(section: Json, strategy: Strategy | None, kind: KindModel, loc: Loc) -> Iterator[Problem]:
    """Every `${` that is no placeholder, or one that this strategy does not fill."""
    for where, leaf in walk(section, loc):
        try:
            template = compile_template(leaf)
        except ValueError as error:
            yield Problem(json_path(where), str(error))
            continue
        for placeholder in placeholders(template):
            wrong = _unknown(placeholder, strategy, kind) if strategy else None
            if wrong:
                yield Problem(json_path(where), wrong)


def _unknown(placeholder: Placeholder, strategy: Strategy, kind: KindModel) -> str | None:
    legal = sorted((*strategy.roots, *GLOBALS))
    if placeholder.root not in legal:
        shown = ", ".join("${" + root + "}" for root in legal)
        return f"unknown placeholder {placeholder}{nearest(placeholder.root, legal)}; {strategy.type} knows {shown}"
    if placeholder.root == "match" and (not placeholder.path or placeholder.path[0] not in _match_words(kind)):
        word = placeholder.path[0] if placeholder.path else ""
        return f"unknown placeholder {placeholder}: {word!r} is no property or fact of {kind.type}" + nearest(
            word, sorted(_match_words(kind))
        )
    return None


def _match_words(kind: KindModel) -> frozenset[str]:
    return kind.words | {"Id", "Name", "Arn", "tags"}


def check_properties(section: Template, kind: KindModel, strategy: Strategy | None, loc: Loc) -> Iterator[Problem]:
    """Every property that the kind does not know, or whose value cannot be legal whatever its placeholders become."""
    sample = map_leaves(section, lambda leaf: _stand_in(leaf, strategy))
    try:
        kind.partial.model_validate(thaw(sample))
    except ValidationError as error:
        for line in told_once(error.errors(include_url=False)):
            if not _open(line):
                yield Problem(json_path((*loc, *line["loc"])), _say(line, kind))
    yield from _twice_tagged(section, kind, loc)
    for word, value in section.items():
        if kind.shape.inner(word).has(JsonDocument):
            yield from _whole_values_only(value, (*loc, word))


MOST_TAGS = 43
"""AWS allows 50 on most resources: five say who owns it, one may mark and one may say adopted."""


def _twice_tagged(section: Template, kind: KindModel, loc: Loc) -> Iterator[Problem]:
    """A tag key that stands twice: one of the values would be lost."""
    tags = section.get(kind.tag_property or "")
    if isinstance(tags, tuple | Mapping) and len(tags) > MOST_TAGS:
        message = f"found {len(tags)} tags; at most {MOST_TAGS} are allowed: AWS takes 50, and owner tags need room"
        yield Problem(json_path((*loc, kind.tag_property or "")), message)
    keys: set[Json] = set()
    for place, tag in enumerate(tags if isinstance(tags, tuple) else ()):
        key = tag.get("Key") if isinstance(tag, Mapping) else None
        if isinstance(key, str) and key in keys:
            yield Problem(json_path((*loc, kind.tag_property or "", place, "Key")), f"the tag key {key!r} stands twice")
        keys.add(key if isinstance(key, str) else None)


def _stand_in(leaf: Json, strategy: Strategy | None) -> Any:
    if isinstance(leaf, Placeholder):
        return strategy.stand_ins.get(leaf.root, Hole()) if strategy else Hole()
    if isinstance(leaf, Text):
        return TextSample(leaf)
    return leaf


def _open(line: Mapping[str, Any]) -> bool:
    """Whether the error may vanish once the placeholder has its value."""
    found = line.get("input")
    if isinstance(found, TextSample):
        return not str(line["type"]).endswith(("_type", "_parsing"))
    return isinstance(found, Hole)


def _say(line: Mapping[str, Any], kind: KindModel) -> str:
    if line["type"] == "extra_forbidden":
        word = ".".join(str(step) for step in line["loc"] if isinstance(step, str))
        if word in kind.not_supported:
            return f"{word} is not yet supported for {kind.type}"
        if word in kind.read_only:
            return f"{word} of {kind.type} is read-only: the service sets it"
        if word in kind.facts:
            return f"{word} is a fact of {kind.type}: legal in where, deleteIf and placeholders only"
    return explain(line, legal_words(kind.partial, line["loc"][:-1]))


def _whole_values_only(document: Template, loc: Loc) -> Iterator[Problem]:
    for where, leaf in walk(document, loc):
        if isinstance(leaf, Text):
            message = (
                f"found {str(leaf)!r}; inside a JSON document a placeholder is a whole value, never part of a text"
            )
            yield Problem(json_path(where), message)


def check_section(section: Mapping[str, Json], kind: KindModel, strategy: Strategy, loc: Loc) -> Iterator[Problem]:
    """Properties that hold at some times and not at others: legal ones, that can change and can be compared."""
    yield from check_placeholders(section, strategy, kind, loc)
    yield from check_properties(compile_lenient(section), kind, strategy, loc)
    yield from _fixed(section, kind.shape, loc)


def _fixed(section: Mapping[str, Json], shape: Shape, loc: Loc) -> Iterator[Problem]:
    for word, value in section.items():
        inner, place = shape.inner(word), (*loc, word)
        if inner.has(CreateOnly):
            yield Problem(json_path(place), f"{word} is create-only: it cannot be changed on an existing resource")
        elif inner.has(WriteOnly):
            yield Problem(json_path(place), f"{word} is write-only: nobody can see whether it has to be changed")
        elif isinstance(value, Mapping) and not inner.has(JsonDocument):
            yield from _fixed(value, inner, place)


def check_complete(properties: Template, initial: Template, kind: KindModel, loc: Loc) -> Iterator[Problem]:
    """Properties that a resource cannot be created without (its name is told elsewhere)."""
    for word in kind.required:
        if word not in properties and word not in initial and word not in kind.identifiers:
            yield Problem(json_path(loc), f"{word!r} is required here, or in 'initial'")
