"""What a run means to do, what it may do, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from policies.conditions import Condition
from policies.diff import Difference
from policies.errors import ConflictError, ThrottledError, WaitError
from policies.frozen import NOTHING, Json
from policies.identity import Owner
from policies.match import Match
from policies.world import Resource, Scope


class Verb(Enum):
    """Everything that can happen to a resource."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"  # its delete; the create follows when the place is free
    DELETE = "delete"
    ADOPT = "adopt"  # our tags on somebody's resource that nobody else owns
    RELEASE = "release"  # our tags off what was adopted, or is not to be deleted any more
    MARK = "mark"  # no longer wanted: kept, or deleted after the grace
    WAIT = "wait"  # in transition: the next run looks again

    @property
    def destroys(self) -> bool:
        return self in (Verb.DELETE, Verb.REPLACE)

    @property
    def writes(self) -> bool:
        return self is not Verb.WAIT


@dataclass(frozen=True, slots=True)
class Desired:
    """One resource that should exist as declared, or (with `of`) one matched resource that should look so.

    `properties` are rendered, without tags; `initial` applies at creation only and is never compared.
    `spec` is the hash of what is declared, where it is known already (`policies/drift.py`).
    """

    key: str
    name: str | None
    properties: Mapping[str, Json]
    tags: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    initial: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    of: str | None = None
    spec: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Change:
    """What an update writes: whole top-level properties, and tags to set or remove."""

    properties: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    tags: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    untag: frozenset[str] = frozenset()
    differences: tuple[Difference, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.properties or self.tags or self.untag)


@dataclass(frozen=True, slots=True)
class Terms:
    """What must be true of a resource, read from its service at that moment, before anything is written to it.

    `owner` None: a matched resource, whose owner tags are nobody's business but `selected` still must hold. `marker` is
    whose mark counts on such a one.
    """

    owner: Owner | None
    formerly: tuple[Owner, ...] = ()
    adopt: bool = False
    protect: Mapping[str, Condition] = field(default_factory=lambda: NOTHING)
    delete_if: Mapping[str, Condition] = field(default_factory=lambda: NOTHING)
    match: tuple[Match, ...] = ()
    exceptions: tuple[Match, ...] = ()
    marker: Owner | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do to one resource, and why."""

    verb: Verb
    policy: str
    type: str
    scope: Scope
    key: str
    reason: str
    terms: Terms
    desired: Desired | None = None
    seen: Resource | None = None
    change: Change = field(default_factory=Change)
    tokens: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What people call the resource: its name, else its id, else its slot."""
        named = (self.desired and self.desired.name) or (self.seen and (self.seen.name or self.seen.id))
        return named or f"slot {self.key}"


class Progress(Enum):
    """What a kind answers to create and update."""

    COMPLETE = "complete"
    PARTIAL = "partial"  # more calls are needed; a later run makes them


class Result(Enum):
    """What came of an action."""

    DONE = "done"
    PARTIAL = "partial"
    WAITING = "waiting"
    FAILED = "failed"
    CONFLICT = "conflict"
    THROTTLED = "throttled"
    UNVISITED = "unvisited"  # the run's time was over
    NOTHING = "nothing"  # a fresh read showed that nothing was left to do


@dataclass(frozen=True, slots=True)
class Outcome:
    """One action and what came of it."""

    action: Action
    result: Result
    message: str = ""
    error: BaseException | None = None


def failed(action: Action, error: BaseException) -> Outcome:
    """An error as the outcome of its action; a crash is a crash."""
    if not isinstance(error, Exception):
        raise error
    for error_type, result in (
        (WaitError, Result.WAITING),
        (ConflictError, Result.CONFLICT),
        (ThrottledError, Result.THROTTLED),
    ):
        if isinstance(error, error_type):
            return Outcome(action, result, str(error), error)
    return Outcome(action, Result.FAILED, str(error), error)


@dataclass(frozen=True, slots=True)
class Held:
    """An action that may not happen now, and the reason. `final`: not even an approved plan lifts it."""

    action: Action
    reason: str
    final: bool = False


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that a policy cannot do, and why, without an action to hang it on."""

    condition: str  # Degraded, Conflict, Held or Progressing
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Plan:
    """All that one policy means to do in one run. `kept` says what is not wanted and stays, and until when."""

    actions: tuple[Action, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    kept: tuple[str, ...] = ()
    desired: int = 0
    actual: int = 0
    ready: int = 0
