"""Words that are each legal and do not go together: with each other, with the kind, or with the strategy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policies.blueprint import Blueprint
from policies.document import PolicyClause
from policies.errors import Problem
from policies.grammar import nearest
from policies.items import ItemSource, ResourceItems
from policies.kind import KindModel
from policies.match import Match
from policies.paths import json_path
from policies.problems import Loc
from policies.satisfiable import check_conditions_of, check_tags

_MOST_PATHS = 4
"""Places at which one mistake is shown."""


def check_words(clause: PolicyClause, kind: KindModel, loc: Loc) -> Iterator[Problem]:
    """Everything about a policy that its grammar alone cannot refuse."""
    if not clause.strategy.supported:
        message = f"strategy {clause.strategy.type!r} is not yet supported"
        yield Problem(json_path((*loc, "strategy", "type")), message)
    if clause.resource.match is None:
        yield from _check_owning(clause, kind, loc)
    else:
        yield from _check_matching(clause, kind, loc)


def _check_owning(clause: PolicyClause, kind: KindModel, loc: Loc) -> Iterator[Problem]:
    if clause.strategy.matches:
        message = f"strategy {clause.strategy.type!r} works on existing resources: say which ones with 'match'"
        yield Problem(json_path((*loc, "resource")), message)
    if kind.holds_data and clause.strategy.forgets and clause.removal is None:
        message = f"{kind.type} holds data, and time alone makes this policy want one no more: write 'removal' out"
        yield Problem(json_path(loc), f'{message}, "retain" or "delete"')
    if kind.match_only:
        yield Problem(
            json_path((*loc, "resource", "type")), f"{kind.type} can only be matched: it has no name or token"
        )
    if clause.resource.except_ is not None:
        yield Problem(json_path((*loc, "resource", "except")), "'except' goes with 'match'")
    if clause.replace == "createFirst" and kind.named:
        message = f"{kind.type} has a name, which two cannot have at once; allowed: 'deleteFirst'"
        yield Problem(json_path((*loc, "replace")), message)
    if clause.replace is not None and clause.removal == "retain" and kind.holds_data:
        yield Problem(
            json_path((*loc, "replace")), "a replacement deletes what 'removal': 'retain' says to keep; keep one"
        )
    both = clause.resource.properties.keys() & clause.resource.initial.keys() - {kind.tag_property}
    for word in sorted(both):
        yield Problem(json_path((*loc, "resource", "initial", word)), f"{word} stands in 'properties' too; keep one")


def _check_matching(clause: PolicyClause, kind: KindModel, loc: Loc) -> Iterator[Problem]:
    if not clause.strategy.matches:
        message = f"strategy {clause.strategy.type!r} owns what it creates; 'match' is for enforce, scale and expire"
        yield Problem(json_path((*loc, "resource", "match")), message)
    if clause.ensure == "absent":
        yield Problem(json_path((*loc, "ensure")), "'absent' together with 'match' would delete what others made")
    if clause.resource.initial:
        yield Problem(json_path((*loc, "resource", "initial")), "'initial' is for resources that the policy creates")
    for word in clause.resource.properties:
        if kind.create_only(word):
            message = f"{word} is create-only: it cannot be changed on an existing resource"
            yield Problem(json_path((*loc, "resource", "properties", word)), message)
    for word in ("adopt", "formerly", "replace", "removal"):
        if word in clause.model_fields_set:
            yield Problem(
                json_path((*loc, word)), f"{word!r} is for resources that the policy creates, not for 'match'"
            )


def check_conditions(
    clause: PolicyClause, kind: KindModel, loc: Loc, kinds: Mapping[str, KindModel]
) -> Iterator[Problem]:
    """Every path in a condition, and every type in an item source, that names nothing."""
    yield from _check_matches(clause.resource.match, kind, (*loc, "resource", "match"))
    yield from _check_matches(clause.resource.except_, kind, (*loc, "resource", "except"))
    yield from check_conditions_of(clause.guardrails.protect, kind, (*loc, "guardrails", "protect"))
    yield from check_conditions_of(clause.guardrails.delete_if, kind, (*loc, "guardrails", "deleteIf"))
    for source in clause.strategy.signals():
        if isinstance(source, ResourceItems):
            yield from _check_source(source, (*loc, "strategy", "items"), kinds)


def _check_source(source: ResourceItems, loc: Loc, kinds: Mapping[str, KindModel]) -> Iterator[Problem]:
    if source.type not in kinds:
        message = f"{source.type!r} is no resource type that Setpoint knows{nearest(source.type, sorted(kinds))}"
        yield Problem(json_path((*loc, "type")), message)
        return
    yield from _check_matches(source.match, kinds[source.type], (*loc, "match"))
    yield from _check_matches(source.except_, kinds[source.type], (*loc, "except"))


def _check_matches(matches: tuple[Match, ...] | None, kind: KindModel, loc: Loc) -> Iterator[Problem]:
    for place, match in enumerate(matches or ()):
        one = (loc,) if len(matches or ()) == 1 else ((*loc, place),)
        yield from check_conditions_of(match.where, kind, (*one[0], "where"))
        yield from check_tags(match.tags, (*one[0], "tags"))


def check_known(clause: PolicyClause, blueprint: Blueprint, loc: Loc) -> Iterator[Problem]:
    """Where the policy itself lists every item, each must fit now; a reason that many share is told once."""
    yield from _check_identity(clause, blueprint, loc)
    reasons: dict[str, list[str]] = {}
    for where, reason in clause.strategy.misfits(blueprint):
        place = ("strategy", *where) if where else ("resource", "properties")
        reasons.setdefault(reason, []).append(json_path((*loc, *place)))
    for reason, paths in reasons.items():
        others = ", ".join(paths[1:_MOST_PATHS]) + (", …" if len(paths) > _MOST_PATHS else "")
        yield Problem(paths[0], f"{reason} (as at {others})" if others else reason)


def _check_identity(clause: PolicyClause, blueprint: Blueprint, loc: Loc) -> Iterator[Problem]:
    """Items that are objects for sure, on a kind that gives them no name: something must tell them apart."""
    for source in clause.strategy.signals():
        if isinstance(source, ItemSource) and source.identity is None and source.known is None:
            objects = blueprint.item_words or isinstance(source, ResourceItems)
            if objects and clause.resource.match is None and not blueprint.kind.named:
                message = (
                    f"{blueprint.kind.type} has no name that could tell its items apart: write {source.key_word!r}"
                )
                yield Problem(json_path((*loc, "strategy", "items")), f"{message}, the field that does")
