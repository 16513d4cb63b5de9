"""ECS services with rolling deployments. DescribeServices shows all that is compared, tags included, ten to a call.

A service goes in two steps: it is scaled to zero, then deleted. While its last tasks stop it is DRAINING: hidden from
ListServices, shown by DescribeServices, and its name is taken. INACTIVE is what is left when they have stopped, and
counts as gone: its name is free.

A deployment that gets on is waited for. One that does not (tasks fail, or find no place) is no reason to wait: the
change that is due may be its cure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infra.aws import Aws
from infra.kinds.ecs_service_properties import NOT_SUPPORTED, ServiceProperties, parse, problems, spell
from infra.kinds.kind import Kind
from policies.action import Change, Desired, Progress
from policies.errors import ExistsError, RefusedError, SenseError, WaitError
from policies.frozen import Json, freeze, merge
from policies.world import Resource, State

_DESCRIBED_A_CALL = 10


class EcsService(Kind):
    """`AWS::ECS::Service`, named by cluster and service. Scaling does not start a deployment; most else does."""

    type = "AWS::ECS::Service"
    properties = ServiceProperties
    identifier = ("Cluster", "ServiceName")
    facts = frozenset({"CreateTime", "PendingCount", "RolloutState", "RunningCount", "Status", "Strategy"})
    read_only = frozenset({"Name", "ServiceArn"})
    not_supported = NOT_SUPPORTED
    complete_survey = True
    deletes_in_transition = True
    absent_codes = frozenset({"ServiceNotFoundException"})
    wait_codes = frozenset({"ClusterNotFoundException", "NamespaceNotFoundException", "ServiceNotActiveException"})
    iam = {
        "survey": frozenset({"ecs:DescribeServices", "ecs:ListClusters", "ecs:ListServices"}),
        "read": frozenset({"ecs:DescribeServices"}),
        "create": frozenset({"ecs:CreateService", "ecs:TagResource"}),
        "update": frozenset({"ecs:TagResource", "ecs:UntagResource", "ecs:UpdateService"}),
        "delete": frozenset({"ecs:DeleteService"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        return next(problems(properties), None)

    def has_arn(self, arn: str) -> bool:
        parts = arn.split(":", 5)
        # The old form without the cluster does not say which service it is.
        return len(parts) == 6 and parts[2] == "ecs" and parts[5].startswith("service/") and parts[5].count("/") == 2

    def name_of_arn(self, arn: str) -> str:
        return arn.partition(":service/")[2]

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        for cluster_arn in aws.pages("ecs", "list_clusters", "clusterArns"):
            cluster = cluster_arn.rpartition("/")[2]
            within = [prefix for prefix in prefixes if _may_begin(f"{cluster}/", prefix)]
            names = [name for name in _services(aws, cluster) if f"{cluster}/{name}".startswith(tuple(within))]
            for at in range(0, len(names), _DESCRIBED_A_CALL):
                yield from _describe(aws, cluster, names[at : at + _DESCRIBED_A_CALL])

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        cluster, _, name = seen.id.partition("/")
        try:
            return next(_describe(aws, cluster, [name]), None)
        except aws.client("ecs").exceptions.ClusterNotFoundException:
            return None

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        ecs = aws.client("ecs")
        wanted = spell({word: value for word, value in _declared(desired).items() if value is not None})
        try:
            ecs.create_service(**wanted, tags=_tags(desired.tags))
        except ecs.exceptions.InvalidParameterException as error:
            # The one code says many things; these two are not the policy's fault.
            if "not idempotent" in str(error):
                raise ExistsError(f"the service {desired.name} exists") from error
            if "raining" in str(error):
                raise WaitError(f"the last service {desired.name} is still draining") from error
            raise
        return Progress.COMPLETE

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        ecs = aws.client("ecs")
        if change.properties:
            if "DeploymentConfiguration" in change.properties and seen.facts.get("Strategy") not in (None, "ROLLING"):
                raise RefusedError(f"{seen.id} deploys by {seen.facts['Strategy']}, of which a change would lose parts")
            cluster, _, name = seen.id.partition("/")
            wanted = {word: value for word, value in change.properties.items() if word not in self.identifiers}
            ecs.update_service(cluster=cluster, service=name, **_complete(wanted, spell(wanted)))
        if change.tags:
            ecs.tag_resource(resourceArn=seen.arn, tags=_tags(change.tags))
        if change.untag:
            ecs.untag_resource(resourceArn=seen.arn, tagKeys=sorted(change.untag))
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        ecs, (cluster, _, name) = aws.client("ecs"), seen.id.partition("/")
        # Forced, since one call cannot be left half done: scaled to zero first, it would stay so if wanted again.
        ecs.delete_service(cluster=cluster, service=name, force=True)


def _declared(desired: Desired) -> Mapping[str, Json]:
    declared: Mapping[str, Json] = merge(desired.initial, desired.properties)
    return declared


def _complete(wanted: Mapping[str, Json], spelt: dict[str, Any]) -> dict[str, Any]:
    """Raises RefusedError where null stands for nothing that the service could go back to."""
    lost = [word for word, value in wanted.items() if value is None and not spell({word: value})]
    if lost:
        raise RefusedError(f"{', '.join(lost)}: there is no default that null could stand for; give a value")
    return spelt


def _may_begin(start: str, prefix: str) -> bool:
    return start.startswith(prefix) or prefix.startswith(start)


def _services(aws: Aws, cluster: str) -> list[str]:
    arns = aws.pages("ecs", "list_services", "serviceArns", cluster=cluster, PaginationConfig={"PageSize": 100})
    return [arn.rpartition("/")[2] for arn in arns]


def _describe(aws: Aws, cluster: str, names: Sequence[str]) -> Iterator[Resource]:
    """The services that are there of at most ten, with their tags."""
    answer = aws.client("ecs").describe_services(cluster=cluster, services=list(names), include=["TAGS"])
    for failure in answer["failures"]:
        if failure["reason"] != "MISSING":
            raise SenseError(f"{failure['arn']} could not be described: {failure['reason']}")
    yield from (_parse(service) for service in answer["services"] if service["status"] != "INACTIVE")


def _parse(service: Mapping[str, Any]) -> Resource:
    cluster = service["clusterArn"].rpartition("/")[2]
    name, created = f"{cluster}/{service['serviceName']}", service.get("createdAt")
    rollout = _rollout(service)
    return Resource(
        type=EcsService.type,
        id=name,
        name=name,
        handle=service["serviceArn"],
        arn=service["serviceArn"],
        tags={tag["key"]: tag.get("value", "") for tag in service.get("tags") or ()},
        properties=freeze(parse(service)),
        facts={
            "CreateTime": created.isoformat() if created else None,
            "PendingCount": service.get("pendingCount", 0),
            "RolloutState": rollout.get("rolloutState"),
            "RunningCount": service.get("runningCount", 0),
            "Status": service["status"],
            "Strategy": (service.get("deploymentConfiguration") or {}).get("strategy"),
        },
        state=_state(service, rollout),
        created=created,
    )


def _rollout(service: Mapping[str, Any]) -> Mapping[str, Any]:
    """The deployment that is to be the service's only one."""
    return next((one for one in service.get("deployments") or () if one.get("status") == "PRIMARY"), {})


def _state(service: Mapping[str, Any], rollout: Mapping[str, Any]) -> State:
    if service["status"] != "ACTIVE":
        return State.DELETING
    match rollout.get("rolloutState"):
        case "FAILED":
            return State.UNHEALTHY
        case "IN_PROGRESS":
            gets_on = rollout.get("pendingCount") and not rollout.get("failedTasks")
            return State.PENDING if gets_on else State.UNHEALTHY
    return State.READY


def _tags(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in tags.items()]
