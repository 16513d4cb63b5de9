"""How a database is changed: in an order that the service accepts, each step visible to the run that makes the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from infra.kinds.rds_values import backward, settled
from policies.action import Progress
from policies.errors import RefusedError, WaitError
from policies.frozen import Json
from policies.properties import Shape
from policies.world import Resource


@dataclass(frozen=True, slots=True)
class Steps:
    """The calls that change one database. `modify` takes values with nulls already settled."""

    start: Callable[[], object]
    modify: Callable[[dict[str, Any]], object]
    stop: Callable[[], object]

    def take(self, seen: Resource, properties: Mapping[str, Json], shape: Shape) -> Progress:
        """The first step: start before anything is changed, stop after everything has been."""
        wanted = dict(properties)
        power = (wanted.pop("PowerState") or "running") if "PowerState" in wanted else None
        if seen.facts["State"] == "stopped" and wanted and power is None:
            raise WaitError(f"{', '.join(wanted)} of {seen.name} can change only while it runs, and it is stopped")
        if power == "running":
            self.start()
            return Progress.PARTIAL if wanted else Progress.COMPLETE
        if wanted:
            self._modify(seen, wanted, shape)
            return Progress.PARTIAL if power else Progress.COMPLETE
        self.stop()
        return Progress.COMPLETE

    def _modify(self, seen: Resource, wanted: dict[str, Json], shape: Shape) -> None:
        """All that can be changed; then say what cannot."""
        refused = dict(backward(seen, wanted))
        possible = settled(shape, {word: value for word, value in wanted.items() if word not in refused})
        if possible:
            self.modify(possible)
        if refused:
            raise RefusedError("; ".join(refused.values()))
