"""What the loop asks of the world, as a contract: `infra` fulfils it with AWS, tests with whatever they like."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from policies.action import Action, Outcome
from policies.items import ItemSource
from policies.numbers.metric import Answer, MetricQuery
from policies.world import Resource, Scope


class Cloud(Protocol):
    """One AWS as a run sees it. Every call is complete or raises one of our errors."""

    def survey(self, type_: str, scope: Scope, prefixes: Sequence[str]) -> tuple[Resource, ...]:
        """Everything of a type whose name starts with one of the prefixes, by the cheapest bulk call."""

    def find(self, type_: str, scope: Scope, names: Sequence[str]) -> tuple[Resource, ...]:
        """What there is of these names, at most the type's `names_per_call`."""

    def index(self, type_: str | None, scope: Scope) -> Any:
        """The tag index of a type; None: of everything that carries an owner tag."""

    def join(self, type_: str, surveyed: Sequence[Resource], index: Any) -> tuple[Resource, ...]:
        """The surveyed resources with the tags that the index knows."""

    def owners(self, index: Any) -> Mapping[str, Sequence[Resource]]:
        """By type of ours, everything in an index that carries an owner tag."""

    def read(self, scope: Scope, resource: Resource, words: frozenset[str] | None = None) -> Resource | None:
        """The resource as its service has it now, at least with these properties and facts; None: it is not there."""

    def lane(self, type_: str, scope: Scope, acting: bool) -> Hashable:
        """Whatever waits for the same documented rates as reading (or acting on) this type; None: nothing waits."""

    def items(self, source: ItemSource, scope: Scope) -> tuple[Any, ...]:
        """Every item of a source."""

    def metrics(self, queries: Sequence[MetricQuery], scope: Scope, now: datetime) -> Mapping[str, Answer]:
        """The answer to each of at most 500 queries, by its `signal_key`."""

    def batches(self, actions: Sequence[Action]) -> Sequence[Sequence[Action]]:
        """These actions, none of them a create, each in exactly one batch of one type and scope: what one call can
        write is together. Calls nothing.
        """

    def act(self, batch: Sequence[Action], over: Callable[[], bool]) -> Sequence[Outcome | None]:
        """Carry out one action, or those of one batch, none of which goes on once the run's time is `over`.

        What goes wrong with one is its outcome. None: it was refused together with others, and is to be begun anew in
        a smaller batch; never of one alone. What concerns all alike (no role, no client) is raised.
        """
