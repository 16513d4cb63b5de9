"""The words of `AWS::AutoScaling::AutoScalingGroup`, and how creating and updating a group spell them.

CloudFormation writes the sizes as text; here they are whole numbers, so that schedules and metrics can move them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from policies.errors import RefusedError
from policies.frozen import Json, thaw
from policies.properties import CreateOnly, Default, Extension, Name, Properties, Shape, Tag, Unordered, shape_of

Process = Literal[
    "Launch",
    "Terminate",
    "AddToLoadBalancer",
    "AlarmNotification",
    "AZRebalance",
    "HealthCheck",
    "InstanceRefresh",
    "ReplaceUnhealthy",
    "ScheduledActions",
]


class Template(Properties):
    """A launch template by id or by name. With `$Latest` and `$Default` a new version is for new instances."""

    LaunchTemplateId: Annotated[str | None, Field(min_length=1, max_length=255)] = None
    LaunchTemplateName: Annotated[str | None, Field(min_length=3, max_length=128)] = None
    Version: Annotated[str, Field(min_length=1, max_length=255)]


class Override(Properties):
    """An instance type that may be launched in place of the template's."""

    InstanceType: Annotated[str, Field(min_length=1, max_length=255)]
    WeightedCapacity: Annotated[str | None, Field(min_length=1, max_length=32, pattern=r"^[0-9]+$")] = None


class MixedTemplate(Properties):
    """The template, and the instance types in order of preference."""

    LaunchTemplateSpecification: Template
    Overrides: list[Override] | None = None


class Distribution(Properties):
    """How much is on demand and how much is spot. Defaults as in the service's InstancesDistribution."""

    OnDemandAllocationStrategy: Literal["lowest-price", "prioritized"] | None = None
    OnDemandBaseCapacity: Annotated[int | None, Field(ge=0), Default(0)] = None
    OnDemandPercentageAboveBaseCapacity: Annotated[int | None, Field(ge=0, le=100), Default(100)] = None
    SpotAllocationStrategy: (
        Literal["capacity-optimized", "capacity-optimized-prioritized", "lowest-price", "price-capacity-optimized"]
        | None
    ) = None
    SpotInstancePools: Annotated[int | None, Field(ge=1, le=20)] = None
    SpotMaxPrice: Annotated[str | None, Field(max_length=255), Default("")] = None


class Mixed(Properties):
    """Several instance types, on demand and spot."""

    InstancesDistribution: Distribution | None = None
    LaunchTemplate: MixedTemplate


class Maintenance(Properties):
    """How far replacing instances may go below and above the desired capacity, in percent; -1 clears both."""

    MaxHealthyPercentage: Annotated[int, Field(ge=-1, le=200)]
    MinHealthyPercentage: Annotated[int, Field(ge=-1, le=100)]


class Spread(Properties):
    """Whether the zones must stay in balance."""

    CapacityDistributionStrategy: Annotated[
        Literal["balanced-best-effort", "balanced-only", "reservations-then-balanced"] | None,
        Default("balanced-best-effort"),
    ] = None


class GroupTag(Tag):
    """A tag of the group, and whether its new instances get it too."""

    PropagateAtLaunch: bool


