"""Anything in any order: edits, faults, losses, strangers and time. In the end the world is what the last edit says."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from botocore.exceptions import ClientError
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from hypothesis.strategies import integers, sampled_from, sets

from tests.sweep import invariants
from tests.sweep.hands import instances
from tests.sweep.harness import heal, settle, strike, tick
from tests.sweep.ledger import Ledger
from tests.sweep.points import FAULTS
from tests.sweep.scenarios import GONE, GROUP, INSTANCE, QUEUE, QUICK, agents, group, of, queue
from tests.sweep.trial import WINDOW
from tests.world import World

FREELY = {"guardrails": {"maxDeletes": "100%"}}
NAMES = sampled_from(["a", "b", "c"])


def opened() -> World:
    """A world with the dead-letter queue, and with what is not ours."""
    world = World()
    world.__enter__()
    world.outside.sqs.create_queue(QueueName="dead")
    world.outside.sqs.create_queue(QueueName="orders-theirs", Attributes={"DelaySeconds": "7"}, tags={"owner": "them"})
    world.outside.logs.create_log_group(logGroupName="/orders/theirs", tags={"owner": "them"})
    return world


class Life(RuleBasedStateMachine):
    """A controller from its first minute, and whatever happens to it."""

    def __init__(self) -> None:
        super().__init__()
        self.world = opened()
        self.foreign = self.world.resources()
        self.ledger = Ledger(self.world)
        self.queues: tuple[set[str], int] = ({"a"}, 120)
        self.groups: tuple[set[str], int] = ({"a"}, 30)
        self.count = self.most = 1

    @property
    def documents(self) -> Any:
        names, wait = self.queues
        groups, days = self.groups
        return of(
            queue(*sorted(names), wait=wait, **GONE),
            group(*sorted(groups), days=days, **GONE),
            agents(self.count, strategy=QUICK, **FREELY),
        )

    @rule(names=sets(NAMES, min_size=1), wait=sampled_from([30, 120]))
    def edit_the_queues(self, names: set[str], wait: int) -> None:
        self.queues = names, wait

    @rule(names=sets(NAMES, min_size=1), days=sampled_from([7, 30]))
    def edit_the_groups(self, names: set[str], days: int) -> None:
        self.groups = names, days

    @rule(count=integers(0, 3))
    def edit_the_agents(self, count: int) -> None:
        self.count, self.most = count, max(self.most, count)

    @rule()
    def run(self) -> None:
        tick(self.world, self.documents)

    @rule(kind=sampled_from(FAULTS), place=integers(1, 25), lag=integers(0, 2))
    def run_with_a_fault(self, kind: Any, place: int, lag: int) -> None:
        self.world.stale(lag)
        tick(self.world, self.documents, strike(self.world, place, kind))
        self.world.stale(0)

    @rule(name=NAMES)
    def lose_a_queue(self, name: str) -> None:
        with suppress(ClientError):
            sqs = self.world.outside.sqs
            sqs.delete_queue(QueueUrl=sqs.get_queue_url(QueueName=f"orders-{name}")["QueueUrl"])

    @rule(name=NAMES)
    def lose_a_group(self, name: str) -> None:
        with suppress(ClientError, IndexError):
            logs = self.world.outside.logs
            found = logs.describe_log_groups(logGroupNamePrefix=f"/orders/{name}")["logGroups"]
            logs.untag_resource(resourceArn=found[0]["arn"].removesuffix(":*"), tagKeys=sorted(invariants.OWNER_TAGS))
            logs.delete_log_group(logGroupName=f"/orders/{name}")

    @rule(place=integers(0, 2))
    def lose_an_agent(self, place: int) -> None:
        alive = [one["InstanceId"] for one in instances(self.world) if one["State"]["Name"] == "running"]
        if place < len(alive):
            self.world.outside.ec2.terminate_instances(InstanceIds=[alive[place]])

    @rule(name=NAMES)
    def somebody_changes_a_queue(self, name: str) -> None:
        with suppress(ClientError):
            sqs = self.world.outside.sqs
            url = sqs.get_queue_url(QueueName=f"orders-{name}")["QueueUrl"]
            sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "7"})

    @rule(minutes=sampled_from([1, 61, 25 * 60]))
    def time_passes(self, minutes: int) -> None:
        self.world.advance(minutes=minutes)

    @invariant()
    def nothing_bad_has_happened(self) -> None:
        invariants.owned_only(self.world.resources(), self.foreign)
        invariants.never_over(self.ledger, {}, self.most)
        invariants.born_owned(self.ledger)
        invariants.one_token_one_resource(self.world)

    def teardown(self) -> None:
        """Heal, and let it run: it must come to what it would have come to from nothing."""
        try:
            heal(self.world)
            self.world.advance(minutes=61)
            settle(self.world, self.documents, idle=WINDOW)
            found = invariants.settled(self.world)
        finally:
            self.world.__exit__(None, None, None)
        fresh = opened()
        try:
            settle(fresh, self.documents, idle=WINDOW)
            wanted = invariants.settled(fresh)
        finally:
            fresh.__exit__(None, None, None)
        for kind in (QUEUE, GROUP, INSTANCE):
            invariants.converges({kind: found.get(kind, {})}, {kind: wanted.get(kind, {})})


TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=15,
    stateful_step_count=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
