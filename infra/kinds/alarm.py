"""CloudWatch metric alarms. DescribeAlarms returns everything but tags, a hundred to a page.

PutMetricAlarm creates and updates. It overwrites everything that it is not given, so an update sends the present alarm
with the change in it; and it takes tags from a create only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infra.aws import Aws
from infra.kinds.alarm_properties import AlarmProperties, fault, merge
from infra.kinds.kind import Kind
from policies.action import Change, Desired, Progress
from policies.frozen import Json, thaw
from policies.kind import Creation
from policies.world import Resource

_ANSWERS = {"MetricAlarm": "MetricAlarms", "CompositeAlarm": "CompositeAlarms", "LogAlarm": "LogAlarms"}
"""The types of alarms, and where DescribeAlarms shows each."""


class Alarm(Kind):
    """`AWS::CloudWatch::Alarm`: on a metric, on metric math, on an anomaly band or on PromQL."""

    type = "AWS::CloudWatch::Alarm"
    properties = AlarmProperties
    identifier = "AlarmName"
    facts = frozenset({"StateValue", "AlarmConfigurationUpdatedTimestamp"})
    read_only = frozenset({"Arn"})
    creation = Creation.UPSERT
    complete_survey = True
    names_per_call = 100
    index = "cloudwatch:alarm"
    absent_codes = frozenset({"ResourceNotFound", "ResourceNotFoundException"})
    wait_codes = frozenset({"ConcurrentModificationException", "ConflictException", "ResourceConflict"})
    together = {"delete": 20}
    """Of the hundred that DeleteAlarms takes: their tags come one by one, and the first should not be old by then."""
    iam = {
        "survey": frozenset({"cloudwatch:DescribeAlarms"}),
        "read": frozenset({"cloudwatch:DescribeAlarms", "cloudwatch:ListTagsForResource"}),
        "create": frozenset({"cloudwatch:PutMetricAlarm", "cloudwatch:TagResource"}),
        "update": frozenset({"cloudwatch:PutMetricAlarm", "cloudwatch:TagResource", "cloudwatch:UntagResource"}),
        "delete": frozenset({"cloudwatch:DeleteAlarms"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        return fault(properties)

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        for prefix in prefixes:
            arguments: dict[str, Any] = {"AlarmNamePrefix": prefix} if prefix else {}
            arguments |= {"AlarmTypes": ["MetricAlarm"], "PaginationConfig": {"PageSize": 100}}
            yield from map(self._parse, aws.pages("cloudwatch", "describe_alarms", "MetricAlarms", **arguments))

    def find(self, aws: Aws, names: Sequence[str]) -> Iterator[Resource]:
        arguments: dict[str, Any] = {"AlarmNames": list(names), "AlarmTypes": ["MetricAlarm"]}
        # Without a page size a page holds fifty.
        arguments |= {"PaginationConfig": {"PageSize": 100}}
        yield from map(self._parse, aws.pages("cloudwatch", "describe_alarms", "MetricAlarms", **arguments))

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        cloudwatch = aws.client("cloudwatch")
        # All types share one space of names: another alarm under ours is foreign, not absent.
        answer = cloudwatch.describe_alarms(AlarmNames=[seen.name], AlarmTypes=[*_ANSWERS])
        for alarm in (alarm for answered in _ANSWERS.values() for alarm in answer.get(answered, ())):
            resource = self._parse(alarm)
            if seen.tags is not None:
                return resource.with_tags(seen.tags)
            return resource.with_tags(_tags(aws, resource))
        return None

    def prove(self, aws: Aws, seen: Resource) -> Resource | None:
        return seen.with_tags(_tags(aws, seen)) if seen.arn else super().prove(aws, seen)

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        _put(aws, {**desired.initial, **desired.properties, "AlarmName": desired.name}, desired.tags)
        return Progress.COMPLETE

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        if change.properties:
            # Ignored where the alarm exists; if it was deleted just now, its successor is not born ownerless.
            tags = {
                key: value for key, value in {**(seen.tags or {}), **change.tags}.items() if key not in change.untag
            }
            _put(aws, merge(seen.properties or {}, change.properties), tags)
        if change.tags:
            aws.client("cloudwatch").tag_resource(ResourceARN=seen.arn, Tags=_spell_tags(change.tags))
        if change.untag:
            aws.client("cloudwatch").untag_resource(ResourceARN=seen.arn, TagKeys=sorted(change.untag))
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        self.delete_all(aws, [seen])

    def delete_all(self, aws: Aws, seen: Sequence[Resource]) -> frozenset[str]:
        aws.client("cloudwatch").delete_alarms(AlarmNames=[one.name for one in seen])
        return frozenset()

    def name_of_arn(self, arn: str) -> str:
        """An alarm's name may hold colons and slashes."""
        return arn.split(":", 6)[6]

    def _parse(self, alarm: Mapping[str, Any]) -> Resource:
        properties = _prune({word: alarm.get(word) for word in AlarmProperties.model_fields})
        if "WallClockWindow" not in properties.get("EvaluationWindow", {}):
            properties.pop("EvaluationWindow", None)
        return Resource(
            type=self.type,
            id=alarm["AlarmName"],
            name=alarm["AlarmName"],
            handle=alarm["AlarmName"],
            arn=alarm["AlarmArn"],
            properties=properties,
            facts={
                "StateValue": alarm["StateValue"],
                "AlarmConfigurationUpdatedTimestamp": alarm["AlarmConfigurationUpdatedTimestamp"].isoformat(),
            },
        )


def _tags(aws: Aws, alarm: Resource) -> dict[str, str]:
    tags = aws.client("cloudwatch").list_tags_for_resource(ResourceARN=alarm.arn)["Tags"]
    return {tag["Key"]: tag["Value"] for tag in tags}


def _put(aws: Aws, properties: Mapping[str, Json], tags: Mapping[str, str]) -> None:
    aws.client("cloudwatch").put_metric_alarm(**_prune(thaw(properties)), Tags=_spell_tags(tags))


def _spell_tags(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items() if not key.startswith("aws:")]


def _prune(value: Json) -> Json:
    """Without what is not set, at any depth: the service shows that as nothing, as empty text and as empty lists."""
    if isinstance(value, Mapping):
        return {word: _prune(item) for word, item in value.items() if item is not None and item not in ("", [])}
    return [_prune(item) for item in value] if isinstance(value, list) else value
