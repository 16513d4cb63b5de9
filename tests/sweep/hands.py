"""What people do behind our back, and what they see."""

from __future__ import annotations

from typing import Any

from handler.loop.run import RunReport
from tests.sweep import invariants
from tests.sweep.harness import tick
from tests.sweep.scenarios import QUEUE, TAGS, policy
from tests.world import World

OURS = invariants.OWNER_TAGS | {"team"}
"""The tags that our resources carry."""


def url(world: World, name: str) -> str:
    return str(world.outside.sqs.get_queue_url(QueueName=name)["QueueUrl"])


def tags(world: World, name: str) -> dict[str, str]:
    return dict(world.outside.sqs.list_queue_tags(QueueUrl=url(world, name)).get("Tags", {}))


def from_parameter(**more: Any) -> Any:
    """A policy whose items stand in the parameter `/tenants`, and that deletes at once."""
    items = {"type": "forEach", "items": {"source": "ssmParameter", "name": "/tenants", **more.pop("items", {})}}
    properties = {"QueueName": "tenant-${item}", "Tags": TAGS}
    return policy("tenants", QUEUE, properties, items, removal="delete", grace="0s", **more)


def put_items(world: World, text: str) -> None:
    """Write the parameter, as somebody's pipeline does."""
    world.outside.ssm.put_parameter(Name="/tenants", Value=text, Type="String", Overwrite=True)


def runs(world: World, documents: Any, count: int) -> RunReport:
    """Some runs, a minute apart; the last one's report."""
    report = None
    for _ in range(count):
        report = tick(world, documents)
    assert report is not None
    return report


def instances(world: World) -> list[dict[str, Any]]:
    reservations = world.outside.ec2.describe_instances()["Reservations"]
    return [one for reservation in reservations for one in reservation["Instances"]]
