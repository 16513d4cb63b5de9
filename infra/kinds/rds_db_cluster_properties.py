"""The words of `AWS::RDS::DBCluster`, and what must hold between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from infra.kinds.rds_db_instance_properties import null_problems, watch_problems
from infra.kinds.rds_values import DAY_WINDOW, KEY_ARN, NAME, WEEK_WINDOW
from policies.frozen import Json
from policies.properties import CreateOnly, Default, Extension, Name, Properties, Tag, Unordered, WriteOnly


class Capacity(Properties):
    """Between how many capacity units each serverless instance moves, in halves; 0 lets it pause."""

    MinCapacity: Annotated[float | None, Field(ge=0, le=256, multiple_of=0.5)] = None
    MaxCapacity: Annotated[float | None, Field(ge=1, le=256, multiple_of=0.5)] = None
    SecondsUntilAutoPause: Annotated[int | None, Field(ge=300, le=86_400), Default(300)] = None


class ClusterProperties(Properties):
    """`AWS::RDS::DBCluster`. Defaults as in CreateDBCluster. Without one of its own, null is refused."""

    DBClusterIdentifier: Annotated[str, CreateOnly, Name(NAME, 63)]
    PowerState: Annotated[Literal["running", "stopped"] | None, Extension, Default("running")] = None
    AllocatedStorage: Annotated[int | None, Field(ge=20)] = None
    AutoMinorVersionUpgrade: Annotated[bool | None, Default(True)] = None
    BacktrackWindow: Annotated[int | None, Field(ge=0, le=259_200), Default(0)] = None
    BackupRetentionPeriod: Annotated[int | None, Field(ge=1, le=35), Default(1)] = None
    CopyTagsToSnapshot: Annotated[bool | None, Default(False)] = None
    DBClusterInstanceClass: Annotated[str | None, Field(pattern=r"^db\.")] = None
    DBClusterParameterGroupName: Annotated[str | None, Field(pattern=r"^[a-z0-9.-]+$")] = None
    DBSubnetGroupName: Annotated[str | None, CreateOnly, Field(pattern=r"^[a-z0-9 ._-]+$")] = None
    DatabaseInsightsMode: Literal["advanced", "standard"] | None = None
    DatabaseName: Annotated[str | None, CreateOnly] = None
    DeletionProtection: Annotated[bool | None, Default(False)] = None
    EnableCloudwatchLogsExports: Annotated[list[str] | None, Unordered] = None
    EnableIAMDatabaseAuthentication: Annotated[bool | None, Default(False)] = None
    Engine: Annotated[str | None, CreateOnly, Field(pattern=r"^[a-z-]+$")] = None
    EngineVersion: Annotated[str | None, Field(pattern=r"^[0-9]")] = None
    Iops: Annotated[int | None, Field(ge=1000, le=256_000)] = None
    KmsKeyId: Annotated[str | None, CreateOnly, Field(pattern=KEY_ARN)] = None
    ManageMasterUserPassword: Annotated[bool | None, Default(False)] = None
    MasterUserPassword: Annotated[str | None, WriteOnly, Field(min_length=8, max_length=128)] = None
    MasterUsername: Annotated[str | None, CreateOnly, Field(min_length=1, pattern=r"^[a-zA-Z][a-zA-Z0-9_]*$")] = None
    MonitoringInterval: Annotated[Literal[0, 1, 5, 10, 15, 30, 60] | None, Default(0)] = None
    MonitoringRoleArn: Annotated[str | None, Field(pattern=r"^arn:[a-z-]+:iam::\d{12}:role/.+$")] = None
    NetworkType: Annotated[Literal["IPV4", "DUAL"] | None, Default("IPV4")] = None
    PerformanceInsightsEnabled: Annotated[bool | None, Default(False)] = None
    PerformanceInsightsKmsKeyId: Annotated[str | None, Field(pattern=KEY_ARN)] = None
    PerformanceInsightsRetentionPeriod: Annotated[int | None, Field(ge=7, le=731), Default(7)] = None
    Port: Annotated[int | None, Field(ge=1150, le=65_535)] = None
    PreferredBackupWindow: Annotated[str | None, Field(pattern=DAY_WINDOW)] = None
    PreferredMaintenanceWindow: Annotated[str | None, Field(pattern=WEEK_WINDOW)] = None
    ServerlessV2ScalingConfiguration: Capacity | None = None
    StorageEncrypted: Annotated[bool | None, CreateOnly, Default(False)] = None
    StorageType: Annotated[Literal["aurora", "aurora-iopt1", "gp3", "io1", "io2"] | None, Default("aurora")] = None
    Tags: list[Tag] | None = None
    VpcSecurityGroupIds: Annotated[list[str] | None, Field(min_length=1), Unordered] = None


NOT_SUPPORTED = frozenset(
    {
        "AssociatedRoles",
        "AvailabilityZones",
        "ClusterScalabilityType",
        "DBInstanceParameterGroupName",
        "DBSystemId",
        "DeleteAutomatedBackups",
        "Domain",
        "DomainIAMRoleName",
        "EnableGlobalWriteForwarding",
        "EnableHttpEndpoint",
        "EnableLocalWriteForwarding",
        "EngineLifecycleSupport",
        "EngineMode",
        "GlobalClusterIdentifier",
        "MasterUserAuthenticationType",
        "MasterUserSecret",
        "PubliclyAccessible",
        "ReplicationSourceIdentifier",
        "RestoreToTime",
        "RestoreType",
        "ScalingConfiguration",
        "SnapshotIdentifier",
        "SourceDBClusterIdentifier",
        "SourceDbClusterResourceId",
        "SourceRegion",
        "UseLatestRestorableTime",
    }
)
"""Refused by name: global and restored clusters are made by hand, and serverless version 1 is gone."""

_MULTI_AZ = ("AllocatedStorage", "DBClusterInstanceClass")
"""What a Multi-AZ cluster needs and an Aurora cluster does not have."""

_RESETTABLE = frozenset({"EnableCloudwatchLogsExports", "Tags"})


def problems(properties: Mapping[str, Json]) -> Iterator[str]:
    """What the service refuses, and what would be declared and never be so."""
    given = {word for word, value in properties.items() if value is not None}
    if missing := [word for word in ("Engine", "MasterUsername") if word not in given]:
        yield f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} needed"
    if bool(properties.get("MasterUserPassword")) == bool(properties.get("ManageMasterUserPassword")):
        yield "one of ManageMasterUserPassword true (a secret of Secrets Manager) and MasterUserPassword is needed"
    yield from _engine_problems(properties, given)
    yield from null_problems(ClusterProperties, properties, _RESETTABLE)
    yield from watch_problems(properties, "PerformanceInsightsEnabled", "PerformanceInsightsKmsKeyId")
    if properties.get("KmsKeyId") and not properties.get("StorageEncrypted"):
        yield "KmsKeyId needs StorageEncrypted true"
    capacity = properties.get("ServerlessV2ScalingConfiguration")
    if capacity and not (capacity.get("MinCapacity") is not None and capacity.get("MaxCapacity")):
        yield "ServerlessV2ScalingConfiguration: MinCapacity and MaxCapacity are needed"
    elif capacity and capacity["MinCapacity"] > capacity["MaxCapacity"]:
        yield "ServerlessV2ScalingConfiguration: MinCapacity is above MaxCapacity"
    elif capacity and capacity["MinCapacity"] and capacity.get("SecondsUntilAutoPause"):
        yield "ServerlessV2ScalingConfiguration: SecondsUntilAutoPause needs MinCapacity 0"


def _engine_problems(properties: Mapping[str, Json], given: set[str]) -> Iterator[str]:
    engine, found = str(properties.get("Engine")), [word for word in _MULTI_AZ if word in given]
    if engine.startswith("aurora"):
        if found:
            yield f"{' and '.join(found)}: only Multi-AZ clusters of mysql and postgres have that"
    else:
        if len(found) != len(_MULTI_AZ):
            yield f"a Multi-AZ cluster needs {' and '.join(_MULTI_AZ)}"
        if properties.get("PowerState") == "stopped" or "ServerlessV2ScalingConfiguration" in given:
            yield "only Aurora clusters can be stopped or serverless"
