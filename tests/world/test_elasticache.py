"""The traps of ElastiCache replication groups."""

from typing import Any

import pytest

from tests.world import World

GROUP = {"ReplicationGroupId": "carts"}


def create(world: World, **more: Any) -> Any:
    elasticache = world.session.client("elasticache")
    described = {"ReplicationGroupDescription": "carts", "CacheNodeType": "cache.t4g.small", "Engine": "valkey"}
    elasticache.create_replication_group(**GROUP, **described, **more)
    return elasticache


def shown(elasticache: Any) -> dict[str, Any]:
    group: dict[str, Any] = elasticache.describe_replication_groups(**GROUP)["ReplicationGroups"][0]
    return group


def settle(world: World) -> None:
    for _ in range(2):
        world.tick_started()


def test_a_group_takes_a_round_to_be_made_and_to_be_changed(world: World) -> None:
    elasticache = create(world)
    assert shown(elasticache)["Status"] == "creating"
    settle(world)
    assert shown(elasticache)["Status"] == "available"
    elasticache.modify_replication_group(**GROUP, SnapshotWindow="01:00-02:00")
    assert shown(elasticache)["Status"] == "modifying"
    with pytest.raises(elasticache.exceptions.InvalidReplicationGroupStateFault):
        elasticache.increase_replica_count(**GROUP, NewReplicaCount=1, ApplyImmediately=True)
    settle(world)
    assert shown(elasticache)["SnapshotWindow"] == "01:00-02:00"


def test_replicas_come_and_go(world: World) -> None:
    world.elasticache.ticks = 0
    elasticache = create(world)
    elasticache.increase_replica_count(**GROUP, NewReplicaCount=2, ApplyImmediately=True)
    assert len(shown(elasticache)["MemberClusters"]) == 3
    elasticache.decrease_replica_count(**GROUP, NewReplicaCount=1, ApplyImmediately=True)
    assert len(shown(elasticache)["MemberClusters"]) == 2
    with pytest.raises(elasticache.exceptions.InvalidParameterValueException):
        elasticache.increase_replica_count(**GROUP, NewReplicaCount=1, ApplyImmediately=True)
    elasticache.modify_replication_group(**GROUP, AutomaticFailoverEnabled=True)
    with pytest.raises(elasticache.exceptions.InvalidParameterCombinationException):
        elasticache.decrease_replica_count(**GROUP, NewReplicaCount=0, ApplyImmediately=True)


def test_shards_go_by_number(world: World) -> None:
    world.elasticache.ticks = 0
    elasticache = create(world, NumNodeGroups=3, ReplicasPerNodeGroup=1, AutomaticFailoverEnabled=True)
    change = {**GROUP, "NodeGroupCount": 2, "ApplyImmediately": True}
    with pytest.raises(elasticache.exceptions.InvalidParameterCombinationException):
        elasticache.modify_replication_group_shard_configuration(**change)
    elasticache.modify_replication_group_shard_configuration(**change, NodeGroupsToRemove=["0003"])
    assert [one["NodeGroupId"] for one in shown(elasticache)["NodeGroups"]] == ["0001", "0002"]


def test_a_node_shows_what_its_group_does_not(world: World) -> None:
    elasticache = create(world, EngineVersion="8.0", SecurityGroupIds=["sg-1"])
    (name,) = shown(elasticache)["MemberClusters"]
    node = elasticache.describe_cache_clusters(CacheClusterId=name)["CacheClusters"][0]
    assert (node["EngineVersion"], node["SecurityGroups"][0]["SecurityGroupId"]) == ("8.0.0", "sg-1")


def test_a_group_takes_a_round_to_go(world: World) -> None:
    elasticache = create(world)
    settle(world)
    elasticache.delete_replication_group(**GROUP)
    assert (shown(elasticache)["Status"], world.resources()) == ("deleting", {})
    settle(world)
    with pytest.raises(elasticache.exceptions.ReplicationGroupNotFoundFault):
        shown(elasticache)
