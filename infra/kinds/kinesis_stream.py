"""Kinesis data streams. A create is one call for shards, mode, record size and tags; everything else comes after.

Every change makes the stream UPDATING for a while, and it takes no other change meanwhile, so an update makes one call
and a later run the next. A resize may at most double or halve the shards, ten times in 24 hours: a long way is gone in
steps, and where the day's resizes are used up the service says LimitExceededException, which waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from infra.aws import Aws
from infra.kinds.kind import Kind
from policies.action import Change, Desired, Progress
from policies.errors import ExistsError, RefusedError
from policies.frozen import Json, thaw
from policies.properties import CreateOnly, Default, Name, Properties, Tag, Unordered
from policies.world import Resource, State

# fmt: off
_Metric = Literal[
    "IncomingBytes", "IncomingRecords", "OutgoingBytes", "OutgoingRecords", "WriteProvisionedThroughputExceeded",
    "ReadProvisionedThroughputExceeded", "IteratorAgeMilliseconds", "ALL",
]
# fmt: on
_DAY = 24
_RECORD = 1024
_PROVISIONED = {"StreamMode": "PROVISIONED"}


class Encryption(Properties):
    """Encryption at rest; the service shows the key as it was written."""

    EncryptionType: Literal["KMS"]
    KeyId: Annotated[str, Field(min_length=1, max_length=2048)]


class Mode(Properties):
    """Whether shards are counted by us or by the service."""

    StreamMode: Literal["ON_DEMAND", "PROVISIONED"]


class StreamProperties(Properties):
    """`AWS::Kinesis::Stream`. Defaults as in the service's CreateStream."""

    Name: Annotated[str, CreateOnly, Name(r"[A-Za-z0-9_.-]+", 128)]
    ShardCount: Annotated[int | None, Field(ge=1, le=100_000)] = None
    RetentionPeriodHours: Annotated[int | None, Field(ge=24, le=8760), Default(_DAY)] = None
    StreamEncryption: Encryption | None = None
    StreamModeDetails: Annotated[Mode | None, Default(_PROVISIONED)] = None
    DesiredShardLevelMetrics: Annotated[list[_Metric] | None, Field(max_length=7), Unordered, Default(())] = None
    MaxRecordSizeInKiB: Annotated[int | None, Field(ge=1024, le=10_240), Default(_RECORD)] = None
    Tags: Annotated[list[Tag] | None, Field(max_length=50)] = None


_STATES = {"CREATING": State.PENDING, "UPDATING": State.PENDING, "DELETING": State.DELETING}
_Step = tuple[str, Mapping[str, Any]]


