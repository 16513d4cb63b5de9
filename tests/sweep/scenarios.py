"""Ways from one state of the world to another: what the sweep breaks at every call."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.sweep.harness import Documents
from tests.world import World

SECRET = "tr0ub4dor-and-3"
"""Stands in properties where people put secrets; must never come out anywhere."""


def _nothing(world: World) -> None:
    pass


@dataclass(frozen=True)
class Scenario:
    """`before` holds, `between` happens by hand, and then `documents` shall hold.

    `foreign` makes what is not ours and must never change. `most` is how many instances may be alive at a time, and
    `least` how many must be running once so many were, foreign ones aside.
    """

    name: str
    documents: Documents
    before: Documents | None = None
    foreign: Callable[[World], None] = _nothing
    between: Callable[[World], None] = _nothing
    minutes: int = 0
    most: int = 0
    least: int = 0
    ours: frozenset[str] = frozenset()
    """Types of which even what somebody else made is ours to change (adopt, enforce)."""

    def __str__(self) -> str:
        return self.name


def document(*policies: Mapping[str, Any], **more: Any) -> Mapping[str, Any]:
    return {"version": 1, "policies": list(policies), **more}


def policy(name: str, type_: str, properties: Mapping[str, Any], strategy: Mapping[str, Any], **more: Any) -> Any:
    resource = {"type": type_, "properties": properties, **more.pop("resource", {})}
    return {"name": name, "driftCheck": "2m", "resource": resource, "strategy": strategy, **more}


def for_each(*values: Any, **more: Any) -> Mapping[str, Any]:
    return {"type": "forEach", "items": {"source": "list", "values": list(values), **more}}


def replicas(count: int, **more: Any) -> Mapping[str, Any]:
    return {"type": "replicas", "count": count, **more}


TAGS = [{"Key": "team", "Value": "orders"}]
QUEUE, GROUP, ALARM = "AWS::SQS::Queue", "AWS::Logs::LogGroup", "AWS::CloudWatch::Alarm"
TABLE, INSTANCE = "AWS::DynamoDB::Table", "AWS::EC2::Instance"
GONE = {"removal": "delete", "grace": "0s", "guardrails": {"maxDeletes": "100%"}}


def queue(*items: str, wait: int = 120, **more: Any) -> Any:
    properties = {
        "QueueName": "orders-${item}",
        "VisibilityTimeout": wait,
        "MessageRetentionPeriod": 3600,
        "RedrivePolicy": {"deadLetterTargetArn": "arn:aws:sqs:eu-west-1:123456789012:dead", "maxReceiveCount": 5},
        "Tags": TAGS,
    }
    return policy("queues", QUEUE, properties, for_each(*items), **more)


def fifo(*items: str, deduplicate: bool = True, **more: Any) -> Any:
    properties = {
        "QueueName": "fifo-${item}.fifo",
        "FifoQueue": True,
        "ContentBasedDeduplication": deduplicate,
        "Tags": TAGS,
    }
    return policy("fifos", QUEUE, properties, for_each(*items), **more)


def group(*items: str, days: int = 30, **more: Any) -> Any:
    properties = {"LogGroupName": "/orders/${item}", "RetentionInDays": days, "Tags": TAGS}
    return policy("groups", GROUP, properties, for_each(*items), **more)


def alarm(*items: str, threshold: int = 5, **more: Any) -> Any:
    properties = {
        "AlarmName": "orders-${item}",
        "AlarmDescription": f"see https://ops:{SECRET}@wiki/orders",
        "Namespace": "AWS/SQS",
        "MetricName": "ApproximateNumberOfMessagesVisible",
        "Dimensions": [{"Name": "QueueName", "Value": "orders-${item}"}],
        "Statistic": "Maximum",
        "Period": 60,
        "EvaluationPeriods": 3,
        "Threshold": threshold,
        "ComparisonOperator": "GreaterThanThreshold",
        "Tags": TAGS,
    }
    return policy("alarms", ALARM, properties, for_each(*items), **more)


def table(*items: str, expiry: str | None = "until", key: str = "id", **more: Any) -> Any:
    properties = {
        "TableName": "orders-${item}",
        "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
        "Tags": TAGS,
    }
    if expiry:
        properties["TimeToLiveSpecification"] = {"Enabled": True, "AttributeName": expiry}
    return policy("tables", TABLE, properties, for_each(*items), **more)


def instance_properties(image: str = "ami-1", size: str = "t3.micro", **more: Any) -> Any:
    data = b64encode(f"#!/bin/sh\nexport PASSWORD={SECRET}\n".encode()).decode()
    return {"ImageId": image, "InstanceType": size, "UserData": data, "Tags": TAGS, **more}


def instance(*items: str, **more: Any) -> Any:
    return policy("singles", INSTANCE, instance_properties(), for_each(*items), **more)


def agents(count: int, image: str = "ami-1", strategy: Mapping[str, Any] | None = None, **more: Any) -> Any:
    how = replicas(count, **{"maxUnavailable": "100%", **(strategy or {})})
    return policy("agents", INSTANCE, instance_properties(image), how, **more)


def strangers(world: World) -> None:
    """Somebody else's, one of each kind, some of them under our prefixes."""
    outside = world.outside
    outside.sqs.create_queue(QueueName="orders-theirs", Attributes={"DelaySeconds": "7"}, tags={"owner": "them"})
    outside.sqs.create_queue(QueueName="dead")
    outside.logs.create_log_group(logGroupName="/orders/theirs", tags={"owner": "them"})


