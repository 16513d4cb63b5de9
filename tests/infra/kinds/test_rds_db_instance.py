"""DB instances: what was declared is what is read; power moves alone; deleted ones leave a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, ClassVar

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.rds.models import rds_backends
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.rds_db_instance import RdsDbInstance
from infra.kinds.rds_values import state_of
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.errors import RefusedError, WaitError
from policies.frozen import freeze
from policies.world import Resource, State

KIND = RdsDbInstance()
SESSION = boto3.Session(region_name="eu-west-1")
TAGS = {"setpoint:policy": "main/databases", "setpoint:key": "a", "team": "orders"}
KEY = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
ROLE = "arn:aws:iam::123456789012:role/monitoring"
PLAIN: dict[str, Any] = {
    "DBInstanceIdentifier": "orders",
    "AllocatedStorage": "100",
    "DBInstanceClass": "db.t4g.small",
    "Engine": "postgres",
    "EngineVersion": "16.3",
    "ManageMasterUserPassword": True,
    "MasterUsername": "app",
}
RICH: dict[str, Any] = {
    **PLAIN,
    "AutoMinorVersionUpgrade": False,
    "AvailabilityZone": "eu-west-1b",
    "BackupRetentionPeriod": 7,
    "CACertificateIdentifier": "rds-ca-rsa2048-g1",
    "CopyTagsToSnapshot": True,
    "DBName": "orders",
    "DBParameterGroupName": "tuned",
    "DBSubnetGroupName": "private",
    "DatabaseInsightsMode": "standard",
    "DedicatedLogVolume": True,
    "DeletionProtection": True,
    "EnableCloudwatchLogsExports": ["upgrade", "postgresql"],
    "EnableIAMDatabaseAuthentication": True,
    "EnablePerformanceInsights": True,
    "Iops": 12000,
    "KmsKeyId": KEY,
    "LicenseModel": "postgresql-license",
    "MaxAllocatedStorage": 1000,
    "MonitoringInterval": 60,
    "MonitoringRoleArn": ROLE,
    "MultiAZ": False,
    "NetworkType": "DUAL",
    "PerformanceInsightsKMSKeyId": KEY,
    "PerformanceInsightsRetentionPeriod": 31,
    "Port": "6432",
    "PreferredBackupWindow": "01:00-02:00",
    "PreferredMaintenanceWindow": "sun:03:00-sun:04:00",
    "PubliclyAccessible": True,
    "StorageEncrypted": True,
    "StorageThroughput": 500,
    "StorageType": "gp3",
}


class Faithful:
    """What moto leaves out of a DB instance: some properties, and states other than what it thinks of."""

    SHOWN: ClassVar = {
        "DatabaseInsightsMode": "DatabaseInsightsMode",
        "DedicatedLogVolume": "DedicatedLogVolume",
        "EnablePerformanceInsights": "PerformanceInsightsEnabled",
        "NetworkType": "NetworkType",
        "PerformanceInsightsKMSKeyId": "PerformanceInsightsKMSKeyId",
        "PerformanceInsightsRetentionPeriod": "PerformanceInsightsRetentionPeriod",
    }

    def __init__(self, client: Any) -> None:
        self.extras: dict[str, dict[str, Any]] = {}
        self.more: dict[str, Any] = {}
        for operation in ("CreateDBInstance", "CreateDBInstanceReadReplica", "ModifyDBInstance"):
            client.meta.events.register(f"before-parameter-build.rds.{operation}", self.note)
        client.meta.events.register("after-call.rds.DescribeDBInstances", self.describe)

    def note(self, params: dict[str, Any], **_: Any) -> None:
        extras = self.extras.setdefault(params["DBInstanceIdentifier"], {})
        extras |= {shown: params[word] for word, shown in self.SHOWN.items() if word in params}
        if "DBPortNumber" in params:
            extras["Endpoint"] = {"Address": "orders.example", "Port": params["DBPortNumber"]}

    def describe(self, parsed: dict[str, Any], **_: Any) -> None:
        for instance in parsed.get("DBInstances", ()):
            instance.update(self.extras.get(instance["DBInstanceIdentifier"], {}) | self.more)


@pytest.fixture
def session() -> Iterator[boto3.Session]:
    """One session for all: reading the models of RDS and EC2 takes most of a second."""
    with mock_aws():
        yield SESSION


@pytest.fixture
def moto_(aws: Aws) -> Faithful:
    return Faithful(aws.client("rds"))


@pytest.fixture
def rds(aws: Aws, moto_: Faithful) -> Any:
    client = aws.client("rds")
    family, ec2 = {"DBParameterGroupFamily": "postgres16", "Description": "-"}, aws.client("ec2")
    for name in ("tuned", "other"):
        client.create_db_parameter_group(DBParameterGroupName=name, **family)
    subnets = [subnet["SubnetId"] for subnet in ec2.describe_subnets()["Subnets"]]
    client.create_db_subnet_group(DBSubnetGroupName="private", DBSubnetGroupDescription="-", SubnetIds=subnets)
    engine = {"EngineName": "mysql", "MajorEngineVersion": "5.6", "OptionGroupDescription": "-"}
    client.create_option_group(OptionGroupName="options", **engine)
    return client


def make(aws: Aws, properties: dict[str, Any] = PLAIN, **initial: Any) -> Resource:
    name = properties["DBInstanceIdentifier"]
    progress = KIND.create(aws, Desired("a", name, freeze(properties), TAGS, freeze(initial)), None)
    assert (progress is Progress.COMPLETE) == KIND.single_call(freeze({**initial, **properties}))
    return read(aws, name)


def read(aws: Aws, name: str = "orders") -> Resource:
    found = KIND.read(aws, KIND.locate(aws, name))
    assert found is not None
    return found


def update(aws: Aws, seen: Resource, progress: Progress = Progress.COMPLETE, **wanted: Any) -> Resource:
    assert KIND.update(aws, seen, Change(freeze(wanted))) is progress
    return read(aws, str(seen.name))


def differences(wanted: dict[str, Any], seen: Resource) -> list[str]:
    return [str(one) for one in diff(freeze(wanted), seen.properties or {}, KIND.shape)]


def status(aws: Aws, name: str, value: str) -> Resource:
    rds_backends[aws.account][aws.region].databases[name].status = value
    return read(aws, name)


# Making


@pytest.mark.parametrize("properties", [PLAIN, RICH], ids=["plain", "rich"])
def test_what_was_declared_is_what_is_read(aws: Aws, rds: Any, properties: dict[str, Any]) -> None:
    KIND.properties.model_validate(properties)
    assert KIND.check(freeze(properties)) is None
    seen = make(aws, properties)
    assert differences(properties, seen) == []
    assert (seen.id, seen.name, seen.tags, seen.state) == ("orders", "orders", TAGS, State.READY)
    assert seen.arn == "arn:aws:rds:eu-west-1:123456789012:db:orders"
    assert seen.created is not None
    assert seen.facts["CreateTime"] == seen.created.isoformat()
    assert (seen.facts["State"], seen.facts["Endpoint"]["Port"]) == ("available", int(properties.get("Port", 5432)))
    assert seen.facts.keys() <= KIND.facts


def test_groups_are_read_back(aws: Aws, rds: Any) -> None:
    vpc = aws.client("ec2").describe_vpcs()["Vpcs"][0]["VpcId"]
    group = aws.client("ec2").create_security_group(GroupName="db", Description="-", VpcId=vpc)["GroupId"]
    declared = {**PLAIN, "VPCSecurityGroups": [group], "OptionGroupName": "options"}
    assert differences(declared, make(aws, declared)) == []


def test_a_group_that_is_leaving_is_gone(aws: Aws, rds: Any, moto_: Faithful) -> None:
    make(aws)
    moto_.more["VpcSecurityGroups"] = [
        {"VpcSecurityGroupId": "sg-old", "Status": "removing"},
        {"VpcSecurityGroupId": "sg-new", "Status": "adding"},
    ]
    moto_.more["OptionGroupMemberships"] = [
        {"OptionGroupName": "old", "Status": "pending-removal"},
        {"OptionGroupName": "new", "Status": "pending-apply"},
    ]
    assert differences({"VPCSecurityGroups": ["sg-new"], "OptionGroupName": "new"}, read(aws)) == []


def test_initial_is_made_and_declared_wins(aws: Aws, rds: Any) -> None:
    plain = {word: value for word, value in PLAIN.items() if word != "AllocatedStorage"}
    seen = make(aws, plain, AllocatedStorage="50", EngineVersion="15.1")
    assert differences({**plain, "AllocatedStorage": "50"}, seen) == []


def test_one_that_is_made_stopped_is_stopped_later(aws: Aws, rds: Any) -> None:
    seen = make(aws, {**PLAIN, "PowerState": "stopped"})
    assert differences({**PLAIN, "PowerState": "stopped"}, seen) == ["PowerState"]
    assert differences({"PowerState": "stopped"}, update(aws, seen, PowerState="stopped")) == []


def test_a_taken_name_is_told_by_its_code(aws: Aws, rds: Any) -> None:
    make(aws)
    with pytest.raises(ClientError) as caught:
        make(aws)
    assert caught.value.response["Error"]["Code"] in KIND.exists_codes


def replica(**more: Any) -> dict[str, Any]:
    return {
        "DBInstanceIdentifier": "orders-1",
        "SourceDBInstanceIdentifier": "orders",
        "DBInstanceClass": "db.t4g.large",
        **more,
    }


def test_a_read_replica_follows_its_source(aws: Aws, rds: Any) -> None:
    source, declared = make(aws), replica(MultiAZ=True, PubliclyAccessible=False)
    assert KIND.check(freeze(declared)) is None
    seen = make(aws, declared)
    assert differences(declared, seen) == []
    assert seen.tags == TAGS
    assert read(aws).facts["ReadReplicaDBInstanceIdentifiers"] == ["orders-1"]
    assert "ReadReplicaDBInstanceIdentifiers" not in source.facts


def test_what_a_replica_cannot_be_born_with_follows(aws: Aws, rds: Any) -> None:
    make(aws)
    declared = replica(BackupRetentionPeriod=3, PreferredBackupWindow="04:00-04:30")
    seen = make(aws, declared)
    late = {word: declared[word] for word in differences(declared, seen)}
    assert late.keys() == {"BackupRetentionPeriod", "PreferredBackupWindow"}
    assert differences(declared, update(aws, seen, **late)) == []


def test_a_replica_waits_for_its_source(aws: Aws, rds: Any) -> None:
    with pytest.raises(WaitError, match="source of orders-1"):
        make(aws, replica())


def test_a_member_of_a_cluster(aws: Aws, rds: Any) -> None:
    rds.create_db_cluster(
        DBClusterIdentifier="ledger", Engine="aurora-postgresql", MasterUsername="app", MasterUserPassword="secret-99"
    )
    declared = {
        "DBInstanceIdentifier": "ledger-0",
        "DBClusterIdentifier": "ledger",
        "Engine": "aurora-postgresql",
        "DBInstanceClass": "db.r7g.large",
        "PromotionTier": 2,
    }
    assert KIND.check(freeze(declared)) is None
    seen = make(aws, declared)
    assert differences(declared, seen) == []
    with pytest.raises(RefusedError, match="belongs to ledger"):
        update(aws, seen, PowerState="stopped")
    KIND.delete(aws, seen)
    assert list(KIND.survey(aws, ("",))) == []


# Seeing


def test_a_survey_is_complete_over_pages_and_shows_all_that_a_read_shows(aws: Aws, rds: Any) -> None:
    made = [make(aws, {**PLAIN, "DBInstanceIdentifier": f"orders-{number}"}) for number in range(3)]
    databases = rds_backends[aws.account][aws.region].databases
    for number in range(120):
        databases[f"x-{number}"] = other = copy(databases["orders-0"])
        other.db_instance_identifier = f"x-{number}"
    assert len(rds.describe_db_instances()["DBInstances"]) == 100
    found = {one.id: one for one in KIND.survey(aws, ("orders-",))}
    assert [found[one.id].properties for one in made] == [one.properties for one in made]
    assert {one.tags for one in found.values()} == {None}
    assert [one.id for one in KIND.survey(aws, ("orders-2", "nothing"))] == ["orders-2"]


def test_databases_of_other_services_are_not_surveyed(aws: Aws, rds: Any, moto_: Faithful) -> None:
    make(aws)
    moto_.more["Engine"] = "neptune"
    assert list(KIND.survey(aws, ("",))) == []
    assert read(aws).name == "orders"  # it holds the name all the same


def test_known_tags_are_kept(aws: Aws, rds: Any) -> None:
    seen = make(aws).with_tags({"a": "b"})
    found = KIND.read(aws, seen)
    assert found is not None
    assert found.tags == {"a": "b"}


def test_one_that_is_not_there(aws: Aws, rds: Any) -> None:
    with pytest.raises(ClientError) as caught:
        read(aws)
    assert caught.value.response["Error"]["Code"] in KIND.absent_codes


def test_it_is_found_by_its_arn(aws: Aws, rds: Any) -> None:
    arn = str(make(aws).arn)
    assert KIND.has_arn(arn)
    assert KIND.name_of_arn(arn) == "orders"
    assert not KIND.has_arn(arn.replace(":db:", ":cluster:"))


@pytest.mark.parametrize(
    ("state", "statuses"),
    [
        (State.READY, "available stopped storage-optimization storage-initialization"),
        (
            State.PENDING,
            "backing-up configuring-enhanced-monitoring configuring-iam-database-auth configuring-log-exports "
            "converting-to-vpc creating maintenance modifying moving-to-vpc rebooting renaming "
            "resetting-master-credentials starting stopping storage-config-upgrade upgrading something-new",
        ),
        (
            State.UNHEALTHY,
            "failed inaccessible-encryption-credentials inaccessible-encryption-credentials-recoverable "
            "incompatible-create incompatible-network incompatible-option-group incompatible-parameters "
            "incompatible-restore insufficient-capacity restore-error storage-full migration-failed",
        ),
        (State.DELETING, "delete-precheck deleting"),
    ],
)
def test_states(state: State, statuses: str) -> None:
    assert {status: state_of(status) for status in statuses.split()} == dict.fromkeys(statuses.split(), state)


@pytest.mark.parametrize(
    ("value", "power"), [("available", "running"), ("starting", "running"), ("stopping", "stopped")]
)
def test_power_is_where_it_is_going(aws: Aws, rds: Any, value: str, power: str) -> None:
    make(aws)
    seen = status(aws, "orders", value)
    assert (seen.properties or {})["PowerState"] == power
    assert seen.facts["State"] == value


def test_one_that_is_being_made_has_no_time_and_no_endpoint(aws: Aws, rds: Any) -> None:
    make(aws)

    def creating(parsed: dict[str, Any], **_: Any) -> None:
        for word in ("InstanceCreateTime", "Endpoint"):
            del parsed["DBInstances"][0][word]
        parsed["DBInstances"][0] |= {"DBInstanceStatus": "creating", "PendingModifiedValues": {"MultiAZ": True}}

    rds.meta.events.register("after-call.rds.DescribeDBInstances", creating)
    seen = read(aws)
    assert (seen.created, seen.state, seen.facts["PendingModifiedValues"]) == (None, State.PENDING, ["MultiAZ"])


# Changing


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("AllocatedStorage", "200"),
        ("AutoMinorVersionUpgrade", False),
        ("BackupRetentionPeriod", 14),
        ("CACertificateIdentifier", "rds-ca-rsa4096-g1"),
        ("CopyTagsToSnapshot", True),
        ("DBInstanceClass", "db.m7g.large"),
        ("DBParameterGroupName", "other"),
        ("DatabaseInsightsMode", "standard"),
        ("DedicatedLogVolume", True),
        ("DeletionProtection", True),
        ("EnableCloudwatchLogsExports", ["upgrade"]),
        ("EnableIAMDatabaseAuthentication", True),
        ("EnablePerformanceInsights", True),
        ("EngineVersion", "16.4"),
        ("LicenseModel", "bring-your-own-license"),
        ("MaxAllocatedStorage", 500),
        ("MultiAZ", True),
        ("NetworkType", "DUAL"),
        ("OptionGroupName", "options"),
        ("Port", "6432"),
        ("PreferredBackupWindow", "05:00-05:30"),
        ("PreferredMaintenanceWindow", "mon:01:00-mon:02:00"),
        ("PubliclyAccessible", True),
    ],
)
def test_a_changed_property_reads_back(aws: Aws, rds: Any, word: str, value: Any) -> None:
    seen = make(aws)
    assert differences({word: value}, seen)
    assert differences({word: value}, update(aws, seen, **{word: value})) == []


def test_what_goes_together_changes_together(aws: Aws, rds: Any) -> None:
    wanted = {"StorageType": "gp3", "Iops": 12000, "AllocatedStorage": "400"}
    assert differences(wanted, update(aws, make(aws), **wanted)) == []
    assert differences({"StorageThroughput": 500}, update(aws, read(aws), StorageThroughput=500)) == []
    assert differences({"Iops": 15000}, update(aws, read(aws), Iops=15000)) == []


def test_security_groups_are_a_set(aws: Aws, rds: Any) -> None:
    after = update(aws, make(aws), VPCSecurityGroups=["sg-2", "sg-1"])
    assert differences({"VPCSecurityGroups": ["sg-1", "sg-2"]}, after) == []


@pytest.mark.parametrize(
    "word",
    [
        "AutoMinorVersionUpgrade",
        "BackupRetentionPeriod",
        "CopyTagsToSnapshot",
        "DedicatedLogVolume",
        "DeletionProtection",
        "EnableCloudwatchLogsExports",
        "EnableIAMDatabaseAuthentication",
        "EnablePerformanceInsights",
        "MaxAllocatedStorage",
        "NetworkType",
        "PerformanceInsightsRetentionPeriod",
    ],
)
def test_null_resets(aws: Aws, rds: Any, word: str) -> None:
    seen = make(aws, RICH)
    assert differences({word: None}, seen) == [word]
    assert differences({word: None}, update(aws, seen, **{word: None})) == []


def test_a_password_is_written_and_never_compared(aws: Aws, rds: Any) -> None:
    words = {word: value for word, value in PLAIN.items() if word != "ManageMasterUserPassword"}
    declared = {**words, "MasterUserPassword": "not-a-good-one"}
    assert KIND.check(freeze(declared)) is None
    seen = make(aws, declared)
    assert differences(declared, seen) == []
    assert "MasterUserPassword" not in (seen.properties or {})
    update(aws, seen, MasterUserPassword="a-better-one")
    assert rds_backends[aws.account][aws.region].databases["orders"]._master_user_password == "a-better-one"


@pytest.mark.parametrize(
    ("word", "value"),
    [("AllocatedStorage", "99"), ("EngineVersion", "16.2"), ("EngineVersion", "16"), ("EngineVersion", "15.9")],
)
def test_nothing_goes_back_and_all_else_is_changed(aws: Aws, rds: Any, word: str, value: str) -> None:
    seen = make(aws)
    with pytest.raises(RefusedError, match=rf"{word} of orders is .* cannot become {value}: .*'initial'"):
        update(aws, seen, **{word: value, "BackupRetentionPeriod": 9})
    after = read(aws)
    assert differences({**PLAIN, "BackupRetentionPeriod": 9}, after) == []


def test_tags_are_merged(aws: Aws, rds: Any) -> None:
    seen = make(aws)
    KIND.update(aws, seen, Change(tags=freeze({"team": "web", "new": "1"}), untag=frozenset({"setpoint:key"})))
    assert read(aws).tags == {"setpoint:policy": "main/databases", "team": "web", "new": "1"}


# Power


def test_it_stops_and_starts(aws: Aws, rds: Any) -> None:
    seen = update(aws, make(aws), PowerState="stopped")
    assert (seen.facts["State"], seen.state) == ("stopped", State.READY)
    assert differences({"PowerState": None}, seen) == ["PowerState"]
    assert update(aws, seen, PowerState=None).facts["State"] == "available"


def test_it_is_changed_before_it_stops(aws: Aws, rds: Any) -> None:
    wanted = {"PowerState": "stopped", "BackupRetentionPeriod": 9}
    seen = update(aws, make(aws), Progress.PARTIAL, **wanted)
    assert differences(wanted, seen) == ["PowerState"]
    assert differences(wanted, update(aws, seen, PowerState="stopped")) == []


def test_it_starts_before_it_is_changed(aws: Aws, rds: Any) -> None:
    seen = update(aws, make(aws), PowerState="stopped")
    wanted = {"PowerState": "running", "BackupRetentionPeriod": 9}
    seen = update(aws, seen, Progress.PARTIAL, **wanted)
    assert differences(wanted, seen) == ["BackupRetentionPeriod"]
    assert differences(wanted, update(aws, seen, BackupRetentionPeriod=9)) == []


def test_a_stopped_one_is_not_started_for_a_change(aws: Aws, rds: Any) -> None:
    seen = update(aws, make(aws), PowerState="stopped")
    with pytest.raises(WaitError, match="BackupRetentionPeriod of orders can change only while it runs"):
        update(aws, seen, BackupRetentionPeriod=9)
    assert read(aws).facts["State"] == "stopped"


@pytest.mark.parametrize("name", ["orders", "orders-1"])
def test_neither_a_replica_nor_its_source_stops(aws: Aws, rds: Any, name: str) -> None:
    make(aws)
    make(aws, replica())
    with pytest.raises(RefusedError, match="read replica"):
        update(aws, read(aws, name), PowerState="stopped")


# Deleting


def test_a_deleted_one_leaves_a_snapshot(aws: Aws, rds: Any) -> None:
    seen = make(aws)
    KIND.delete(aws, seen)
    with pytest.raises(ClientError):
        read(aws)
    left = [one["DBSnapshotIdentifier"] for one in rds.describe_db_snapshots()["DBSnapshots"]]
    assert left == [f"orders-final-{seen.facts['DbiResourceId'].lower()}"]


def test_a_deleted_replica_leaves_none(aws: Aws, rds: Any) -> None:
    make(aws)
    KIND.delete(aws, make(aws, replica()))
    assert [one.id for one in KIND.survey(aws, ("",))] == ["orders"]
    assert rds.describe_db_snapshots(SnapshotType="manual")["DBSnapshots"] == []


@pytest.mark.parametrize("value", ["failed", "incompatible-network", "incompatible-restore"])
def test_one_that_cannot_leave_a_snapshot_stays(aws: Aws, rds: Any, value: str) -> None:
    make(aws)
    seen = status(aws, "orders", value)
    with pytest.raises(RefusedError, match="by hand"):
        KIND.delete(aws, seen)
    assert read(aws).facts["State"] == value


def test_a_protected_one_stays(aws: Aws, rds: Any) -> None:
    seen = make(aws, RICH)
    with pytest.raises(ClientError, match="protect"):
        KIND.delete(aws, seen)
    assert read(aws).name == "orders"


# Words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Engine": None}, "Engine is needed"),
        ({"AllocatedStorage": None, "MasterUsername": None}, "AllocatedStorage, MasterUsername are needed"),
        ({"ManageMasterUserPassword": None}, "ManageMasterUserPassword"),
        ({"MasterUserPassword": "not-both"}, "ManageMasterUserPassword"),
        ({"PromotionTier": 1}, "PromotionTier"),
        ({"StorageType": None}, "StorageType cannot be null"),
        ({"MonitoringInterval": 60}, "MonitoringRoleArn"),
        ({"MonitoringRoleArn": ROLE}, "MonitoringInterval"),
        ({"PerformanceInsightsRetentionPeriod": 31}, "needs EnablePerformanceInsights"),
        ({"MultiAZ": True, "AvailabilityZone": "eu-west-1a"}, "AvailabilityZone"),
        ({"KmsKeyId": KEY}, "StorageEncrypted"),
        ({"SourceDBInstanceIdentifier": "other"}, "from its source"),
        ({"DBClusterIdentifier": "ledger"}, "said of the cluster"),
    ],
)
def test_what_cannot_work_is_said_before_anything_runs(change: dict[str, Any], words: str) -> None:
    assert words in (KIND.check(freeze({**PLAIN, **change})) or "")


def test_a_read_replica_does_not_stop() -> None:
    assert "stops no read replica" in (KIND.check(freeze(replica(PowerState="stopped"))) or "")


def test_nulls_with_a_default_are_fine() -> None:
    declared = {**PLAIN, "MultiAZ": None, "MaxAllocatedStorage": None, "EnableCloudwatchLogsExports": None}
    KIND.properties.model_validate(declared)
    assert KIND.check(freeze(declared)) is None


@pytest.mark.parametrize(
    "change",
    [
        {"DBInstanceIdentifier": "Orders"},
        {"DBInstanceIdentifier": "orders-"},
        {"DBInstanceIdentifier": "a--b"},
        {"DBInstanceIdentifier": "a" * 64},
        {"AllocatedStorage": 100},
        {"AllocatedStorage": "a lot"},
        {"DBSubnetGroupName": "Private"},
        {"PreferredMaintenanceWindow": "Sun:03:00-Sun:04:00"},
        {"KmsKeyId": "alias/mine"},
        {"AllowMajorVersionUpgrade": True},
        {"ApplyImmediately": False},
    ],
)
def test_what_no_instance_has_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate({**PLAIN, **change})


def test_the_iam_listing_is_what_is_called(aws: Aws, rds: Any, recorded: set[str]) -> None:
    beside = {
        "create": {
            "iam:PassRole",
            "rds:AddTagsToResource",
            "secretsmanager:CreateSecret",
            "secretsmanager:TagResource",
        },
        "update": {"iam:PassRole", "secretsmanager:CreateSecret", "secretsmanager:TagResource"},
        "delete": {"rds:AddTagsToResource", "rds:CreateDBSnapshot"},
    }
    calls: dict[str, set[str]] = {verb: set(words) for verb, words in beside.items()} | {"survey": set(), "read": set()}

    def during(verb: str, step: Any) -> Any:
        recorded.clear()
        result = step()
        calls[verb] |= recorded
        return result

    for properties in (PLAIN, replica()):
        name = properties["DBInstanceIdentifier"]
        desired = Desired("a", name, freeze(properties), TAGS)
        during("create", lambda desired=desired: KIND.create(aws, desired, None))
    KIND.delete(aws, read(aws, "orders-1"))
    during("survey", lambda: list(KIND.survey(aws, ("",))))
    for wanted in ({"MultiAZ": True}, {"PowerState": "stopped"}, {"PowerState": "running"}):
        seen, change = during("read", lambda: read(aws)), Change(freeze(wanted), {"a": "b"}, frozenset({"team"}))
        during("update", lambda seen=seen, change=change: KIND.update(aws, seen, change))
    during("delete", lambda: KIND.delete(aws, read(aws)))
    calls["delete"] -= {"rds:DescribeDBInstances"}
    assert calls == KIND.iam
