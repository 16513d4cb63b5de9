"""Declared properties on resources that somebody else made: log retention, office hours."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from policies.action import Desired, Trouble
from policies.blueprint import Blueprint, UnfitError
from policies.grammar import mistake
from policies.numbers import PropertyObject, Schedule
from policies.strategy import Decision, Strategy
from policies.world import Observation


def _not_yet(value: Schedule[PropertyObject] | None) -> Schedule[PropertyObject] | None:
    if value is not None:
        raise mistake("enforce.set is not yet supported; declare fixed values in resource.properties")
    return value


class Enforce(Strategy):
    """Want the declared properties on every matched resource, and never delete one."""

    matches: ClassVar[bool] = True

    type: Literal["enforce"]
    scheduled: Annotated[
        Schedule[PropertyObject] | None,
        AfterValidator(_not_yet),
        Field(alias="set", description="Further properties, by the clock."),
    ] = None

    def decide(self, blueprint: Blueprint, seen: Observation, now: datetime) -> Decision:
        desired: list[Desired] = []
        troubles: list[Trouble] = []
        for resource in sorted(seen.owned, key=lambda resource: resource.id):
            if not resource.alive:
                continue
            try:
                desired.append(blueprint.apply(resource))
            except UnfitError as error:
                if resource.properties is None:
                    continue  # its turn to be read comes within `driftCheck`; until then it cannot be judged
                troubles.append(Trouble("Degraded", "Unfit", f"{resource.name or resource.id}: {error}"))
        return Decision(desired=tuple(desired), removals=(), troubles=tuple(troubles))
