"""DB clusters: what was declared is what is read; they stop as a whole and leave a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.rds.models import rds_backends
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.rds_db_cluster import RdsDbCluster
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.errors import RefusedError, WaitError
from policies.frozen import freeze
from policies.world import Resource, State

KIND = RdsDbCluster()
SESSION = boto3.Session(region_name="eu-west-1")
TAGS = {"setpoint:policy": "main/databases", "setpoint:key": "a", "team": "ledger"}
OK = SimpleNamespace(status_code=200)
KEY = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
ROLE = "arn:aws:iam::123456789012:role/monitoring"
PLAIN: dict[str, Any] = {
    "DBClusterIdentifier": "ledger",
    "Engine": "aurora-mysql",
    "EngineVersion": "8.0.mysql_aurora.3.07.1",
    "ManageMasterUserPassword": True,
    "MasterUsername": "app",
}
RICH: dict[str, Any] = {
    **PLAIN,
    "BacktrackWindow": 3600,
    "BackupRetentionPeriod": 7,
    "CopyTagsToSnapshot": True,
    "DBClusterParameterGroupName": "tuned",
    "DBSubnetGroupName": "private",
    "DatabaseInsightsMode": "advanced",
    "DatabaseName": "ledger",
    "DeletionProtection": True,
    "EnableCloudwatchLogsExports": ["error", "audit"],
    "EnableIAMDatabaseAuthentication": True,
    "KmsKeyId": KEY,
    "MonitoringInterval": 30,
    "MonitoringRoleArn": ROLE,
    "NetworkType": "DUAL",
    "PerformanceInsightsEnabled": True,
    "PerformanceInsightsKmsKeyId": KEY,
    "PerformanceInsightsRetentionPeriod": 465,
    "Port": 3307,
    "PreferredBackupWindow": "01:00-02:00",
    "PreferredMaintenanceWindow": "sun:03:00-sun:04:00",
    "ServerlessV2ScalingConfiguration": {"MinCapacity": 0, "MaxCapacity": 4.5, "SecondsUntilAutoPause": 600},
    "StorageEncrypted": True,
    "StorageType": "aurora-iopt1",
    "VpcSecurityGroupIds": ["sg-2", "sg-1"],
}
MULTI_AZ: dict[str, Any] = {
    "DBClusterIdentifier": "orders",
    "Engine": "postgres",
    "EngineVersion": "16.3",
    "AllocatedStorage": 100,
    "DBClusterInstanceClass": "db.m6gd.large",
    "Iops": 3000,
    "ManageMasterUserPassword": True,
    "MasterUsername": "app",
    "StorageType": "io1",
}


class Faithful:
    """What moto leaves out of a DB cluster: some properties, and that a name is taken."""

    SHOWN: ClassVar = {
        "DBClusterParameterGroupName": "DBClusterParameterGroup",
        "DatabaseInsightsMode": "DatabaseInsightsMode",
        "EnableIAMDatabaseAuthentication": "IAMDatabaseAuthenticationEnabled",
        "EnablePerformanceInsights": "PerformanceInsightsEnabled",
        "MonitoringInterval": "MonitoringInterval",
        "MonitoringRoleArn": "MonitoringRoleArn",
        "PerformanceInsightsKMSKeyId": "PerformanceInsightsKMSKeyId",
        "PerformanceInsightsRetentionPeriod": "PerformanceInsightsRetentionPeriod",
        "ServerlessV2ScalingConfiguration": "ServerlessV2ScalingConfiguration",
    }

    def __init__(self, client: Any) -> None:
        self.extras: dict[str, dict[str, Any]] = {}
        self.more: dict[str, Any] = {}
        for operation in ("CreateDBCluster", "ModifyDBCluster"):
            client.meta.events.register(f"before-parameter-build.rds.{operation}", self.note)
        client.meta.events.register("after-call.rds.DescribeDBClusters", self.describe)

    def note(self, params: dict[str, Any], **_: Any) -> None:
        extras = self.extras.setdefault(params["DBClusterIdentifier"], {})
        extras |= {shown: params[word] for word, shown in self.SHOWN.items() if word in params}
        if str(params.get("StorageType")).startswith("aurora"):
            extras["StorageType"] = params.pop("StorageType")  # moto knows none of Aurora's
        logs = set(params.get("EnableCloudwatchLogsExports", extras.get("EnabledCloudwatchLogsExports", ())))
        change = params.get("CloudwatchLogsExportConfiguration", {})
        logs = (logs | set(change.get("EnableLogTypes", ()))) - set(change.get("DisableLogTypes", ()))
        extras["EnabledCloudwatchLogsExports"] = sorted(logs)

    def describe(self, parsed: dict[str, Any], **_: Any) -> None:
        for cluster in parsed.get("DBClusters", ()):
            cluster.update(self.extras.get(cluster["DBClusterIdentifier"], {}) | self.more)


@pytest.fixture
def session() -> Iterator[boto3.Session]:
    """One session for all: reading the model of RDS takes a while."""
    with mock_aws():
        yield SESSION


@pytest.fixture
def moto_(aws: Aws) -> Faithful:
    return Faithful(aws.client("rds"))


@pytest.fixture
def rds(aws: Aws, moto_: Faithful) -> Any:
    return aws.client("rds")


def make(aws: Aws, properties: dict[str, Any] = PLAIN, **initial: Any) -> Resource:
    name = properties["DBClusterIdentifier"]
    progress = KIND.create(aws, Desired("a", name, freeze(properties), TAGS, freeze(initial)), None)
    assert (progress is Progress.COMPLETE) == KIND.single_call(freeze({**initial, **properties}))
    read(aws, name)  # moto's clusters are "creating" for one look
    return read(aws, name)


def read(aws: Aws, name: str = "ledger") -> Resource:
    found = KIND.read(aws, KIND.locate(aws, name))
    assert found is not None
    return found


def update(aws: Aws, seen: Resource, progress: Progress = Progress.COMPLETE, **wanted: Any) -> Resource:
    assert KIND.update(aws, seen, Change(freeze(wanted))) is progress
    return read(aws, str(seen.name))


def differences(wanted: dict[str, Any], seen: Resource) -> list[str]:
    return [str(one) for one in diff(freeze(wanted), seen.properties or {}, KIND.shape)]


# Making


@pytest.mark.parametrize("properties", [PLAIN, RICH, MULTI_AZ], ids=["plain", "rich", "multi-az"])
def test_what_was_declared_is_what_is_read(aws: Aws, rds: Any, properties: dict[str, Any]) -> None:
    KIND.properties.model_validate(properties)
    assert KIND.check(freeze(properties)) is None
    seen = make(aws, properties)
    name = properties["DBClusterIdentifier"]
    assert differences(properties, seen) == []
    assert (seen.id, seen.name, seen.tags, seen.state) == (name, name, TAGS, State.READY)
    assert seen.arn == f"arn:aws:rds:eu-west-1:123456789012:cluster:{name}"
    assert seen.created is not None
    assert seen.facts["CreateTime"] == seen.created.isoformat()
    assert (seen.facts["State"], seen.facts["DBClusterMembers"]) == ("available", 0)
    assert seen.facts.keys() <= KIND.facts


def test_initial_is_made_and_declared_wins(aws: Aws, rds: Any) -> None:
    plain = {word: value for word, value in PLAIN.items() if word != "EngineVersion"}
    seen = make(aws, plain, EngineVersion="8.0.mysql_aurora.3.06.0", MasterUsername="other")
    assert differences({**plain, "EngineVersion": "8.0.mysql_aurora.3.06.0"}, seen) == []


def test_one_that_is_made_stopped_is_stopped_later(aws: Aws, rds: Any) -> None:
    seen = make(aws, {**PLAIN, "PowerState": "stopped"})
    assert differences({**PLAIN, "PowerState": "stopped"}, seen) == ["PowerState"]
    assert differences({"PowerState": "stopped"}, update(aws, seen, PowerState="stopped")) == []


def test_a_taken_name_is_told_by_its_code(aws: Aws, rds: Any) -> None:
    taken = {"Error": {"Code": "DBClusterAlreadyExistsFault", "Message": "DB Cluster already exists"}}
    answer = (SimpleNamespace(status_code=400), taken)
    rds.meta.events.register("before-call.rds.CreateDBCluster", lambda **_: answer)
    with pytest.raises(rds.exceptions.DBClusterAlreadyExistsFault) as caught:
        make(aws)
    assert caught.value.response["Error"]["Code"] in KIND.exists_codes


# Seeing


def test_a_survey_shows_all_that_a_read_shows(aws: Aws, rds: Any) -> None:
    made = [make(aws, {**PLAIN, "DBClusterIdentifier": f"ledger-{number}"}) for number in range(3)]
    found = {one.id: one for one in KIND.survey(aws, ("ledger-",))}
    assert [found[one.id].properties for one in made] == [one.properties for one in made]
    assert {one.tags for one in found.values()} == {None}
    assert [one.id for one in KIND.survey(aws, ("ledger-2", "nothing"))] == ["ledger-2"]


def test_a_survey_follows_every_page(aws: Aws, rds: Any) -> None:
    make(aws)
    (one,) = rds.describe_db_clusters()["DBClusters"]
    pages = [{"DBClusters": [{**one, "DBClusterIdentifier": name}], "Marker": f"after-{name}"} for name in "abcd"]
    left = [*pages[:-1], {"DBClusters": pages[-1]["DBClusters"]}]
    rds.meta.events.register("before-call.rds.DescribeDBClusters", lambda **_: (OK, left.pop(0)))
    assert [found.id for found in KIND.survey(aws, ("",))] == ["a", "b", "c", "d"]


def test_clusters_of_other_services_are_not_surveyed(aws: Aws, rds: Any, moto_: Faithful) -> None:
    make(aws)
    moto_.more["Engine"] = "docdb"
    assert list(KIND.survey(aws, ("",))) == []
    assert read(aws).name == "ledger"  # it holds the name all the same


@pytest.mark.parametrize(
    ("status", "state", "power"),
    [
        ("available", State.READY, "running"),
        ("stopped", State.READY, "stopped"),
        ("stopping", State.PENDING, "stopped"),
        ("starting", State.PENDING, "running"),
        ("failing-over", State.PENDING, "running"),
        ("upgrading", State.PENDING, "running"),
        ("migration-failed", State.UNHEALTHY, "running"),
        ("inaccessible-encryption-credentials", State.UNHEALTHY, "running"),
        ("deleting", State.DELETING, "running"),
    ],
)
def test_states(aws: Aws, rds: Any, moto_: Faithful, status: str, state: State, power: str) -> None:
    make(aws)
    moto_.more["Status"] = status
    seen = read(aws)
    assert (seen.state, seen.facts["State"], (seen.properties or {})["PowerState"]) == (state, status, power)


def test_known_tags_are_kept(aws: Aws, rds: Any) -> None:
    found = KIND.read(aws, make(aws).with_tags({"a": "b"}))
    assert found is not None
    assert found.tags == {"a": "b"}


def test_one_that_is_not_there(aws: Aws, rds: Any) -> None:
    with pytest.raises(ClientError) as caught:
        read(aws)
    assert caught.value.response["Error"]["Code"] in KIND.absent_codes


def test_it_is_found_by_its_arn(aws: Aws, rds: Any) -> None:
    arn = str(make(aws).arn)
    assert KIND.has_arn(arn)
    assert KIND.name_of_arn(arn) == "ledger"
    assert not KIND.has_arn(arn.replace(":cluster:", ":cluster-pg:"))


# Changing


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("AutoMinorVersionUpgrade", False),
        ("BacktrackWindow", 7200),
        ("BackupRetentionPeriod", 14),
        ("CopyTagsToSnapshot", True),
        ("DBClusterParameterGroupName", "tuned"),
        ("DatabaseInsightsMode", "advanced"),
        ("DeletionProtection", True),
        ("EnableCloudwatchLogsExports", ["audit"]),
        ("EnableIAMDatabaseAuthentication", True),
        ("EngineVersion", "8.0.mysql_aurora.3.08.0"),
        ("NetworkType", "DUAL"),
        ("PerformanceInsightsEnabled", True),
        ("PerformanceInsightsKmsKeyId", KEY),
        ("Port", 3307),
        ("PreferredBackupWindow", "05:00-05:30"),
        ("PreferredMaintenanceWindow", "mon:01:00-mon:02:00"),
        ("ServerlessV2ScalingConfiguration", {"MinCapacity": 0.5, "MaxCapacity": 8}),
        ("StorageType", "aurora-iopt1"),
        ("VpcSecurityGroupIds", ["sg-9"]),
    ],
)
def test_a_changed_property_reads_back(aws: Aws, rds: Any, word: str, value: Any) -> None:
    seen = make(aws)
    assert differences({word: value}, seen)
    assert differences({word: value}, update(aws, seen, **{word: value})) == []


@pytest.mark.parametrize(
    "word",
    [
        "BacktrackWindow",
        "BackupRetentionPeriod",
        "CopyTagsToSnapshot",
        "DeletionProtection",
        "EnableCloudwatchLogsExports",
        "EnableIAMDatabaseAuthentication",
        "NetworkType",
        "PerformanceInsightsEnabled",
        "PerformanceInsightsRetentionPeriod",
        "StorageType",
    ],
)
def test_null_resets(aws: Aws, rds: Any, word: str) -> None:
    seen = make(aws, RICH)
    assert differences({word: None}, seen) == [word]
    after = KIND.update(aws, seen, Change(freeze({word: None})))
    assert (after, differences({word: None}, read(aws))) == (Progress.COMPLETE, [])


def test_one_that_never_pauses_takes_no_pause(aws: Aws, rds: Any) -> None:
    merged = {"MinCapacity": 1, "MaxCapacity": 4.5, "SecondsUntilAutoPause": 600}
    after = update(aws, make(aws, RICH), ServerlessV2ScalingConfiguration=merged)
    assert (after.properties or {})["ServerlessV2ScalingConfiguration"] == {"MinCapacity": 1, "MaxCapacity": 4.5}


def test_the_storage_of_a_multi_az_cluster_goes_with_its_speed(aws: Aws, rds: Any) -> None:
    wanted = {"Iops": 6000}
    assert differences({**MULTI_AZ, **wanted}, update(aws, make(aws, MULTI_AZ), **wanted)) == []


@pytest.mark.parametrize("version", ["8.0.mysql_aurora.3.07.0", "8.0"])
def test_no_engine_goes_back_and_all_else_is_changed(aws: Aws, rds: Any, version: str) -> None:
    with pytest.raises(RefusedError, match="EngineVersion of ledger"):
        update(aws, make(aws), EngineVersion=version, BackupRetentionPeriod=9)
    assert differences({**PLAIN, "BackupRetentionPeriod": 9}, read(aws)) == []


def test_a_password_is_written_and_never_compared(aws: Aws, rds: Any) -> None:
    words = {word: value for word, value in PLAIN.items() if word != "ManageMasterUserPassword"}
    declared = {**words, "MasterUserPassword": "not-a-good-one"}
    assert KIND.check(freeze(declared)) is None
    seen = make(aws, declared)
    assert differences(declared, seen) == []
    update(aws, seen, MasterUserPassword="a-better-one")
    assert rds_backends[aws.account][aws.region].clusters["ledger"]._master_user_password == "a-better-one"


def test_tags_are_merged(aws: Aws, rds: Any) -> None:
    seen = make(aws)
    KIND.update(aws, seen, Change(tags=freeze({"team": "web", "new": "1"}), untag=frozenset({"setpoint:key"})))
    assert read(aws).tags == {"setpoint:policy": "main/databases", "team": "web", "new": "1"}


# Power


def test_it_stops_and_starts(aws: Aws, rds: Any) -> None:
    seen = update(aws, make(aws), PowerState="stopped")
    assert (seen.facts["State"], seen.state) == ("stopped", State.READY)
    assert update(aws, seen, PowerState=None).facts["State"] == "available"


def test_it_is_changed_before_it_stops_and_starts_before_it_is_changed(aws: Aws, rds: Any) -> None:
    seen = update(aws, make(aws), Progress.PARTIAL, PowerState="stopped", BackupRetentionPeriod=9)
    assert differences({"PowerState": "stopped", "BackupRetentionPeriod": 9}, seen) == ["PowerState"]
    seen = update(aws, seen, PowerState="stopped")
    with pytest.raises(WaitError, match="only while it runs"):
        update(aws, seen, BackupRetentionPeriod=5)
    seen = update(aws, seen, Progress.PARTIAL, PowerState="running", BackupRetentionPeriod=5)
    assert differences({"PowerState": "running", "BackupRetentionPeriod": 5}, seen) == ["BackupRetentionPeriod"]


def test_only_aurora_stops(aws: Aws, rds: Any) -> None:
    with pytest.raises(RefusedError, match="Aurora"):
        update(aws, make(aws, MULTI_AZ), PowerState="stopped")


# Deleting


def test_a_deleted_one_leaves_a_snapshot(aws: Aws, rds: Any) -> None:
    seen = make(aws)
    KIND.delete(aws, seen)
    assert list(KIND.survey(aws, ("",))) == []
    left = rds.describe_db_cluster_snapshots(SnapshotType="manual")["DBClusterSnapshots"]
    names = [one["DBClusterSnapshotIdentifier"] for one in left]
    assert names == [f"ledger-final-{seen.facts['DbClusterResourceId'].lower()}"]


def test_one_with_members_waits(aws: Aws, rds: Any) -> None:
    seen = make(aws)
    rds.create_db_instance(
        DBInstanceIdentifier="ledger-0",
        DBClusterIdentifier="ledger",
        DBInstanceClass="db.r7g.large",
        Engine="aurora-mysql",
    )
    assert read(aws).facts["DBClusterMembers"] == 1
    with pytest.raises(ClientError) as caught:
        KIND.delete(aws, seen)
    assert caught.value.response["Error"]["Code"] in KIND.wait_codes


def test_a_protected_one_stays(aws: Aws, rds: Any) -> None:
    with pytest.raises(ClientError, match="protect"):
        KIND.delete(aws, make(aws, RICH))
    assert read(aws).name == "ledger"


# Words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Engine": None}, "Engine is needed"),
        ({"Engine": None, "MasterUsername": None}, "Engine and MasterUsername are needed"),
        ({"ManageMasterUserPassword": None}, "ManageMasterUserPassword"),
        ({"MasterUserPassword": "not-both"}, "ManageMasterUserPassword"),
        ({"AllocatedStorage": 100}, "only Multi-AZ"),
        ({"Engine": "mysql"}, "needs AllocatedStorage and DBClusterInstanceClass"),
        ({"Port": None}, "Port cannot be null"),
        ({"MonitoringInterval": 60}, "MonitoringRoleArn"),
        ({"PerformanceInsightsRetentionPeriod": 31}, "needs PerformanceInsightsEnabled"),
        ({"KmsKeyId": KEY}, "StorageEncrypted"),
        ({"ServerlessV2ScalingConfiguration": {"MinCapacity": 1}}, "MaxCapacity are needed"),
        ({"ServerlessV2ScalingConfiguration": {"MinCapacity": 2, "MaxCapacity": 1}}, "above MaxCapacity"),
        (
            {"ServerlessV2ScalingConfiguration": {"MinCapacity": 1, "MaxCapacity": 2, "SecondsUntilAutoPause": 300}},
            "needs MinCapacity 0",
        ),
    ],
)
def test_what_cannot_work_is_said_before_anything_runs(change: dict[str, Any], words: str) -> None:
    assert words in (KIND.check(freeze({**PLAIN, **change})) or "")


def test_a_multi_az_cluster_does_not_stop() -> None:
    assert "only Aurora" in (KIND.check(freeze({**MULTI_AZ, "PowerState": "stopped"})) or "")


@pytest.mark.parametrize(
    "change",
    [
        {"DBClusterIdentifier": "Ledger"},
        {"BackupRetentionPeriod": 0},
        {"ServerlessV2ScalingConfiguration": {"MinCapacity": 0.7, "MaxCapacity": 2}},
        {"ServerlessV2ScalingConfiguration": {"MinCapacity": 1, "MaxCapacity": 257}},
        {"EngineMode": "serverless"},
        {"SnapshotIdentifier": "last"},
    ],
)
def test_what_no_cluster_has_is_refused(change: dict[str, Any]) -> None:
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
        "delete": {"rds:AddTagsToResource", "rds:CreateDBClusterSnapshot"},
    }
    calls: dict[str, set[str]] = {verb: set(words) for verb, words in beside.items()} | {"survey": set(), "read": set()}

    def during(verb: str, step: Any) -> Any:
        recorded.clear()
        result = step()
        calls[verb] |= recorded
        return result

    during("create", lambda: KIND.create(aws, Desired("a", "ledger", freeze(PLAIN), TAGS), None))
    during("survey", lambda: list(KIND.survey(aws, ("",))))
    for wanted in ({"Port": 3307}, {"PowerState": "stopped"}, {"PowerState": "running"}):
        seen, change = during("read", lambda: read(aws)), Change(freeze(wanted), {"a": "b"}, frozenset({"team"}))
        during("update", lambda seen=seen, change=change: KIND.update(aws, seen, change))
    seen = read(aws)
    during("delete", lambda: KIND.delete(aws, seen))
    assert calls == KIND.iam
