"""SNS topics. ListTopics shows only ARNs; a create is one call, and answers with the topic that is already there.

Called with other attributes or tags than the topic has, it says InvalidParameter. Every attribute changes by a call of
its own. Subscriptions are resources of their own, with confirmations that only their endpoints can give.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from infra.aws import Aws
from infra.kinds.kind import Kind
from policies.action import Change, Desired, Progress
from policies.errors import ExistsError
from policies.frozen import Json, thaw
from policies.kind import Creation
from policies.properties import CreateOnly, Default, JsonDocument, Name, Properties, Tag
from policies.world import Resource


class TopicProperties(Properties):
    """`AWS::SNS::Topic`. Defaults as in the service's SetTopicAttributes."""

    TopicName: Annotated[str, CreateOnly, Name(r"[A-Za-z0-9_-]+(\.fifo)?", 256)]
    FifoTopic: Annotated[bool | None, CreateOnly, Default(False)] = None
    ArchivePolicy: Annotated[dict[str, Any] | None, JsonDocument, Default({})] = None
    ContentBasedDeduplication: Annotated[bool | None, Default(False)] = None
    FifoThroughputScope: Annotated[Literal["Topic", "MessageGroup"] | None, Default("Topic")] = None
    DisplayName: Annotated[str | None, Field(max_length=100), Default("")] = None
    KmsMasterKeyId: Annotated[str | None, Field(min_length=1, max_length=2048)] = None
    MaximumMessageSize: Annotated[int | None, Field(ge=1024, le=1_048_576), Default(262_144)] = None
    SignatureVersion: Annotated[Literal["1", "2"] | None, Default("1")] = None
    TracingConfig: Annotated[Literal["PassThrough", "Active"] | None, Default("PassThrough")] = None
    Tags: list[Tag] | None = None


_SWITCHES = frozenset({"FifoTopic", "ContentBasedDeduplication"})
_ATTRIBUTES = frozenset(TopicProperties.model_fields) - {"TopicName", "Tags"}
_FIFO_ONLY = ("ArchivePolicy", "ContentBasedDeduplication", "FifoThroughputScope")


