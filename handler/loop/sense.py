"""What a policy asks of the world before it decides: the census of its type, and its signals.

Everything here is asked once per run, however many policies ask it: tasks with equal keys share one answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from handler.loop.cloud import Cloud
from handler.loop.conductor import Pipeline, Task
from handler.loop.metrics import Metrics
from handler.loop.observe import known_untagged
from handler.loop.surveys import Place, Survey, outside
from policies.blueprint import match_scope
from policies.document import Policy
from policies.fitting import identities
from policies.frozen import freeze
from policies.identity import KEY, Owner, tag_value
from policies.items import ItemSource, ResourceItems
from policies.match import EVERYTHING, selects
from policies.numbers.metric import MetricQuery
from policies.world import Observation, Resource

Asked = tuple[str, Survey, frozenset[str]]
"""A type, how it was surveyed, and the further names that were."""

Ahead = Callable[[Sequence[Resource]], Sequence[Task]]
"""What may begin as soon as a list is there."""


@dataclass(frozen=True)
class Senses:
    """The senses of one policy, in its account and region and with its role."""

    policy: Policy
    former: tuple[Owner, ...]
    surveys: Mapping[Place, Survey]
    cloud: Cloud
    metrics: Metrics

    def census(self, ahead: Ahead) -> Pipeline[Sequence[Resource]]:
        """Everything of the policy's type that may concern it, and certainly everything that it owns.

        The tag index comes page by page. While it does, what the list suggests is begun (`ahead`).
        What it owns may have other names than it gives now (the items or the template were edited): where the tag
        index knows of such, they are surveyed too.
        """
        type_, scope = self.policy.kind.type, self.policy.scope
        survey = self.surveys[type_, scope]
        indexing = self._index(type_, survey)
        *surveyed, indexed = yield (*self._survey(type_, survey), replace(indexing, awaited=False))
        found = _together(surveyed)
        if not indexed.done():
            yield [replace(task, awaited=False) for task in ahead(found)]
            (indexed,) = yield (indexing,)
        index, missed = indexed.result(), set[str]()
        if self.policy.match is None and self.policy.kind.named:
            (claimed,) = yield (Task(partial(self.cloud.owners, index), ("owners", indexing.key)),)
            missed = outside(claimed.result().get(type_, ()), (self.policy.owner, *self.former), survey)
            if missed:
                more = yield self._survey(type_, survey.also(missed))
                found = _together([*surveyed, *more])
        return (yield from self._join((type_, survey, frozenset(missed)), found, index))

    def signals(self, owned: Sequence[Resource]) -> Pipeline[Mapping[str, Any]]:
        """What the strategy asked for; nothing where the policy wants nothing."""
        known = frozenset(word for one in owned for word in (one.name, (one.tags or {}).get(KEY)) if word)
        signals: dict[str, Any] = {}
        queries = []
        for signal in self.policy.strategy.signals() if self.policy.wanted else ():
            if isinstance(signal, MetricQuery):
                queries.append(signal)
            else:
                resources = isinstance(signal, ResourceItems)
                signals[signal.signal_key] = yield from (
                    self._resources(signal, known) if resources else self._items(signal)
                )
        closed = [query for query in queries if not query.metric.placeholders]
        signals |= yield from self.metrics.ask(closed, self.policy.scope)
        frozen: Mapping[str, Any] = freeze(signals)
        return frozen

    def signals_of(self, seen: Observation) -> Pipeline[Mapping[str, Any]]:
        """All signals, with what the strategy asks of each single resource."""
        queries = [query for one in seen.owned for query in self.policy.strategy.signals_of(one)]
        answers = yield from self.metrics.ask(queries, self.policy.scope)
        return {**seen.signals, **answers}

    def _items(self, source: ItemSource) -> Pipeline[Any]:
        scope = self.policy.scope
        (future,) = yield (Task(partial(self.cloud.items, source, scope), ("items", source.signal_key, scope)),)
        return future.result()

    def _resources(self, source: Any, known: frozenset[str]) -> Pipeline[Any]:
        """Resources as items; each is read where the policy uses more of it than the survey shows.

        The tag index lags. So a resource that it rules out, and that something `known` (owned) was made for, is asked
        for its tags itself: unknown is not absent.
        """
        everything = Survey(("",), whole_index=True)
        surveyed, indexed = yield (
            *self._survey(source.type, everything),
            self._index(source.type, everything),
        )
        census = yield from self._join((source.type, everything, frozenset()), surveyed.result(), indexed.result())
        possible = [one for one in known_untagged(census) if one.alive and _is_item(source, one) is not False]
        words = self.policy.blueprint.item_words | source.words
        if any(_is_item(source, one) is None or words - match_scope(one).keys() for one in possible):
            fresh = yield [Task(partial(self.cloud.read, self.policy.scope, one)) for one in possible]
            possible = [one for future in fresh if (one := future.result()) is not None]
        ruled_out = (one for one in census if one.alive and _is_item(source, one) is False)
        doubtful = [one.with_tags(None) for one in ruled_out if self._meant(source, one) & known]
        if doubtful:
            fresh = yield [Task(partial(self.cloud.read, self.policy.scope, one)) for one in doubtful]
            possible += [one for future in fresh if (one := future.result()) is not None]
        chosen = (one for one in possible if _is_item(source, one))
        return tuple(match_scope(one) for one in sorted(chosen, key=lambda one: one.id))

    def _meant(self, source: ItemSource, one: Resource) -> frozenset[str]:
        """The names and keys of what this policy would make of a resource as an item."""
        meant = identities(self.policy.blueprint, source, match_scope(one), {})
        return meant | {tag_value(word) for word in meant}

    def _survey(self, type_: str, survey: Survey) -> tuple[Task, ...]:
        """One list, page by page; or lookups side by side."""
        scope, prefixes = self.policy.scope, survey.prefixes
        if survey.names is None:
            return (Task(partial(self.cloud.survey, type_, scope, prefixes), ("survey", type_, scope, prefixes)),)
        lane = self.cloud.lane(type_, scope, acting=False)
        return tuple(
            Task(partial(self.cloud.find, type_, scope, names), ("find", type_, scope, names), lane)
            for names in survey.lookups()
        )

    def _index(self, type_: str, survey: Survey) -> Task:
        of, scope = type_ if survey.whole_index else None, self.policy.scope
        return Task(partial(self.cloud.index, of, scope), ("index", of, scope))

    def _join(self, asked: Asked, surveyed: Sequence[Resource], index: Any) -> Pipeline[Sequence[Resource]]:
        """Survey and index joined, once for all who asked for the same."""
        key = ("join", self.policy.scope, asked)
        (joined,) = yield (Task(partial(self.cloud.join, asked[0], surveyed, index), key),)
        census: Sequence[Resource] = joined.result()
        return census


def _together(surveyed: Sequence[Any]) -> tuple[Resource, ...]:
    """What several calls show, each resource once, as the last one shows it."""
    return tuple({one.id: one for future in surveyed for one in future.result()}.values())


def _is_item(source: ResourceItems, one: Resource) -> bool | None:
    """Whether the source means this resource; None where it takes a read to tell."""
    return selects(source.match or (EVERYTHING,), source.except_ or (), one)
