"""ElastiCache replication groups (Valkey, Redis OSS), with one shard or with several.

DescribeReplicationGroups shows most of one; what concerns its nodes (version, parameter group, windows, security
groups) is shown with the nodes only, so one of them is described as well. A group takes one change at a time, and none
while it is not available: settings are one call, adding and removing replicas and shards are calls of their own.
Replicas are added before the settings change and removed after them, since failover needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from infra.aws import Aws
from infra.kinds.elasticache_replication_group_properties import (
    COUNTS,
    NOT_SUPPORTED,
    ReplicationGroupProperties,
    creation,
    modification,
    parse,
    problems,
    settled_count,
)
from infra.kinds.kind import Kind
from policies.action import Change, Desired, Progress
from policies.frozen import NOTHING, Json, freeze, merge
from policies.world import Resource, State

_GROUPS = "ReplicationGroups"
_STATES = {"available": State.READY, "deleting": State.DELETING, "create-failed": State.UNHEALTHY}
_TAGLESS = ("creating", "deleting")


class ElasticacheReplicationGroup(Kind):
    """`AWS::ElastiCache::ReplicationGroup`. `NumCacheClusters` or `ReplicasPerNodeGroup` says how many replicas."""

    type = "AWS::ElastiCache::ReplicationGroup"
    properties = ReplicationGroupProperties
    identifier = "ReplicationGroupId"
    facts = frozenset({"ClusterEnabled", "CreateTime", "EndpointAddress", "NodeCount", "ReaderAddress", "Status"})
    read_only = frozenset(
        {
            "ConfigurationEndPoint",
            "ConfigurationEndPoint.Address",
            "ConfigurationEndPoint.Port",
            "EffectiveDurability",
            "PrimaryEndPoint",
            "PrimaryEndPoint.Address",
            "PrimaryEndPoint.Port",
            "ReadEndPoint",
            "ReadEndPoint.Addresses",
            "ReadEndPoint.AddressesList",
            "ReadEndPoint.Ports",
            "ReadEndPoint.PortsList",
            "ReaderEndPoint",
            "ReaderEndPoint.Address",
            "ReaderEndPoint.Port",
        }
    )
    not_supported = NOT_SUPPORTED
    holds_data = True
    index = "elasticache:replicationgroup"
    absent_codes = frozenset({"ReplicationGroupNotFoundFault"})
    exists_codes = frozenset({"ReplicationGroupAlreadyExists"})
    # A node that is gone when it is described was removed just now.
    wait_codes = frozenset(
        {
            "CacheClusterNotFound",
            "CacheSubnetGroupNotFoundFault",
            "InsufficientCacheClusterCapacity",
            "InvalidCacheClusterState",
            "InvalidReplicationGroupState",
            "InvalidUserGroupState",
        }
    )
    iam = {
        "survey": frozenset({"elasticache:DescribeReplicationGroups"}),
        "read": frozenset(
            {
                "elasticache:DescribeCacheClusters",
                "elasticache:DescribeReplicationGroups",
                "elasticache:ListTagsForResource",
            }
        ),
        "create": frozenset({"elasticache:AddTagsToResource", "elasticache:CreateReplicationGroup"}),
        "update": frozenset(
            {
                "elasticache:AddTagsToResource",
                "elasticache:DecreaseReplicaCount",
                "elasticache:IncreaseReplicaCount",
                "elasticache:ModifyReplicationGroup",
                "elasticache:ModifyReplicationGroupShardConfiguration",
                "elasticache:RemoveTagsFromResource",
            }
        ),
        "delete": frozenset({"elasticache:DeleteReplicationGroup"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        return next(problems(properties), None)

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        page = {"PageSize": 100}
        for group in aws.pages("elasticache", "describe_replication_groups", _GROUPS, PaginationConfig=page):
            if group["ReplicationGroupId"].startswith(tuple(prefixes)):
                yield _resource(group)

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        elasticache = aws.client("elasticache")
        groups = elasticache.describe_replication_groups(ReplicationGroupId=seen.id)[_GROUPS]
        if not groups:
            return None
        group, members = groups[0], groups[0].get("MemberClusters") or ()
        node = NOTHING
        if members and group["Status"] != "deleting":
            node = elasticache.describe_cache_clusters(CacheClusterId=members[0])["CacheClusters"][0]
        tags = seen.tags
        if tags is None and group["Status"] not in _TAGLESS:
            found = elasticache.list_tags_for_resource(ResourceName=group["ARN"])["TagList"]
            tags = {tag["Key"]: tag.get("Value", "") for tag in found}
        return _resource(group, tags, freeze(parse(group, node)))

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        declared = merge(desired.initial, desired.properties)
        aws.client("elasticache").create_replication_group(**creation(declared), Tags=_tags(desired.tags))
        return Progress.COMPLETE

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        elasticache = aws.client("elasticache")
        steps = list(_steps(elasticache, seen, change.properties))
        for step in steps[:1]:
            step()
        if len(steps) > 1:
            return Progress.PARTIAL
        if change.tags:
            elasticache.add_tags_to_resource(ResourceName=seen.arn, Tags=_tags(change.tags))
        if change.untag:
            elasticache.remove_tags_from_resource(ResourceName=seen.arn, TagKeys=sorted(change.untag))
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        aws.client("elasticache").delete_replication_group(ReplicationGroupId=seen.id)


def _steps(elasticache: Any, seen: Resource, wanted: Mapping[str, Json]) -> Iterator[Callable[[], Any]]:
    """The calls that are due, in order; the group takes one and is busy then."""
    has = seen.properties or NOTHING
    now = {"ReplicationGroupId": seen.id, "ApplyImmediately": True}
    before, after = has.get("ReplicasPerNodeGroup") or 0, _replicas(wanted)
    count = {**now, "NewReplicaCount": after}
    if after is not None and after > before:
        yield lambda: elasticache.increase_replica_count(**count)
    if wanted.keys() - set(COUNTS):
        settings = modification(has, wanted)
        yield lambda: elasticache.modify_replication_group(**now, **settings)
    if after is not None and after < before:
        yield lambda: elasticache.decrease_replica_count(**count)
    if "NumNodeGroups" in wanted:
        shards = settled_count("NumNodeGroups", wanted["NumNodeGroups"])
        yield lambda: _reshard(elasticache, seen, now, shards)


def _replicas(wanted: Mapping[str, Json]) -> int | None:
    """How many replicas each shard is to have; the nodes of a single one are its primary and its replicas."""
    if "ReplicasPerNodeGroup" in wanted:
        return settled_count("ReplicasPerNodeGroup", wanted["ReplicasPerNodeGroup"])
    if "NumCacheClusters" in wanted:
        return settled_count("NumCacheClusters", wanted["NumCacheClusters"]) - 1
    return None


def _reshard(elasticache: Any, seen: Resource, now: Mapping[str, Any], count: int) -> None:
    """Fewer shards only goes with saying which are to go: the last ones, by number."""
    group = elasticache.describe_replication_groups(ReplicationGroupId=seen.id)[_GROUPS][0]
    gone = sorted(one["NodeGroupId"] for one in group["NodeGroups"])[count:]
    remove = {"NodeGroupsToRemove": gone} if gone else {}
    elasticache.modify_replication_group_shard_configuration(**now, NodeGroupCount=count, **remove)


def _resource(
    group: Mapping[str, Any], tags: Mapping[str, str] | None = None, properties: Mapping[str, Json] | None = None
) -> Resource:
    name, created = group["ReplicationGroupId"], group.get("ReplicationGroupCreateTime")
    shard: Mapping[str, Any] = next(iter(group.get("NodeGroups") or ()), {})
    endpoint = group.get("ConfigurationEndpoint") or shard.get("PrimaryEndpoint") or {}
    return Resource(
        type=ElasticacheReplicationGroup.type,
        id=name,
        name=name,
        handle=name,
        arn=group["ARN"],
        tags=tags,
        properties=properties,
        facts={
            "ClusterEnabled": group.get("ClusterEnabled"),
            "CreateTime": created.isoformat() if created else None,
            "EndpointAddress": endpoint.get("Address"),
            "NodeCount": len(group.get("MemberClusters") or ()),
            "ReaderAddress": (shard.get("ReaderEndpoint") or {}).get("Address"),
            "Status": group["Status"],
        },
        state=_STATES.get(group["Status"], State.PENDING),
        created=created,
    )


def _tags(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]