class SnsTopic(Kind):
    """`AWS::SNS::Topic`, standard and FIFO."""

    type = "AWS::SNS::Topic"
    properties = TopicProperties
    identifier = "TopicName"
    facts = frozenset({"SubscriptionsConfirmed", "SubscriptionsPending"})
    read_only = frozenset({"TopicArn"})
    # SNS takes no new data protection policies (CreateTopic).
    not_supported = frozenset({"DataProtectionPolicy", "DeliveryStatusLogging", "Subscription"})
    creation = Creation.RETURNS_EXISTING
    index = "sns"
    absent_codes = frozenset({"NotFound", "ResourceNotFound"})
    wait_codes = frozenset({"ConcurrentAccess", "StaleTag", "InvalidState"})
    iam = {
        "survey": frozenset({"sns:ListTopics"}),
        "read": frozenset({"sns:GetTopicAttributes", "sns:ListTagsForResource"}),
        "create": frozenset({"sns:CreateTopic", "sns:TagResource"}),
        "update": frozenset({"sns:SetTopicAttributes", "sns:TagResource", "sns:UntagResource"}),
        "delete": frozenset({"sns:DeleteTopic"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        fifo = bool(properties.get("FifoTopic"))
        if str(properties["TopicName"]).endswith(".fifo") != fifo:
            return "a FIFO topic has FifoTopic true and a TopicName that ends in .fifo, a standard topic neither"
        if not fifo and (wrong := [word for word in _FIFO_ONLY if properties.get(word)]):
            return f"{', '.join(wrong)}: for FIFO topics only"
        if fifo and properties.get("TracingConfig") == "Active":
            return "TracingConfig Active is for standard topics only"
        return None

    def has_arn(self, arn: str) -> bool:
        """A topic's ARN has no resource type in front of the name; a subscription's has an id behind it."""
        return arn.split(":")[2] == "sns" and arn.count(":") == 5

    def locate(self, aws: Aws, name: str) -> Resource:
        partition = aws.client("sns").meta.partition
        arn = f"arn:{partition}:sns:{aws.region}:{aws.account}:{name}"
        return Resource(type=self.type, id=name, name=name, handle=arn, arn=arn)

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        # ListTopics takes no prefix and no page size: 100 come to a page.
        for topic in aws.pages("sns", "list_topics", "Topics"):
            arn = topic["TopicArn"]
            name = arn.rpartition(":")[2]
            if name.startswith(tuple(prefixes)):
                yield Resource(type=self.type, id=name, name=name, handle=arn, arn=arn)

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        arn = seen.arn or self.locate(aws, seen.id).arn
        attributes = aws.client("sns").get_topic_attributes(TopicArn=arn)["Attributes"]
        tags = _tags(aws, arn) if seen.tags is None else seen.tags
        return Resource(
            type=self.type,
            id=seen.id,
            name=seen.id,
            handle=attributes["TopicArn"],
            arn=attributes["TopicArn"],
            tags=tags,
            properties={"TopicName": seen.id, **_parse(attributes)},
            facts={word: int(attributes[word]) for word in self.facts},
        )

    def prove(self, aws: Aws, seen: Resource) -> Resource | None:
        found = seen if seen.arn else self.locate(aws, seen.id)
        return found.with_tags(_tags(aws, found.arn))

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        sns = aws.client("sns")
        declared = {**desired.initial, **desired.properties}
        attributes = {word: _spell(declared[word]) for word in _ATTRIBUTES if declared.get(word) is not None}
        if not declared.get("FifoTopic"):
            attributes.pop("FifoTopic", None)  # SNS refuses a false one
        tags = [{"Key": key, "Value": value} for key, value in desired.tags.items()]
        try:
            sns.create_topic(Name=desired.name, Attributes=attributes, Tags=tags)
        except sns.exceptions.InvalidParameterException as error:
            if "already exists" in str(error):  # with other attributes or other tags
                raise ExistsError(str(error)) from error
            raise
        return Progress.COMPLETE

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        sns = aws.client("sns")
        for word, value in change.properties.items():
            sns.set_topic_attributes(TopicArn=seen.arn, AttributeName=word, AttributeValue=_reset(word, value))
        if change.tags:
            tags = [{"Key": key, "Value": value} for key, value in change.tags.items()]
            sns.tag_resource(ResourceArn=seen.arn, Tags=tags)
        if change.untag:
            sns.untag_resource(ResourceArn=seen.arn, TagKeys=sorted(change.untag))
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        aws.client("sns").delete_topic(TopicArn=seen.arn)


def _tags(aws: Aws, arn: str | None) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in aws.client("sns").list_tags_for_resource(ResourceArn=arn)["Tags"]}


def _parse(attributes: Mapping[str, str]) -> dict[str, Json]:
    """SNS attributes, all of them text, as CloudFormation's types; a document stays text."""
    told = {word: attributes[word] for word in _ATTRIBUTES & attributes.keys()}
    parsed: dict[str, Json] = {word: value for word, value in told.items() if value not in ("", "{}")}
    parsed |= {word: attributes[word] == "true" for word in _SWITCHES & told.keys()}
    if "MaximumMessageSize" in parsed:
        parsed["MaximumMessageSize"] = int(parsed["MaximumMessageSize"])
    return parsed


def _reset(word: str, value: Json) -> str:
    """What SetTopicAttributes takes; for null the default, or for those without one an empty text."""
    default = SnsTopic().shape.inner(word).default
    return _spell(value if value is not None else "" if default is None else default)


def _spell(value: Json) -> str:
    """A value as an SNS attribute."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return json.dumps(thaw(value), sort_keys=True)
    return str(value)