class KinesisStream(Kind):
    """`AWS::Kinesis::Stream`, provisioned and on demand."""

    type = "AWS::Kinesis::Stream"
    properties = StreamProperties
    identifier = "Name"
    facts = frozenset({"CreateTime", "StreamStatus", "OpenShardCount", "ConsumerCount"})
    read_only = frozenset({"Arn", "WarmThroughputObject"})
    not_supported = frozenset({"RecordDistributionStrategy", "WarmThroughputMiBps"})
    holds_data = True
    index = "kinesis:stream"
    absent_codes = frozenset({"ResourceNotFoundException"})
    # Of create, ResourceInUseException says that the name is taken (see there); of delete, that there are consumers.
    wait_codes = frozenset({"ResourceInUseException", "LimitExceededException"})
    iam = {
        "survey": frozenset({"kinesis:ListStreams"}),
        "read": frozenset({"kinesis:DescribeStreamSummary", "kinesis:ListTagsForStream"}),
        # Tags in the create call need AddTagsToStream; TagResource is not enough (CreateStream).
        "create": frozenset({"kinesis:CreateStream", "kinesis:AddTagsToStream"}),
        "update": frozenset(
            {
                "kinesis:AddTagsToStream",
                "kinesis:DecreaseStreamRetentionPeriod",
                "kinesis:DisableEnhancedMonitoring",
                "kinesis:EnableEnhancedMonitoring",
                "kinesis:IncreaseStreamRetentionPeriod",
                "kinesis:RemoveTagsFromStream",
                "kinesis:StartStreamEncryption",
                "kinesis:StopStreamEncryption",
                "kinesis:UpdateMaxRecordSize",
                "kinesis:UpdateShardCount",
                "kinesis:UpdateStreamMode",
            }
        ),
        "delete": frozenset({"kinesis:DeleteStream"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        mode = (properties.get("StreamModeDetails") or _PROVISIONED)["StreamMode"]
        if mode == "PROVISIONED" and properties.get("ShardCount") is None:
            return "a stream that is not ON_DEMAND needs a ShardCount"
        if mode == "ON_DEMAND" and properties.get("ShardCount") is not None:
            return "the service counts the shards of an ON_DEMAND stream; leave ShardCount out"
        if "ALL" in (properties.get("DesiredShardLevelMetrics") or ()):
            return "DesiredShardLevelMetrics: name the metrics instead of ALL, as the service shows them"
        return None

    def single_call(self, desired: Mapping[str, Json]) -> bool:
        later = (desired.get("StreamEncryption"), desired.get("DesiredShardLevelMetrics"))
        return not any(later) and desired.get("RetentionPeriodHours") in (None, _DAY)

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        # Five calls a second: as few pages as there can be.
        kinesis = aws.client("kinesis")
        start: dict[str, str] = {}
        while True:
            page = kinesis.list_streams(Limit=10_000, **start)
            for name in page["StreamNames"]:
                if name.startswith(tuple(prefixes)):
                    yield Resource(type=self.type, id=name, name=name, handle=name)
            if not page["HasMoreStreams"]:
                return
            start = {"ExclusiveStartStreamName": page["StreamNames"][-1]}

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        kinesis = aws.client("kinesis")
        stream = kinesis.describe_stream_summary(StreamName=seen.id)["StreamDescriptionSummary"]
        created, status = stream["StreamCreationTimestamp"], stream["StreamStatus"]
        # What is going away may have no tags to show any more: unknown, not absent.
        known = seen.tags is not None or status == "DELETING"
        return Resource(
            type=self.type,
            id=seen.id,
            name=seen.id,
            handle=seen.id,
            arn=stream["StreamARN"],
            tags=seen.tags if known else _tags(kinesis, seen.id),
            properties=dict(_parse(stream)),
            facts={
                "CreateTime": created.isoformat(),
                "StreamStatus": status,
                "OpenShardCount": stream["OpenShardCount"],
                "ConsumerCount": stream.get("ConsumerCount", 0),
            },
            state=_STATES.get(status, State.READY),
            created=created,
        )

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        kinesis = aws.client("kinesis")
        declared = {**desired.initial, **desired.properties}
        words = ("ShardCount", "StreamModeDetails", "MaxRecordSizeInKiB")
        born_with = {word: thaw(declared[word]) for word in words if declared.get(word) is not None}
        try:
            kinesis.create_stream(StreamName=desired.name, Tags=dict(desired.tags), **born_with)
        except kinesis.exceptions.ResourceInUseException as error:
            raise ExistsError(str(error)) from error
        return Progress.COMPLETE if self.single_call(declared) else Progress.PARTIAL

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        kinesis = aws.client("kinesis")
        if change.tags:
            kinesis.add_tags_to_stream(StreamName=seen.id, Tags=dict(change.tags))
        if change.untag:
            kinesis.remove_tags_from_stream(StreamName=seen.id, TagKeys=sorted(change.untag))
        step = next(_steps(seen, change.properties), None)
        if step is None:
            return Progress.COMPLETE
        operation, arguments = step
        getattr(kinesis, operation)(**arguments)
        # Now it is UPDATING, and takes neither the next step nor tags.
        return Progress.PARTIAL

    def delete(self, aws: Aws, seen: Resource) -> None:
        # Consumers are somebody's: while there are any the service refuses, and that waits.
        aws.client("kinesis").delete_stream(StreamName=seen.id)


def _parse(stream: Mapping[str, Any]) -> Iterator[tuple[str, Json]]:
    mode = stream.get("StreamModeDetails") or _PROVISIONED
    yield "Name", stream["StreamName"]
    yield "StreamModeDetails", {"StreamMode": mode["StreamMode"]}
    if mode["StreamMode"] == "PROVISIONED":
        yield "ShardCount", stream["OpenShardCount"]
    yield "RetentionPeriodHours", stream["RetentionPeriodHours"]
    yield "MaxRecordSizeInKiB", stream.get("MaxRecordSizeInKiB", _RECORD)
    if stream.get("EncryptionType") == "KMS":
        yield "StreamEncryption", {"EncryptionType": "KMS", "KeyId": stream["KeyId"]}
    if metrics := [name for group in stream["EnhancedMonitoring"] for name in group.get("ShardLevelMetrics") or ()]:
        yield "DesiredShardLevelMetrics", metrics


def _tags(kinesis: Any, name: str) -> Mapping[str, str]:
    """All tags; there is no paginator for them."""
    tags: dict[str, str] = {}
    start: dict[str, str] = {}
    while True:
        page = kinesis.list_tags_for_stream(StreamName=name, **start)
        tags |= {tag["Key"]: tag["Value"] for tag in page["Tags"]}
        if not page["HasMoreTags"]:
            return tags
        start = {"ExclusiveStartTagKey": page["Tags"][-1]["Key"]}


def _steps(seen: Resource, wanted: Mapping[str, Json]) -> Iterator[_Step]:
    """The calls that the change takes, in order; shards last, since they may take many."""
    found, stream = seen.properties or {}, {"StreamName": seen.id}
    if "StreamModeDetails" in wanted:
        mode = dict(wanted["StreamModeDetails"] or _PROVISIONED)
        yield "update_stream_mode", {"StreamARN": seen.arn, "StreamModeDetails": mode}
    if "StreamEncryption" in wanted:
        encryption = wanted["StreamEncryption"]
        # A start replaces the key.
        operation = "start_stream_encryption" if encryption else "stop_stream_encryption"
        yield operation, {**stream, **(encryption or found["StreamEncryption"])}
    if "RetentionPeriodHours" in wanted:
        yield from _retention(stream, found["RetentionPeriodHours"], wanted["RetentionPeriodHours"] or _DAY)
    if "MaxRecordSizeInKiB" in wanted:
        size = wanted["MaxRecordSizeInKiB"] or _RECORD
        yield "update_max_record_size", {"StreamARN": seen.arn, "MaxRecordSizeInKiB": size}
    if "DesiredShardLevelMetrics" in wanted:
        yield from _monitoring(stream, found, wanted["DesiredShardLevelMetrics"] or ())
    if "ShardCount" in wanted:
        yield from _resize(stream, seen.facts["OpenShardCount"], wanted["ShardCount"])


def _retention(stream: Mapping[str, str], hours: int, wanted: int) -> Iterator[_Step]:
    if wanted != hours:
        longer = wanted > hours
        operation = "increase_stream_retention_period" if longer else "decrease_stream_retention_period"
        yield operation, {**stream, "RetentionPeriodHours": wanted}


def _monitoring(stream: Mapping[str, str], found: Mapping[str, Json], wanted: Sequence[str]) -> Iterator[_Step]:
    present = set(found.get("DesiredShardLevelMetrics") or ())
    if more := sorted(set(wanted) - present):
        yield "enable_enhanced_monitoring", {**stream, "ShardLevelMetrics": more}
    if less := sorted(present - set(wanted)):
        yield "disable_enhanced_monitoring", {**stream, "ShardLevelMetrics": less}


def _resize(stream: Mapping[str, str], shards: int, wanted: int | None) -> Iterator[_Step]:
    """The longest legal step towards the number wanted."""
    if wanted is None:
        raise RefusedError("ShardCount has no default: declare a number")
    if wanted != shards:
        target = max(min(wanted, 2 * shards), -(-shards // 2))
        yield "update_shard_count", {**stream, "TargetShardCount": target, "ScalingType": "UNIFORM_SCALING"}
