"""Where an EventBridge rule sends what it matches: the models of its targets, and the calls that set them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from policies.errors import RefusedError, WaitError
from policies.frozen import Json, thaw
from policies.properties import Properties

MOST = 5
"""Targets that a rule may have."""

WAIT_CODES = frozenset({"ConcurrentModificationException", "InternalException"})

_Arn = Annotated[str, Field(min_length=1, max_length=1600)]


class DeadLetterConfig(Properties):
    """The queue for events that could not be delivered."""

    Arn: _Arn | None = None


class RetryPolicy(Properties):
    """How long and how often a delivery is tried."""

    MaximumEventAgeInSeconds: Annotated[int | None, Field(ge=60, le=86_400)] = None
    MaximumRetryAttempts: Annotated[int | None, Field(ge=0, le=185)] = None


class InputTransformer(Properties):
    """A template that is filled with parts of the event."""

    InputPathsMap: dict[str, str] | None = None
    InputTemplate: Annotated[str, Field(min_length=1, max_length=8192)]


class SqsParameters(Properties):
    """For FIFO queues."""

    MessageGroupId: str


class KinesisParameters(Properties):
    """Which part of the event is the partition key."""

    PartitionKeyPath: Annotated[str, Field(max_length=256)]


class HttpParameters(Properties):
    """For API destinations and API Gateway."""

    HeaderParameters: dict[str, str] | None = None
    PathParameterValues: list[Annotated[str, Field(pattern=r"^\s*\S(.|\s)*$")]] | None = None
    QueryStringParameters: dict[str, str] | None = None


class RunCommandTarget(Properties):
    """Instances by id or tag."""

    Key: Annotated[str, Field(min_length=1, max_length=128)]
    Values: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=256)]], Field(min_length=1, max_length=50)
    ]


class RunCommandParameters(Properties):
    """For Systems Manager Run Command."""

    RunCommandTargets: Annotated[list[RunCommandTarget], Field(min_length=1, max_length=5)]


class Target(Properties):
    """One target; the Id is the policy's own word for it."""

    Id: Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[.\-_A-Za-z0-9]+$")]
    Arn: _Arn
    DeadLetterConfig: DeadLetterConfig | None = None
    HttpParameters: HttpParameters | None = None
    Input: Annotated[str | None, Field(max_length=8192)] = None
    InputPath: Annotated[str | None, Field(max_length=256)] = None
    InputTransformer: InputTransformer | None = None
    KinesisParameters: KinesisParameters | None = None
    RetryPolicy: RetryPolicy | None = None
    RoleArn: _Arn | None = None
    RunCommandParameters: RunCommandParameters | None = None
    SqsParameters: SqsParameters | None = None
