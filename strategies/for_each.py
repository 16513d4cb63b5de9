"""One resource per item: a queue per tenant, an alarm per queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from policies.action import Trouble
from policies.blueprint import Blueprint, UnfitError
from policies.fitting import fit
from policies.frozen import Json
from policies.items import Items
from policies.names import Blank
from policies.strategy import Decision, Signal, Strategy
from policies.template import Placeholder
from policies.world import Observation

ONE = "one"
"""The key of the only resource of a policy without items."""


class ForEach(Strategy):
    """Want exactly one resource for each item of the source, and none for items that are gone.

    Without `items` there is exactly one resource.
    """

    type: Literal["forEach"]
    items: Annotated[Items | None, Field(description="Where the items come from; left out: exactly one resource.")] = (
        None
    )

    @property
    def roots(self) -> frozenset[str]:
        return frozenset() if self.items is None else frozenset({"item"})

    def varies_by(self) -> frozenset[str]:
        return self.roots

    def signals(self) -> tuple[Signal, ...]:
        return () if self.items is None else (self.items,)

    def language(self, placeholder: Placeholder) -> Blank:
        field = ".".join(placeholder.path)
        return Blank(self.items.pattern_of(field), self.items.longest(field)) if self.items else Blank("", 0)

    def known(self) -> tuple[Mapping[str, Json], ...] | None:
        values = self.items.known if self.items else None
        return None if values is None else tuple({"item": value} for value in values)

    def misfits(self, blueprint: Blueprint) -> Iterator[tuple[tuple[str | int, ...], str]]:
        if self.items is None:
            try:
                blueprint.render(ONE)
            except UnfitError as error:
                yield (), str(error)
        elif self.items.known is not None:
            for skipped in fit(blueprint, self.items, self.items.known).skipped:
                yield ("items", "values", skipped.place), skipped.reason

    def decide(self, blueprint: Blueprint, seen: Observation, now: datetime) -> Decision:
        if self.items is None:
            return Decision(desired=(blueprint.render(ONE),))
        fitted = fit(blueprint, self.items, seen.signal(self.items))
        emptied = not fitted.desired and seen.owned and not self.items.allow_empty
        nothing = "no item is usable, and something is owned; set allowEmpty to delete everything"
        return Decision(
            desired=fitted.desired,
            spared=fitted.spared,
            hold=nothing if emptied else fitted.hold,
            troubles=tuple(Trouble("Degraded", "ItemSkipped", str(skipped)) for skipped in fitted.skipped),
        )
