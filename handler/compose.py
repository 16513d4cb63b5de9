"""The composition root: the only place that knows both the loop and AWS."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

from handler.loop.reconcile import Moment
from handler.loop.run import RunReport, run
from infra.cloud import AwsCloud
from infra.kinds.registry import KINDS
from infra.opening import Opening
from infra.store import Kept, Shelf, load
from policies.estate import Estate, parse_estate
from policies.vocabulary import Vocabulary
from policies.world import Scope
from strategies.registry import STRATEGIES


@dataclass(frozen=True)
class Setpoint:
    """A wired controller: policies from its places (by its opening, where it has one), AWS through its cloud."""

    cloud: AwsCloud
    vocabulary: Vocabulary
    executor: Executor
    places: tuple[str, ...]
    opening: Opening | None = None
    kept: Kept = field(default_factory=dict)
    parsed: dict[object, Estate] = field(default_factory=dict)

    @property
    def home(self) -> Scope:
        """The account and region that a policy means when it names none."""
        return Scope(self.vocabulary.account, self.vocabulary.region)

    def load(self) -> tuple[Shelf, Estate]:
        """Every document, parsed and proven disjoint; as it was parsed before, where nothing was written since."""
        shelf = self._opened(self.opening) if self.opening else self._load()
        if shelf not in self.parsed:
            bodies = ((stored.name, stored.generation, stored.body) for stored in shelf.documents)
            self.parsed.clear()
            self.parsed[shelf] = parse_estate(bodies, self.vocabulary, shelf.full)
        return shelf, self.parsed[shelf]

    def _opened(self, opening: Opening) -> Shelf:
        opening.begin()
        return opening.documents()

    def _load(self) -> Shelf:
        return load(self.places, lambda: self.cloud.aws(self.home), self.executor, self.kept)

    def run(self, estate: Estate, moment: Moment) -> RunReport:
        """One run; nothing is written to a cloud that is not writable."""
        return run(estate, self.vocabulary, self.cloud, self.executor, moment)


def vocabulary(
    account: str,
    region: str,
    controller: str = "setpoint",
    allowed_roles: Sequence[str] = (),
    allowed_types: Sequence[str] = (),
) -> Vocabulary:
    """Our strategies and kinds, and those that are installed."""
    return Vocabulary(
        STRATEGIES, KINDS, account, region, controller, frozenset(allowed_roles), frozenset(allowed_types)
    )
