"""A kind with names, one without, and the few words in which the tests of strategies describe a world."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from policies.document import Policy
from policies.errors import ParseError
from policies.frozen import freeze
from policies.identity import KEY
from policies.kind import KindModel
from policies.parse import parse_document
from policies.properties import CreateOnly, Name, Properties, Tag, WriteOnly
from policies.strategy import Decision
from policies.vocabulary import Vocabulary
from policies.world import Observation, Resource, State
from strategies.registry import STRATEGIES

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


class AgentProperties(Properties):
    """Told apart by name; of at most 900."""

    AgentName: Annotated[str, CreateOnly, Name("[a-z0-9-]+", 20)]
    Size: Annotated[int | None, Field(ge=0, le=900)] = None
    Note: str | None = None
    Secret: Annotated[str | None, WriteOnly] = None
    Tags: list[Tag] | None = None


class Agent(KindModel):
    """A kind with names, which shows how many messages an agent waits for."""

    type = "Test::Agent"
    properties = AgentProperties
    identifier = "AgentName"
    facts = frozenset({"CreateTime", "Waiting"})


class WorkerProperties(Properties):
    """Told apart by slot and token."""

    Image: str | None = None
    Rank: int | None = None
    Tags: list[Tag] | None = None


class Worker(KindModel):
    """A kind without names."""

    type = "Test::Worker"
    properties = WorkerProperties


KINDS: Mapping[str, KindModel] = {"Test::Agent": Agent(), "Test::Worker": Worker()}
VOCABULARY = Vocabulary(STRATEGIES, KINDS, account="123456789012", region="eu-central-1")


def agents(name: str = "agent-${index}", **properties: Any) -> dict[str, Any]:
    """The resource section for agents."""
    return {"type": "Test::Agent", "properties": {"AgentName": name, **properties}}


def workers(**properties: Any) -> dict[str, Any]:
    """The resource section for workers."""
    return {"type": "Test::Worker", "properties": properties}


def policy(resource: Mapping[str, Any], **strategy: Any) -> Policy:
    """The policy that a document with this resource and strategy parses to."""
    clause = {"name": "p", "resource": resource, "strategy": strategy}
    document = json.dumps({"version": 1, "policies": [clause]}).encode()
    return parse_document("doc", document, "1", VOCABULARY).policies[0]


def mistakes(resource: Mapping[str, Any], **strategy: Any) -> list[str]:
    """Everything that parsing says about it, with paths below the policy."""
    try:
        policy(resource, **strategy)
    except ParseError as error:
        return [str(problem).removeprefix("$.policies[0].") for problem in error.problems]
    return []


def decide(policy: Policy, owned: Sequence[Resource] = (), items: Sequence[Any] | None = None) -> Decision:
    """What the policy's strategy wants in a world of these resources, with these items in its source."""
    signals = {source.signal_key: freeze(items) for source in policy.strategy.signals()} if items is not None else {}
    return policy.strategy.decide(policy.blueprint, Observation(tuple(owned), signals=signals), NOW)


def wanted(decision: Decision) -> str:
    """The keys that are wanted, in their order."""
    return " ".join(desired.key for desired in decision.desired)


def removed(decision: Decision) -> str:
    """The ids that should go, in their order."""
    return " ".join(removal.resource.id for removal in decision.removals or ())


def resource(key: str, state: State = State.READY, minutes: int | None = 60, id: str = "", **words: Any) -> Resource:
    """A worker with this key, so many minutes old (None: nobody knows); its id is its key unless told."""
    words = {"type": "Test::Worker", **words}
    created = None if minutes is None else NOW - timedelta(minutes=minutes)
    return Resource(id=id or key, tags=freeze({KEY: key}), state=state, created=created, **words)


def world(text: str) -> tuple[Resource, ...]:
    """Workers by slot: `0, 1 pending, 2 unhealthy 30m` (ready and an hour old unless told)."""
    found = []
    for entry in filter(None, text.split(", ")):
        key, *words = entry.split()
        states = [State(word) for word in words if not word.endswith("m")]
        ages = [int(word[:-1]) for word in words if word.endswith("m")]
        found.append(resource(key, *(states or [State.READY]), *ages))
    return tuple(found)
