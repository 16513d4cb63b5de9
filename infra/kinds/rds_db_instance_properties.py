"""The words of `AWS::RDS::DBInstance`, and what must hold between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from infra.kinds.rds_values import DAY_WINDOW, KEY_ARN, LOWER, NAME, WEEK_WINDOW
from policies.frozen import Json
from policies.properties import CreateOnly, Default, Extension, Name, Properties, Tag, Unordered, WriteOnly

_Retention = Literal[
    7, 31, 62, 93, 124, 155, 186, 217, 248, 279, 310, 341, 372,
    403, 434, 465, 496, 527, 558, 589, 620, 651, 682, 713, 731,
]  # fmt: skip


class InstanceProperties(Properties):
    """`AWS::RDS::DBInstance`. Defaults as in CreateDBInstance. Without one of its own, null is refused."""

    DBInstanceIdentifier: Annotated[str, CreateOnly, Name(NAME, 63)]
    PowerState: Annotated[Literal["running", "stopped"] | None, Extension, Default("running")] = None
    AllocatedStorage: Annotated[str | None, Field(pattern=r"^[1-9][0-9]*$")] = None
    AutoMinorVersionUpgrade: Annotated[bool | None, Default(True)] = None
    AvailabilityZone: Annotated[str | None, CreateOnly] = None
    BackupRetentionPeriod: Annotated[int | None, Field(ge=0, le=35), Default(1)] = None
    CACertificateIdentifier: str | None = None
    CopyTagsToSnapshot: Annotated[bool | None, Default(False)] = None
    DBClusterIdentifier: Annotated[str | None, CreateOnly, Field(pattern=LOWER)] = None
    DBInstanceClass: Annotated[str | None, Field(pattern=r"^db\.")] = None
    DBName: Annotated[str | None, CreateOnly] = None
    DBParameterGroupName: Annotated[str | None, Field(pattern=r"^[a-z0-9.-]+$")] = None
    DBSubnetGroupName: Annotated[str | None, CreateOnly, Field(pattern=r"^[a-z0-9 ._-]+$")] = None
    DatabaseInsightsMode: Literal["advanced", "standard"] | None = None
    DedicatedLogVolume: Annotated[bool | None, Default(False)] = None
    DeletionProtection: Annotated[bool | None, Default(False)] = None
    EnableCloudwatchLogsExports: Annotated[list[str] | None, Unordered] = None
    EnableIAMDatabaseAuthentication: Annotated[bool | None, Default(False)] = None
    EnablePerformanceInsights: Annotated[bool | None, Default(False)] = None
    Engine: Annotated[str | None, CreateOnly, Field(pattern=r"^[a-z0-9-]+$")] = None
    EngineVersion: Annotated[str | None, Field(pattern=r"^[0-9]")] = None
    Iops: Annotated[int | None, Field(ge=1000, le=256_000)] = None
    KmsKeyId: Annotated[str | None, CreateOnly, Field(pattern=KEY_ARN)] = None
    LicenseModel: str | None = None
    ManageMasterUserPassword: Annotated[bool | None, Default(False)] = None
    MasterUserPassword: Annotated[str | None, WriteOnly, Field(min_length=8, max_length=128)] = None
    MasterUsername: Annotated[str | None, CreateOnly, Field(max_length=128, pattern=r"^[a-zA-Z][a-zA-Z0-9_]*$")] = None
    MaxAllocatedStorage: Annotated[int | None, Field(ge=20)] = None
    MonitoringInterval: Annotated[Literal[0, 1, 5, 10, 15, 30, 60] | None, Default(0)] = None
    MonitoringRoleArn: Annotated[str | None, Field(pattern=r"^arn:[a-z-]+:iam::\d{12}:role/.+$")] = None
    MultiAZ: Annotated[bool | None, Default(False)] = None
    NetworkType: Annotated[Literal["IPV4", "DUAL"] | None, Default("IPV4")] = None
    OptionGroupName: Annotated[str | None, Field(pattern=r"^[a-z0-9:.-]+$")] = None
    PerformanceInsightsKMSKeyId: Annotated[str | None, Field(pattern=KEY_ARN)] = None
    PerformanceInsightsRetentionPeriod: Annotated[_Retention | None, Default(7)] = None
    Port: Annotated[str | None, Field(pattern=r"^[1-9]\d{3,4}$")] = None
    PreferredBackupWindow: Annotated[str | None, Field(pattern=DAY_WINDOW)] = None
    PreferredMaintenanceWindow: Annotated[str | None, Field(pattern=WEEK_WINDOW)] = None
    PromotionTier: Annotated[int | None, Field(ge=0, le=15), Default(1)] = None
    PubliclyAccessible: bool | None = None
    SourceDBInstanceIdentifier: Annotated[str | None, CreateOnly, Field(pattern=LOWER)] = None
    StorageEncrypted: Annotated[bool | None, CreateOnly, Default(False)] = None
    StorageThroughput: Annotated[int | None, Field(ge=125, le=16_000)] = None
    StorageType: Literal["gp2", "gp3", "io1", "io2", "standard"] | None = None
    Tags: list[Tag] | None = None
    VPCSecurityGroups: Annotated[list[str] | None, Field(min_length=1), Unordered] = None


NOT_SUPPORTED = frozenset(
    {
        "AdditionalStorageVolumes",
        "AllowMajorVersionUpgrade",
        "ApplyImmediately",
        "AssociatedRoles",
        "AutomaticBackupReplicationKmsKeyId",
        "AutomaticBackupReplicationRegion",
        "AutomaticBackupReplicationRetentionPeriod",
        "BackupTarget",
        "CertificateRotationRestart",
        "CharacterSetName",
        "CustomIAMInstanceProfile",
        "DBClusterSnapshotIdentifier",
        "DBSecurityGroups",
        "DBSnapshotIdentifier",
        "DBSystemId",
        "DeleteAutomatedBackups",
        "Domain",
        "DomainAuthSecretArn",
        "DomainDnsIps",
        "DomainFqdn",
        "DomainIAMRoleName",
        "DomainOu",
        "EngineLifecycleSupport",
        "MasterUserAuthenticationType",
        "MasterUserSecret",
        "NcharCharacterSetName",
        "ProcessorFeatures",
        "ReplicaMode",
        "RestoreTime",
        "SourceDBClusterIdentifier",
        "SourceDBInstanceAutomatedBackupsArn",
        "SourceDbiResourceId",
        "SourceRegion",
        "TdeCredentialArn",
        "TdeCredentialPassword",
        "Timezone",
        "UseDefaultProcessorFeatures",
        "UseLatestRestorableTime",
    }
)
"""Refused by name. Changes are always applied immediately; a major upgrade is nothing that a timer should begin."""

READ_ONLY = frozenset(
    {
        "AutomaticRestartTime",
        "CertificateDetails",
        "CertificateDetails.CAIdentifier",
        "CertificateDetails.ValidTill",
        "DBInstanceArn",
        "DBInstanceStatus",
        "DbiResourceId",
        "Endpoint",
        "Endpoint.Address",
        "Endpoint.HostedZoneId",
        "Endpoint.Port",
        "InstanceCreateTime",
        "IsStorageConfigUpgradeAvailable",
        "LatestRestorableTime",
        "ListenerEndpoint",
        "ListenerEndpoint.Address",
        "ListenerEndpoint.HostedZoneId",
        "ListenerEndpoint.Port",
        "PercentProgress",
        "ReadReplicaDBClusterIdentifiers",
        "ReadReplicaDBInstanceIdentifiers",
        "ResumeFullAutomationModeTime",
        "SecondaryAvailabilityZone",
        "StatusInfos",
        "StorageOperationPercentProgress",
        "StorageOperationStatus",
    }
)

LATER = frozenset({"BackupRetentionPeriod", "EngineVersion", "PreferredBackupWindow", "PreferredMaintenanceWindow"})
"""What CreateDBInstanceReadReplica does not take and ModifyDBInstance does."""

OF_THE_SOURCE = frozenset(
    {
        "DBClusterIdentifier",
        "DBName",
        "Engine",
        "KmsKeyId",
        "LicenseModel",
        "ManageMasterUserPassword",
        "MasterUserPassword",
        "MasterUsername",
        "PromotionTier",
        "StorageEncrypted",
    }
)
"""What a read replica has from its source."""

OF_THE_CLUSTER = frozenset(
    {
        "AllocatedStorage",
        "BackupRetentionPeriod",
        "DBName",
        "DeletionProtection",
        "EnableCloudwatchLogsExports",
        "EnableIAMDatabaseAuthentication",
        "EngineVersion",
        "Iops",
        "KmsKeyId",
        "ManageMasterUserPassword",
        "MasterUserPassword",
        "MasterUsername",
        "MaxAllocatedStorage",
        "MultiAZ",
        "OptionGroupName",
        "Port",
        "PowerState",
        "PreferredBackupWindow",
        "SourceDBInstanceIdentifier",
        "StorageEncrypted",
        "StorageThroughput",
        "StorageType",
        "VPCSecurityGroups",
    }
)
"""What is said of a cluster and not of its members."""

_RESETTABLE = frozenset(
    {"EnableCloudwatchLogsExports", "MaxAllocatedStorage", "SourceDBInstanceIdentifier", "DBClusterIdentifier", "Tags"}
)


def problems(properties: Mapping[str, Json]) -> Iterator[str]:
    """What the service refuses, and what would be declared and never be so."""
    given = {word for word, value in properties.items() if value is not None}
    if properties.get("DBClusterIdentifier"):
        yield from _needed(given, "DBInstanceClass", "Engine")
        yield from _misplaced(given, OF_THE_CLUSTER, "is said of the cluster that it belongs to")
    elif properties.get("SourceDBInstanceIdentifier"):
        yield from _needed(given, "DBInstanceClass")
        yield from _misplaced(given, OF_THE_SOURCE, "a read replica has from its source")
        if properties.get("PowerState") == "stopped":
            yield "PowerState: RDS stops no read replica; leave it out"
    else:
        yield from _needed(given, "AllocatedStorage", "DBInstanceClass", "Engine", "MasterUsername")
        if bool(properties.get("MasterUserPassword")) == bool(properties.get("ManageMasterUserPassword")):
            yield "one of ManageMasterUserPassword true (a secret of Secrets Manager) and MasterUserPassword is needed"
        yield from _misplaced(given, frozenset({"PromotionTier"}), "is said of members of a cluster")
    yield from null_problems(InstanceProperties, properties, _RESETTABLE)
    yield from watch_problems(properties, "EnablePerformanceInsights", "PerformanceInsightsKMSKeyId")
    if properties.get("MultiAZ") and properties.get("AvailabilityZone"):
        yield "AvailabilityZone goes with MultiAZ false: with a standby, a failover changes it"
    if properties.get("KmsKeyId") and not properties.get("StorageEncrypted") and "Engine" in given:
        yield "KmsKeyId needs StorageEncrypted true"


def null_problems(model: type[Properties], properties: Mapping[str, Json], resettable: frozenset[str]) -> Iterator[str]:
    """Null means: back to the service's default, and some words have none."""
    for word, value in properties.items():
        defaults = any(isinstance(mark, Default) for mark in model.model_fields[word].metadata)
        if value is None and not defaults and word not in resettable:
            yield f"{word} cannot be null: the service has no default that could be gone back to; leave it out"


def watch_problems(properties: Mapping[str, Json], switch: str, key: str) -> Iterator[str]:
    """Enhanced monitoring and Performance Insights: the service forgets what belongs to a switch that is off."""
    if bool(properties.get("MonitoringInterval")) != bool(properties.get("MonitoringRoleArn")):
        yield "MonitoringInterval above 0 and MonitoringRoleArn go together"
    for word in (key, "PerformanceInsightsRetentionPeriod"):
        if properties.get(word) and not properties.get(switch):
            yield f"{word} needs {switch} true"


def _needed(given: set[str], *words: str) -> Iterator[str]:
    if missing := [word for word in words if word not in given]:
        yield f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} needed"


def _misplaced(given: set[str], words: frozenset[str], why: str) -> Iterator[str]:
    if found := sorted(given & words):
        yield f"{', '.join(found)}: {why}; leave it out"
