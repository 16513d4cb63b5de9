"""RDS DB instances. DescribeDBInstances shows all but the password, tags included, a hundred to a page.

A change is refused unless the instance is available: not while another one goes on, and not while it is stopped. What
was stopped starts by itself after seven days, and is stopped again here. All changes are applied immediately, together
with whatever waits for a maintenance window. Every database that is deleted leaves a final snapshot; read replicas and
members of clusters, which hold nothing of their own, leave none. A storage volume never shrinks and an engine never goes
back: what `EngineVersion` and `AllocatedStorage` say is right only as long as no automatism moves them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infra.aws import Aws
from infra.kinds.kind import Kind
from infra.kinds.rds_db_instance_properties import LATER, NOT_SUPPORTED, InstanceProperties, problems
from infra.kinds.rds_values import (
    NO_SNAPSHOT,
    OTHERS,
    active,
    backward,
    exports,
    final_snapshot,
    given,
    power_of,
    settled,
    shown,
    state_of,
    tag_list,
    tags_of,
)
from policies.action import Change, Desired, Progress
from policies.errors import RefusedError, WaitError
from policies.frozen import Json
from policies.world import Resource

_NUMBERS = ("AllocatedStorage", "Port")
"""Text in CloudFormation, numbers in the API."""

_OTHERWISE = {
    "EnableIAMDatabaseAuthentication": "IAMDatabaseAuthenticationEnabled",
    "EnableCloudwatchLogsExports": "EnabledCloudwatchLogsExports",
    "EnablePerformanceInsights": "PerformanceInsightsEnabled",
    "SourceDBInstanceIdentifier": "ReadReplicaSourceDBInstanceIdentifier",
}
"""Words that a description spells differently; those that are worked out come after."""

_FACTS = (
    "DbiResourceId",
    "Endpoint",
    "PercentProgress",
    "ReadReplicaDBInstanceIdentifiers",
    "SecondaryAvailabilityZone",
)
_TIMES = ("AutomaticRestartTime", "LatestRestorableTime")


class RdsDbInstance(Kind):
    """`AWS::RDS::DBInstance`: alone, a read replica, or a member of a cluster. Prefer ManageMasterUserPassword."""

    type = "AWS::RDS::DBInstance"
    properties = InstanceProperties
    identifier = "DBInstanceIdentifier"
    facts = frozenset({*_FACTS, *_TIMES, "CreateTime", "PendingModifiedValues", "State"})
    read_only = frozenset(
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
    not_supported = NOT_SUPPORTED
    holds_data = True
    complete_survey = True
    index = "rds:db"
    absent_codes = frozenset({"DBInstanceNotFound", "DBInstanceNotFoundFault"})
    exists_codes = frozenset({"DBInstanceAlreadyExists"})
    wait_codes = frozenset(
        {
            "DBClusterNotFoundFault",
            "DBParameterGroupNotFound",
            "DBSubnetGroupNotFoundFault",
            "InsufficientDBInstanceCapacity",
            "InvalidDBClusterStateFault",
            "InvalidDBInstanceState",
            "OptionGroupNotFoundFault",
        }
    )
    iam = {
        "survey": frozenset({"rds:DescribeDBInstances"}),
        "read": frozenset({"rds:DescribeDBInstances"}),
        "create": frozenset(
            {
                "iam:PassRole",
                "rds:AddTagsToResource",
                "rds:CreateDBInstance",
                "rds:CreateDBInstanceReadReplica",
                "secretsmanager:CreateSecret",
                "secretsmanager:TagResource",
            }
        ),
        "update": frozenset(
            {
                "iam:PassRole",
                "rds:AddTagsToResource",
                "rds:ModifyDBInstance",
                "rds:RemoveTagsFromResource",
                "rds:StartDBInstance",
                "rds:StopDBInstance",
                "secretsmanager:CreateSecret",
                "secretsmanager:TagResource",
            }
        ),
        "delete": frozenset({"rds:AddTagsToResource", "rds:CreateDBSnapshot", "rds:DeleteDBInstance"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        return next(problems(properties), None)

    def single_call(self, desired: Mapping[str, Json]) -> bool:
        late = LATER if desired.get("SourceDBInstanceIdentifier") else frozenset()
        return desired.get("PowerState") != "stopped" and not late & given(desired).keys()

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        for instance in aws.pages("rds", "describe_db_instances", "DBInstances"):
            if instance["DBInstanceIdentifier"].startswith(tuple(prefixes)) and instance["Engine"] not in OTHERS:
                yield _parse(instance, None)

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        found = aws.client("rds").describe_db_instances(DBInstanceIdentifier=seen.id)["DBInstances"]
        return _parse(found[0], tags_of(seen, found[0])) if found else None

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        rds, declared = aws.client("rds"), {**desired.initial, **desired.properties}
        words = given({word: value for word, value in declared.items() if word != "PowerState"})
        if "SourceDBInstanceIdentifier" not in words:
            rds.create_db_instance(**_spelled(words), Tags=tag_list(desired.tags))
        else:
            born = {word: value for word, value in words.items() if word not in LATER}
            try:
                rds.create_db_instance_read_replica(**_spelled(born), Tags=tag_list(desired.tags))
            except rds.exceptions.DBInstanceNotFoundFault as error:
                raise WaitError(f"the source of {desired.name} is not there: {error}") from error
        return Progress.COMPLETE if self.single_call(declared) else Progress.PARTIAL

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        rds = aws.client("rds")
        if change.properties and self._change(rds, seen, dict(change.properties)) is Progress.PARTIAL:
            return Progress.PARTIAL
        if change.tags:
            rds.add_tags_to_resource(ResourceName=seen.arn, Tags=tag_list(change.tags))
        if change.untag:
            rds.remove_tags_from_resource(ResourceName=seen.arn, TagKeys=sorted(change.untag))
        return Progress.COMPLETE

    def _change(self, rds: Any, seen: Resource, wanted: dict[str, Json]) -> Progress:
        """Start before anything is changed, stop after everything has been."""
        power = (wanted.pop("PowerState") or "running") if "PowerState" in wanted else None
        if power is not None:
            _check_power(seen)
        if seen.facts["State"] == "stopped" and wanted and power is None:
            raise WaitError(f"{', '.join(wanted)} of {seen.name} can change only while it runs, and it is stopped")
        if power == "running":
            rds.start_db_instance(DBInstanceIdentifier=seen.name)
            return Progress.PARTIAL if wanted else Progress.COMPLETE
        if wanted:
            self._modify(rds, seen, wanted)
            return Progress.PARTIAL if power else Progress.COMPLETE
        rds.stop_db_instance(DBInstanceIdentifier=seen.name)
        return Progress.COMPLETE

    def _modify(self, rds: Any, seen: Resource, wanted: dict[str, Json]) -> None:
        """All that can be changed; then say what cannot."""
        refused = dict(backward(seen, wanted))
        possible = settled(self.shape, {word: value for word, value in wanted.items() if word not in refused})
        if possible:
            rds.modify_db_instance(
                DBInstanceIdentifier=seen.name, ApplyImmediately=True, **_spelled(_completed(seen, possible))
            )
        if refused:
            raise RefusedError("; ".join(refused.values()))

    def delete(self, aws: Aws, seen: Resource) -> None:
        properties, status = seen.properties or {}, seen.facts["State"]
        last: dict[str, Any] = {"SkipFinalSnapshot": True}
        if not (properties.get("SourceDBInstanceIdentifier") or properties.get("DBClusterIdentifier")):
            if status in NO_SNAPSHOT:
                raise RefusedError(f"{seen.name} is {status} and leaves no final snapshot: delete it by hand")
            snapshot = final_snapshot(str(seen.name), str(seen.facts["DbiResourceId"]))
            last = {"SkipFinalSnapshot": False, "FinalDBSnapshotIdentifier": snapshot}
        aws.client("rds").delete_db_instance(DBInstanceIdentifier=seen.name, **last)


def _parse(instance: Mapping[str, Any], tags: Mapping[str, str] | None) -> Resource:
    name, status, created = (
        instance["DBInstanceIdentifier"],
        instance["DBInstanceStatus"],
        instance.get("InstanceCreateTime"),
    )
    times = {word: instance[word] for word in _TIMES if word in instance} | ({"CreateTime": created} if created else {})
    pending = sorted(instance.get("PendingModifiedValues", ()))
    facts = {"State": status, "PendingModifiedValues": pending, **{word: instance.get(word) for word in _FACTS}}
    return Resource(
        type=RdsDbInstance.type,
        id=name,
        name=name,
        handle=name,
        arn=instance["DBInstanceArn"],
        tags=tags,
        properties=_properties(instance, status),
        facts=shown(facts) | {word: moment.isoformat() for word, moment in times.items()},
        state=state_of(status),
        created=created,
    )


def _properties(instance: Mapping[str, Any], status: str) -> dict[str, Json]:
    """A description in CloudFormation's form."""
    storage, most = instance.get("AllocatedStorage"), instance.get("MaxAllocatedStorage")
    port = instance.get("Endpoint", {}).get("Port")
    words = InstanceProperties.model_fields.keys() - {"MasterUserPassword", "Tags"}
    parsed = {word: instance.get(_OTHERWISE.get(word, word)) for word in words} | {
        "AllocatedStorage": str(storage) if storage else None,
        "DBParameterGroupName": next(
            (one["DBParameterGroupName"] for one in instance.get("DBParameterGroups", ())), None
        ),
        "DBSubnetGroupName": instance.get("DBSubnetGroup", {}).get("DBSubnetGroupName"),
        "ManageMasterUserPassword": "MasterUserSecret" in instance,
        "MaxAllocatedStorage": most if most != storage else None,
        "OptionGroupName": next(iter(active(instance, "OptionGroupMemberships", "OptionGroupName")), None),
        "Port": str(port) if port else None,
        "PowerState": power_of(status),
        "VPCSecurityGroups": active(instance, "VpcSecurityGroups", "VpcSecurityGroupId"),
    }
    return shown(parsed)


