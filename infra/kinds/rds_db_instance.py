"""RDS DB instances. DescribeDBInstances shows all but the password, tags included, a hundred to a page.

A change is refused unless the instance is available: not while another one goes on, and not while it is stopped. What
was stopped starts by itself after seven days, and is stopped again here. All changes are applied immediately, together
with whatever waits for a maintenance window. Every database that is deleted leaves a final snapshot; read replicas and
members of clusters, which hold nothing of their own, leave none. Storage never shrinks and an engine never goes back:
`EngineVersion` and `AllocatedStorage` stay as declared only where no automatism moves them; else put them in `initial`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infra.aws import Aws
from infra.kinds.kind import Kind
from infra.kinds.rds_db_instance_description import FACTS, TIMES, parse
from infra.kinds.rds_db_instance_properties import LATER, NOT_SUPPORTED, READ_ONLY, InstanceProperties, problems
from infra.kinds.rds_steps import Steps
from infra.kinds.rds_values import (
    NO_SNAPSHOT,
    OTHERS,
    exports,
    final_snapshot,
    given,
    tag_list,
    tags_of,
)
from policies.action import Change, Desired, Progress
from policies.errors import RefusedError, WaitError
from policies.frozen import Json
from policies.world import Resource

_NUMBERS = ("AllocatedStorage", "Port")
"""Text in CloudFormation, numbers in the API."""


class RdsDbInstance(Kind):
    """`AWS::RDS::DBInstance`: alone, a read replica, or a member of a cluster. Prefer ManageMasterUserPassword."""

    type = "AWS::RDS::DBInstance"
    properties = InstanceProperties
    identifier = "DBInstanceIdentifier"
    facts = frozenset({*FACTS, *TIMES, "CreateTime", "PendingModifiedValues", "State"})
    read_only = READ_ONLY
    not_supported = NOT_SUPPORTED
    holds_data = True
    complete_survey = True
    index = "rds:db"
    absent_codes = frozenset({"DBInstanceNotFound"})
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
    passes_roles_to = frozenset({"monitoring.rds.amazonaws.com"})
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
                yield parse(instance, None)

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        found = aws.client("rds").describe_db_instances(DBInstanceIdentifier=seen.id)["DBInstances"]
        return parse(found[0], tags_of(seen, found[0])) if found else None

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
        if change.properties:
            progress = self._steps(rds, seen, change).take(seen, change.properties, self.shape)
            if progress is Progress.PARTIAL:
                return progress
        if change.tags:
            rds.add_tags_to_resource(ResourceName=seen.arn, Tags=tag_list(change.tags))
        if change.untag:
            rds.remove_tags_from_resource(ResourceName=seen.arn, TagKeys=sorted(change.untag))
        return Progress.COMPLETE

    def _steps(self, rds: Any, seen: Resource, change: Change) -> Steps:
        if "PowerState" in change.properties:
            _check_power(seen)
        name = {"DBInstanceIdentifier": seen.name}
        return Steps(
            start=lambda: rds.start_db_instance(**name),
            modify=lambda wanted: rds.modify_db_instance(
                **name, ApplyImmediately=True, **_spelled(_completed(seen, wanted))
            ),
            stop=lambda: rds.stop_db_instance(**name),
        )

    def delete(self, aws: Aws, seen: Resource) -> None:
        properties, status = seen.properties or {}, seen.facts["State"]
        last: dict[str, Any] = {"SkipFinalSnapshot": True}
        if not (properties.get("SourceDBInstanceIdentifier") or properties.get("DBClusterIdentifier")):
            if status in NO_SNAPSHOT:
                raise RefusedError(f"{seen.name} is {status} and leaves no final snapshot: delete it by hand")
            snapshot = final_snapshot(str(seen.name), str(seen.facts["DbiResourceId"]))
            last = {"SkipFinalSnapshot": False, "FinalDBSnapshotIdentifier": snapshot}
        aws.client("rds").delete_db_instance(DBInstanceIdentifier=seen.name, **last)


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
