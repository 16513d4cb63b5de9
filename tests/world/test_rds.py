"""The traps of RDS databases."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.world import World

INSTANCE: dict[str, Any] = {
    "DBInstanceIdentifier": "orders",
    "DBInstanceClass": "db.t4g.small",
    "Engine": "postgres",
    "EngineVersion": "16.3",
    "AllocatedStorage": 20,
    "MasterUsername": "app",
    "MasterUserPassword": "not-a-good-one",
}
CLUSTER: dict[str, Any] = {
    "DBClusterIdentifier": "ledger",
    "Engine": "aurora-postgresql",
    "MasterUsername": "app",
    "MasterUserPassword": "not-a-good-one",
}


def instance(world: World, name: str = "orders") -> Any:
    return world.session.client("rds").describe_db_instances(DBInstanceIdentifier=name)["DBInstances"][0]


def cluster(world: World) -> Any:
    return world.session.client("rds").describe_db_clusters(DBClusterIdentifier="ledger")["DBClusters"][0]


def settle(world: World) -> None:
    for _ in range(2):
        world.tick_started()


def made(world: World) -> Any:
    """A database that is available, and a client."""
    rds = world.session.client("rds")
    rds.create_db_instance(**INSTANCE)
    settle(world)
    return rds


def statuses(world: World) -> list[str]:
    seen = [instance(world)["DBInstanceStatus"]]
    for _ in range(2):
        world.tick_started()
        seen.append(instance(world)["DBInstanceStatus"])
    return seen


def code(attempt: Any, **arguments: Any) -> str:
    with pytest.raises(ClientError) as caught:
        attempt(**arguments)
    return str(caught.value.response["Error"]["Code"])


def test_a_database_takes_a_round_to_be_made(world: World) -> None:
    world.tick_started()
    answer = world.session.client("rds").create_db_instance(**INSTANCE)["DBInstance"]
    assert answer["DBInstanceStatus"] == "creating"
    assert not {"Endpoint", "InstanceCreateTime"} & (answer.keys() | instance(world).keys())
    assert statuses(world) == ["creating", "creating", "available"]
    assert instance(world)["Endpoint"]["Port"] == 5432


def test_nothing_is_changed_stopped_or_deleted_meanwhile(world: World) -> None:
    rds = world.session.client("rds")
    rds.create_db_instance(**INSTANCE)
    name = {"DBInstanceIdentifier": "orders"}
    assert code(rds.modify_db_instance, **name, BackupRetentionPeriod=9) == "InvalidDBInstanceState"
    assert code(rds.stop_db_instance, **name) == "InvalidDBInstanceState"
    assert code(rds.start_db_instance, **name) == "InvalidDBInstanceState"
    assert code(rds.delete_db_instance, **name, SkipFinalSnapshot=True) == "InvalidDBInstanceState"
    replica = {"DBInstanceIdentifier": "orders-1", "SourceDBInstanceIdentifier": "orders"}
    assert code(rds.create_db_instance_read_replica, **replica) == "InvalidDBInstanceState"


def test_a_change_takes_a_round_in_which_the_old_values_show(world: World) -> None:
    rds = made(world)
    rds.modify_db_instance(DBInstanceIdentifier="orders", BackupRetentionPeriod=9)
    assert (instance(world)["DBInstanceStatus"], instance(world)["BackupRetentionPeriod"]) == ("modifying", 1)
    settle(world)
    assert (instance(world)["DBInstanceStatus"], instance(world)["BackupRetentionPeriod"]) == ("available", 9)


def test_it_stops_and_cannot_be_changed_while_it_is_stopped(world: World) -> None:
    rds = made(world)
    rds.stop_db_instance(DBInstanceIdentifier="orders")
    assert statuses(world) == ["stopping", "stopping", "stopped"]
    assert code(rds.modify_db_instance, DBInstanceIdentifier="orders", MultiAZ=True) == "InvalidDBInstanceState"
    rds.start_db_instance(DBInstanceIdentifier="orders")
    assert statuses(world) == ["starting", "starting", "available"]


def test_after_seven_days_it_starts_by_itself(world: World) -> None:
    made(world).stop_db_instance(DBInstanceIdentifier="orders")
    settle(world)
    world.advance(days=6, hours=23)
    assert instance(world)["DBInstanceStatus"] == "stopped"
    world.advance(hours=1)
    assert statuses(world) == ["starting", "starting", "available"]


def test_neither_a_replica_nor_its_source_stops(world: World) -> None:
    rds = made(world)
    rds.create_db_instance_read_replica(DBInstanceIdentifier="orders-1", SourceDBInstanceIdentifier="orders")
    settle(world)
    for name in ("orders", "orders-1"):
        assert code(rds.stop_db_instance, DBInstanceIdentifier=name) == "InvalidDBInstanceState"


def test_a_deleted_one_is_there_for_a_round_and_holds_its_name(world: World) -> None:
    rds = made(world)
    first = instance(world)["DbiResourceId"]
    rds.delete_db_instance(DBInstanceIdentifier="orders", FinalDBSnapshotIdentifier="last")
    assert instance(world)["DBInstanceStatus"] == "deleting"
    assert "AWS::RDS::DBInstance" not in world.resources()
    assert code(rds.create_db_instance, **INSTANCE) == "DBInstanceAlreadyExists"
    assert code(rds.delete_db_instance, DBInstanceIdentifier="orders", SkipFinalSnapshot=True) == (
        "InvalidDBInstanceState"
    )
    settle(world)
    assert rds.describe_db_instances()["DBInstances"] == []
    assert [one["DBSnapshotIdentifier"] for one in rds.describe_db_snapshots()["DBSnapshots"]] == ["last"]
    assert made(world) and instance(world)["DbiResourceId"] != first


@pytest.mark.parametrize(
    "how", [{}, {"SkipFinalSnapshot": True, "FinalDBSnapshotIdentifier": "last"}], ids=["neither", "both"]
)
def test_a_delete_says_whether_a_snapshot_is_left(world: World, how: dict[str, Any]) -> None:
    rds = made(world)
    assert code(rds.delete_db_instance, DBInstanceIdentifier="orders", **how) == "InvalidParameterCombination"


def test_a_snapshot_is_never_overwritten(world: World) -> None:
    rds = made(world)
    rds.create_db_snapshot(DBInstanceIdentifier="orders", DBSnapshotIdentifier="last")
    final = {"DBInstanceIdentifier": "orders", "FinalDBSnapshotIdentifier": "last"}
    assert code(rds.delete_db_instance, **final) == "DBSnapshotAlreadyExists"


def test_a_cluster_stops_and_starts_with_its_members(world: World) -> None:
    rds = world.session.client("rds")
    rds.create_db_cluster(**CLUSTER)
    assert [cluster(world)["Status"], cluster(world)["Status"]] == ["creating", "creating"]
    settle(world)
    member = {"DBInstanceIdentifier": "ledger-0", "DBClusterIdentifier": "ledger", "DBInstanceClass": "db.r7g.large"}
    rds.create_db_instance(**member, Engine="aurora-postgresql")
    settle(world)
    assert code(rds.stop_db_instance, DBInstanceIdentifier="ledger-0") == "InvalidDBClusterStateFault"
    rds.stop_db_cluster(DBClusterIdentifier="ledger")
    assert (cluster(world)["Status"], instance(world, "ledger-0")["DBInstanceStatus"]) == ("stopping", "stopping")
    settle(world)
    assert (cluster(world)["Status"], instance(world, "ledger-0")["DBInstanceStatus"]) == ("stopped", "stopped")
    change = {"DBClusterIdentifier": "ledger", "BackupRetentionPeriod": 9}
    assert code(rds.modify_db_cluster, **change) == "InvalidDBClusterStateFault"
    rds.start_db_cluster(DBClusterIdentifier="ledger")
    settle(world)
    assert (cluster(world)["Status"], instance(world, "ledger-0")["DBInstanceStatus"]) == ("available", "available")
    rds.modify_db_cluster(**change)
    assert (cluster(world)["Status"], cluster(world)["BackupRetentionPeriod"]) == ("modifying", 1)


def test_a_cluster_with_members_is_not_deleted(world: World) -> None:
    rds = world.session.client("rds")
    rds.create_db_cluster(**CLUSTER)
    member = {"DBInstanceIdentifier": "ledger-0", "DBClusterIdentifier": "ledger", "DBInstanceClass": "db.r7g.large"}
    rds.create_db_instance(**member, Engine="aurora-postgresql")
    settle(world)
    last = {"DBClusterIdentifier": "ledger", "FinalDBSnapshotIdentifier": "last"}
    assert code(rds.delete_db_cluster, **last) == "InvalidDBClusterStateFault"
    rds.delete_db_instance(DBInstanceIdentifier="ledger-0", SkipFinalSnapshot=True)
    settle(world)
    rds.delete_db_cluster(**last)
    assert cluster(world)["Status"] == "deleting"
    assert code(rds.create_db_cluster, **CLUSTER) == "DBClusterAlreadyExistsFault"
    settle(world)
    assert rds.describe_db_clusters()["DBClusters"] == []
    left = rds.describe_db_cluster_snapshots(SnapshotType="manual")["DBClusterSnapshots"]
    assert [one["DBClusterSnapshotIdentifier"] for one in left] == ["last"]
    assert world.resources() == {}


def test_the_inventory_says_where_a_database_is_going(world: World) -> None:
    rds = world.session.client("rds")
    rds.create_db_instance(**INSTANCE, Tags=[{"Key": "team", "Value": "orders"}])
    found = world.resources()["AWS::RDS::DBInstance"]["orders"]
    assert (found["Status"], found["Tags"], found["EngineVersion"]) == ("available", {"team": "orders"}, "16.3")
    settle(world)
    rds.stop_db_instance(DBInstanceIdentifier="orders")
    assert world.resources()["AWS::RDS::DBInstance"]["orders"]["Status"] == "stopped"
