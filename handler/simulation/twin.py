"""A twin of what a policy works on: resources in memory that its actions are done to.

Each tick decides, plans and guards with the very functions of a run; only sensing and acting are made up. Where the
number says what it said when nothing was to be done, and nothing has changed, its tick ends there. Everything
that is created works at once, and what one update wants is there in the next tick: how long a service takes, and into
how many steps its kind cuts the way, is not simulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from handler.loop.guardrails import guard
from handler.loop.plan import plan
from policies.action import Action, Desired, Verb
from policies.blueprint import match_scope
from policies.document import Policy
from policies.frozen import Json, freeze, lookup, merge
from policies.numbers.metric import MetricQuery
from policies.numbers.number import Hold, Number, bound, signals_of, value_of
from policies.strategy import Decision
from policies.template import placeholders
from policies.world import Observation, Resource
from strategies.replicas import Replicas
from strategies.scale import Scale

_OLD = timedelta(days=1)
"""The age of what is there at the start: `minLifetime` has nothing to say of it."""


class Twin:
    """The resources of one policy, as they would have been."""

    def __init__(self, policy: Policy, start: int, begin: datetime) -> None:
        self._policy = replace(policy, clause=policy.clause.model_copy(update={"mode": "enforce"}))
        self._made = 0
        self._quiet: tuple[object, int | Hold | None] = (None, None)
        self._resources: Mapping[str, Resource] = {}
        self.owned: tuple[Resource, ...] = tuple(self._resources.values())
        if isinstance(policy.strategy, Scale):
            one = _matched(policy, policy.strategy, start)
            self._keep({one.id: one})
        else:
            self._fill(start, begin - _OLD)
        number = number_of(policy)
        self.number = bound(number, {"match": match_scope(self.owned[0])}) if policy.match else number
        """The number that is replayed, with the metrics of this very resource."""

    @property
    def size(self) -> int:
        """What the number is about: how many there are, or what the property is."""
        strategy = self._policy.strategy
        if isinstance(strategy, Scale):
            return int(lookup(self.owned[0].properties, strategy.path))
        return len(self.owned)

    def queries(self) -> tuple[MetricQuery, ...]:
        return signals_of(self.number)

    def tick(self, signals: Mapping[str, Any], now: datetime) -> Iterator[str]:
        """Decide, plan, guard and act once; what could not be done is told."""
        seen = Observation(owned=self.owned, signals=signals)
        wanted = value_of(self.number, self.size, seen, now)
        if self._quiet[0] is self.owned and self._quiet[1] == wanted:
            return  # the number is all that time and metrics decide, and with this one nothing was to be done
        decision = self._policy.strategy.decide(self._policy.blueprint, seen, now)
        for trouble in decision.troubles:
            yield trouble.message
        planned = plan(self._policy, (), decision, seen, now)
        guarded = guard(self._policy, decision, planned, seen, now, None)
        for held in guarded.held:
            yield f"held: {held.reason}"
        if self._policy.retains and planned.kept:
            yield "kept: what is not wanted stays, since removal is retain"
        for action in guarded.allowed:
            self._act(action, now)
        if not planned.actions and not planned.troubles:
            self._quiet = self.owned, wanted

    def _fill(self, count: int, born: datetime) -> None:
        strategy = self._policy.strategy.model_copy(update={"count": count})
        decision: Decision = strategy.decide(self._policy.blueprint, Observation(), born)
        for action in plan(self._policy, (), decision, Observation(), born).actions:
            self._act(action, born)

    def _act(self, action: Action, now: datetime) -> None:
        if action.verb is Verb.CREATE and action.desired is not None:
            made = self._create(action.desired, action.tokens, now)
            self._keep({**self._resources, made.id: made})
        elif action.seen is not None and action.verb.destroys:
            self._keep({id_: one for id_, one in self._resources.items() if id_ != action.seen.id})
        elif action.seen is not None:
            change, seen = action.change, action.seen
            tags = {word: text for word, text in (seen.tags or {}).items() if word not in change.untag}
            changed = replace(
                seen,
                properties=freeze({**(seen.properties or {}), **merge(seen.properties, change.properties)}),
                tags=freeze({**tags, **change.tags}),
            )
            self._keep({**self._resources, seen.id: changed})

    def _create(self, desired: Desired, tokens: tuple[str, ...], now: datetime) -> Resource:
        self._made += 1
        return Resource(
            self._policy.kind.type,
            desired.name or f"simulated-{self._made:06}",
            desired.name,
            tags=freeze(desired.tags),
            properties=merge(desired.initial, desired.properties),
            token=tokens[0] if tokens else None,
            created=now,
        )

    def _keep(self, resources: Mapping[str, Resource]) -> None:
        self._resources, self.owned = resources, tuple(resources.values())


def number_of(policy: Policy) -> int | Number:
    """The number of a policy of replicas or scale."""
    strategy = policy.strategy
    assert isinstance(strategy, Replicas | Scale), "nothing else was chosen"
    return strategy.count if isinstance(strategy, Replicas) else strategy.to


def _matched(policy: Policy, strategy: Scale, start: int) -> Resource:
    """A resource such as the policy matches: of its name, with a stand-in for whatever placeholders ask for."""
    named = next((name for one in policy.match or () for name in one.names or ()), None)
    name = named or "/".join("simulated" for _ in policy.kind.identifiers) or "simulated"
    asked = [one for query in signals_of(strategy.to) for one in query.metric.placeholders]
    asked += [one for one in placeholders(policy.blueprint.properties) if one.root == "match"]
    known: dict[str, Any] = dict(zip(policy.kind.identifiers, name.split("/"), strict=False))
    tags = {one.path[1]: one.path[1] for one in asked if one.path[:1] == ("tags",) and len(one.path) > 1}
    for one in asked:
        if one.path and one.path[0] not in {"tags", "Id", "Name", "Arn", *known}:
            known = merge(known, _nested(one.path, "simulated"))
    properties = merge(known, _nested(strategy.path, start))
    return Resource(policy.kind.type, name, name, arn=f"simulated:{name}", tags=freeze(tags), properties=properties)


def _nested(path: tuple[str, ...], value: Json) -> Json:
    for word in reversed(path):
        value = {word: value}
    return freeze(value)
