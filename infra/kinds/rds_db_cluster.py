"""Aurora and Multi-AZ DB clusters. DescribeDBClusters shows all but the password, tags included, a hundred to a page.

A change is refused unless the cluster is available: not while another one goes on, and not while it is stopped. What
was stopped starts by itself after seven days, and is stopped again here; its members go with it. All changes are
applied immediately. A cluster is deleted when its last member is gone, and leaves a final snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infra.aws import Aws
from infra.kinds.kind import Kind
from infra.kinds.rds_db_cluster_properties import NOT_SUPPORTED, ClusterProperties, problems
from infra.kinds.rds_steps import Steps
from infra.kinds.rds_values import (
    OTHERS,
    active,
    exports,
    final_snapshot,
    given,
    power_of,
    shown,
    state_of,
    tag_list,
    tags_of,
)
from policies.action import Change, Desired, Progress
from policies.errors import RefusedError
from policies.frozen import Json
from policies.world import Resource

_IN_CALLS = {
    "PerformanceInsightsEnabled": "EnablePerformanceInsights",
    "PerformanceInsightsKmsKeyId": "PerformanceInsightsKMSKeyId",
}
_IN_DESCRIPTIONS = {
    "DBClusterParameterGroupName": "DBClusterParameterGroup",
    "DBSubnetGroupName": "DBSubnetGroup",
    "EnableCloudwatchLogsExports": "EnabledCloudwatchLogsExports",
    "EnableIAMDatabaseAuthentication": "IAMDatabaseAuthenticationEnabled",
    "PerformanceInsightsKmsKeyId": "PerformanceInsightsKMSKeyId",
}
_FACTS = ("DbClusterResourceId", "Endpoint", "EngineMode", "MultiAZ", "PercentProgress", "ReaderEndpoint")
_TIMES = ("AutomaticRestartTime", "LatestRestorableTime")


class RdsDbCluster(Kind):
    """`AWS::RDS::DBCluster`, provisioned or serverless v2, made of DB instances. `DBClusterMembers` is their number."""

    type = "AWS::RDS::DBCluster"
    properties = ClusterProperties
    identifier = "DBClusterIdentifier"
    facts = frozenset({*_FACTS, *_TIMES, "CreateTime", "DBClusterMembers", "PendingModifiedValues", "State"})
    read_only = frozenset(
        {
            "DBClusterArn",
            "DBClusterResourceId",
            "Endpoint",
            "Endpoint.Address",
            "Endpoint.Port",
            "ReadEndpoint",
            "ReadEndpoint.Address",
            "StorageEncryptionType",
            "StorageThroughput",
        }
    )
    not_supported = NOT_SUPPORTED
    holds_data = True
    complete_survey = True
    index = "rds:cluster"
    absent_codes = frozenset({"DBClusterNotFoundFault"})
    exists_codes = frozenset({"DBClusterAlreadyExistsFault"})
    wait_codes = frozenset(
        {
            "DBClusterParameterGroupNotFound",
            "DBSubnetGroupNotFoundFault",
            "InvalidDBClusterStateFault",
            "InvalidDBInstanceState",
        }
    )
    passes_roles_to = frozenset({"monitoring.rds.amazonaws.com"})
    iam = {
        "survey": frozenset({"rds:DescribeDBClusters"}),
        "read": frozenset({"rds:DescribeDBClusters"}),
        "create": frozenset(
            {
                "iam:PassRole",
                "rds:AddTagsToResource",
                "rds:CreateDBCluster",
                "secretsmanager:CreateSecret",
                "secretsmanager:TagResource",
            }
        ),
        "update": frozenset(
            {
                "iam:PassRole",
                "rds:AddTagsToResource",
                "rds:ModifyDBCluster",
                "rds:RemoveTagsFromResource",
                "rds:StartDBCluster",
                "rds:StopDBCluster",
                "secretsmanager:CreateSecret",
                "secretsmanager:TagResource",
            }
        ),
        "delete": frozenset({"rds:AddTagsToResource", "rds:CreateDBClusterSnapshot", "rds:DeleteDBCluster"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        return next(problems(properties), None)

    def single_call(self, desired: Mapping[str, Json]) -> bool:
        return desired.get("PowerState") != "stopped"

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        for cluster in aws.pages("rds", "describe_db_clusters", "DBClusters"):
            if cluster["DBClusterIdentifier"].startswith(tuple(prefixes)) and cluster["Engine"] not in OTHERS:
                yield _parse(cluster, None)

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        found = aws.client("rds").describe_db_clusters(DBClusterIdentifier=seen.id)["DBClusters"]
        return _parse(found[0], tags_of(seen, found[0])) if found else None

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        declared = {**desired.initial, **desired.properties}
        words = given({word: value for word, value in declared.items() if word != "PowerState"})
        aws.client("rds").create_db_cluster(**_spelled(words), Tags=tag_list(desired.tags))
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
        if "PowerState" in change.properties and not str((seen.properties or {}).get("Engine")).startswith("aurora"):
            raise RefusedError(f"{seen.name} is no Aurora cluster: RDS stops no other")
        name = {"DBClusterIdentifier": seen.name}
        return Steps(
            start=lambda: rds.start_db_cluster(**name),
            modify=lambda wanted: rds.modify_db_cluster(**name, ApplyImmediately=True, **_changed(seen, wanted)),
            stop=lambda: rds.stop_db_cluster(**name),
        )

    def delete(self, aws: Aws, seen: Resource) -> None:
        snapshot = final_snapshot(str(seen.name), str(seen.facts["DbClusterResourceId"]))
        last = {"SkipFinalSnapshot": False, "FinalDBSnapshotIdentifier": snapshot}
        aws.client("rds").delete_db_cluster(DBClusterIdentifier=seen.name, **last)


def _parse(cluster: Mapping[str, Any], tags: Mapping[str, str] | None) -> Resource:
    name, status, created = cluster["DBClusterIdentifier"], cluster["Status"], cluster.get("ClusterCreateTime")
    times = {word: cluster[word] for word in _TIMES if word in cluster} | ({"CreateTime": created} if created else {})
    facts = {"State": status, "PendingModifiedValues": sorted(cluster.get("PendingModifiedValues", ()))}
    facts |= {word: cluster.get(word) for word in _FACTS} | {"DBClusterMembers": len(cluster["DBClusterMembers"])}
    return Resource(
        type=RdsDbCluster.type,
        id=name,
        name=name,
        handle=name,
        arn=cluster["DBClusterArn"],
        tags=tags,
        properties=_properties(cluster, status),
        facts=shown(facts) | {word: moment.isoformat() for word, moment in times.items()},
        state=state_of(status),
        created=created,
    )


def _properties(cluster: Mapping[str, Any], status: str) -> dict[str, Json]:
    """A description in CloudFormation's form."""
    words = ClusterProperties.model_fields.keys() - {"MasterUserPassword", "Tags"}
    parsed = {word: cluster.get(_IN_DESCRIPTIONS.get(word, word)) for word in words} | {
        "ManageMasterUserPassword": "MasterUserSecret" in cluster,
        "PowerState": power_of(status),
        "VpcSecurityGroupIds": active(cluster, "VpcSecurityGroups", "VpcSecurityGroupId"),
    }
    return shown(parsed)


def _changed(seen: Resource, wanted: dict[str, Any]) -> dict[str, Any]:
    """What ModifyDBCluster takes; the storage of a Multi-AZ cluster is told again with its speed."""
    has = seen.properties or {}
    if "EnableCloudwatchLogsExports" in wanted:
        wanted["CloudwatchLogsExportConfiguration"] = exports(seen, wanted.pop("EnableCloudwatchLogsExports"))
    if "Iops" in wanted and has.get("AllocatedStorage"):
        wanted.setdefault("AllocatedStorage", has["AllocatedStorage"])
    return _spelled(wanted)


def _spelled(words: Mapping[str, Any]) -> dict[str, Any]:
    """CloudFormation's words as the API has them."""
    spelled = {_IN_CALLS.get(word, word): value for word, value in words.items()}
    capacity = spelled.get("ServerlessV2ScalingConfiguration")
    if capacity:
        # One that never pauses takes no pause.
        unfit = {word for word, value in capacity.items() if value is None}
        unfit |= {"SecondsUntilAutoPause"} if capacity.get("MinCapacity") else set()
        spelled["ServerlessV2ScalingConfiguration"] = {
            word: value for word, value in capacity.items() if word not in unfit
        }
    return spelled
