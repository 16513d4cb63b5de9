"""EC2 Auto Scaling groups. DescribeAutoScalingGroups shows all that is compared, tags included, a hundred to a page.

Sizes change with everything else in one UpdateAutoScalingGroup, which, unlike scaling policies, knows no cool-down.
A group is never deleted by force: it is scaled to zero first, so that life cycle hooks and load balancers get their
time, and deleted by a later run when its last instance is gone. Instances that are protected from scale-in hold it up.
Owner tags stay on the group: its instances do not get them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infra.aws import Aws
from infra.kinds.auto_scaling_group_properties import (
    NOT_SUPPORTED,
    OTHER_CALLS,
    GroupProperties,
    changes,
    creation,
    problems,
)
from infra.kinds.kind import Kind
from policies.action import Change, Desired, Progress
from policies.errors import RefusedError
from policies.frozen import NOTHING, Json, freeze, merge, view
from policies.world import Resource, State

_TARGETS_A_CALL = 10
_AS_SHOWN = (
    "AutoScalingGroupName",
    "AvailabilityZoneDistribution",
    "AvailabilityZones",
    "CapacityRebalance",
    "DefaultInstanceWarmup",
    "DeletionProtection",
    "DesiredCapacity",
    "DesiredCapacityType",
    "HealthCheckGracePeriod",
    "HealthCheckType",
    "InstanceMaintenancePolicy",
    "MaxInstanceLifetime",
    "MaxSize",
    "MinSize",
    "MixedInstancesPolicy",
    "NewInstancesProtectedFromScaleIn",
    "PlacementGroup",
    "TargetGroupARNs",
    "TerminationPolicies",
)


class AutoScalingGroup(Kind):
    """`AWS::AutoScaling::AutoScalingGroup`, from a launch template or a mixed instances policy.

    `SuspendedProcesses` is Setpoint's own word: exactly the listed processes are suspended. `TagsAtLaunch` is too: by
    tag key, whether new instances get the tag; it is what `Tags` says with `PropagateAtLaunch`.
    """

    type = "AWS::AutoScaling::AutoScalingGroup"
    properties = GroupProperties
    identifier = "AutoScalingGroupName"
    facts = frozenset({"CreateTime", "InServiceCount", "InstanceCount", "PredictedCapacity", "Status", "WarmPoolSize"})
    read_only = frozenset({"AutoScalingGroupARN"})
    not_supported = NOT_SUPPORTED
    complete_survey = True
    exists_codes = frozenset({"AlreadyExists"})
    wait_codes = frozenset(
        {
            "InstanceRefreshInProgress",
            "ResourceContention",
            "ResourceInUse",
            "ScalingActivityInProgress",
            "ServiceLinkedRoleFailure",
        }
    )
    passes_roles_to = frozenset({"ec2.amazonaws.com"})
    iam = {
        "survey": frozenset({"autoscaling:DescribeAutoScalingGroups"}),
        "read": frozenset({"autoscaling:DescribeAutoScalingGroups"}),
        "create": frozenset(
            {"autoscaling:CreateAutoScalingGroup", "autoscaling:CreateOrUpdateTags", "ec2:RunInstances", "iam:PassRole"}
        ),
        "update": frozenset(
            {
                "autoscaling:AttachLoadBalancerTargetGroups",
                "autoscaling:CreateOrUpdateTags",
                "autoscaling:DeleteTags",
                "autoscaling:DetachLoadBalancerTargetGroups",
                "autoscaling:ResumeProcesses",
                "autoscaling:SuspendProcesses",
                "autoscaling:UpdateAutoScalingGroup",
                "ec2:RunInstances",
                "iam:PassRole",
            }
        ),
        "delete": frozenset({"autoscaling:DeleteAutoScalingGroup"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        return next(problems(properties), None)

    def without_tags(self, properties: Mapping[str, Json]) -> Mapping[str, Json]:
        """Without the tags, but with what they say of new instances: that is compared and written like a property."""
        rest, tags = super().without_tags(properties), properties.get("Tags")
        if not tags:
            return rest
        flags = {tag["Key"]: tag["PropagateAtLaunch"] for tag in tags}
        return view({**rest, "TagsAtLaunch": view({**(rest.get("TagsAtLaunch") or {}), **flags})})

    def single_call(self, desired: Mapping[str, Json]) -> bool:
        return not desired.get("SuspendedProcesses")

    def has_arn(self, arn: str) -> bool:
        return ":autoScalingGroup:" in arn and arn.split(":", 3)[2] == "autoscaling"

    def name_of_arn(self, arn: str) -> str:
        return arn.partition(":autoScalingGroupName/")[2]

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        page = {"PageSize": 100}
        for group in aws.pages("autoscaling", "describe_auto_scaling_groups", _GROUPS, PaginationConfig=page):
            # All of them, whatever the prefix: GetResources finds no groups, so what left our names shows only here.
            yield _parse(group)

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        groups = aws.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[seen.id])[_GROUPS]
        return _parse(groups[0]) if groups else None

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        declared = merge(desired.initial, desired.properties)
        tags = _tags(declared["AutoScalingGroupName"], desired.tags, declared)
        aws.client("autoscaling").create_auto_scaling_group(**creation(declared), Tags=tags)
        return Progress.COMPLETE if self.single_call(declared) else Progress.PARTIAL

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        client, wanted, has = aws.client("autoscaling"), change.properties, seen.properties or NOTHING
        group = {"AutoScalingGroupName": seen.id}
        # What keeps a group from acting comes before what would make it act, and goes after it.
        suspend, resume = _moved(has, wanted, "SuspendedProcesses")
        attach, detach = _moved(has, wanted, "TargetGroupARNs")
        if suspend:
            client.suspend_processes(**group, ScalingProcesses=suspend)
        for some in _chunks(attach):
            client.attach_load_balancer_target_groups(**group, TargetGroupARNs=some)
        if wanted.keys() - set(OTHER_CALLS):
            client.update_auto_scaling_group(**group, **changes(has, wanted))
        for some in _chunks(detach):
            client.detach_load_balancer_target_groups(**group, TargetGroupARNs=some)
        if resume:
            client.resume_processes(**group, ScalingProcesses=resume)
        _write_tags(client, seen, change)
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        protection = (seen.properties or NOTHING).get("DeletionProtection")
        if protection in ("prevent-all-deletion", "prevent-force-deletion"):
            raise RefusedError(f"{seen.id} has DeletionProtection {protection}; nothing was deleted")
        # Forced, since one call cannot be left half done: scaled to zero first, it would stay so if wanted again.
        aws.client("autoscaling").delete_auto_scaling_group(AutoScalingGroupName=seen.id, ForceDelete=True)


_GROUPS = "AutoScalingGroups"


def _parse(group: Mapping[str, Any]) -> Resource:
    instances = group.get("Instances") or ()
    tags = {tag["Key"]: tag for tag in group.get("Tags") or () if not tag["Key"].startswith("aws:")}
    created = group["CreatedTime"]
    facts = {word: group[word] for word in ("PredictedCapacity", "Status", "WarmPoolSize") if group.get(word)}
    facts |= {
        "CreateTime": created.isoformat(),
        "InstanceCount": len(instances),
        "InServiceCount": sum(one["LifecycleState"] == "InService" for one in instances),
    }
    return Resource(
        type=AutoScalingGroup.type,
        id=group["AutoScalingGroupName"],
        name=group["AutoScalingGroupName"],
        handle=group["AutoScalingGroupName"],
        arn=group["AutoScalingGroupARN"],
        tags={key: tag.get("Value", "") for key, tag in tags.items()},
        properties=freeze(_properties(group, tags)),
        facts=facts,
        # Status is shown while a delete is in progress only.
        state=State.DELETING if group.get("Status") else State.READY,
        created=created,
    )


def _properties(group: Mapping[str, Any], tags: Mapping[str, Mapping[str, Any]]) -> dict[str, Json]:
    """What DescribeAutoScalingGroups shows, in CloudFormation's form."""
    mixed = group.get("MixedInstancesPolicy")
    shown = {
        **{word: group.get(word) for word in _AS_SHOWN},
        "Cooldown": group.get("DefaultCooldown"),
        "LaunchTemplate": None if mixed else group.get("LaunchTemplate"),
        "SuspendedProcesses": sorted(one["ProcessName"] for one in group.get("SuspendedProcesses") or ()),
        "TagsAtLaunch": {key: tag.get("PropagateAtLaunch", False) for key, tag in tags.items()},
        "VPCZoneIdentifier": [subnet for subnet in (group.get("VPCZoneIdentifier") or "").split(",") if subnet],
    }
    return _given(shown)