def foreign_instance(world: World) -> None:
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "owner", "Value": "them"}]}]
    world.outside.ec2.run_instances(ImageId="ami-9", MinCount=1, MaxCount=1, TagSpecifications=tags)


def kill_one(world: World) -> None:
    """One of ours dies by itself."""
    for reservation in world.outside.ec2.describe_instances()["Reservations"]:
        for one in reservation["Instances"]:
            tags = {tag["Key"]: tag["Value"] for tag in one.get("Tags", ())}
            if tags.get("setpoint:key") == "1":
                world.outside.ec2.terminate_instances(InstanceIds=[one["InstanceId"]])


def of(*policies: Any) -> Documents:
    return {"main": document(*policies)}


def taken(world: World) -> None:
    """Somebody has a queue of a name that we want."""
    world.outside.sqs.create_queue(QueueName="dead")
    world.outside.sqs.create_queue(QueueName="orders-b", Attributes={"DelaySeconds": "7"}, tags={"owner": "them"})


def by_hand(world: World) -> None:
    """What a policy may adopt: under our name, and nobody's."""
    world.outside.sqs.create_queue(QueueName="dead")
    world.outside.sqs.create_queue(QueueName="orders-a", Attributes={"VisibilityTimeout": "7"}, tags={"since": "2019"})


def others_groups(world: World) -> None:
    """Log groups of functions, one of which keeps its logs for ever and one for a day."""
    logs = world.outside.logs
    for name in ("/aws/lambda/a", "/aws/lambda/b", "/aws/lambda/c"):
        logs.create_log_group(logGroupName=name, tags={"made-by": "lambda"})
    logs.put_retention_policy(logGroupName="/aws/lambda/b", retentionInDays=1)
    logs.put_retention_policy(logGroupName="/aws/lambda/c", retentionInDays=14)


def others_instances(world: World) -> None:
    """Two that run in a sandbox, and one elsewhere."""
    for env in ("sandbox", "sandbox", "production"):
        tags = [{"ResourceType": "instance", "Tags": [{"Key": "env", "Value": env}]}]
        world.outside.ec2.run_instances(ImageId="ami-9", MinCount=1, MaxCount=1, TagSpecifications=tags)


def matched(name: str, type_: str, properties: Mapping[str, Any], match: Mapping[str, Any]) -> Any:
    return policy(name, type_, properties, {"type": "enforce"}, resource={"match": match})


def numbered(count: int, **more: Any) -> Any:
    properties = {"QueueName": "shard-${index}", "VisibilityTimeout": 45, "Tags": TAGS}
    return policy("shards", QUEUE, properties, replicas(count, minLifetime="0s"), **more)


def renamed(name: str, one: Any, **more: Any) -> Any:
    return {**one, "name": name, **more}


QUICK = {"minLifetime": "0s"}
IMAGES = ("ami-1", "ami-2")


def scenarios() -> Iterator[Scenario]:
    """Every scenario: strategies times kinds, new, edited, leaving, replaced, adopted, renamed."""
    yield from _new()
    yield from _edited()
    yield from _leaving()
    yield from _replaced()
    yield from _taken_over()
    yield from _replicas()
    yield from _enforced()


def _new() -> Iterator[Scenario]:
    yield Scenario("queues-new", of(queue("a", "b")), foreign=strangers)
    yield Scenario("fifos-new", of(fifo("a")), foreign=strangers)
    yield Scenario("groups-new", of(group("a")), foreign=strangers)
    later = {"LogGroupName": "/orders/${item}", "Tags": TAGS}
    initial = policy("initials", GROUP, later, for_each("a"), resource={"initial": {"RetentionInDays": 7}})
    yield Scenario("groups-initial", of(initial), foreign=strangers)
    yield Scenario("alarms-new", of(alarm("a")))
    yield Scenario("tables-new", of(table("a")))
    yield Scenario("tables-plain", of(table("a", expiry=None)))
    yield Scenario("instances-new", of(instance("a")), foreign=foreign_instance, most=1)
    stopped = policy("singles", INSTANCE, instance_properties(PowerState="stopped"), for_each("a"))
    yield Scenario("instances-stopped", of(stopped), most=1)


