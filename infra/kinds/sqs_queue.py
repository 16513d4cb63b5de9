"""SQS queues. ListQueues shows only names; a create is one call, and answers with the queue that is already there.

A deleted name stays unusable for 60 seconds. Attribute changes may take 60 seconds to show (retention: 15 minutes).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

from infra.aws import Aws
from infra.kinds.kind import Kind
from policies.action import Change, Desired, Progress
from policies.frozen import Json, thaw
from policies.kind import Creation
from policies.properties import CreateOnly, Default, Name, Properties, Tag, Unordered
from policies.world import Resource


class Redrive(Properties):
    """Where messages go that were received too often."""

    deadLetterTargetArn: str
    maxReceiveCount: Annotated[int, Field(ge=1, le=1000)]


class RedriveAllow(Properties):
    """Which queues may use this one as their dead-letter queue."""

    redrivePermission: Literal["allowAll", "denyAll", "byQueue"]
    sourceQueueArns: Annotated[list[str] | None, Field(max_length=10), Unordered] = None


class QueueProperties(Properties):
    """`AWS::SQS::Queue`. Defaults as in the service's SetQueueAttributes."""

    QueueName: Annotated[str, CreateOnly, Name(r"[A-Za-z0-9_-]+(\.fifo)?", 80)]
    FifoQueue: Annotated[bool | None, CreateOnly, Default(False)] = None
    ContentBasedDeduplication: Annotated[bool | None, Default(False)] = None
    DeduplicationScope: Annotated[Literal["queue", "messageGroup"] | None, Default("queue")] = None
    FifoThroughputLimit: Annotated[Literal["perQueue", "perMessageGroupId"] | None, Default("perQueue")] = None
    DelaySeconds: Annotated[int | None, Field(ge=0, le=900), Default(0)] = None
    MaximumMessageSize: Annotated[int | None, Field(ge=1024, le=1_048_576), Default(1_048_576)] = None
    MessageRetentionPeriod: Annotated[int | None, Field(ge=60, le=1_209_600), Default(345_600)] = None
    ReceiveMessageWaitTimeSeconds: Annotated[int | None, Field(ge=0, le=20), Default(0)] = None
    VisibilityTimeout: Annotated[int | None, Field(ge=0, le=43_200), Default(30)] = None
    KmsMasterKeyId: str | None = None
    KmsDataKeyReusePeriodSeconds: Annotated[int | None, Field(ge=60, le=86_400), Default(300)] = None
    SqsManagedSseEnabled: Annotated[bool | None, Default(True)] = None
    RedrivePolicy: Redrive | None = None
    RedriveAllowPolicy: RedriveAllow | None = None
    Tags: list[Tag] | None = None


_NUMBERS = frozenset(
    {
        "DelaySeconds",
        "MaximumMessageSize",
        "MessageRetentionPeriod",
        "ReceiveMessageWaitTimeSeconds",
        "VisibilityTimeout",
        "KmsDataKeyReusePeriodSeconds",
    }
)
_SWITCHES = frozenset({"FifoQueue", "ContentBasedDeduplication", "SqsManagedSseEnabled"})
_DOCUMENTS = frozenset({"RedrivePolicy", "RedriveAllowPolicy"})
_WORDS = frozenset({"DeduplicationScope", "FifoThroughputLimit", "KmsMasterKeyId"})