def _check_power(seen: Resource) -> None:
    """What the service says of these is that they are in the wrong state, which sounds as if waiting would help."""
    properties = seen.properties or {}
    if cluster := properties.get("DBClusterIdentifier"):
        raise RefusedError(f"{seen.name} belongs to {cluster}: only the whole cluster starts and stops")
    if properties.get("SourceDBInstanceIdentifier") or seen.facts.get("ReadReplicaDBInstanceIdentifiers"):
        raise RefusedError(f"{seen.name} is or has a read replica: RDS stops neither")


def _completed(seen: Resource, wanted: dict[str, Any]) -> dict[str, Any]:
    """With what ModifyDBInstance wants to be told again or otherwise."""
    has = seen.properties or {}
    if "EnableCloudwatchLogsExports" in wanted:
        wanted["CloudwatchLogsExportConfiguration"] = exports(seen, wanted.pop("EnableCloudwatchLogsExports"))
    if "MaxAllocatedStorage" in wanted and wanted["MaxAllocatedStorage"] is None:
        wanted["MaxAllocatedStorage"] = int(wanted.get("AllocatedStorage") or has["AllocatedStorage"])
    if wanted.keys() & {"Iops", "StorageThroughput", "StorageType"} and has.get("AllocatedStorage"):
        wanted.setdefault("AllocatedStorage", has["AllocatedStorage"])
    if "Port" in wanted:
        wanted["DBPortNumber"] = int(wanted.pop("Port"))
    return wanted


def _spelled(words: Mapping[str, Any]) -> dict[str, Any]:
    """CloudFormation's words as the API has them."""
    spelled = {word: int(value) if word in _NUMBERS else value for word, value in words.items()}
    if "VPCSecurityGroups" in spelled:
        spelled["VpcSecurityGroupIds"] = spelled.pop("VPCSecurityGroups")
    return spelled
