"""ElastiCache where moto is too kind or knows too little: groups that take time, their nodes, and what changes them.

Sources: API_ReplicationGroup (Status creating, available, modifying, deleting), API_IncreaseReplicaCount,
API_DecreaseReplicaCount and API_ModifyReplicationGroupShardConfiguration (moto has none of them), API_CacheCluster
(what a node shows that its group does not; moto has no nodes of groups).
"""

from dataclasses import dataclass
from typing import Any

from tests.world.call import Call, Params, Refused
from tests.world.trap import Place, Scene, Trap, backend, backends

CHANGES = {
    "DecreaseReplicaCount",
    "DeleteReplicationGroup",
    "IncreaseReplicaCount",
    "ModifyReplicationGroup",
    "ModifyReplicationGroupShardConfiguration",
}
SETTINGS = {
    "AutoMinorVersionUpgrade": "auto_minor_version_upgrade",
    "CacheParameterGroupName": "cache_parameter_group_name",
    "EngineVersion": "engine_version",
    "IpDiscovery": "ip_discovery",
    "NotificationTopicArn": "notification_topic_arn",
    "PreferredMaintenanceWindow": "preferred_maintenance_window",
    "SecurityGroupIds": "security_group_ids",
    "SnapshotWindow": "snapshot_window",
    "TransitEncryptionEnabled": "transit_encryption_enabled",
    "TransitEncryptionMode": "transit_encryption_mode",
}
"""What moto takes in a create and forgets in a change."""

GroupKey = tuple[Place, str]


@dataclass(frozen=True)
class Moving:
    """A group that is not available, since which tick."""

    status: str
    since: int


class ReplicationGroupTraps(Trap):
    """Groups are creating, modifying and deleting for some sensing rounds (0: none), and take no change then."""

    service = "elasticache"

    def __init__(self) -> None:
        self.ticks = 1
        self._moving: dict[GroupKey, Moving] = {}

    def settle(self, scene: Scene) -> bool:
        over = {key: moving for key, moving in self._moving.items() if scene.tick > moving.since + self.ticks}
        places = dict(backends("elasticache"))
        for (place, name), moving in over.items():
            del self._moving[place, name]
            groups = places[place].replication_groups if place in places else {}
            if moving.status == "deleting":
                groups.pop(name, None)
            elif name in groups:
                groups[name].status = "available"
        return bool(over)

    def before(self, call: Call, scene: Scene) -> Params | None:
        group, moving = _group(call), self._moving.get(_key(call))
        if call.operation in {*CHANGES, "AddTagsToResource", "RemoveTagsFromResource"} and moving:
            raise Refused(
                "InvalidReplicationGroupState", f"Replication group must be available, and is {moving.status}."
            )
        if call.operation == "ListTagsForResource" and moving and moving.status == "creating":
            raise Refused("InvalidReplicationGroupState", "Replication group is being created.")
        match call.operation:
            case "DescribeCacheClusters" if "CacheClusterId" in call.params:
                return {"CacheClusters": [_node(call, call.params["CacheClusterId"])]}
            case "IncreaseReplicaCount" | "DecreaseReplicaCount" if group is not None:
                _check_replicas(call, group)
                _shape(group, len(group.node_groups), call.params["NewReplicaCount"])
                return self._answer(call, scene)
            case "ModifyReplicationGroupShardConfiguration" if group is not None:
                _check_shards(call, group)
                _shape(group, call.params["NodeGroupCount"], len(group.node_groups[0]["node_group_members"]) - 1)
                return self._answer(call, scene)
        return None

    def after(self, call: Call, answer: Params, scene: Scene) -> None:
        group = _group(call)
        match call.operation:
            case "CreateReplicationGroup":
                _born(call, group)
                self._begin(call, "creating", scene)
            case "ModifyReplicationGroup":
                _modify(call, group)
                self._begin(call, "modifying", scene)
            case "DeleteReplicationGroup":
                self._begin(call, "deleting", scene)
                if not self.ticks:
                    backend(call).replication_groups.pop(_key(call)[1])
        if group is not None and "ReplicationGroup" in answer:
            answer["ReplicationGroup"]["Status"] = group.status

    def _answer(self, call: Call, scene: Scene) -> Params:
        self._begin(call, "modifying", scene)
        return {"ReplicationGroup": {"ReplicationGroupId": _key(call)[1], "Status": "modifying"}}

    def _begin(self, call: Call, status: str, scene: Scene) -> None:
        if self.ticks:
            _group(call).status = status
            self._moving[_key(call)] = Moving(status, scene.tick)