class SqsQueue(Kind):
    """`AWS::SQS::Queue`, standard and FIFO."""

    type = "AWS::SQS::Queue"
    properties = QueueProperties
    identifier = "QueueName"
    facts = frozenset({"CreateTime", "ApproximateNumberOfMessages"})
    read_only = frozenset({"Arn", "QueueUrl"})
    holds_data = True
    creation = Creation.RETURNS_EXISTING
    settle = timedelta(seconds=60)
    index = "sqs"  # its ARNs name no resource type
    absent_codes = frozenset({"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"})
    exists_codes = frozenset({"QueueAlreadyExists", "QueueNameExists"})
    wait_codes = frozenset({"AWS.SimpleQueueService.QueueDeletedRecently", "QueueDeletedRecently"})
    iam = {
        "survey": frozenset({"sqs:ListQueues"}),
        "read": frozenset({"sqs:GetQueueUrl", "sqs:GetQueueAttributes", "sqs:ListQueueTags"}),
        "create": frozenset({"sqs:CreateQueue", "sqs:TagQueue"}),
        "update": frozenset({"sqs:SetQueueAttributes", "sqs:TagQueue", "sqs:UntagQueue"}),
        "delete": frozenset({"sqs:DeleteQueue"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        fifo_name = str(properties["QueueName"]).endswith(".fifo")
        if fifo_name != bool(properties.get("FifoQueue")):
            return "a FIFO queue has FifoQueue true and a QueueName that ends in .fifo, a standard queue neither"
        if properties.get("KmsMasterKeyId") and properties.get("SqsManagedSseEnabled"):
            return "KmsMasterKeyId and SqsManagedSseEnabled exclude each other"
        return None

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        for prefix in prefixes:
            arguments = {"QueueNamePrefix": prefix} if prefix else {}
            # Without a page size ListQueues never gives a NextToken, and stops at 1,000.
            page = {"PageSize": 1000}
            for url in aws.pages("sqs", "list_queues", "QueueUrls", PaginationConfig=page, **arguments):
                name = url.rpartition("/")[2]
                yield Resource(type=self.type, id=name, name=name, handle=url)

    def has_arn(self, arn: str) -> bool:
        return arn.split(":", 3)[2] == "sqs"  # no resource type in front of the name

    def locate(self, aws: Aws, name: str) -> Resource:
        return Resource(type=self.type, id=name, name=name)

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        sqs = aws.client("sqs")
        url = seen.handle or sqs.get_queue_url(QueueName=seen.name)["QueueUrl"]
        attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        tags = seen.tags if seen.tags is not None else sqs.list_queue_tags(QueueUrl=url).get("Tags", {})
        created = datetime.fromtimestamp(float(attributes["CreatedTimestamp"]), UTC)
        return Resource(
            type=self.type,
            id=seen.id,
            name=seen.name,
            handle=url,
            arn=attributes["QueueArn"],
            tags=tags,
            properties={"QueueName": seen.name, **_parse(attributes)},
            facts={
                "CreateTime": created.isoformat(),
                "ApproximateNumberOfMessages": int(attributes["ApproximateNumberOfMessages"]),
            },
            created=created,
        )

    def prove(self, aws: Aws, seen: Resource) -> Resource | None:
        if not seen.handle:
            return super().prove(aws, seen)
        return seen.with_tags(aws.client("sqs").list_queue_tags(QueueUrl=seen.handle).get("Tags", {}))

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        declared = {**desired.initial, **desired.properties}
        attributes = {
            word: _spell(value) for word, value in declared.items() if value is not None and word != "QueueName"
        }
        aws.client("sqs").create_queue(QueueName=desired.name, Attributes=attributes, tags=dict(desired.tags))
        return Progress.COMPLETE

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        sqs = aws.client("sqs")
        if change.properties:
            attributes = {word: _spell(_reset(word, value)) for word, value in change.properties.items()}
            sqs.set_queue_attributes(QueueUrl=seen.handle, Attributes=attributes)
        if change.tags:
            sqs.tag_queue(QueueUrl=seen.handle, Tags=dict(change.tags))
        if change.untag:
            sqs.untag_queue(QueueUrl=seen.handle, TagKeys=sorted(change.untag))
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        aws.client("sqs").delete_queue(QueueUrl=seen.handle)


def _parse(attributes: Mapping[str, str]) -> dict[str, Json]:
    """SQS attributes, all of them text, as CloudFormation's types."""
    parsed: dict[str, Json] = {word: int(attributes[word]) for word in _NUMBERS & attributes.keys()}
    parsed |= {word: attributes[word] == "true" for word in _SWITCHES & attributes.keys()}
    parsed |= {word: attributes[word] for word in _WORDS & attributes.keys() if attributes[word]}
    for word in _DOCUMENTS & attributes.keys():
        if attributes[word]:
            parsed[word] = _document(json.loads(attributes[word]))
    return parsed


def _document(value: dict[str, Json]) -> dict[str, Json]:
    """The service keeps `maxReceiveCount` as it was written, as text or number."""
    return {**value, "maxReceiveCount": int(value["maxReceiveCount"])} if "maxReceiveCount" in value else value


def _reset(word: str, value: Json) -> Json:
    """What SetQueueAttributes takes for null: the default, or for those without one an empty text."""
    if value is not None:
        return value
    default = SqsQueue().shape.inner(word).default
    return "" if default is None else default


def _spell(value: Json) -> str:
    """A value as an SQS attribute."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return json.dumps(thaw(value), sort_keys=True)
    return str(value)
