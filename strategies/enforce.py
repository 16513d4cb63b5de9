"""Declared properties on resources that somebody else made: log retention, office hours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from policies.action import Desired, Trouble
from policies.blueprint import Blueprint, UnfitError
from policies.frozen import NOTHING, Json
from policies.leaves import dotted_leaves
from policies.numbers.number import PropertyObject
from policies.numbers.schedule import Schedule
from policies.strategy import Decision, Strategy
from policies.template import compile_template
from policies.world import Observation


class Enforce(Strategy):
    """Want the declared properties on every matched resource, and never delete one.

    With `set`, what its schedule says now is merged over them, and all of it moves together. A property that only some
    of the windows name is left as it is in the others.
    """

    matches: ClassVar[bool] = True

    type: Literal["enforce"]
    scheduled: Annotated[
        Schedule[PropertyObject] | None, Field(alias="set", description="Further properties, by the clock.")
    ] = None

    def extra_leaves(self) -> frozenset[str]:
        return frozenset().union(*(dotted_leaves(section) for _, section in self.sections()))

    def sections(self) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Json]]]:
        for where, section in self.scheduled.values() if self.scheduled else ():
            yield ("set", *where), section

    def misfits(self, blueprint: Blueprint) -> Iterator[tuple[tuple[str | int, ...], str]]:
        if not blueprint.properties and self.scheduled is None:
            yield (), "nothing is declared, so nothing is enforced: say 'properties', or 'set' with a schedule"

    def decide(self, blueprint: Blueprint, seen: Observation, now: datetime) -> Decision:
        apply = blueprint.applied(compile_template(self.scheduled.at(now)) if self.scheduled else NOTHING)
        desired: list[Desired] = []
        troubles: list[Trouble] = []
        for resource in sorted(seen.owned, key=lambda resource: resource.id):
            if not resource.alive:
                continue
            try:
                desired.append(apply(resource))
            except UnfitError as error:
                if resource.properties is None:
                    continue  # its turn to be read comes within `driftCheck`; until then it cannot be judged
                troubles.append(Trouble("Degraded", "Unfit", f"{resource.name or resource.id}: {error}"))
        return Decision(desired=tuple(desired), removals=(), troubles=tuple(troubles))
