"""What exists: a kind's bulk survey joined with the tag index, once per type, account and region for all policies.

The Tagging API only finds candidates: it lags, and omits what was never tagged. Listed but not in the index is unknown,
not untagged; and before anything is written the owner tags are read from the owning service.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from infra.aws import Aws
from infra.kinds.kind import Kind
from infra.kinds.registry import Kinds
from infra.refusals import translated
from infra.tag_index import Indexed
from policies.identity import claimed_by
from policies.world import Resource


def survey(aws: Aws, kind: Kind, prefixes: Sequence[str]) -> tuple[Resource, ...]:
    """Everything under the prefixes, complete or it raises; what several prefixes show counts once."""
    with translated(kind):
        return tuple({resource.id: resource for resource in kind.survey(aws, prefixes)}.values())


def find(aws: Aws, kind: Kind, names: Sequence[str]) -> tuple[Resource, ...]:
    """What there is of these names, at most so many as one call looks up."""
    with translated(kind):
        return tuple(kind.find(aws, names))


def join(kind: Kind, surveyed: Iterable[Resource], indexed: Iterable[Indexed]) -> tuple[Resource, ...]:
    """The surveyed resources with the tags that the index knows; for a kind without index, as they are."""
    tags = {kind.name_of_arn(one.arn): one.tags for one in indexed if kind.has_arn(one.arn)} if kind.index else {}
    return tuple(_joined(kind, resource, tags.get(resource.id)) for resource in surveyed)


def _joined(kind: Kind, resource: Resource, tags: Mapping[str, str] | None) -> Resource:
    """With its tags, and with the one property that its name is, which conditions and placeholders may ask for."""
    facts = {**resource.facts, kind.identifiers[0]: resource.name} if len(kind.identifiers) == 1 else resource.facts
    return replace(resource, tags=resource.tags if kind.index is None else tags, facts=facts)


def owners(kinds: Kinds, indexed: Iterable[Indexed]) -> Mapping[str, Sequence[Resource]]:
    """By type, everything in the index that carries an owner tag. Kinds are loaded only for ARNs that no other has."""
    found: dict[str, list[Resource]] = {}
    for one in indexed:
        kind = next((kind for kind in kinds.loaded() if kind.has_arn(one.arn)), None) or kinds.of_arn(one.arn)
        if kind is not None and claimed_by(one.tags) is not None:
            name = kind.name_of_arn(one.arn)
            resource = Resource(kind.type, name, name if kind.named else None, arn=one.arn, tags=one.tags)
            found.setdefault(kind.type, []).append(resource)
    return found
