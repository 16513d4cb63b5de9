"""The other strategies over the kinds that they are made for: periods, numbers that move, schedules, expiry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from tests.sweep.scenarios import (
    GONE,
    GROUP,
    INSTANCE,
    QUEUE,
    QUICK,
    TABLE,
    Scenario,
    agents,
    foreign_instance,
    matched,
    of,
    policy,
    replicas,
)
from tests.sweep.scenarios_kinds import (
    DATABASE,
    FLEET,
    PARAMETER,
    SERVICE,
    SNAPSHOT,
    STREAM,
    VOLUME,
    a_cluster,
    their_database,
    volumes,
)
from tests.world import World

OFFICE = [{"days": ["mon", "tue", "wed", "thu", "fri"], "from": "08:00", "to": "19:00"}]
"""The world begins on a Monday at nine: within it."""


def scenarios() -> Iterator[Scenario]:
    """Rotation, scale, expire, enforce by the clock, and counts that move."""
    yield from _rotation()
    yield from _scale()
    yield from _expire()
    yield from _by_the_clock()
    yield from _counts()


def rotation(format_: str, period: str, ahead: int, keep: Any, **more: Any) -> Mapping[str, Any]:
    words = {"period": period, "timezone": "UTC", "format": format_, "ahead": ahead, "keep": keep}
    return {"type": "rotation", **words, **more}


def _rotation() -> Iterator[Scenario]:
    properties = {"LogGroupName": "/events/${period}", "RetentionInDays": 30}
    monthly = policy("monthly", GROUP, properties, rotation("%Y-%m", "month", 1, "all"))
    yield Scenario("months-new", of(monthly))
    over = {"overrides": {"past": {"RetentionInDays": 365}}}
    daily = policy("daily", GROUP, properties, rotation("%Y-%m-%d", "day", 1, 1, **over), **GONE)
    yield Scenario("days-turn", of(daily), of(daily), minutes=48 * 60)
    table = {
        "TableName": "events-${period}",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
    }
    quiet = {"overrides": {"past": {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}}}
    hourly = policy("hourly", TABLE, table, rotation("%Y-%m-%d-%H", "hour", 0, 1, **quiet), **GONE)
    yield Scenario("hours-turn", of(hourly), of(hourly), minutes=60)
    words = {"Name": "/flags/${period}", "Type": "String", "Value": "on"}
    weekly = policy("weekly", PARAMETER, words, rotation("%G-W%V", "week", 1, "all"))
    yield Scenario("weeks-new", of(weekly))


def scale(name: str, type_: str, word: str, to: Any, **match: Any) -> Any:
    return {
        "name": name,
        "driftCheck": "2m",
        "resource": {"type": type_, "match": match},
        "strategy": {"type": "scale", "property": word, "to": to},
    }


def by_clock(value: Any, otherwise: Any) -> Mapping[str, Any]:
    windows = [{**window, "value": value} for window in OFFICE]
    return {"type": "schedule", "timezone": "UTC", "windows": windows, "otherwise": otherwise}


def a_table(world: World) -> None:
    """Somebody's provisioned tables, one of them not ours to scale."""
    key = [{"AttributeName": "id", "KeyType": "HASH"}]
    attributes = [{"AttributeName": "id", "AttributeType": "S"}]
    for name in ("sessions", "other"):
        capacity = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
        world.outside.dynamodb.create_table(
            TableName=name, KeySchema=key, AttributeDefinitions=attributes, ProvisionedThroughput=capacity
        )
    world.tick_started()
    world.tick_started()


def a_stream(world: World) -> None:
    world.outside.kinesis.create_stream(StreamName="clicks", ShardCount=2)
    for _ in range(3):
        world.tick_started()


def a_fleet(world: World) -> None:
    template = {"ImageId": "ami-1", "InstanceType": "t3.micro"}
    world.outside.ec2.create_launch_template(LaunchTemplateName="work", LaunchTemplateData=template)
    world.outside.autoscaling.create_auto_scaling_group(
        AutoScalingGroupName="work",
        LaunchTemplate={"LaunchTemplateName": "work"},
        MinSize=0,
        MaxSize=4,
        DesiredCapacity=0,
        AvailabilityZones=["eu-west-1a"],
    )


