"""The properties of `AWS::DynamoDB::Table`, and what must hold between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from policies.frozen import Json, canonical_text
from policies.properties import CreateOnly, Default, Keyed, Name, Properties, Tag, Unordered


class Off(Default):
    """A default that is an object, which has no hash of its own."""

    def __hash__(self) -> int:
        return hash(canonical_text(self.value))


_Attribute = Annotated[str, Field(min_length=1, max_length=255)]
_IndexName = Annotated[str, Field(min_length=3, max_length=255, pattern=r"^[a-zA-Z0-9_.-]+$")]
_Units = Annotated[int | None, Field(ge=1)]


class Key(Properties):
    """One attribute of a key."""

    AttributeName: _Attribute
    KeyType: Literal["HASH", "RANGE"]


class KeyAttribute(Properties):
    """The type of an attribute that some key uses."""

    AttributeName: _Attribute
    AttributeType: Annotated[Literal["S", "N", "B"], CreateOnly]


class Throughput(Properties):
    """Provisioned capacity."""

    ReadCapacityUnits: _Units = None
    WriteCapacityUnits: _Units = None


class OnDemandLimits(Properties):
    """The most that an on-demand table serves; null: no limit."""

    MaxReadRequestUnits: _Units = None
    MaxWriteRequestUnits: _Units = None


class IndexedAttributes(Properties):
    """What an index holds besides its keys."""

    ProjectionType: Literal["ALL", "INCLUDE", "KEYS_ONLY"] | None = None
    NonKeyAttributes: Annotated[list[_Attribute] | None, Field(max_length=100), Unordered] = None


class GlobalIndex(Properties):
    """A global secondary index. Another key or projection needs an index of another name."""

    IndexName: _IndexName
    KeySchema: Annotated[list[Key], Field(min_length=1, max_length=8), CreateOnly]
    Projection: Annotated[IndexedAttributes, CreateOnly]
    ProvisionedThroughput: Throughput | None = None
    OnDemandThroughput: OnDemandLimits | None = None


class LocalIndex(Properties):
    """A local secondary index: born with its table."""

    IndexName: _IndexName
    KeySchema: Annotated[list[Key], Field(min_length=2, max_length=2)]
    Projection: IndexedAttributes


class Stream(Properties):
    """The change stream."""

    StreamViewType: Literal["KEYS_ONLY", "NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE"]


class Encryption(Properties):
    """Encryption with a key of KMS; without it DynamoDB uses a key of its own."""

    SSEEnabled: bool | None = None
    SSEType: Literal["KMS"] | None = None
    # Tables show the ARN, whatever was written: an id or an alias would look like drift for ever.
    KMSMasterKeyId: Annotated[str | None, Field(pattern=r"^arn:[a-z-]+:kms:[a-z0-9-]+:\d{12}:key/.+$")] = None


class TimeToLive(Properties):
    """The attribute that says when an item expires."""

    Enabled: bool | None = None
    AttributeName: str | None = None


class Recovery(Properties):
    """Continuous backups."""

    PointInTimeRecoveryEnabled: bool | None = None
    RecoveryPeriodInDays: Annotated[int | None, Field(ge=1, le=35), Default(35)] = None


class TableProperties(Properties):
    """`AWS::DynamoDB::Table`. Defaults as in the service's CreateTable."""

    TableName: Annotated[str, CreateOnly, Name(r"[A-Za-z0-9_.-]+", 255)]
    KeySchema: Annotated[list[Key] | None, Field(min_length=1, max_length=2), CreateOnly] = None
    AttributeDefinitions: Annotated[list[KeyAttribute] | None, Keyed("AttributeName")] = None
    BillingMode: Annotated[Literal["PAY_PER_REQUEST", "PROVISIONED"] | None, Default("PROVISIONED")] = None
    ProvisionedThroughput: Throughput | None = None
    OnDemandThroughput: OnDemandLimits | None = None
    GlobalSecondaryIndexes: Annotated[list[GlobalIndex] | None, Keyed("IndexName")] = None
    LocalSecondaryIndexes: Annotated[list[LocalIndex] | None, Keyed("IndexName"), CreateOnly] = None
    StreamSpecification: Stream | None = None
    SSESpecification: Annotated[Encryption | None, Off({"SSEEnabled": False})] = None
    TableClass: Annotated[Literal["STANDARD", "STANDARD_INFREQUENT_ACCESS"] | None, Default("STANDARD")] = None
    DeletionProtectionEnabled: Annotated[bool | None, Default(False)] = None
    TimeToLiveSpecification: Annotated[TimeToLive | None, Off({"Enabled": False})] = None
    PointInTimeRecoverySpecification: Annotated[Recovery | None, Off({"PointInTimeRecoveryEnabled": False})] = None
    Tags: list[Tag] | None = None


