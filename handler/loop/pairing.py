"""Which resource is meant by each desired one: named ones meet by name, nameless ones by slot, matched ones by id."""

from __future__ import annotations

from collections.abc import Mapping

from policies.document import Policy
from policies.drift import spec_of
from policies.identity import KEY, SPEC, tag_value
from policies.strategy import Decision
from policies.world import Observation, Resource, State


def pair(policy: Policy, decision: Decision, seen: Observation) -> Mapping[int, Resource]:
    """Which resource is meant by each desired one, by its place in the decision."""
    if policy.match is not None:
        by_id = {resource.id: resource for resource in seen.owned}
        return {place: by_id[want.of] for place, want in enumerate(decision.desired) if want.of in by_id}
    alive = [resource for resource in seen.owned if resource.state is not State.DEAD]
    if policy.kind.named:
        by_name = {resource.name: resource for resource in alive}
        return {place: by_name[want.name] for place, want in enumerate(decision.desired) if want.name in by_name}
    slots: dict[str, list[tuple[Resource, str]]] = {}
    for resource in alive:
        slots.setdefault((resource.tags or {}).get(KEY, ""), []).append((resource, (resource.tags or {}).get(SPEC, "")))
    paired = {}
    for place, want in enumerate(decision.desired):
        rivals = slots.get(tag_value(want.key), [])
        if rivals:
            spec = spec_of(policy.kind, want)
            paired[place] = min(
                rivals, key=lambda rival: (rival[0].state is State.DELETING, rival[1] != spec, _age(rival[0]))
            )[0]
    return paired


def _age(resource: Resource) -> tuple[bool, float, str]:
    """Sorts the oldest first; unknown ages last."""
    created = resource.created
    return created is None, created.timestamp() if created else 0.0, resource.id
