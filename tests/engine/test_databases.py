"""Databases from the first minute to the final snapshot, in a world in which each of their steps takes a while."""

from __future__ import annotations

from typing import Any

from tests.engine.given import DELETE_AT_ONCE, document, each, run, settle
from tests.world import World

DATABASE = "AWS::RDS::DBInstance"
SIZE = {"DBInstanceClass": "db.t4g.small", "Engine": "postgres", "AllocatedStorage": "20", "EngineVersion": "16.3"}
ADMIN = {"MasterUsername": "app", "ManageMasterUserPassword": True}


def databases(*items: str, **more: Any) -> dict[str, Any]:
    properties = {"DBInstanceIdentifier": "shop-${item}", **SIZE, **ADMIN, **more.pop("properties", {})}
    clause = {
        "name": "databases",
        "resource": {"type": DATABASE, "properties": properties},
        "strategy": each(*items, allowEmpty=True),
        **more,
    }
    return {"main": document(clause)}


def parked() -> dict[str, Any]:
    resource = {"type": DATABASE, "match": {"tags": {"parked": "true"}}, "properties": {"PowerState": "stopped"}}
    return {"main": document({"name": "parked", "resource": resource, "strategy": {"type": "enforce"}})}


def found(world: World) -> dict[str, Any]:
    return dict(world.resources().get(DATABASE, {}))


def sandbox(world: World, **more: Any) -> None:
    """A database of somebody else, who asked for it to be parked."""
    size = {**SIZE, "AllocatedStorage": 20, "MasterUsername": "app", "MasterUserPassword": "not-a-good-one"}
    tags = [{"Key": "parked", "Value": "true"}]
    world.outside.rds.create_db_instance(DBInstanceIdentifier="sandbox", **size, Tags=tags, **more)


def test_one_is_made_once_however_long_it_takes(world: World) -> None:
    world.rds.ticks["creating"] = 4
    told = settle(world, databases("a"), minutes=4)
    assert told.true("databases") == {"Progressing"}
    assert len(world.calls(operation="CreateDBInstance")) == 1
    told = settle(world, databases("a"), minutes=4)
    assert told.true("databases") == {"Ready"}
    assert world.calls(mutating=True)[1:] == []


def test_a_change_that_comes_during_another_waits_for_it(world: World) -> None:
    world.rds.ticks["modifying"] = 3
    settle(world, databases("a"))
    run(world, databases("a", properties={"BackupRetentionPeriod": 9}))
    told = run(world, databases("a", properties={"BackupRetentionPeriod": 9, "MultiAZ": True}))
    assert told.errors == []
    told = settle(world, databases("a", properties={"BackupRetentionPeriod": 9, "MultiAZ": True}), minutes=10)
    assert told.true("databases") == {"Ready"}
    assert (found(world)["shop-a"]["BackupRetentionPeriod"], found(world)["shop-a"]["MultiAZ"]) == (9, True)
    assert len(world.calls(operation="ModifyDBInstance")) == 2


def test_it_is_changed_first_and_stopped_then(world: World) -> None:
    settle(world, databases("a"))
    told = settle(world, databases("a", properties={"BackupRetentionPeriod": 9, "PowerState": "stopped"}), minutes=8)
    assert told.true("databases") == {"Ready"}
    assert (found(world)["shop-a"]["BackupRetentionPeriod"], found(world)["shop-a"]["Status"]) == (9, "stopped")


def test_one_that_is_born_stopped_is_stopped_as_soon_as_it_is_there(world: World) -> None:
    told = settle(world, databases("a", properties={"PowerState": "stopped"}), minutes=8)
    assert told.true("databases") == {"Ready"}
    assert found(world)["shop-a"]["Status"] == "stopped"


def test_an_unwanted_one_leaves_a_snapshot_and_its_successor_another(world: World) -> None:
    rds = world.outside.rds
    for _ in range(2):
        settle(world, databases("a", **DELETE_AT_ONCE), minutes=4)
        world.advance(hours=2)
        settle(world, databases(**DELETE_AT_ONCE), minutes=6)
        assert found(world) == {}
    left = {one["DBSnapshotIdentifier"] for one in rds.describe_db_snapshots(SnapshotType="manual")["DBSnapshots"]}
    assert len(left) == 2
    assert all(name.startswith("shop-a-final-db-") for name in left)


def test_what_rds_starts_by_itself_after_seven_days_is_stopped_again(world: World) -> None:
    sandbox(world)
    settle(world, parked())
    assert found(world)["sandbox"]["Status"] == "stopped"
    world.advance(days=7)
    told = settle(world, parked(), minutes=6)
    assert (found(world)["sandbox"]["Status"], told.true("parked")) == ("stopped", {"Ready"})
    assert len(world.calls(operation="StopDBInstance")) == 2


def test_a_source_of_replicas_is_not_stopped_and_the_policy_says_why(world: World) -> None:
    sandbox(world)
    world.outside.rds.create_db_instance_read_replica(
        DBInstanceIdentifier="replica", SourceDBInstanceIdentifier="sandbox"
    )
    told = settle(world, parked())
    assert "is or has a read replica" in told.words
    assert world.calls(mutating=True) == []
