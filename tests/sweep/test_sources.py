"""Sources of items that lie for a while."""

from __future__ import annotations

import json

import pytest

from tests.sweep import invariants
from tests.sweep.hands import from_parameter, put_items, runs
from tests.sweep.harness import conditions, heal, settle, tick, told, written
from tests.sweep.scenarios import (
    GONE,
    QUEUE,
    of,
    policy,
)
from tests.world import Fault, World, operation

TEN = [f"t{number}" for number in range(10)]


@pytest.mark.parametrize("text", ['["t0","t1"]', '["t0","t1","t', "", "[]", '{"t0": 1}', "null"])
def test_a_source_that_is_cut_short_for_an_hour_deletes_nothing(world: World, text: str) -> None:
    documents = of(from_parameter())
    put_items(world, json.dumps(TEN))
    settle(world, documents)
    world.advance(minutes=61)
    before, since = world.resources(), world.tick + 1
    if text:
        put_items(world, text)
    else:
        world.outside.ssm.delete_parameter(Name="/tenants")
    for _ in range(12):
        report = tick(world, documents, minutes=5)
    assert report is not None
    assert not conditions(world, documents, report)["tenants"]["Ready"]
    put_items(world, json.dumps(TEN))
    report = runs(world, documents, 7)
    assert conditions(world, documents, report)["tenants"]["Ready"], told(report)
    invariants.quiet(written(world, since))
    assert world.resources() == before


def test_items_that_are_all_renamed_at_once_are_made_and_the_old_ones_held(world: World) -> None:
    documents = of(from_parameter())
    put_items(world, json.dumps(TEN))
    settle(world, documents)
    world.advance(minutes=61)
    put_items(world, json.dumps([f"x{name}" for name in TEN]))
    report = runs(world, documents, 7)
    assert conditions(world, documents, report)["tenants"]["Held"], told(report)
    assert len(world.resources()[QUEUE]) == 1 + 20
    assert not world.calls(operation="DeleteQueue")


def test_a_table_of_items_that_cannot_be_read_to_its_end_deletes_nothing(world: World) -> None:
    dynamodb = world.outside.dynamodb
    definition = [{"AttributeName": "id", "AttributeType": "S"}]
    key = [{"AttributeName": "id", "KeyType": "HASH"}]
    dynamodb.create_table(
        TableName="tenants", KeySchema=key, AttributeDefinitions=definition, BillingMode="PAY_PER_REQUEST"
    )
    for name in TEN:
        dynamodb.put_item(TableName="tenants", Item={"id": {"S": name}})
    strategy = {"type": "forEach", "items": {"source": "dynamodbTable", "name": "tenants", "key": "id"}}
    documents = of(policy("tenants", QUEUE, {"QueueName": "tenant-${item.id}"}, strategy, **GONE))
    settle(world, documents)
    world.advance(minutes=61)
    since = world.tick + 1
    world.page_size = 3
    world.inject(Fault(at=operation("dynamodb", "Scan"), kind="partial_page", times=None))
    report = runs(world, documents, 3)
    assert conditions(world, documents, report)["tenants"]["Degraded"]
    heal(world)
    runs(world, documents, 7)
    invariants.quiet(written(world, since))
