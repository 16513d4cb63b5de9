"""The contract of a strategy: a frozen model whose fields are its configuration and whose `decide` is its behaviour.

A strategy is pure. What it needs to know of the world beyond its resources it asks for by `signals`, and gets in the
observation; the time is an argument. The same arguments always give the same decision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar, TypeAlias

from policies.action import Desired, Trouble
from policies.blueprint import Blueprint
from policies.frozen import NOTHING, Json
from policies.grammar import Grammar
from policies.items import ItemSource
from policies.names import Blank
from policies.numbers.metric import MetricQuery
from policies.numbers.number import Hold
from policies.template import Placeholder
from policies.world import Observation, Resource

Signal: TypeAlias = ItemSource | MetricQuery
"""What a strategy may ask for; its `signal_key` is the name of the answer in the observation."""


@dataclass(frozen=True, slots=True)
class Removal:
    """One resource that should go, and why."""

    resource: Resource
    reason: str


@dataclass(frozen=True, slots=True)
class Pace:
    """How gently interchangeable resources may be disturbed."""

    disruptions: int
    """Ready resources that this run may take away."""
    minimum_age: timedelta = timedelta()
    """Younger ones are left alone."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a strategy wants.

    `removals` None means: whatever is owned and not desired, except the `spared` names. With `hold` nothing is removed,
    for the reason it gives. With a `pace` removals are a stream, limited per run; without, they are all or nothing.
    With a `grace` the removals are matched resources: each is marked, looks as desired while it is, and is deleted when
    the grace is over. `unmark` are the ids of those whose mark goes, if they have one. `lasting` are the keys of
    resources that are never replaced, whatever the policy allows, since nothing would make them again. `notes` are told
    beside the actions.
    """

    desired: tuple[Desired, ...] = ()
    removals: tuple[Removal, ...] | None = None
    spared: frozenset[str] = frozenset()
    hold: str | None = None
    troubles: tuple[Trouble, ...] = ()
    pace: Pace | None = None
    grace: timedelta | None = None
    unmark: frozenset[str] = frozenset()
    lasting: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


class Strategy(Grammar, ABC):
    """What should exist, decided from what does. One file each; picked by `strategy.type`."""

    type: str

    stand_ins: ClassVar[Mapping[str, Json]] = NOTHING
    """A sample for the placeholders whose type is always the same: what property types are judged by."""
    matches: ClassVar[bool] = False
    """Whether it works on resources that it did not create (`match` is required) rather than on its own."""
    supported: ClassVar[bool] = True
    """False: the grammar is known, the behaviour is not built yet, and parsing says so."""

    @property
    def looks_every_run(self) -> bool:
        """Whether it must know every property of what it matches in each run, and not once per `driftCheck`."""
        return False

    @property
    def forgets(self) -> bool:
        """Whether time alone makes it want something no more: a kind that holds data then needs `removal` in words."""
        return False

    @property
    def roots(self) -> frozenset[str]:
        """The placeholders that it fills, besides `${account}`, `${region}` and `${policy}`."""
        return frozenset({"match"}) if self.matches else frozenset()

    def signals(self) -> tuple[Signal, ...]:
        """What it needs to know of the world besides its resources."""
        return ()

    def signals_of(self, resource: Resource) -> tuple[MetricQuery, ...]:
        """What it needs to know of one matched resource besides what the resource shows."""
        return ()

    def language(self, placeholder: Placeholder) -> Blank:
        """Everything that a placeholder may become: what names are proven disjoint by."""
        raise KeyError(str(placeholder))

    def varies_by(self) -> frozenset[str]:
        """The placeholders without which all its resources would have one name."""
        return frozenset()

    def known(self) -> tuple[Mapping[str, Json], ...] | None:
        """Every value of the placeholders, where the policy itself tells them all."""
        return None

    def claims_existence(self, owning: bool) -> bool:
        """Whether it creates or deletes: of two such policies for one resource neither acts.

        `owning` is False under `match`. Who claims the existence of matched resources must leave alone, in all it does,
        whatever has an owner.
        """
        return owning

    def extra_leaves(self) -> frozenset[str]:
        """The dotted properties and tags (`tags.KEY`) that it keeps besides those of the resource section.

        `policies.leaves.dotted_leaves` lists those of a property object.
        """
        return frozenset()

    def sections(self) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Json]]]:
        """The property objects in the strategy itself, as (place, object): what holds at some times only."""
        return iter(())

    def misfits(self, blueprint: Blueprint) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """What is listed in the strategy itself and does not fit the resource, as (place in the strategy, reason)."""
        return iter(())

    @abstractmethod
    def decide(self, blueprint: Blueprint, seen: Observation, now: datetime) -> Decision:
        """What should exist. Pure; deciding twice gives the same."""


def held(hold: Hold, what: str) -> Trouble:
    """A number that holds, told: what is broken rings the alarm, what is merely missing does not."""
    return Trouble("Degraded" if hold.failed else "Held", "NumberHeld", f"{what} stays as it is: {hold.reason}")
