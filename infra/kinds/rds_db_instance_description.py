"""What RDS says of a DB instance, in CloudFormation's words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infra.kinds.rds_db_instance_properties import InstanceProperties
from infra.kinds.rds_values import active, power_of, shown, state_of
from policies.frozen import Json
from policies.world import Resource

_OTHERWISE = {
    "EnableIAMDatabaseAuthentication": "IAMDatabaseAuthenticationEnabled",
    "EnableCloudwatchLogsExports": "EnabledCloudwatchLogsExports",
    "EnablePerformanceInsights": "PerformanceInsightsEnabled",
    "SourceDBInstanceIdentifier": "ReadReplicaSourceDBInstanceIdentifier",
}
"""Words that a description spells differently; those that are worked out come after."""

FACTS = (
    "DbiResourceId",
    "Endpoint",
    "PercentProgress",
    "ReadReplicaDBInstanceIdentifiers",
    "SecondaryAvailabilityZone",
)
TIMES = ("AutomaticRestartTime", "LatestRestorableTime")


def parse(instance: Mapping[str, Any], tags: Mapping[str, str] | None) -> Resource:
    name, status, created = (
        instance["DBInstanceIdentifier"],
        instance["DBInstanceStatus"],
        instance.get("InstanceCreateTime"),
    )
    times = {word: instance[word] for word in TIMES if word in instance} | ({"CreateTime": created} if created else {})
    pending = sorted(instance.get("PendingModifiedValues", ()))
    facts = {"State": status, "PendingModifiedValues": pending, **{word: instance.get(word) for word in FACTS}}
    return Resource(
        type="AWS::RDS::DBInstance",
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