def problems(properties: Mapping[str, Json]) -> Iterator[str]:
    """What CreateTable refuses, and what would be declared and never be so."""
    indexes = tuple(properties.get("GlobalSecondaryIndexes") or ())
    local_indexes = tuple(properties.get("LocalSecondaryIndexes") or ())
    if len(str(properties["TableName"])) < 3:
        yield "a TableName has at least 3 characters"
    if not properties.get("KeySchema"):
        yield "KeySchema is required"
    keys = [key for part in (properties, *indexes, *local_indexes) for key in part.get("KeySchema") or ()]
    used = {key["AttributeName"] for key in keys}
    defined = {item["AttributeName"] for item in properties.get("AttributeDefinitions") or ()}
    if used != defined:
        yield f"AttributeDefinitions define exactly the attributes that keys use: {', '.join(sorted(used))}"
    for part in (properties, *indexes):
        yield from _capacity_problems(part, properties.get("BillingMode") or "PROVISIONED")
    for index in (*indexes, *local_indexes):
        shown = index["Projection"]
        if (shown.get("ProjectionType") == "INCLUDE") != bool(shown.get("NonKeyAttributes")):
            yield f"{index['IndexName']}: NonKeyAttributes go with ProjectionType INCLUDE, and only with it"
    yield from _switch_problems(properties)


def _capacity_problems(part: Mapping[str, Json], mode: str) -> Iterator[str]:
    what = part.get("IndexName", "the table")
    units = part.get("ProvisionedThroughput") or {}
    if mode == "PROVISIONED" and not (units.get("ReadCapacityUnits") and units.get("WriteCapacityUnits")):
        yield f"{what}: BillingMode PROVISIONED, the default, needs both units of ProvisionedThroughput"
    if mode == "PROVISIONED" and part.get("OnDemandThroughput"):
        yield f"{what}: OnDemandThroughput needs BillingMode PAY_PER_REQUEST"
    if mode == "PAY_PER_REQUEST" and units:
        yield f"{what}: ProvisionedThroughput needs BillingMode PROVISIONED"


def _switch_problems(properties: Mapping[str, Json]) -> Iterator[str]:
    """The service forgets the rest of a specification that is off."""
    expiry = properties.get("TimeToLiveSpecification") or {}
    if bool(expiry.get("Enabled")) != bool(expiry.get("AttributeName")):
        yield "TimeToLiveSpecification: AttributeName goes with Enabled true, and only with it"
    backups = properties.get("PointInTimeRecoverySpecification") or {}
    if backups.get("RecoveryPeriodInDays") and not backups.get("PointInTimeRecoveryEnabled"):
        yield "PointInTimeRecoverySpecification: RecoveryPeriodInDays needs PointInTimeRecoveryEnabled true"
    encryption = properties.get("SSESpecification") or {}
    if encryption.get("SSEType") and not encryption.get("SSEEnabled"):
        yield "SSESpecification: SSEType needs SSEEnabled true"
    if encryption.get("SSEEnabled") and None in encryption.values():
        yield "SSESpecification: null resets nothing in it, since a table shows even the key of AWS; leave it out"
    if encryption.get("KMSMasterKeyId") and not encryption.get("SSEType"):
        yield "SSESpecification: KMSMasterKeyId needs SSEType KMS"
