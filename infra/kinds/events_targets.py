"""Where an EventBridge rule sends what it matches: the models of its targets, and the calls that set them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from policies.errors import RefusedError, WaitError
from policies.frozen import Json, thaw
from policies.properties import Default, Keyed, Properties, Unordered

MOST = 5
"""Targets that a rule may have."""

_Arn = Annotated[str, Field(min_length=1, max_length=1600)]


class DeadLetters(Properties):
    """The queue for events that could not be delivered."""

    Arn: _Arn | None = None


class Retries(Properties):
    """How long and how often a delivery is tried."""

    MaximumEventAgeInSeconds: Annotated[int | None, Field(ge=60, le=86_400)] = None
    MaximumRetryAttempts: Annotated[int | None, Field(ge=0, le=185)] = None


class Transformer(Properties):
    """A template that is filled with parts of the event."""

    InputPathsMap: dict[str, str] | None = None
    InputTemplate: Annotated[str, Field(min_length=1, max_length=8192)]


class Sqs(Properties):
    """For FIFO queues."""

    MessageGroupId: str


class Kinesis(Properties):
    """Which part of the event is the partition key."""

    PartitionKeyPath: Annotated[str, Field(max_length=256)]


class Http(Properties):
    """For API destinations and API Gateway."""

    HeaderParameters: dict[str, str] | None = None
    PathParameterValues: list[Annotated[str, Field(pattern=r"^\s*\S(.|\s)*$")]] | None = None
    QueryStringParameters: dict[str, str] | None = None


class RunCommandTarget(Properties):
    """Instances by id or tag."""

    Key: Annotated[str, Field(min_length=1, max_length=128)]
    Values: Annotated[list[Annotated[str, Field(min_length=1, max_length=256)]], Field(min_length=1, max_length=50)]


class RunCommand(Properties):
    """For Systems Manager Run Command."""

    RunCommandTargets: Annotated[list[RunCommandTarget], Field(min_length=1, max_length=5)]


class CapacityProvider(Properties):
    """One provider of a task's capacity."""

    CapacityProvider: Annotated[str, Field(min_length=1, max_length=255)]
    Base: Annotated[int | None, Field(ge=0, le=100_000), Default(0)] = None
    Weight: Annotated[int | None, Field(ge=0, le=1000), Default(0)] = None


class AwsVpc(Properties):
    """Where the tasks run."""

    Subnets: Annotated[list[str], Unordered]
    SecurityGroups: Annotated[list[str] | None, Unordered] = None
    AssignPublicIp: Annotated[Literal["ENABLED", "DISABLED"] | None, Default("DISABLED")] = None


class Network(Properties):
    """For tasks of the network mode awsvpc."""

    AwsVpcConfiguration: AwsVpc | None = None


class Ecs(Properties):
    """For tasks of a cluster, which is the target's Arn."""

    TaskDefinitionArn: _Arn
    TaskCount: Annotated[int | None, Field(ge=1), Default(1)] = None
    LaunchType: Literal["EC2", "EXTERNAL", "FARGATE"] | None = None
    CapacityProviderStrategy: Annotated[
        list[CapacityProvider] | None, Field(max_length=6), Keyed("CapacityProvider")
    ] = None
    NetworkConfiguration: Network | None = None
    PlatformVersion: str | None = None
    Group: str | None = None
    PropagateTags: Literal["TASK_DEFINITION"] | None = None
    EnableECSManagedTags: Annotated[bool | None, Default(False)] = None
    EnableExecuteCommand: Annotated[bool | None, Default(False)] = None


class Target(Properties):
    """One target; the Id is the policy's own word for it."""

    Id: Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[.\-_A-Za-z0-9]+$")]
    Arn: _Arn
    DeadLetterConfig: DeadLetters | None = None
    EcsParameters: Ecs | None = None
    HttpParameters: Http | None = None
    Input: Annotated[str | None, Field(max_length=8192)] = None
    InputPath: Annotated[str | None, Field(max_length=256)] = None
    InputTransformer: Transformer | None = None
    KinesisParameters: Kinesis | None = None
    RetryPolicy: Retries | None = None
    RoleArn: _Arn | None = None
    RunCommandParameters: RunCommand | None = None
    SqsParameters: Sqs | None = None


def problems(targets: Iterable[Mapping[str, Json]]) -> Iterator[str]:
    """What the service would refuse."""
    ids = [target["Id"] for target in targets]
    if len(set(ids)) < len(ids):
        yield "two Targets have the same Id"
    for target in targets:
        inputs = [word for word in ("Input", "InputPath", "InputTransformer") if target.get(word) is not None]
        if len(inputs) > 1:
            yield f"target {target['Id']}: {' and '.join(inputs)} exclude each other"


def replace_targets(events: Any, rule: str, found: Iterable[Json], wanted: Iterable[Json]) -> None:
    """Make the rule's targets the wanted ones: the new ones first, so that no event goes unheard, if there is room."""
    before, after = ({target["Id"]: _plain(target) for target in targets} for targets in (found, wanted))
    fresh = [target for name, target in after.items() if before.get(name) != target]
    gone = sorted(before.keys() - after.keys())
    if len(before.keys() | after.keys()) > MOST:
        remove_targets(events, rule, gone)
        gone = []
    if fresh:
        _check(events.put_targets(Rule=rule, Targets=fresh))
    remove_targets(events, rule, gone)


def remove_targets(events: Any, rule: str, ids: list[str]) -> None:
    if ids:
        _check(events.remove_targets(Rule=rule, Ids=ids))


def parse(target: Mapping[str, Any]) -> dict[str, Json]:
    """A target as CloudFormation spells it; only two words of ECS differ."""
    if "EcsParameters" not in target:
        return dict(target)
    ecs = dict(target["EcsParameters"])
    if network := ecs.get("NetworkConfiguration"):
        ecs["NetworkConfiguration"] = {"AwsVpcConfiguration": network.get("awsvpcConfiguration", {})}
    if providers := ecs.get("CapacityProviderStrategy"):
        ecs["CapacityProviderStrategy"] = [{word[0].upper() + word[1:]: one[word] for word in one} for one in providers]
    return {**target, "EcsParameters": ecs}


def _plain(target: Mapping[str, Json]) -> dict[str, Json]:
    """As PutTargets takes it: without what is null."""
    told: dict[str, Json] = _stripped(thaw(target))
    if ecs := told.get("EcsParameters"):
        if network := ecs.pop("NetworkConfiguration", None):
            ecs["NetworkConfiguration"] = {"awsvpcConfiguration": network.get("AwsVpcConfiguration", {})}
        if providers := ecs.pop("CapacityProviderStrategy", None):
            named = [{word[0].lower() + word[1:]: one[word] for word in one} for one in providers]
            ecs["CapacityProviderStrategy"] = named
    return told


def _stripped(value: Json) -> Json:
    if isinstance(value, dict):
        return {word: _stripped(inner) for word, inner in value.items() if inner is not None}
    return [_stripped(inner) for inner in value] if isinstance(value, list) else value


def _check(answer: Mapping[str, Any]) -> None:
    """Both calls answer 200 and count the entries that failed."""
    if answer["FailedEntryCount"]:
        failed = answer["FailedEntries"]
        said = "; ".join(f"target {one['TargetId']}: {one['ErrorCode']}: {one['ErrorMessage']}" for one in failed)
        retried = all(one["ErrorCode"] in _RETRIED for one in failed)
        raise WaitError(said) if retried else RefusedError(said)


_RETRIED = frozenset({"ConcurrentModificationException", "InternalException", "ThrottlingException"})
