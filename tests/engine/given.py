"""The few words in which the tests of the engine speak: documents, one run over a world, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from handler.compose import vocabulary
from handler.loop.conductor import InlineExecutor
from handler.loop.plan import plan
from handler.loop.reconcile import Moment, PolicyReport
from handler.loop.run import RunReport, failures
from handler.loop.run import run as run_loop
from handler.loop.status import run_status, statuses
from infra.cloud import AwsCloud
from policies.action import Plan
from policies.document import Policy
from policies.drift import own
from policies.estate import Estate, parse_estate
from policies.frozen import freeze
from policies.strategy import Decision
from policies.vocabulary import Vocabulary
from policies.world import Observation, Resource
from tests.world import Crash, World

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
QUEUE, GROUP, ALARM, INSTANCE = (
    "AWS::SQS::Queue",
    "AWS::Logs::LogGroup",
    "AWS::CloudWatch::Alarm",
    "AWS::EC2::Instance",
)
VOCABULARY = vocabulary("123456789012", "eu-west-1")
DELETE_AT_ONCE = {"removal": "delete", "grace": "0s"}
Json = dict[str, Any]


def document(*policies: Json, **more: Any) -> Json:
    return {"version": 1, "policies": list(policies), **more}


def each(*values: Any, **more: Any) -> Json:
    return {"type": "forEach", "items": {"source": "list", "values": list(values), **more}}


def queues(*items: str, name: str = "queues", stem: str = "orders", **more: Any) -> Json:
    """A policy that owns one queue per item; `properties` are added to its name."""
    properties = {"QueueName": stem + "-${item}", **more.pop("properties", {})}
    return {"name": name, "resource": {"type": QUEUE, "properties": properties}, "strategy": each(*items), **more}


def groups(*items: str, name: str = "groups", stem: str = "/orders", **more: Any) -> Json:
    """A policy that owns one log group per item."""
    properties = {"LogGroupName": stem + "/${item}", "RetentionInDays": 30, **more.pop("properties", {})}
    return {"name": name, "resource": {"type": GROUP, "properties": properties}, "strategy": each(*items), **more}


def agents(count: int, name: str = "agents", image: str = "ami-1", strategy: Json | None = None, **more: Any) -> Json:
    """A policy that owns so many instances."""
    resource = {"type": INSTANCE, "properties": {"ImageId": image, "InstanceType": "t3.micro"}}
    return {
        "name": name,
        "resource": resource,
        "strategy": {"type": "replicas", "count": count, **(strategy or {})},
        **more,
    }


def parse(documents: Mapping[str, Any], full: bool = True, words: Vocabulary = VOCABULARY) -> Estate:
    """The estate of these documents; a body that is bytes is taken as it is."""
    bodies = [
        (name, "g1", one if isinstance(one, bytes) else json.dumps(one).encode()) for name, one in documents.items()
    ]
    return parse_estate(bodies, words, full)


def policy_of(clause: Json) -> Policy:
    """The policy that a clause parses to."""
    estate = parse({"main": document(clause)})
    assert not estate.failures, estate.failures
    return estate.policies[0]


@dataclass(frozen=True)
class Told:
    """One run and what it says."""

    estate: Estate
    report: RunReport
    now: datetime

    @property
    def errors(self) -> list[Exception]:
        return list(failures(self.estate, self.report))

    @property
    def words(self) -> str:
        """Every error in one text."""
        return "\n".join(map(str, self.errors))

    def of(self, name: str) -> PolicyReport:
        return next(one for one in self.report.policies if one.policy.name == name)

    def held(self, name: str) -> list[str]:
        return [f"{one.action.verb.value} {one.action.title}: {one.reason}" for one in self.of(name).guarded.held]

    def done(self, name: str) -> list[str]:
        return [f"{one.action.verb.value} {one.action.title}: {one.result.value}" for one in self.of(name).outcomes]

    def status(self, name: str) -> Json:
        found = statuses(self.estate, self.report.policies, self.now)
        return next(dict(one) for body in found.values() for one in body["policies"] if one["name"] == name)

    def true(self, name: str) -> set[str]:
        """The conditions of a policy that are true."""
        return {one["type"] for one in self.status(name)["conditions"] if one["status"] == "True"}

    def message(self, name: str, condition: str) -> str:
        return next(one["message"] for one in self.status(name)["conditions"] if one["type"] == condition)

    @property
    def run_status(self) -> Json:
        return dict(run_status(self.estate, self.report, self.now))


def run(
    world: World,
    documents: Mapping[str, Any],
    *,
    full: bool = True,
    words: Vocabulary = VOCABULARY,
    stop: str | None = None,
    over: Callable[[], bool] = lambda: False,
    executor: Executor | None = None,
) -> Told:
    """One run of a fresh process in the present minute."""
    estate = parse(documents, full, words)
    world.tick_started()
    moment = Moment(world.now, stop, over)
    report = run_loop(estate, words, AwsCloud(world.session, words.kinds), executor or InlineExecutor(), moment)  # type: ignore[arg-type]
    return Told(estate, report, world.now)


def settle(world: World, documents: Mapping[str, Any], minutes: int = 5) -> Told:
    """A run a minute, and the last one's word: for set-up."""
    for _ in range(minutes):
        told = run(world, documents)
        world.advance(minutes=1)
    return told


