"""What one policy may act on, as demands on the name (or id, where there is none), tags, properties and facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from policies.agreement import Begins, Claimed, constants
from policies.conditions import Condition, Test
from policies.document import Policy
from policies.frozen import Json
from policies.identity import POLICY, PREFIX
from policies.kind import KindModel
from policies.leaves import TAGS, Leaf, leaf_at, related, told_values
from policies.match import Match
from policies.names import NamePattern
from policies.template import Template
from policies.wildcards import common_start

NAME = ""
"""The path that stands for a resource's name, or its id where it has none."""

_OWNER = f"{TAGS}.{POLICY}"


class Demand(NamedTuple):
    """One condition at one dotted path."""

    path: str
    condition: Claimed

    def denied(self) -> Demand:
        return Demand(self.path, Condition(Test.NOT, self.condition))


@dataclass(frozen=True)
class Selection:
    """Resources whose name `pattern` renders, for which every demand holds and no group of exceptions as a whole."""

    demands: tuple[Demand, ...]
    exceptions: tuple[tuple[Demand, ...], ...] = ()
    pattern: NamePattern | None = None

    @cached_property
    def fixed(self) -> Mapping[str, frozenset[Json]]:
        """The paths at which only listed values are selected."""
        found = {path: constants(conditions) for path, conditions in by_path(self.demands).items()}
        return {path: values for path, values in found.items() if values is not None}

    @cached_property
    def start(self) -> str:
        """How every selected name begins."""
        if self.pattern:
            return self.pattern.prefix
        starts = [one.condition.text for one in self.demands if isinstance(one.condition, Begins)]
        starts.append(common_start(name for name in self.fixed.get(NAME, ()) if isinstance(name, str)))
        return max(starts, key=len)


def owned_selection(policy: Policy, kept: Mapping[Leaf, Template]) -> Selection:
    """What carries the policy's owner tag, and is as declared."""
    owners = tuple(str(owner) for owner in (policy.owner, *policy.formerly))
    told = told_values(kept, policy.kind)
    demands = (Demand(path, Condition(Test.EQUAL, value)) for path, value in told.items())
    return Selection((Demand(_OWNER, Condition(Test.ONE_OF, owners)), *demands), (), policy.names)


def matched_selections(policy: Policy, reaches_owned: bool) -> tuple[Selection, ...]:
    """One selection for each `match`; what has an owner only where `owned: true` says so and it is reached at all."""
    exceptions = tuple(tuple(_demands(one, policy.kind)) for one in policy.exceptions)
    unowned = Demand(_OWNER, Condition(Test.EQUAL, None))
    return tuple(
        Selection((*_demands(one, policy.kind), *(() if one.owned and reaches_owned else (unowned,))), exceptions)
        for one in policy.match or ()
    )


def moved_selection(selection: Selection, kept: Mapping[Leaf, Template], told: Mapping[str, Json]) -> Selection | None:
    """What the selected resources are like once the policy has written its leaves; None: selected as before."""

    def moves(demand: Demand) -> bool:
        own = demand.path == NAME or demand.path.startswith(f"{TAGS}.{PREFIX}")
        return not own and any(related(leaf, leaf_at(demand.path)) for leaf in kept)

    stay = tuple(demand for demand in selection.demands if not moves(demand))
    exceptions = tuple(group for group in selection.exceptions if not any(map(moves, group)))
    if stay == selection.demands and exceptions == selection.exceptions:
        return None
    written = (Demand(path, Condition(Test.EQUAL, value)) for path, value in told.items())
    return Selection((*stay, *written), exceptions, selection.pattern)


def by_path(demands: Iterable[Demand]) -> Mapping[str, list[Claimed]]:
    """The conditions at each path."""
    tests = defaultdict(list)
    for path, condition in demands:
        tests[path].append(condition)
    return tests


def _demands(match: Match, kind: KindModel) -> Iterator[Demand]:
    if match.names is not None:
        yield Demand(NAME, Condition(Test.ONE_OF, match.names))
    if match.name_prefix:
        yield Demand(NAME, Begins(match.name_prefix))
    yield from (Demand(f"{TAGS}.{key}", condition) for key, condition in match.tags.items())
    for path, condition in match.where.items():
        yield Demand(path, condition)
        if kind.identifiers == (path,) and condition.test in (Test.EQUAL, Test.ONE_OF, Test.LIKE):
            yield Demand(NAME, condition)
