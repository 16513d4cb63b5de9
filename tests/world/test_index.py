"""The tag index knows what moto's leaves out."""

import json
from typing import Any

from tests.world import World

TAGS = [{"Key": "team", "Value": "orders"}]


def arns(world: World, kind: str) -> list[Any]:
    index = world.session.client("resourcegroupstaggingapi")
    return [found["ResourceARN"] for found in index.get_resources(ResourceTypeFilters=[kind])["ResourceTagMappingList"]]


def test_streams_and_rules_are_indexed(world: World) -> None:
    world.session.client("kinesis").create_stream(StreamName="s", ShardCount=1, Tags={"team": "orders"})
    world.session.client("kinesis").create_stream(StreamName="untagged", ShardCount=1)
    events = world.session.client("events")
    events.put_rule(Name="r", EventPattern=json.dumps({"source": ["a"]}), Tags=TAGS)
    assert arns(world, "kinesis:stream") == ["arn:aws:kinesis:eu-west-1:123456789012:stream/s"]
    assert arns(world, "events:rule") == ["arn:aws:events:eu-west-1:123456789012:rule/r"]


def test_they_lag_like_the_others(world: World) -> None:
    world.index_lag = 1
    world.tick_started()
    world.session.client("kinesis").create_stream(StreamName="s", ShardCount=1, Tags={"team": "orders"})
    assert arns(world, "kinesis:stream") == []
    for _ in range(2):
        world.tick_started()
    assert len(arns(world, "kinesis:stream")) == 1
