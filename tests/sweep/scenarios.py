"""Ways from one state of the world to another: what the sweep breaks at every call."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
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

    `foreign` makes what is not ours and must never change. `most` is how many instances may be alive at a time,
    foreign ones aside; `lag` says whether the scenario is run with stale reads too.
    """

    name: str
    documents: Documents
    before: Documents | None = None
    foreign: Callable[[World], None] = _nothing
    between: Callable[[World], None] = _nothing
    minutes: int = 0
    most: int = 0

    def __str__(self) -> str:
        return self.name


def document(*policies: Mapping[str, Any], **more: Any) -> Mapping[str, Any]:
    return {"version": 1, "policies": list(policies), **more}


def policy(name: str, type_: str, properties: Mapping[str, Any], strategy: Mapping[str, Any], **more: Any) -> Any:
    resource = {"type": type_, "properties": properties, **more.pop("resource", {})}
    return {"name": name, "resource": resource, "strategy": strategy, **more}


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
