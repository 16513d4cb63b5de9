"""A number of interchangeable resources: build agents, workers, a warm pool. Dead and unhealthy ones are replaced.

Each lives in a numbered slot, which is its key. A slot keeps its resource as long as that is alive; who has to go when
there are too many, and in which order, is ReplicaSet's rule. Two in one slot are the plan's to settle: it alone knows
which of them is of the present spec.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count as count_from
from itertools import islice
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from policies.action import Desired, Trouble
from policies.amount import Amount, AmountField
from policies.blueprint import Blueprint, UnfitError
from policies.duration import Duration
from policies.frozen import Json, freeze
from policies.grammar import mistake
from policies.identity import KEY
from policies.names import Blank
from policies.numbers.number import AnyNumber, Hold, bounds_of, signals_of, value_of
from policies.numbers.telling import why
from policies.strategy import Decision, Pace, Removal, Signal, Strategy, held
from policies.template import Placeholder
from policies.world import Observation, Resource, State

MOST = 10_000
"""Slots of one policy: an index has at most four digits, whatever the count was and will be."""

_INDEX = "0|[1-9][0-9]*"
_USE = {State.PENDING: 0, State.UNHEALTHY: 1, State.READY: 2}


def _countable(number: AnyNumber) -> AnyNumber:
    _, most = bounds_of(number)
    if most > MOST:
        raise mistake(f"found {most}; allowed: at most {MOST}")
    if any(query.metric.placeholders for query in signals_of(number)):
        raise mistake("${match} stands for a matched resource, and there is none here; write the dimension out")
    return number


class Replicas(Strategy):
    """Want `count` resources that do their work, no matter which.

    For a number that moves from the present value, that is the number of slots in use: one that died has left.
    """

    stand_ins: ClassVar[Mapping[str, Json]] = freeze({"index": 0})

    type: Literal["replicas"]
    count: Annotated[AnyNumber, AfterValidator(_countable), Field(description="How many.")]
    min_lifetime: Annotated[Duration, Field(description="Younger ones are not taken away.")] = timedelta(minutes=10)
    max_unavailable: Annotated[
        AmountField, Field(description="How many may be away at once; those not yet ready count.")
    ] = Amount(10, percent=True)

    @property
    def roots(self) -> frozenset[str]:
        return frozenset({"index"})

    def varies_by(self) -> frozenset[str]:
        return self.roots

    def signals(self) -> tuple[Signal, ...]:
        return signals_of(self.count)

    def language(self, placeholder: Placeholder) -> Blank:
        return Blank(f"({_INDEX})", len(str(MOST - 1)))

    def misfits(self, blueprint: Blueprint) -> Iterator[tuple[tuple[str | int, ...], str]]:
        for index in sorted({0, max(bounds_of(self.count)[1] - 1, 0)}):
            try:
                blueprint.render(str(index), index=index)
            except UnfitError as error:
                yield (() if index == 0 else ("count",)), str(error)

    def decide(self, blueprint: Blueprint, seen: Observation, now: datetime) -> Decision:
        alive = [resource for resource in seen.owned if resource.alive]
        rack = _Rack(blueprint)
        strays = rack.seat(alive)
        moved = value_of(self.count, len(rack.slots), seen, now)
        hold, count = (moved, len(rack.slots)) if isinstance(moved, Hold) else (None, moved)
        kept, extra = _choose(rack.slots, count)
        wanted = [rack.render(index) for index in sorted([*kept, *_free(rack.slots, count - len(kept))])]
        missing = count - sum(map(_works, kept.values()))
        broken = [(index, one) for index, slot in kept.items() for one in slot if one.state is State.UNHEALTHY]
        doubt = _doubt(alive) if broken else None
        removals = [
            *self._dispensable(strays, missing, count),
            *(Removal(one, f"one too many: {count} are wanted") for slot in extra.values() for one in slot),
            *(Removal(one, f"unhealthy: slot {index} gets another") for index, one in broken if not doubt),
        ]
        misfit = next(iter(rack.misfits), None)
        return Decision(
            desired=tuple(desired for desired in wanted if desired is not None),
            removals=() if misfit else tuple(sorted(removals, key=lambda removal: _first_to_go(removal.resource))),
            hold=f"not every slot can be rendered: {misfit}" if misfit else None,
            troubles=tuple(_troubles(misfit, doubt, hold)),
            notes=tuple(f"count: {reason}" for reason in [why(self.count, len(rack.slots), count, seen)] if reason),
            pace=Pace(max(0, self.max_unavailable.of(count) - missing), self.min_lifetime),
        )

    def _dispensable(self, strays: Sequence[tuple[Resource, str]], missing: int, count: int) -> Iterator[Removal]:
        """Those without a slot. They stand in for the wanted ones until these do their work, as in a rolling update."""
        working = sum(resource.state is State.READY for resource, _ in strays)
        spare = working - missing + self.max_unavailable.of(count)
        for resource, reason in sorted(strays, key=lambda stray: _first_to_go(stray[0])):
            spare -= resource.state is State.READY
            if resource.state is not State.READY or spare >= 0:
                yield Removal(resource, reason)


Slots = Mapping[int, Sequence[Resource]]
"""What is alive, by slot."""


@dataclass
class _Rack:
    """Numbered slots, what lives in them, and what should."""

    blueprint: Blueprint
    slots: dict[int, list[Resource]] = field(default_factory=dict)
    misfits: list[str] = field(default_factory=list)
    _rendered: dict[int, Desired | None] = field(default_factory=dict)

    def seat(self, alive: Iterable[Resource]) -> list[tuple[Resource, str]]:
        """Fill the slots; what belongs in none is given back, with the reason."""
        strays = []
        for resource in alive:
            key = (resource.tags or {}).get(KEY, "")
            index = int(key) if re.fullmatch(_INDEX, key) and len(key) < len(str(MOST)) else None
            desired = None if index is None else self.render(index)
            if index is None:
                strays.append((resource, f"its key {key!r} is no slot"))
            elif desired is not None and desired.name not in (None, resource.name):
                strays.append((resource, f"slot {index} is now named {desired.name!r}"))
            else:
                self.slots.setdefault(index, []).append(resource)
        return strays

    def render(self, index: int) -> Desired | None:
        """What belongs in a slot; None, and a misfit noted, where the index makes it illegal."""
        if index not in self._rendered:
            made = self.blueprint.slot(index)
            self._rendered[index] = None if isinstance(made, str) else made
            if isinstance(made, str):
                self.misfits.append(f"slot {index}: {made}")
        return self._rendered[index]


def _choose(slots: Slots, count: int) -> tuple[Slots, Slots]:
    """The slots that stay, and those that are too many."""
    surplus = max(0, len(slots) - count)
    order = sorted(slots, key=lambda index: (_first_to_go(_best(slots[index]))[:2], -index))
    return {index: slots[index] for index in order[surplus:]}, {index: slots[index] for index in order[:surplus]}


def _free(taken: Slots, missing: int) -> Iterator[int]:
    """The lowest free slots, as many as are missing."""
    return islice((index for index in count_from() if index not in taken), max(0, missing))


def _best(slot: Sequence[Resource]) -> Resource:
    return max(slot, key=_first_to_go)


def _works(slot: Sequence[Resource]) -> bool:
    return any(resource.state is State.READY for resource in slot)


def _first_to_go(resource: Resource) -> tuple[int, float, str]:
    """ReplicaSet's order: pending, not ready, ready; among equals the newest first, and unknown age is new."""
    born = float("-inf") if resource.created is None else -resource.created.timestamp()
    return _USE[resource.state], born, resource.id


def _doubt(alive: Sequence[Resource]) -> str | None:
    """Karpenter's rule: more than 20% unhealthy, and at least 2, say more about the sensor than about the world."""
    sick = sum(resource.state is State.UNHEALTHY for resource in alive)
    if sick < 2 or sick * 5 <= len(alive):
        return None
    return (
        f"{sick} of {len(alive)} are unhealthy: the sensor is likelier broken than the world, so none is replaced "
        "until at most 20% are; delete by hand what is really broken"
    )


def _troubles(misfit: str | None, doubt: str | None, hold: Hold | None) -> Iterator[Trouble]:
    if hold:
        yield held(hold, "count")
    if misfit:
        yield Trouble("Degraded", "Unfit", misfit)
    if doubt:
        yield Trouble("Degraded", "RepairHalted", doubt)