def _scale() -> Iterator[Scenario]:
    capacity = "ProvisionedThroughput.WriteCapacityUnits"
    one = scale("capacity", TABLE, capacity, by_clock(20, 5), names=["sessions"])
    yield Scenario("tables-scaled", of(one), foreign=a_table, ours=frozenset({TABLE}))
    one = scale("shards", STREAM, "ShardCount", by_clock(8, 2), names=["clicks"])
    yield Scenario("streams-scaled", of(one), foreign=a_stream, ours=frozenset({STREAM}))
    one = scale("tasks", SERVICE, "DesiredCount", by_clock(3, 1), names=["shops/shop-theirs"])
    yield Scenario("services-scaled", of(one), foreign=a_cluster, ours=frozenset({SERVICE}))
    one = scale("sizes", FLEET, "MaxSize", by_clock(9, 2), names=["work"])
    yield Scenario("fleets-scaled", of(one), foreign=a_fleet, ours=frozenset({FLEET}))


def expire(after: Any, **more: Any) -> Mapping[str, Any]:
    return {"type": "expire", "after": after, "grace": "0s", **more}


def sandboxes(world: World) -> None:
    """Queues with a date in a tag: one that is over, one that is not, one without."""
    for name, moment in (("old", -1), ("young", 240)):
        at = (world.now + timedelta(hours=moment)).strftime("%Y-%m-%dT%H:%M:%SZ")
        world.outside.sqs.create_queue(QueueName=f"sandbox-{name}", tags={"expires": at})
    world.outside.sqs.create_queue(QueueName="sandbox-ever")


def _expire() -> Iterator[Scenario]:
    dated = expire({"tag": "expires"}, meanwhile={"MessageRetentionPeriod": 3600})
    match = {"match": {"namePrefix": "sandbox-"}}
    one = policy("sandboxes", QUEUE, {}, dated, resource=match, guardrails={"maxDeletes": "100%"})
    yield Scenario("queues-expired", of(one), foreign=sandboxes, ours=frozenset({QUEUE}))
    aged = {"resource": {"match": {"tags": {"env": "sandbox"}}}, "guardrails": {"maxDeletes": "100%"}}
    for name, type_ in (("volumes", VOLUME), ("snapshots", SNAPSHOT)):
        one = policy(name, type_, {}, expire("1h"), **aged)
        yield Scenario(f"{name}-expired", of(one), foreign=volumes, ours=frozenset({type_}), minutes=61)


def office_instances(world: World) -> None:
    """Two of an office, one that never rests."""
    for env in ("office", "office", "production"):
        tags = [{"ResourceType": "instance", "Tags": [{"Key": "env", "Value": env}]}]
        world.outside.ec2.run_instances(ImageId="ami-9", MinCount=1, MaxCount=1, TagSpecifications=tags)


def office_database(world: World) -> None:
    their_database(world)
    for _ in range(3):
        world.tick_started()


def _by_the_clock() -> Iterator[Scenario]:
    asleep = {"type": "enforce", "set": by_clock({"PowerState": "running"}, {"PowerState": "stopped"})}
    one = policy("hours", INSTANCE, {}, asleep, resource={"match": {"tags": {"env": "office"}}})
    ours = frozenset({INSTANCE})
    yield Scenario("instances-at-night", of(one), foreign=office_instances, minutes=11 * 60, ours=ours, most=3)
    yield Scenario("instances-at-dawn", of(one), of(one), foreign=office_instances, minutes=11 * 60, ours=ours, most=3)
    one = policy("nights", DATABASE, {}, asleep, resource={"match": {"names": ["orders-theirs"]}})
    ours = frozenset({DATABASE})
    yield Scenario("databases-at-night", of(one), foreign=office_database, minutes=11 * 60, ours=ours)
    short = {"type": "enforce", "set": by_clock({"RetentionInDays": 7}, {"RetentionInDays": 30})}
    one = matched("logs", GROUP, {}, {"namePrefix": "/aws/"})
    yield Scenario("groups-by-the-clock", of({**one, "strategy": short}), foreign=some_groups, ours=frozenset({GROUP}))


def some_groups(world: World) -> None:
    for name in ("/aws/a", "/aws/b"):
        world.outside.logs.create_log_group(logGroupName=name)


def _counts() -> Iterator[Scenario]:
    moving = replicas(by_clock(3, 1), maxUnavailable="100%", **QUICK)  # type: ignore[arg-type]
    one = {**agents(1), "strategy": moving, "guardrails": {"maxDeletes": "100%"}}
    yield Scenario("agents-by-day", of(one), foreign=foreign_instance, most=3)
    yield Scenario("agents-by-night", of(one), of(one), foreign=foreign_instance, minutes=11 * 60, most=3, least=1)
