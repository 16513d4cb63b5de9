"""Who was born and who died, write by write: what a look at the end of a run cannot tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import moto.backends

from policies.identity import ID, KEY, POLICY
from tests.world import Call, World

DESTROYS = frozenset(
    {
        "DeleteAlarms", "DeleteAutoScalingGroup", "DeleteBucket", "DeleteDBCluster", "DeleteDBInstance",
        "DeleteFunction", "DeleteLogGroup", "DeleteParameters", "DeleteQueue", "DeleteReplicationGroup", "DeleteRule",
        "DeleteService", "DeleteSnapshot", "DeleteStream", "DeleteTable", "DeleteTopic", "DeleteVolume",
        "TerminateInstances",
    }
)  # fmt: skip
"""Every call that ends a resource."""

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
        for key in sorted(self._known[call.service] - now):
            self.deaths[self._word(call, key)] += 1
        for key in sorted(now - self._known[call.service]):
            self.births[self._word(call, key)] += 1
            if not owner_tags_of(call) >= {POLICY, KEY, ID}:
                self.unowned.append(str(call))
        self._known[call.service] = now
        if call.service == "ec2":
            self.most_alive = max(self.most_alive, len(now))

    def _word(self, call: Call, key: str) -> str:
        return f"{call.service}/{_slot(self._world, key) if call.service == 'ec2' else key}"


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


NAMES: Mapping[str, Callable[[Any], Iterable[str]]] = {
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
    "rds": lambda rds: (name for some in (rds.databases, rds.clusters) for name, one in some.items() if _stays(one)),
    "elasticache": lambda found: (name for name, one in found.replication_groups.items() if _stays(one)),
    "autoscaling": lambda autoscaling: autoscaling.autoscaling_groups,
    "ec2": lambda ec2: (one.id for one in _instances(ec2) if one.state not in DEAD),
}
"""What there is, by service: names, and the ids of instances, which have none."""


def _stays(one: Any) -> bool:
    return (getattr(one, "db_instance_status", None) or one.status) != "deleting"


def _names(world: World, service: str) -> Iterator[str]:
    """What there is and is not on its way out."""
    backend, place = _backend(world, service), (world.account, world.region)
    leaving = {"dynamodb": world.dynamodb.is_deleting, "kinesis": world.kinesis.is_deleting}.get(service)
    for name in NAMES[service](backend) if backend is not None else ():
        if leaving is None or not leaving(place, name):
            yield name
