"""What people run at night, as policies, end to end: each converges, does its work, and then stays quiet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.engine.given import GROUP, QUEUE, run, settle
from tests.engine.test_moving import MINUTE, go_to, of, put, written
from tests.world import World

DATABASE, FLEET = "AWS::RDS::DBInstance", "AWS::AutoScaling::AutoScalingGroup"
SERVICE, STREAM, VOLUME = "AWS::ECS::Service", "AWS::Kinesis::Stream", "AWS::EC2::Volume"
ALARM = "AWS::CloudWatch::Alarm"


def by_day(day: Mapping[str, Any], night: Mapping[str, Any]) -> dict[str, Any]:
    """Office hours in Paris: Monday to Friday, eight to six."""
    window = {"days": ["mon", "tue", "wed", "thu", "fri"], "from": "08:00", "to": "18:00", "value": day}
    return {"type": "schedule", "timezone": "Europe/Paris", "windows": [window], "otherwise": night}


def enforce(type_: str, match: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    strategy = {"type": "enforce", **({"set": more.pop("set")} if "set" in more else {})}
    return {"name": "night", "resource": {"type": type_, "match": match, **more}, "strategy": strategy}


def test_office_hours_of_a_database(world: World) -> None:
    size = {"DBInstanceClass": "db.t3.micro", "Engine": "postgres", "AllocatedStorage": 20}
    secret = {"MasterUsername": "app", "MasterUserPassword": "not-a-good-one"}
    tags = [{"Key": "hours", "Value": "office"}]
    world.outside.rds.create_db_instance(DBInstanceIdentifier="shop", **size, **secret, Tags=tags)
    power = by_day({"PowerState": "running"}, {"PowerState": "stopped"})
    policies = of(enforce(DATABASE, {"tags": {"hours": "office"}}, set=power))

    def status() -> str:
        return str(world.outside.rds.describe_db_instances()["DBInstances"][0]["DBInstanceStatus"])

    settle(world, policies, 3)
    assert written(world, policies) == []
    go_to(world, "2026-03-02T17:01:00Z")
    settle(world, policies, 8)
    assert status() == "stopped"
    assert written(world, policies) == []
    go_to(world, "2026-03-03T07:01:00Z")
    settle(world, policies, 8)
    assert status() == "available"


def test_office_hours_of_a_fleet_move_its_sizes_in_one_call(world: World) -> None:
    ec2, scaling = world.outside.client("ec2"), world.outside.client("autoscaling")
    ec2.create_launch_template(
        LaunchTemplateName="web", LaunchTemplateData={"ImageId": "ami-12c6146b", "InstanceType": "t3.micro"}
    )
    zone = f"{world.region}a"
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="web", MinSize=4, MaxSize=8, DesiredCapacity=4, AvailabilityZones=[zone],
        LaunchTemplate={"LaunchTemplateName": "web"},
    )  # fmt: skip
    day = {"MinSize": 4, "MaxSize": 8, "DesiredCapacity": 4}
    policies = of(enforce(FLEET, {"names": ["web"]}, set=by_day(day, dict.fromkeys(day, 0))))

    def sizes() -> tuple[int, ...]:
        (group,) = scaling.describe_auto_scaling_groups()["AutoScalingGroups"]
        return tuple(group[word] for word in ("MinSize", "MaxSize", "DesiredCapacity"))

    assert written(world, policies) == []
    go_to(world, "2026-03-02T17:01:00Z")
    before = len(world.calls(mutating=True))
    settle(world, policies, 8)
    assert sizes() == (0, 0, 0)
    assert [call.operation for call in world.calls(mutating=True)[before:]] == ["UpdateAutoScalingGroup"]
    go_to(world, "2026-03-03T07:01:00Z")
    settle(world, policies, 8)
    assert sizes() == (4, 8, 4)
    assert written(world, policies) == []


def test_workers_by_the_depth_of_their_queue(world: World) -> None:
    ecs = world.outside.client("ecs")
    ecs.create_cluster(clusterName="shop")
    ecs.register_task_definition(family="work", containerDefinitions=[{"name": "w", "image": "w", "memory": 64}])
    ecs.create_service(cluster="shop", serviceName="workers", taskDefinition="work", desiredCount=1)
    metric = {"namespace": "Shop", "name": "Backlog", "statistic": "Maximum", "period": "1m", "missing": 0}
    load = {**metric, "dimensions": {"Queue": "jobs"}}
    number = {"type": "target", "load": load, "perUnit": 100, "min": 1, "max": 20, "scaleInAfter": "5m"}
    policies = of(
        {
            "name": "workers",
            "resource": {"type": SERVICE, "match": {"names": ["shop/workers"]}},
            "strategy": {"type": "scale", "property": "DesiredCount", "to": number},
        }
    )

    def wanted() -> int:
        (service,) = ecs.describe_services(cluster="shop", services=["workers"])["services"]
        return int(service["desiredCount"])

    put(world, 950, minutes=12, Queue="jobs")
    settle(world, policies, 3)
    assert wanted() == 10  # out at once, to an exact count
    world.advance(30 * MINUTE)
    put(world, 120, minutes=12, Queue="jobs")
    settle(world, policies, 6)
    assert wanted() == 2  # in, once ten minutes of history agree
    assert written(world, policies) == []


def test_shards_in_a_band(world: World) -> None:
    kinesis = world.outside.client("kinesis")
    kinesis.create_stream(StreamName="events", ShardCount=2)
    metric = {"namespace": "Shop", "name": "Backlog", "statistic": "Maximum", "period": "1m"}
    load = {**metric, "dimensions": {"Stream": "events"}}
    up = {"above": 70, "for": "3m", "step": 2, "cooldown": "10m"}
    down = {"below": 20, "for": "10m", "step": 1, "cooldown": "30m"}
    band = {"type": "band", "metric": load, "min": 2, "max": 8, "up": up, "down": down}
    policies = of(
        {
            "name": "shards",
            "resource": {"type": STREAM, "match": {"names": ["events"]}},
            "strategy": {"type": "scale", "property": "ShardCount", "to": band},
        }
    )

    def shards() -> int:
        shown = kinesis.describe_stream_summary(StreamName="events")["StreamDescriptionSummary"]
        return int(shown["OpenShardCount"])

    sizes = [shards()]
    for minute in range(25):
        put(world, 90 if minute < 12 else 50, minutes=1, Stream="events")
        run(world, policies)
        world.advance(MINUTE)
        sizes.append(shards())
    assert sizes[0] == 2
    assert sizes[-1] in (4, 6)  # one step, or two where the second falls into the twelve bad minutes
    assert sizes == sorted(sizes)
    assert max(sizes) <= 8


def test_a_janitor_for_volumes_that_nobody_uses(world: World) -> None:
    ec2 = world.outside.client("ec2")
    zone = f"{world.region}a"
    old, kept = (ec2.create_volume(AvailabilityZone=zone, Size=8)["VolumeId"] for _ in range(2))
    ec2.create_tags(Resources=[kept], Tags=[{"Key": "keep", "Value": "yes"}])
    policies = of(
        {
            "name": "janitor",
            "resource": {
                "type": VOLUME, "match": {"where": {"State": "available"}}, "except": {"tags": {"keep": "yes"}},
            },
            "strategy": {"type": "expire", "after": "14d", "grace": "7d"},
            "guardrails": {"maxDeletes": 5, "deleteIf": {"State": "available"}},
        }
    )  # fmt: skip
    assert written(world, policies) == []  # young
    world.advance(15 * 24 * 60 * MINUTE)
    settle(world, policies, 6)
    assert {one["VolumeId"] for one in ec2.describe_volumes()["Volumes"]} == {old, kept}  # marked only
    assert written(world, policies) == []
    world.advance(8 * 24 * 60 * MINUTE)
    settle(world, policies, 6)
    assert {one["VolumeId"] for one in ec2.describe_volumes()["Volumes"]} == {kept}
    assert written(world, policies) == []


def test_an_alarm_for_every_queue(world: World) -> None:
    properties = {
        "AlarmName": "deep-${item.QueueName}", "Namespace": "AWS/SQS", "MetricName": "ApproximateAgeOfOldestMessage",
        "Dimensions": [{"Name": "QueueName", "Value": "${item.QueueName}"}], "Statistic": "Maximum", "Period": 300,
        "EvaluationPeriods": 3, "Threshold": 900, "ComparisonOperator": "GreaterThanThreshold",
    }  # fmt: skip
    source = {"source": "resources", "type": QUEUE, "match": {"namePrefix": "orders-"}}
    policies = of(
        {
            "name": "alarms",
            "resource": {"type": ALARM, "properties": properties},
            "strategy": {"type": "forEach", "items": source},
            "guardrails": {"maxDeletes": "100%"},
        }
    )
    for name in ("orders-a", "orders-b", "other"):
        world.outside.sqs.create_queue(QueueName=name)
    settle(world, policies, 3)
    assert set(world.resources()[ALARM]) == {"deep-orders-a", "deep-orders-b"}
    assert written(world, policies) == []
    world.outside.sqs.delete_queue(QueueUrl=world.outside.sqs.get_queue_url(QueueName="orders-b")["QueueUrl"])
    world.outside.sqs.create_queue(QueueName="orders-c")
    settle(world, policies, 3)
    assert set(world.resources()[ALARM]) == {"deep-orders-a", "deep-orders-c"}


def test_log_retention_everywhere(world: World) -> None:
    for name, days in (("/a", None), ("/b", 3), ("/c", 30), ("/audit/x", None)):
        world.outside.logs.create_log_group(logGroupName=name)
        if days:
            world.outside.logs.put_retention_policy(logGroupName=name, retentionInDays=days)
    resource = {
        "type": GROUP, "match": {"namePrefix": ""}, "except": {"namePrefix": "/audit/"},
        "properties": {"RetentionInDays": 30},
    }  # fmt: skip
    policies = of({"name": "retention", "resource": resource, "strategy": {"type": "enforce"}})
    settle(world, policies, 2)
    shown = {one["logGroupName"]: one.get("retentionInDays") for one in _groups(world)}
    assert shown == {"/a": 30, "/b": 30, "/c": 30, "/audit/x": None}
    assert written(world, policies) == []
    assert {call.params["logGroupName"] for call in world.calls(operation="PutRetentionPolicy")} == {"/a", "/b"}


def _groups(world: World) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.outside.logs.describe_log_groups()["logGroups"]
    return found
