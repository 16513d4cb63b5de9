"""The words of `AWS::ElastiCache::ReplicationGroup`, and how ElastiCache spells and shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from policies.errors import RefusedError
from policies.frozen import Json, thaw
from policies.properties import CreateOnly, Default, Keyed, Name, Properties, Tag, Unordered, shape_of


class CloudWatchLogs(Properties):
    """CloudWatch Logs."""

    LogGroup: str


class Firehose(Properties):
    """A Firehose delivery stream."""

    DeliveryStream: str


class Destination(Properties):
    """Where a log goes."""

    CloudWatchLogsDetails: CloudWatchLogs | None = None
    KinesisFirehoseDetails: Firehose | None = None


class LogDelivery(Properties):
    """One of the two logs."""

    DestinationDetails: Destination
    DestinationType: Literal["cloudwatch-logs", "kinesis-firehose"]
    LogFormat: Literal["json", "text"]
    LogType: Literal["engine-log", "slow-log"]


class ReplicationGroupProperties(Properties):
    """`AWS::ElastiCache::ReplicationGroup`. Defaults as in CreateReplicationGroup.

    An engine version is told as the service shows it: major and minor number, and a third one before version 6.
    """

    ReplicationGroupId: Annotated[str, CreateOnly, Name(r"[a-z](-?[a-z0-9])*", 40)]
    AtRestEncryptionEnabled: Annotated[bool | None, CreateOnly, Default(False)] = None
    AutoMinorVersionUpgrade: Annotated[bool | None, Default(True)] = None
    AutomaticFailoverEnabled: Annotated[bool | None, Default(False)] = None
    CacheNodeType: str | None = None
    CacheParameterGroupName: str | None = None
    CacheSubnetGroupName: Annotated[str | None, CreateOnly] = None
    DataTieringEnabled: Annotated[bool | None, CreateOnly, Default(False)] = None
    Engine: Literal["redis", "valkey"] | None = None
    EngineVersion: Annotated[str | None, Field(pattern=r"^([1-5]\.[0-9]+\.[0-9]+|([6-9]|[1-9][0-9])\.[0-9]+)$")] = None
    IpDiscovery: Annotated[Literal["ipv4", "ipv6"] | None, Default("ipv4")] = None
    KmsKeyId: Annotated[str | None, CreateOnly] = None
    LogDeliveryConfigurations: Annotated[
        list[LogDelivery] | None, Field(min_length=1, max_length=2), Keyed("LogType")
    ] = None
    MultiAZEnabled: Annotated[bool | None, Default(False)] = None
    NetworkType: Annotated[Literal["dual_stack", "ipv4", "ipv6"] | None, CreateOnly, Default("ipv4")] = None
    NotificationTopicArn: str | None = None
    NumCacheClusters: Annotated[int | None, Field(ge=1, le=6), Default(1)] = None
    NumNodeGroups: Annotated[int | None, Field(ge=1, le=500), Default(1)] = None
    Port: Annotated[int | None, Field(ge=1, le=65_535), CreateOnly, Default(6379)] = None
    PreferredMaintenanceWindow: str | None = None
    ReplicasPerNodeGroup: Annotated[int | None, Field(ge=0, le=5)] = None
    ReplicationGroupDescription: Annotated[str | None, Field(min_length=1, max_length=255)] = None
    SecurityGroupIds: Annotated[list[str] | None, Field(min_length=1), Unordered] = None
    SnapshotRetentionLimit: Annotated[int | None, Field(ge=0, le=35), Default(0)] = None
    SnapshotWindow: str | None = None
    Tags: list[Tag] | None = None
    TransitEncryptionEnabled: Annotated[bool | None, Default(False)] = None
    TransitEncryptionMode: Literal["preferred", "required"] | None = None
    UserGroupIds: Annotated[
        list[Annotated[str, Field(min_length=1, pattern=r"^[a-zA-Z][a-zA-Z0-9\-]*$")]] | None,
        Field(min_length=1),
        Unordered,
    ] = None


NOT_SUPPORTED = frozenset(
    {
        "AuthToken",
        "CacheSecurityGroupNames",
        "ClusterMode",
        "Durability",
        "GlobalReplicationGroupId",
        "NodeGroupConfiguration",
        "PreferredCacheClusterAZs",
        "PrimaryClusterId",
        "SnapshotArns",
        "SnapshotName",
        "SnapshottingClusterId",
    }
)

COUNTS = ("NumCacheClusters", "NumNodeGroups", "ReplicasPerNodeGroup")
"""What ModifyReplicationGroup does not take: adding and removing nodes has calls of its own."""

_SHAPE = shape_of(ReplicationGroupProperties)
_AS_SHOWN = (
    "AtRestEncryptionEnabled",
    "AutoMinorVersionUpgrade",
    "CacheNodeType",
    "Engine",
    "IpDiscovery",
    "KmsKeyId",
    "NetworkType",
    "ReplicationGroupId",
    "SnapshotRetentionLimit",
    "SnapshotWindow",
    "TransitEncryptionEnabled",
    "TransitEncryptionMode",
    "UserGroupIds",
)


def problems(properties: Mapping[str, Json]) -> Iterator[str]:
    """What ElastiCache would refuse in a group to be created."""
    for word in ("ReplicationGroupDescription", "CacheNodeType", "Engine"):
        if properties.get(word) is None:
            yield f"a replication group needs {word}"
    nodes, replicas = properties.get("NumCacheClusters"), properties.get("ReplicasPerNodeGroup")
    groups, failover = properties.get("NumNodeGroups") or 1, properties.get("AutomaticFailoverEnabled")
    if nodes is not None and (replicas is not None or groups > 1):
        yield "NumCacheClusters goes with neither ReplicasPerNodeGroup nor NumNodeGroups"
    if groups > 1 and not failover:
        yield "more than one node group needs AutomaticFailoverEnabled"
    if failover and groups == 1 and (nodes or 1) < 2 and not replicas:
        yield "AutomaticFailoverEnabled needs a replica: NumCacheClusters 2, or ReplicasPerNodeGroup 1"
    if properties.get("MultiAZEnabled") and not failover:
        yield "MultiAZEnabled needs AutomaticFailoverEnabled"
    if properties.get("TransitEncryptionMode") and not properties.get("TransitEncryptionEnabled"):
        yield "TransitEncryptionMode needs TransitEncryptionEnabled"


def creation(declared: Mapping[str, Json]) -> dict[str, Any]:
    """What CreateReplicationGroup takes, tags aside."""
    spelt: dict[str, Any] = thaw({word: value for word, value in declared.items() if value is not None})
    return spelt


def modification(has: Mapping[str, Json], wanted: Mapping[str, Json]) -> dict[str, Any]:
    """What ModifyReplicationGroup takes of these properties; null is the service's default, or nothing."""
    arguments: dict[str, Any] = {}
    for word, value in wanted.items():
        if word not in COUNTS:
            arguments |= _argument(word, has.get(word), value)
    return arguments