def _key(call: Call) -> GroupKey:
    named = call.params.get("ReplicationGroupId") or call.params.get("ResourceName", "").rsplit(":", 1)[-1]
    return (call.account, call.region), named


def _group(call: Call) -> Any:
    return backend(call).replication_groups.get(_key(call)[1])


def _born(call: Call, group: Any) -> None:
    """As the service fills what was left out."""
    shards = call.params.get("NumNodeGroups", 1)
    replicas = call.params.get("ReplicasPerNodeGroup", call.params.get("NumCacheClusters", 1) - 1)
    group.cluster_enabled = shards > 1
    group.auto_minor_version_upgrade = call.params.get("AutoMinorVersionUpgrade", True)
    _shape(group, shards, replicas)


def _modify(call: Call, group: Any) -> None:
    for word, name in SETTINGS.items():
        if word in call.params:
            setattr(group, name, call.params[word])
    if call.params.get("NotificationTopicStatus") == "inactive":
        group.notification_topic_arn = None
    removed = set(
        group.user_group_ids if call.params.get("RemoveUserGroups") else call.params.get("UserGroupIdsToRemove", ())
    )
    group.user_group_ids = sorted({*group.user_group_ids, *call.params.get("UserGroupIdsToAdd", ())} - removed)
    if "LogDeliveryConfigurations" in call.params:
        logs = {
            log["LogType"]: log
            for log in (*group.log_delivery_configurations, *call.params["LogDeliveryConfigurations"])
        }
        group.log_delivery_configurations = [log for log in logs.values() if log.get("Enabled", True)]


def _shape(group: Any, shards: int, replicas: int) -> None:
    """Give a group its shards and nodes, named as the service names them."""
    first = group.node_groups[0]
    group.node_groups = [
        {
            **{word: first[word] for word in ("primary_endpoint", "status") if word in first},
            "node_group_id": f"{shard:04}",
            "node_group_members": [
                {"cache_cluster_id": f"{group.replication_group_id}-{shard:04}-{node:03}", "cache_node_id": "0001"}
                for node in range(1, replicas + 2)
            ],
        }
        for shard in range(1, shards + 1)
    ]
    members = [one["cache_cluster_id"] for shard in group.node_groups for one in shard["node_group_members"]]
    group.member_clusters = members


def _check_replicas(call: Call, group: Any) -> None:
    have, want = len(group.node_groups[0]["node_group_members"]) - 1, call.params["NewReplicaCount"]
    if (want > have) != (call.operation == "IncreaseReplicaCount") or want == have:
        raise Refused("InvalidParameterValue", f"{call.operation} from {have} to {want}")
    if want == 0 and group.automatic_failover == "enabled":
        raise Refused("InvalidParameterCombination", "Automatic failover needs a replica.")


def _check_shards(call: Call, group: Any) -> None:
    have, want = len(group.node_groups), call.params["NodeGroupCount"]
    gone = call.params.get("NodeGroupsToRemove", []) or call.params.get("NodeGroupsToRetain", [])
    if not group.cluster_enabled or (want < have and not gone):
        raise Refused("InvalidParameterCombination", "Say which node groups are to go.")


def _node(call: Call, name: str) -> Params:
    """One node of a group, with what only nodes show."""
    groups = (group for group in backend(call).replication_groups.values() if name in group.member_clusters)
    group = next(groups, None)
    if group is None:
        raise Refused("CacheClusterNotFound", f"CacheCluster {name} not found.", 404)
    version = group.engine_version or "7.1"
    node = {
        "CacheClusterId": name,
        "CacheClusterStatus": "available",
        "EngineVersion": f"{version}.0" if version.count(".") == 1 else version,
        "PreferredMaintenanceWindow": group.preferred_maintenance_window or "sun:04:00-sun:05:00",
        "CacheParameterGroup": {"CacheParameterGroupName": group.cache_parameter_group_name or "default.redis7"},
        "CacheSubnetGroupName": group.cache_subnet_group_name or "default",
        "SecurityGroups": [{"SecurityGroupId": one, "Status": "active"} for one in group.security_group_ids or ()],
    }
    if group.notification_topic_arn:
        node["NotificationConfiguration"] = {"TopicArn": group.notification_topic_arn, "TopicStatus": "active"}
    return node