def crash(world: World, documents: Mapping[str, Any]) -> None:
    """A run that is expected to die on its way."""
    try:
        run(world, documents)
    except Crash:
        return
    raise AssertionError("the run did not crash")


def names(world: World, type_: str = QUEUE) -> set[str]:
    return set(world.resources().get(type_, {}))


def tags(world: World, name: str, type_: str = QUEUE) -> dict[str, str]:
    return dict(world.resources()[type_][name]["Tags"])


# --- without a world: what is desired, owned and seen ---------------------------------------------------------------


def decide(policy: Policy, seen: Observation, now: datetime = NOW) -> Decision:
    return policy.strategy.decide(policy.blueprint, seen, now) if policy.wanted else Decision()


def signals(policy: Policy, items: Any = None) -> Json:
    """What a strategy asked for: the items it lists itself, or these."""
    return {one.signal_key: freeze(one.known if items is None else items) for one in policy.strategy.signals()}


def planned(policy: Policy, *owned: Resource, now: datetime = NOW, **seen: Any) -> Plan:
    observation = Observation(owned, **{"signals": signals(policy), **seen})
    former = policy.formerly
    return plan(policy, former, decide(policy, observation, now), observation, now)


def lines(told: Plan) -> list[str]:
    """A plan as people would tell it."""
    return [f"{action.verb.value} {action.title}" for action in told.actions]


def existing(policy: Policy, item: Any = None, /, minutes: int = 120, id: str | None = None, **words: Any) -> Resource:
    """What the policy wants for an item or a slot, as if it had been there so long; `words` is what differs."""
    key = None if item is None else str(item)
    want = policy.blueprint.render(key, item=item, index=item)
    shown = {
        "name": want.name,
        "tags": own(policy.kind, want, policy.owner, policy.origin).tags,
        "properties": want.properties,
        "created": NOW - timedelta(minutes=minutes),
        **words,
    }
    frozen = {word: freeze(value) for word, value in shown.items()}
    return Resource(policy.kind.type, id or want.name or f"i-{key}", **frozen)


def drifted(resource: Resource, **properties: Any) -> Resource:
    """The resource with some properties changed or, with None, unset."""
    changed = {**(resource.properties or {}), **properties}
    return replace(resource, properties=freeze({key: value for key, value in changed.items() if value is not None}))


def retagged(resource: Resource, **changed: str | None) -> Resource:
    """The resource with some `setpoint:` tags set or, with None, taken off."""
    merged = {**(resource.tags or {}), **{f"setpoint:{word}": value for word, value in changed.items()}}
    return resource.with_tags(freeze({key: value for key, value in merged.items() if value is not None}))
