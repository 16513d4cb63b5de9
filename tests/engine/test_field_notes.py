"""What went wrong elsewhere, once more as a rule here: the ones that no other file tells as a story."""

from __future__ import annotations

from typing import Any

import pytest

from infra.act import act
from infra.aws import Aws
from infra.kinds.registry import KINDS
from policies.errors import RefusedError
from policies.world import Scope
from tests.engine.given import (
    DELETE_AT_ONCE,
    GROUP,
    INSTANCE,
    agents,
    document,
    groups,
    names,
    planned,
    policy_of,
    queues,
    run,
    settle,
    tags,
)
from tests.world import Fault, World, operation

GONE = {**DELETE_AT_ONCE, "guardrails": {"maxDeletes": "100%"}}
ALL = {"main": document(queues(*"abc"), groups(*"abc"))}
LESS = {"main": document(queues("a", **GONE), groups("a", **GONE))}


INDEX, TAGS = operation("resourcegroupstaggingapi", "GetResources"), operation("sqs", "ListQueueTags")


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        *((call, kind) for call in (INDEX, TAGS) for kind in ("denied", "throttled", "unavailable", "lost")),
        (INDEX, "partial_page"),
    ],
)
def test_a_failed_tag_read_is_not_a_resource_without_tags(world: World, call: Any, kind: Any) -> None:
    """Failed tag reads looked empty, and compliant buckets were deleted."""
    settle(world, {"main": document(queues(*"abc"))})
    world.page_size = 1
    world.inject(Fault(at=call, kind=kind, times=None))
    run(world, {"main": document(queues("a", **GONE))})
    assert names(world) == {"orders-a", "orders-b", "orders-c"}


@pytest.mark.parametrize("kind", ["denied", "throttled", "unavailable", "refused"])
def test_a_source_that_fails_deletes_nothing(world: World, kind: Any) -> None:
    """API throttling blanked the source list, and every record was deleted."""
    clause = queues(**GONE)
    clause["strategy"] = {
        "type": "forEach",
        "items": {"source": "ssmParameter", "name": "/tenants", "allowEmpty": True},
    }
    world.outside.ssm.put_parameter(Name="/tenants", Type="String", Value='["a", "b", "c"]')
    settle(world, {"main": document(clause)})
    world.inject(Fault(at=operation("ssm", "GetParameter"), kind=kind, times=None))
    run(world, {"main": document(clause)})
    assert names(world) == {"orders-a", "orders-b", "orders-c"}


def test_whoever_only_looks_holds_no_client_that_can_write(world: World) -> None:
    """Check mode wrote tags."""
    looking = Aws(world.session, Scope(world.account, world.region), writable=False)
    for clause in (queues("a"), groups("a"), agents(1)):
        (action,) = planned(policy_of(clause)).actions
        (refused,) = act(looking, KINDS[action.type], [action])
        assert refused is not None and isinstance(refused.error, RefusedError)
        assert "would write, and this run only looks" in refused.message
    assert (world.resources(), world.calls(mutating=True)) == ({}, [])


def test_tags_of_others_are_never_purged(world: World) -> None:
    """A default "purge" stripped every tag."""
    clause = queues("a", properties={"Tags": [{"Key": "team", "Value": "orders"}]})
    settle(world, {"main": document(clause)})
    url = world.outside.sqs.get_queue_url(QueueName="orders-a")["QueueUrl"]
    world.outside.sqs.tag_queue(QueueUrl=url, Tags={"cost": "7", "team": "theirs"})
    settle(world, {"main": document(clause)}, minutes=10)
    assert {"cost": "7", "team": "orders"}.items() <= tags(world, "orders-a").items()


def test_what_is_not_declared_is_left_to_whoever_sets_it(world: World) -> None:
    """An apply reset the capacity that an autoscaler had set."""
    settle(world, {"main": document(queues("a", properties={"VisibilityTimeout": 60}))})
    url = world.outside.sqs.get_queue_url(QueueName="orders-a")["QueueUrl"]
    world.outside.sqs.set_queue_attributes(QueueUrl=url, Attributes={"DelaySeconds": "9", "VisibilityTimeout": "5"})
    settle(world, {"main": document(queues("a", properties={"VisibilityTimeout": 60}))}, minutes=10)
    found = world.resources()["AWS::SQS::Queue"]["orders-a"]
    assert (found["DelaySeconds"], found["VisibilityTimeout"]) == ("9", "60")


def test_a_changed_value_is_an_update_and_never_another_resource(world: World) -> None:
    """A changed threshold left old alarms."""
    settle(world, {"main": document(groups("a"))})
    settle(world, {"main": document(groups("a", properties={"RetentionInDays": 60}))})
    assert {name: one["retentionInDays"] for name, one in world.resources()[GROUP].items()} == {"/orders/a": 60}
    assert len(world.calls(operation="CreateLogGroup")) == 1


def test_a_list_of_one_at_a_time_and_in_any_order_is_a_list(world: World) -> None:
    """An unpaginated list hid resources."""
    world.page_size, world.shuffle = 1, True
    documents = {"main": document(queues(*"abcdef"), groups(*"abcdef"), agents(3, strategy={"maxUnavailable": "100%"}))}
    told = settle(world, documents, minutes=12)
    assert (len(names(world)), len(names(world, GROUP)), len(world.resources()[INSTANCE])) == (6, 6, 3)
    assert [told.true(name) for name in ("queues", "groups", "agents")] == [{"Ready"}] * 3


@pytest.mark.parametrize("place", range(1, 40, 3))
def test_two_runs_at_once_end_in_the_world_of_one(world: World, place: int) -> None:
    """Concurrent runs raced."""
    documents = {"main": document(queues("a", "b"), groups("a"), agents(2, strategy={"maxUnavailable": "100%"}))}
    world.on_call(place, lambda: run(world, documents))
    run(world, documents)
    world.advance(minutes=1)
    settle(world, documents, minutes=8)
    assert (names(world), names(world, GROUP)) == ({"orders-a", "orders-b"}, {"/orders/a"})
    assert len(world.resources()[INSTANCE]) == 2


def test_a_stale_view_makes_no_duplicates(world: World) -> None:
    """Stale reads made duplicates."""
    documents = {"main": document(queues("a"), agents(2, strategy={"maxUnavailable": "100%"}))}
    world.index_lag = 3
    world.stale(2)
    settle(world, documents, minutes=12)
    assert (names(world), len(world.resources()[INSTANCE])) == ({"orders-a"}, 2)


def test_our_own_change_triggers_nothing(world: World) -> None:
    """The tool's own change triggered it again."""
    settle(world, ALL)
    settle(world, LESS)
    written = len(world.calls(mutating=True))
    told = settle(world, LESS, minutes=15)
    assert len(world.calls(mutating=True)) == written
    assert (told.true("queues"), told.true("groups")) == ({"Ready"}, {"Ready"})
