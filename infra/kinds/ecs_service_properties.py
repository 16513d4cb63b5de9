"""The words of `AWS::ECS::Service`, and how ECS spells them: the same with a small first letter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from policies.frozen import Json, thaw
from policies.properties import CreateOnly, Default, Keyed, Name, Properties, Shape, Tag, Unordered, shape_of

_NAME = r"[A-Za-z0-9_-]+"


class ProviderShare(Properties):
    """How much of the tasks a capacity provider gets."""

    Base: Annotated[int | None, Field(ge=0, le=100_000), Default(0)] = None
    CapacityProvider: str
    Weight: Annotated[int | None, Field(ge=0, le=1000), Default(0)] = None


class DeploymentAlarms(Properties):
    """Alarms that fail a deployment."""

    AlarmNames: Annotated[list[str], Unordered]
    Enable: bool
    Rollback: bool


class CircuitBreaker(Properties):
    """Whether a deployment that does not get steady fails, and is rolled back."""

    Enable: bool
    Rollback: bool


class Deployment(Properties):
    """Rolling deployments. The defaults are those of the REPLICA strategy."""

    Alarms: Annotated[DeploymentAlarms | None, Default({"AlarmNames": (), "Enable": False, "Rollback": False})] = None
    DeploymentCircuitBreaker: Annotated[CircuitBreaker | None, Default({"Enable": False, "Rollback": False})] = None
    MaximumPercent: Annotated[int | None, Field(ge=0), Default(200)] = None
    MinimumHealthyPercent: Annotated[int | None, Field(ge=0), Default(100)] = None


class Target(Properties):
    """A container behind a target group, or behind a Classic Load Balancer."""

    ContainerName: str | None = None
    ContainerPort: Annotated[int | None, Field(ge=0, le=65_535)] = None
    LoadBalancerName: str | None = None
    TargetGroupArn: str | None = None


class Vpc(Properties):
    """Where the tasks' own network interfaces are."""

    AssignPublicIp: Annotated[Literal["DISABLED", "ENABLED"] | None, Default("DISABLED")] = None
    SecurityGroups: Annotated[list[str] | None, Field(min_length=1, max_length=5), Unordered] = None
    Subnets: Annotated[list[str] | None, Field(min_length=1, max_length=16), Unordered] = None


class Network(Properties):
    """For task definitions of network mode awsvpc."""

    AwsvpcConfiguration: Vpc | None = None


class Constraint(Properties):
    """Where a task may be placed."""

    Expression: str | None = None
    Type: Literal["distinctInstance", "memberOf"]


class Placement(Properties):
    """What is preferred where several places are free."""

    Field: str | None = None
    Type: Literal["binpack", "random", "spread"]


class Registry(Properties):
    """A service of Cloud Map."""

    ContainerName: str | None = None
    ContainerPort: int | None = None
    Port: int | None = None
    RegistryArn: str | None = None


class ServiceProperties(Properties):
    """`AWS::ECS::Service`. A task definition is told as `family:revision`: without the number it would be another one
    each time, and of another account or region it cannot be."""

    Cluster: Annotated[str, CreateOnly, Name(_NAME, 255)]
    ServiceName: Annotated[str, CreateOnly, Name(_NAME, 255)]
    AvailabilityZoneRebalancing: Annotated[Literal["ENABLED", "DISABLED"] | None, Default("ENABLED")] = None
    CapacityProviderStrategy: Annotated[
        list[ProviderShare] | None, Field(min_length=1, max_length=20), Keyed("CapacityProvider")
    ] = None
    DeploymentConfiguration: Deployment | None = None
    DesiredCount: Annotated[int | None, Field(ge=0)] = None
    EnableECSManagedTags: Annotated[bool | None, Default(False)] = None
    EnableExecuteCommand: Annotated[bool | None, Default(False)] = None
    HealthCheckGracePeriodSeconds: Annotated[int | None, Field(ge=0), Default(0)] = None
    LaunchType: Annotated[Literal["EC2", "FARGATE", "EXTERNAL"] | None, CreateOnly] = None
    LoadBalancers: Annotated[list[Target] | None, Field(min_length=1), Unordered] = None
    NetworkConfiguration: Network | None = None
    PlacementConstraints: Annotated[list[Constraint] | None, Field(min_length=1, max_length=10), Unordered] = None
    PlacementStrategies: Annotated[list[Placement] | None, Field(min_length=1, max_length=5)] = None
    PlatformVersion: Annotated[str | None, Default("LATEST")] = None
    PropagateTags: Annotated[Literal["SERVICE", "TASK_DEFINITION"] | None, Default("NONE")] = None
    SchedulingStrategy: Annotated[Literal["DAEMON", "REPLICA"] | None, CreateOnly, Default("REPLICA")] = None
    ServiceRegistries: Annotated[list[Registry] | None, Field(min_length=1), Unordered] = None
    Tags: Annotated[list[Tag] | None, Field(max_length=50)] = None
    TaskDefinition: Annotated[str | None, Field(pattern=r"^[A-Za-z0-9_-]{1,255}:[1-9][0-9]*$")] = None