class GroupProperties(Properties):
    """`AWS::AutoScaling::AutoScalingGroup`. Defaults as in CreateAutoScalingGroup."""

    AutoScalingGroupName: Annotated[str, CreateOnly, Name(r"[A-Za-z0-9._/=+@-]+", 255)]
    AvailabilityZoneDistribution: Annotated[
        Spread | None, Default({"CapacityDistributionStrategy": "balanced-best-effort"})
    ] = None
    AvailabilityZones: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=255)]] | None, Field(min_length=1), Unordered
    ] = None
    CapacityRebalance: Annotated[bool | None, Default(False)] = None
    Cooldown: Annotated[int | None, Field(ge=0), Default(300)] = None
    DefaultInstanceWarmup: Annotated[int | None, Field(ge=-1), Default(-1)] = None
    DeletionProtection: Annotated[
        Literal["none", "prevent-all-deletion", "prevent-force-deletion"] | None, Default("none")
    ] = None
    DesiredCapacity: Annotated[int | None, Field(ge=0)] = None
    DesiredCapacityType: Annotated[Literal["units", "vcpu", "memory-mib"] | None, Default("units")] = None
    HealthCheckGracePeriod: Annotated[int | None, Field(ge=0), Default(0)] = None
    HealthCheckType: Annotated[
        str | None,
        Field(min_length=1, max_length=32, pattern=r"^(EBS|EC2|ELB|VPC_LATTICE)(,(EBS|EC2|ELB|VPC_LATTICE))*,?$"),
        Default("EC2"),
    ] = None
    InstanceMaintenancePolicy: Annotated[
        Maintenance | None, Default({"MinHealthyPercentage": -1, "MaxHealthyPercentage": -1})
    ] = None
    LaunchTemplate: Template | None = None
    MaxInstanceLifetime: Annotated[int | None, Field(ge=0), Default(0)] = None
    MaxSize: Annotated[int | None, Field(ge=0)] = None
    MinSize: Annotated[int | None, Field(ge=0)] = None
    MixedInstancesPolicy: Mixed | None = None
    NewInstancesProtectedFromScaleIn: Annotated[bool | None, Default(False)] = None
    PlacementGroup: Annotated[str | None, Field(min_length=1, max_length=255), Default("")] = None
    SuspendedProcesses: Annotated[list[Process] | None, Field(min_length=1), Unordered, Extension] = None
    Tags: list[GroupTag] | None = None
    TagsAtLaunch: Annotated[dict[str, bool] | None, Extension] = None
    TargetGroupARNs: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=511)]] | None, Field(min_length=1), Unordered
    ] = None
    TerminationPolicies: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=1600)]] | None, Field(min_length=1), Default(("Default",))
    ] = None
    VPCZoneIdentifier: Annotated[list[str] | None, Field(min_length=1, max_length=5000), Unordered] = None


NOT_SUPPORTED = frozenset(
    {
        "AvailabilityZoneIds",
        "AvailabilityZoneImpairmentPolicy",
        "CapacityReservationSpecification",
        "Context",
        "InstanceId",
        "InstanceLifecyclePolicy",
        "LaunchConfigurationName",
        "LifecycleHookSpecificationList",
        "LoadBalancerNames",
        "MetricsCollection",
        "MixedInstancesPolicy.InstancesDistribution.DistributionSegments",
        "MixedInstancesPolicy.LaunchTemplate.Overrides.ImageId",
        "MixedInstancesPolicy.LaunchTemplate.Overrides.InstanceRequirements",
        "MixedInstancesPolicy.LaunchTemplate.Overrides.LaunchTemplateSpecification",
        "NotificationConfiguration",
        "NotificationConfigurations",
        "ServiceLinkedRoleARN",
        "SkipZonalShiftValidation",
        "TrafficSources",
    }
)

OTHER_CALLS = ("SuspendedProcesses", "TagsAtLaunch", "TargetGroupARNs")
"""What UpdateAutoScalingGroup does not take."""

_SHAPE = shape_of(GroupProperties)


