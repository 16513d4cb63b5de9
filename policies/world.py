"""What is there: resources as sensed, and all that a strategy gets to see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import Any

from policies.frozen import NOTHING, Json


class State(Enum):
    """Where a resource is in its life, in the few words that a decision needs."""

    READY = "ready"
    PENDING = "pending"  # being created or modified: it counts, and no change is accepted now
    UNHEALTHY = "unhealthy"  # exists, does not do its work
    DELETING = "deleting"  # on its way out; its name is still taken
    DEAD = "dead"  # gone, but still listed: only its token matters


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a policy acts: one account and one region, through one role."""

    account: str
    region: str
    role: str | None = None

    def __str__(self) -> str:
        return f"{self.account}/{self.region}"


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource as the service showed it in this run.

    `id` is unique within type, account and region; `handle` is what its API calls it (a queue's URL). `tags` is None
    while unknown: a resource that a list shows and the tag index does not is unknown, not untagged. `properties` are
    CloudFormation's, without tags, and None until it was read deeply. `facts` are what CloudFormation lacks.
    """

    type: str
    id: str
    name: str | None = None
    handle: str = ""
    arn: str | None = None
    tags: Mapping[str, str] | None = None
    properties: Mapping[str, Json] | None = None
    facts: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    state: State = State.READY
    token: str | None = None
    created: datetime | None = None

    def with_tags(self, tags: Mapping[str, str] | None) -> Resource:
        return replace(self, tags=tags)

    @property
    def alive(self) -> bool:
        return self.state not in (State.DEAD, State.DELETING)


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything a strategy may look at: its resources, and the signals it asked for.

    `owned` are proven ours (or, for a policy with `match`, the matched ones). `occupied` holds by name what exists
    under names that this policy could render and is not proven ours (of nameless kinds: by token, what is untagged).
    `dead` are the terminated of a nameless kind, whosever they were: a service may drop their tags, and only their
    tokens matter. `left` is what this policy marked and does not match any more. `unread` are the ids whose deep read
    failed in this run: unknown, so nothing is done to them.
    """

    owned: tuple[Resource, ...] = ()
    occupied: Mapping[str, Resource] = field(default_factory=lambda: NOTHING)
    dead: tuple[Resource, ...] = ()
    left: tuple[Resource, ...] = ()
    unread: frozenset[str] = frozenset()
    signals: Mapping[str, Any] = field(default_factory=lambda: NOTHING)

    def signal(self, wanted: Any) -> Any:
        """What a strategy asked for with `signals`."""
        return self.signals[wanted.signal_key]
