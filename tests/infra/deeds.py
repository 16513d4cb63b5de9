"""Single actions on a world: planned, performed, and what they wrote."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from infra.act import act
from infra.aws import Aws
from infra.kinds.registry import KINDS
from policies.action import Action, Outcome, Verb
from policies.document import Policy
from policies.world import Resource, Scope
from tests.engine.given import existing, groups, planned, policy_of, queues
from tests.world import World

THEIRS = {"owner": "them"}
POLICY = policy_of(queues("a", properties={"VisibilityTimeout": 60}))
LOGS = policy_of(groups("a"))


def perform(world: World, action: Action) -> Outcome:
    """One action by itself: its outcome, or its error raised."""
    (outcome,) = act(Aws(world.session, Scope(world.account, world.region)), KINDS[action.type], [action])
    assert outcome is not None
    if outcome.error is not None:
        raise outcome.error
    return outcome


def create(policy: Policy = POLICY, **seen: Any) -> Action:
    (action,) = planned(policy, **seen).actions
    assert action.verb is Verb.CREATE
    return action


def on(resource: Resource, verb: Verb, policy: Policy = POLICY, **words: Any) -> Action:
    """An action on something that was seen; of the policy's desired resource where it shapes one."""
    made = create(policy)
    desired = made.desired if verb in (Verb.UPDATE, Verb.ADOPT) else None
    return replace(made, verb=verb, seen=resource, desired=desired, **words)


def make(world: World, policy: Policy = POLICY) -> Resource:
    """What the policy wants, made by it."""
    perform(world, create(policy))
    world.advance(minutes=2)
    return existing(policy, "a")


def url(world: World) -> str:
    return str(world.outside.sqs.get_queue_url(QueueName="orders-a")["QueueUrl"])


def attribute(world: World, word: str = "VisibilityTimeout") -> str:
    return str(world.resources()["AWS::SQS::Queue"]["orders-a"][word])


def writes(world: World) -> list[str]:
    return [call.operation for call in world.calls(mutating=True)]


def foreign_queue(world: World) -> None:
    world.outside.sqs.create_queue(QueueName="orders-a", Attributes={"DelaySeconds": "7"}, tags=THEIRS)