def problems(properties: Mapping[str, Json]) -> Iterator[str]:
    """What the service would refuse in a group to be created."""
    for word in ("MinSize", "MaxSize"):
        if properties.get(word) is None:
            yield f"a group needs {word}"
            return
    low, high, desired = properties["MinSize"], properties["MaxSize"], properties.get("DesiredCapacity")
    if not low <= (low if desired is None else desired) <= high:
        yield "MinSize, DesiredCapacity and MaxSize must be in ascending order"
    if (properties.get("LaunchTemplate") is None) == (properties.get("MixedInstancesPolicy") is None):
        yield "a group needs either LaunchTemplate or MixedInstancesPolicy"
    mixed = properties.get("MixedInstancesPolicy") or {}
    for template in (
        properties.get("LaunchTemplate"),
        mixed.get("LaunchTemplate", {}).get("LaunchTemplateSpecification"),
    ):
        if template and (template.get("LaunchTemplateId") is None) == (template.get("LaunchTemplateName") is None):
            yield "a launch template is told by either LaunchTemplateId or LaunchTemplateName"
    if not properties.get("VPCZoneIdentifier") and not properties.get("AvailabilityZones"):
        yield "a group needs VPCZoneIdentifier or AvailabilityZones"
    if 0 < (properties.get("MaxInstanceLifetime") or 0) < 86_400:
        yield "MaxInstanceLifetime is 0 or at least 86400 (a day)"


def creation(declared: Mapping[str, Json]) -> dict[str, Any]:
    """What CreateAutoScalingGroup takes, tags aside."""
    wanted = {word: value for word, value in declared.items() if word not in OTHER_CALLS and value is not None}
    targets = declared.get("TargetGroupARNs")
    return _spell(_settled(_SHAPE, wanted)) | ({"TargetGroupARNs": list(targets)} if targets else {})


def changes(has: Mapping[str, Json], wanted: Mapping[str, Json]) -> dict[str, Any]:
    """What UpdateAutoScalingGroup takes, all in one call; null is the service's default."""
    wanted = {word: value for word, value in wanted.items() if word not in OTHER_CALLS}
    if wanted.get("MixedInstancesPolicy"):
        wanted = {word: value for word, value in wanted.items() if word != "LaunchTemplate"}
        wanted["MixedInstancesPolicy"] = _told_once(
            has.get("MixedInstancesPolicy"),
            wanted["MixedInstancesPolicy"],
            ("LaunchTemplate", "LaunchTemplateSpecification"),
        )
    elif wanted.get("LaunchTemplate"):
        wanted.pop("MixedInstancesPolicy", None)
        wanted["LaunchTemplate"] = _told_once(has.get("LaunchTemplate"), wanted["LaunchTemplate"], ())
    settled = _settled(_SHAPE, wanted)
    for word in (word for word in wanted if word not in settled):
        raise RefusedError(f"{word} has no default that null could stand for: give a value")
    return _spell(settled)


def _told_once(has: Json, wanted: Json, path: tuple[str, ...]) -> dict[str, Any]:
    """With a launch template by id or name, not both: what is merged over what is shown holds both."""
    if path:
        inner = _told_once((has or {}).get(path[0]), wanted[path[0]], path[1:])
        return {**wanted, path[0]: inner}
    told = {word: wanted.get(word) for word in ("LaunchTemplateName", "LaunchTemplateId") if wanted.get(word)}
    new = [word for word, value in told.items() if value != (has or {}).get(word)] or list(told)[-1:]
    return {word: value for word, value in wanted.items() if word not in told or word == new[0]}


def _settled(shape: Shape, properties: Mapping[str, Json]) -> dict[str, Json]:
    """The properties with the service's default in place of null, at any depth; without those that have none."""
    settled = {word: _value(shape.inner(word), value) for word, value in properties.items()}
    return {word: value for word, value in settled.items() if value is not None}


def _value(shape: Shape, value: Json) -> Json:
    if value is None:
        return shape.default
    return _settled(shape, value) if isinstance(value, Mapping) else value


def _spell(properties: Mapping[str, Json]) -> dict[str, Any]:
    """Subnets are one text, the cool-down has a longer name."""
    spelt = dict(thaw(properties))
    if "VPCZoneIdentifier" in spelt:
        spelt["VPCZoneIdentifier"] = ",".join(spelt["VPCZoneIdentifier"])
    if "Cooldown" in spelt:
        spelt["DefaultCooldown"] = spelt.pop("Cooldown")
    return spelt