def _edited() -> Iterator[Scenario]:
    yield Scenario("queues-edited", of(queue("a", wait=30)), of(queue("a")), foreign=strangers)
    yield Scenario("groups-edited", of(group("a", days=7)), of(group("a")), foreign=strangers)
    yield Scenario("alarms-edited", of(alarm("a", threshold=9)), of(alarm("a")))
    protected = table("a")
    protected["resource"]["properties"]["DeletionProtectionEnabled"] = True
    protected["resource"]["properties"]["StreamSpecification"] = {"StreamViewType": "KEYS_ONLY"}
    yield Scenario("tables-edited", of(protected), of(table("a", expiry=None)))
    asleep = policy("singles", INSTANCE, instance_properties(PowerState="stopped"), for_each("a"))
    yield Scenario("instances-edited", of(asleep), of(instance("a")), foreign=foreign_instance, most=1)
    both = policy("singles", INSTANCE, instance_properties(PowerState="stopped"), for_each("a", "b"))
    yield Scenario("instances-edited-together", of(both), of(instance("a", "b")), foreign=foreign_instance, most=2)


def _leaving() -> Iterator[Scenario]:
    yield Scenario("queues-leaving", of(queue("a", **GONE)), of(queue("a", "b", "c", **GONE)), foreign=strangers)
    yield Scenario("queues-retained", of(queue("a")), of(queue("a", "b")), foreign=strangers)
    yield Scenario("groups-leaving", of(group("a", **GONE)), of(group("a", "b", **GONE)), foreign=strangers)
    yield Scenario("alarms-leaving", of(alarm("a", **GONE)), of(alarm("a", "b", **GONE)))
    yield Scenario("tables-leaving", of(table("a", **GONE)), of(table("a", "b", **GONE)))
    two, one = instance("a", "b", **GONE), instance("a", **GONE)
    yield Scenario("instances-leaving", of(one), of(two), foreign=foreign_instance, most=2)
    four, one = alarm("a", "b", "c", "d", **GONE), alarm("a", **GONE)
    yield Scenario("alarms-leaving-together", of(one), of(four))
    three, none = instance("a", "b", "c", **GONE), instance("a", "b", "c", ensure="absent", **GONE)
    yield Scenario("instances-leaving-together", of(none), of(three), foreign=foreign_instance, most=3)
    yield Scenario("queues-absent", of(queue("a", ensure="absent", **GONE)), of(queue("a", **GONE)), foreign=strangers)
    orphaned = {"main": document(group("a"), orphans="delete")}
    gone = {"main": document(group("a"), queue("a", **GONE), orphans="delete")}
    yield Scenario("queues-orphaned", orphaned, gone, foreign=strangers)


def _replaced() -> Iterator[Scenario]:
    first = {"replace": "deleteFirst", **GONE}
    yield Scenario("tables-replaced", of(table("a", expiry=None, key="sku", **first)), of(table("a", expiry=None)))
    old, new = (policy("singles", INSTANCE, instance_properties(image), for_each("a"), **first) for image in IMAGES)
    yield Scenario("instances-replaced", of(new), of(old), foreign=foreign_instance, most=1)


def _taken_over() -> Iterator[Scenario]:
    yield Scenario("queues-taken", of(queue("a", "b")), foreign=taken)
    yield Scenario("queues-adopted", of(queue("a", "b", adopt=True)), foreign=by_hand, ours=frozenset({QUEUE}))
    after = renamed("tenants", queue("a"), formerly=["queues"])
    yield Scenario("queues-renamed", of(after), of(queue("a")), foreign=strangers)
    after = renamed("workers", agents(2), formerly=["agents"])
    yield Scenario("agents-renamed", of(after), of(agents(2)), foreign=foreign_instance, most=2)


def _replicas() -> Iterator[Scenario]:
    yield Scenario("agents-new", of(agents(3)), foreign=foreign_instance, most=3)
    yield Scenario("agents-dead", of(agents(2)), of(agents(2)), between=kill_one, most=2)
    yield Scenario("agents-in", of(agents(1, strategy=QUICK)), of(agents(3)), minutes=61, most=3, least=1)
    for how, most in (("createFirst", 4), ("deleteFirst", 2)):
        old, new = (agents(2, image, QUICK, replace=how, guardrails={"maxDeletes": "100%"}) for image in IMAGES)
        yield Scenario(f"agents-{how}", of(new), of(old), minutes=61, most=most, least=2 if how == "createFirst" else 0)
    pace = {**QUICK, "maxUnavailable": 1}
    old, new = (agents(2, image, pace, replace="deleteFirst", guardrails={"maxDeletes": "100%"}) for image in IMAGES)
    yield Scenario("agents-one-by-one", of(new), of(old), minutes=61, most=2, least=1)
    yield Scenario("shards-new", of(numbered(2)))
    yield Scenario("shards-in", of(numbered(1, **GONE)), of(numbered(3, **GONE)), minutes=61)


def _enforced() -> Iterator[Scenario]:
    kept = matched("retention", GROUP, {"RetentionInDays": 14}, {"namePrefix": "/aws/lambda/"})
    yield Scenario("groups-enforced", of(kept), foreign=others_groups, ours=frozenset({GROUP}))
    asleep = matched("asleep", INSTANCE, {"PowerState": "stopped"}, {"tags": {"env": "sandbox"}})
    yield Scenario("instances-enforced", of(asleep), foreign=others_instances, ours=frozenset({INSTANCE}), most=3)