def _given(shown: Mapping[str, Json]) -> dict[str, Json]:
    """Without what is not set, at any depth."""
    inner = {word: _given(value) if isinstance(value, Mapping) else value for word, value in shown.items()}
    return {word: value for word, value in inner.items() if value not in (None, "", [], {})}


def _moved(has: Mapping[str, Json], wanted: Mapping[str, Json], word: str) -> tuple[list[str], list[str]]:
    """What a list gains and what it loses."""
    if word not in wanted:
        return [], []
    old, new = (set(part.get(word) or ()) for part in (has, wanted))
    return sorted(new - old), sorted(old - new)


def _chunks(names: Sequence[str]) -> Iterator[list[str]]:
    yield from (list(names[at : at + _TARGETS_A_CALL]) for at in range(0, len(names), _TARGETS_A_CALL))


def _write_tags(client: Any, seen: Resource, change: Change) -> None:
    """The tags, and the flags of those that are there: a tag is always written with its flag."""
    flags = {**(seen.properties or NOTHING).get("TagsAtLaunch", {}), **(change.properties.get("TagsAtLaunch") or {})}
    flagged = {
        key: value for key, value in (seen.tags or {}).items() if key in change.properties.get("TagsAtLaunch", ())
    }
    if tags := {**flagged, **change.tags}:
        client.create_or_update_tags(Tags=_tags(seen.id, tags, {"TagsAtLaunch": flags}))
    if change.untag:
        names = {"ResourceId": seen.id, "ResourceType": _TAGGED}
        client.delete_tags(Tags=[{**names, "Key": key} for key in sorted(change.untag)])


_TAGGED = "auto-scaling-group"


def _tags(group: str, tags: Mapping[str, str], properties: Mapping[str, Json]) -> list[dict[str, Any]]:
    flags = properties.get("TagsAtLaunch") or {}
    names = {"ResourceId": group, "ResourceType": _TAGGED}
    return [
        {**names, "Key": key, "Value": value, "PropagateAtLaunch": bool(flags.get(key))} for key, value in tags.items()
    ]