NOT_SUPPORTED = frozenset(
    {
        "DeploymentConfiguration.BakeTimeInMinutes",
        "DeploymentConfiguration.CanaryConfiguration",
        "DeploymentConfiguration.DeploymentCircuitBreaker.ResetOnHealthyTask",
        "DeploymentConfiguration.DeploymentCircuitBreaker.ThresholdConfiguration",
        "DeploymentConfiguration.EarlySuccessCriteria",
        "DeploymentConfiguration.LifecycleHooks",
        "DeploymentConfiguration.LinearConfiguration",
        "DeploymentConfiguration.Strategy",
        "DeploymentController",
        "ForceNewDeployment",
        "GatewayConnectors",
        "LoadBalancers.AdvancedConfiguration",
        "Monitoring",
        "Role",
        "ServiceConnectConfiguration",
        "VolumeConfigurations",
        "VpcLatticeConfigurations",
    }
)

_LISTS = frozenset(
    {"CapacityProviderStrategy", "LoadBalancers", "PlacementConstraints", "PlacementStrategies", "ServiceRegistries"}
)
"""What an empty list takes away."""

_IRREGULAR = {"PlacementStrategies": "placementStrategy"}
_SHAPE = shape_of(ServiceProperties)


def problems(properties: Mapping[str, Json]) -> Iterator[str]:
    """What ECS would refuse in a service to be created."""
    if properties.get("TaskDefinition") is None:
        yield "a service needs TaskDefinition"
    daemon, count = properties.get("SchedulingStrategy") == "DAEMON", properties.get("DesiredCount")
    if daemon and count is not None:
        yield "a service of SchedulingStrategy DAEMON has no DesiredCount: one task runs on each instance"
    if not daemon and count is None:
        yield "a service needs DesiredCount (in initial, where something else scales it)"
    if properties.get("LaunchType") and properties.get("CapacityProviderStrategy"):
        yield "LaunchType and CapacityProviderStrategy exclude each other"


def spell(properties: Mapping[str, Json]) -> dict[str, Any]:
    """The properties as CreateService and UpdateService take them, null being the service's default."""
    settled = {word: () if value is None and word in _LISTS else value for word, value in properties.items()}
    spelt: dict[str, Any] = _spell(_settled(_SHAPE, settled))
    return spelt


def parse(service: Mapping[str, Any]) -> dict[str, Json]:
    """What DescribeServices shows, in CloudFormation's form."""
    deployment = service.get("deploymentConfiguration") or {}
    breaker, alarms = deployment.get("deploymentCircuitBreaker") or {}, deployment.get("alarms") or {}
    shown = {word: _parse(service.get(_IRREGULAR.get(word, _small(word)))) for word in ServiceProperties.model_fields}
    shown |= {
        "Cluster": service["clusterArn"].rpartition("/")[2],
        "AvailabilityZoneRebalancing": service.get("availabilityZoneRebalancing") or "DISABLED",
        "DeploymentConfiguration": {
            "Alarms": _parse(alarms) if alarms.get("enable") or alarms.get("alarmNames") else None,
            "DeploymentCircuitBreaker": _parse({word: breaker[word] for word in ("enable", "rollback") if breaker}),
            "MaximumPercent": deployment.get("maximumPercent"),
            "MinimumHealthyPercent": deployment.get("minimumHealthyPercent"),
        },
        "PlacementStrategies": [_placement(_parse(one)) for one in service.get("placementStrategy") or ()],
        "PropagateTags": None if service.get("propagateTags") == "NONE" else service.get("propagateTags"),
        "TaskDefinition": (service.get("taskDefinition") or "").rpartition("/")[2],
        "Tags": None,
    }
    if service.get("schedulingStrategy") == "DAEMON":
        shown["DesiredCount"] = None  # counted by ECS: the instances there are
    return _given(shown)


def _placement(strategy: dict[str, Json]) -> dict[str, Json]:
    """The resource that binpack goes by is shown in capitals now and then."""
    return {**strategy, "Field": strategy["Field"].lower()} if strategy["Type"] == "binpack" else strategy


def _settled(shape: Shape, properties: Mapping[str, Json]) -> dict[str, Json]:
    """The properties with the service's default in place of null, at any depth; without those that have none."""
    settled = {word: _value(shape.inner(word), value) for word, value in properties.items()}
    return {word: value for word, value in settled.items() if value is not None}


def _value(shape: Shape, value: Json) -> Json:
    if value is None:
        return shape.default
    return _settled(shape, value) if isinstance(value, Mapping) else value


def _spell(value: Json) -> Json:
    if isinstance(value, Mapping):
        given = {word: item for word, item in value.items() if item is not None}
        return {_IRREGULAR.get(word, _small(word)): _spell(item) for word, item in given.items()}
    return [_spell(item) for item in value] if isinstance(value, list | tuple) else thaw(value)


def _parse(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {word[:1].upper() + word[1:]: _parse(item) for word, item in value.items()}
    return [_parse(item) for item in value] if isinstance(value, list | tuple) else value


def _given(shown: Mapping[str, Json]) -> dict[str, Json]:
    """Without what is not set, at any depth."""
    inner = {word: _given(value) if isinstance(value, Mapping) else value for word, value in shown.items()}
    return {word: value for word, value in inner.items() if value not in (None, "", [], {})}


def _small(word: str) -> str:
    return word[:1].lower() + word[1:]
