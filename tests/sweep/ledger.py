"""Who was born and who died, write by write: what a look at the end of a run cannot tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import moto.backends

from policies.identity import ID, KEY, POLICY
from tests.world import Call, World

DESTROYS = {
    "DeleteQueue": "QueueUrl",
    "DeleteLogGroup": "logGroupName",
    "DeleteAlarms": "AlarmNames",
    "DeleteTable": "TableName",
    "DeleteTopic": "TopicArn",
    "DeleteRule": "Name",
    "DeleteParameter": "Name",
    "DeleteBucket": "Bucket",
    "DeleteStream": "StreamName",
    "DeleteService": "service",
    "DeleteFunction": "FunctionName",
    "DeleteDBInstance": "DBInstanceIdentifier",
    "DeleteDBCluster": "DBClusterIdentifier",
    "DeleteReplicationGroup": "ReplicationGroupId",
    "DeleteAutoScalingGroup": "AutoScalingGroupName",
    "DeleteVolume": "VolumeId",
    "DeleteSnapshot": "SnapshotId",
    "TerminateInstances": "InstanceIds",
}
"""Every call that ends a resource, and the parameter that says which."""

DEAD = ("shutting-down", "terminated")


class Ledger:
    """Births and deaths by key since it was opened; and what was amiss at a birth."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._known = {service: set(_names(world, service)) for service in NAMES}
        self.births: Counter[str] = Counter()
        self.deaths: Counter[str] = Counter()
        self.unowned: list[str] = []
        self.most_alive = 0
        world.watch(self._saw)

    def _saw(self, call: Call) -> None:
        if call.service not in NAMES:
            return
        now = set(_names(self._world, call.service))
        for key in sorted(now - self._known[call.service]):
            self.births[f"{call.service}/{_slot(self._world, key) if call.service == 'ec2' else key}"] += 1
            if not owner_tags_of(call) >= {POLICY, KEY, ID}:
                self.unowned.append(str(call))
        self._known[call.service] = now
        if call.service == "ec2":
            self.most_alive = max(self.most_alive, len(now))
        if call.operation in DESTROYS and call.outcome == "ok":  # its answer may still be lost
            self.deaths[f"{call.service}/{self._victim(call)}"] += 1

    def _victim(self, call: Call) -> str:
        victim = call.params[DESTROYS[call.operation]]
        name = victim[0] if isinstance(victim, list) else victim
        return _slot(self._world, name) if call.operation == "TerminateInstances" else name.rpartition("/")[2]


def owner_tags_of(call: Call) -> set[str]:
    """The keys of the tags that a create call carries, in whichever form its service takes them."""
    if call.operation == "RunInstances":
        return set.intersection(*({tag["Key"] for tag in one["Tags"]} for one in call.params["TagSpecifications"]))
    holder = call.params.get("CreateBucketConfiguration", call.params)
    tags = holder.get("tags") or holder.get("Tags") or {}
    return set(tags) if isinstance(tags, dict) else {tag.get("Key") or tag["key"] for tag in tags}


def _slot(world: World, instance_id: str) -> str:
    """The slot of an instance, which is what it has in place of a name; a volume is its own."""
    for one in _instances(_backend(world, "ec2")):
        if one.id == instance_id:
            return next((tag["value"] for tag in one.get_tags() if tag["key"] == KEY), instance_id)
    return instance_id


def running(world: World) -> int:
    """How many instances run."""
    ec2 = _backend(world, "ec2")
    return sum(one.state == "running" for one in _instances(ec2)) if ec2 else 0


def _instances(ec2: Any) -> Iterator[Any]:
    return (one for reservation in ec2.reservations.values() for one in reservation.instances)


def _backend(world: World, service: str) -> Any:
    found = moto.backends.get_backend(service)  # type: ignore[call-overload]
    region = "aws" if service == "s3" else world.region
    used = world.account in found and region in found[world.account].keys()  # noqa: SIM118 - moto's `in` means more
    return found[world.account][region] if used else None


NAMES: Mapping[str, Callable[[Any], Any]] = {
    "sqs": lambda sqs: sqs.queues,
    "logs": lambda logs: logs.groups,
    "cloudwatch": lambda cloudwatch: cloudwatch.alarms,
    "dynamodb": lambda dynamodb: dynamodb.tables,
    "sns": lambda sns: (arn.rpartition(":")[2] for arn in sns.topics),
    "events": lambda events: events._get_event_bus("default").rules,
    "ssm": lambda ssm: ssm._parameters,
    "s3": lambda s3: s3.buckets,
    "kinesis": lambda kinesis: kinesis.streams,
    "ecs": lambda ecs: (one.name for one in ecs.services.values() if one.status == "ACTIVE"),
    "lambda": lambda functions: (one.function_name for one in functions.list_functions()),
    "rds": lambda rds: (*rds.databases, *rds.clusters),
    "elasticache": lambda elasticache: elasticache.replication_groups,
    "autoscaling": lambda autoscaling: autoscaling.autoscaling_groups,
    "ec2": lambda ec2: (one.id for one in _instances(ec2) if one.state not in DEAD),
}
"""What has a name, by service; instances, which have none, are told apart by their ids."""


def _names(world: World, service: str) -> Any:
    backend = _backend(world, service)
    return () if backend is None else NAMES[service](backend)
