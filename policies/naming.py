"""The names that a policy could render: their language, and whether they can be legal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.blueprint import Blueprint
from policies.errors import Problem
from policies.kind import KindModel
from policies.names import Blank, NamePattern, common_name, longest_length, shortest_length
from policies.paths import json_path
from policies.problems import Loc
from policies.properties import Name
from policies.strategy import Strategy
from policies.template import Placeholder, Scope, Template, Text, placeholders, render


def name_pattern(blueprint: Blueprint, strategy: Strategy) -> NamePattern:
    """Every identity that the policy could render: its identifying properties joined by `/`."""
    kind = blueprint.kind
    parts: list[str | Blank] = []
    for word in kind.identifiers:
        parts += ["/"] if parts else []
        parts += _parts(blueprint.properties[word], strategy)
    limit = sum(name.longest for name in kind.names) + len(kind.identifiers) - 1
    known = strategy.known()
    names = None if known is None else frozenset(_names(blueprint, known))
    return NamePattern(tuple(parts), limit, names)


def _names(blueprint: Blueprint, known: Sequence[Scope]) -> Iterator[str]:
    for scope in known:
        try:
            yield (
                blueprint.kind.name(render({w: blueprint.properties[w] for w in blueprint.kind.identifiers}, scope))
                or ""
            )
        except ValueError:
            continue  # an item without that field renders no name


def _parts(template: Template, strategy: Strategy) -> tuple[str | Blank, ...]:
    if isinstance(template, Placeholder):
        return (strategy.language(template),)
    if isinstance(template, Text):
        return tuple(strategy.language(part) if isinstance(part, Placeholder) else part for part in template.parts)
    return (str(template),)


def check_names(
    properties: Template, kind: KindModel, strategy: Strategy, loc: Loc, told: frozenset[str]
) -> Iterator[Problem]:
    """Identifying properties that are missing, that every item shares, or that can never be legal names.

    Places in `told` have a problem already: one mistake gives one error.
    """
    for word, rule in zip(kind.identifiers, kind.names, strict=True):
        place = json_path((*loc, word))
        if word not in properties:
            yield Problem(json_path(loc), f"{word!r} is required: it names the resource")
        elif isinstance(properties[word], Text | Placeholder) and place not in told:
            wrong = list(_check_rendered(_parts(properties[word], strategy), rule, (*loc, word)))
            told |= {problem.path for problem in wrong}
            yield from wrong
    if kind.named and all(word in properties and json_path((*loc, word)) not in told for word in kind.identifiers):
        yield from _check_varies(properties, kind, strategy, loc)


def _check_rendered(parts: tuple[str | Blank, ...], rule: Name, loc: Loc) -> Iterator[Problem]:
    pattern = NamePattern(parts, rule.longest)
    longest, shortest = longest_length(pattern), shortest_length(pattern) or 0
    literal = sum(len(part) for part in parts if isinstance(part, str))
    if shortest > rule.longest:
        message = f"the shortest name this renders has {shortest} characters; at most {rule.longest} are allowed"
        yield Problem(json_path(loc), message)
    elif longest is not None and longest > rule.longest and any(isinstance(part, Blank) for part in parts):
        room = rule.longest - literal
        message = (
            f"names could have {longest} characters; {rule.longest} are allowed, which leaves {room} for placeholders"
        )
        yield Problem(json_path(loc), f"{message}; lower maxLength")
    elif not _can_be_legal(pattern, rule):
        yield Problem(json_path(loc), f"no name that this renders matches {rule.pattern}")


def _can_be_legal(pattern: NamePattern, rule: Name) -> bool:
    """A few guesses decide almost always; only where all fail does the automaton have to."""
    for guess in ("a", "A", "0", "x1"):
        text = "".join(part if isinstance(part, str) else guess for part in pattern.parts)
        if re.fullmatch(rule.pattern, text, re.ASCII):
            return True
    return common_name(pattern, NamePattern((Blank(rule.pattern),), rule.longest)) is not None


def _check_varies(properties: Template, kind: KindModel, strategy: Strategy, loc: Loc) -> Iterator[Problem]:
    used = {part.root for word in kind.identifiers for part in placeholders(properties[word])}
    missing = strategy.varies_by() - used
    if missing:
        words = " or ".join(kind.identifiers)
        wanted = " and ".join("${" + root + "}" for root in sorted(missing))
        yield Problem(json_path((*loc, kind.identifiers[-1])), f"{words} needs {wanted}: without it all have one name")