def _argument(word: str, has: Json, value: Json) -> dict[str, Any]:
    default = _SHAPE.inner(word).default
    match word:
        case "NotificationTopicArn" if value is None:
            return {"NotificationTopicStatus": "inactive"}
        case "NotificationTopicArn":
            return {word: value, "NotificationTopicStatus": "active"}
        case "UserGroupIds" if value is None:
            return {"RemoveUserGroups": True}
        case "UserGroupIds":
            old, new = set(has or ()), set(value)
            sides = {"UserGroupIdsToAdd": sorted(new - old), "UserGroupIdsToRemove": sorted(old - new)}
            return {side: ids for side, ids in sides.items() if ids}
        case "LogDeliveryConfigurations":
            kept = {one["LogType"] for one in value or ()}
            off = [{"LogType": one["LogType"], "Enabled": False} for one in has or () if one["LogType"] not in kept]
            return {word: [*({**thaw(one), "Enabled": True} for one in value or ()), *off]}
        case _ if value is None and default is None:
            raise RefusedError(f"{word}: there is no default that null could stand for; give a value")
    return {word: default if value is None else thaw(value)}


def parse(group: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Json]:
    """What DescribeReplicationGroups shows of the group, and DescribeCacheClusters of one of its nodes."""
    shards = group.get("NodeGroups") or ()
    logs = group.get("LogDeliveryConfigurations") or ()
    endpoint = group.get("ConfigurationEndpoint") or next((one.get("PrimaryEndpoint") for one in shards), None) or {}
    replicas = [len(one.get("NodeGroupMembers") or ()) - 1 for one in shards]
    topic = node.get("NotificationConfiguration") or {}
    shown = {
        **{word: group.get(word) for word in _AS_SHOWN},
        "AutomaticFailoverEnabled": group.get("AutomaticFailover") in ("enabled", "enabling"),
        "CacheParameterGroupName": (node.get("CacheParameterGroup") or {}).get("CacheParameterGroupName"),
        "CacheSubnetGroupName": node.get("CacheSubnetGroupName"),
        "DataTieringEnabled": group.get("DataTiering") == "enabled",
        "EngineVersion": _version(node.get("EngineVersion") or ""),
        "LogDeliveryConfigurations": [{word: one.get(word) for word in LogDelivery.model_fields} for one in logs],
        "MultiAZEnabled": group.get("MultiAZ") == "enabled",
        "NotificationTopicArn": topic.get("TopicArn") if topic.get("TopicStatus") == "active" else None,
        "NumCacheClusters": None if group.get("ClusterEnabled") else len(group.get("MemberClusters") or ()) or None,
        "NumNodeGroups": len(shards) or None,
        "Port": endpoint.get("Port"),
        "PreferredMaintenanceWindow": node.get("PreferredMaintenanceWindow"),
        # Where the shards differ, the smallest counts: there a replica is missing.
        "ReplicasPerNodeGroup": min(replicas, default=None),
        "ReplicationGroupDescription": group.get("Description"),
        "SecurityGroupIds": [one["SecurityGroupId"] for one in node.get("SecurityGroups") or ()],
    }
    return {word: value for word, value in shown.items() if value not in (None, "", [])}


def _version(text: str) -> str:
    """From version 6 on the service chooses the last number itself."""
    major, *rest = text.split(".")
    return ".".join((major, *rest[:1])) if major.isdigit() and int(major) >= 6 else text


def settled_count(word: str, value: int | None) -> int:
    """How many there are to be; null is the service's default."""
    default: int | None = _SHAPE.inner(word).default
    number = default if value is None else value
    if number is None:
        raise RefusedError(f"{word}: there is no default that null could stand for; give a value")
    return number
