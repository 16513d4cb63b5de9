"""EventBridge rules of the default event bus. ListRules shows no targets; PutRule creates, or overwrites what is there.

PutRule blanks every argument that is left out and ignores the tags of a rule that exists, so an update sends the whole
rule. Targets are set after the rule and removed before it. A rule of another bus may have the same name: to be sound,
an identity would have to spell the bus, so rules of other buses are refused for now.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from infra.aws import Aws
from infra.kinds.events_targets import MOST, Target, parse, problems, remove_targets, replace_targets
from infra.kinds.kind import Kind
from policies.action import Change, Desired, Progress
from policies.frozen import Json, thaw
from policies.kind import Creation
from policies.properties import CreateOnly, Default, JsonDocument, Keyed, Name, Properties, Tag
from policies.world import Resource

_States = Literal["DISABLED", "ENABLED", "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS"]
_Schedule = Annotated[str, Field(max_length=256, pattern=r"^(rate\(.+\)|cron\(.+\))?$")]


class RuleProperties(Properties):
    """`AWS::Events::Rule`. Defaults as in the service's PutRule."""

    Name: Annotated[str, CreateOnly, Name(r"[.A-Za-z0-9_-]+", 64)]
    Description: Annotated[str | None, Field(max_length=512), Default("")] = None
    EventPattern: Annotated[dict[str, Any] | None, JsonDocument] = None
    RoleArn: Annotated[str | None, Field(min_length=1, max_length=1600)] = None
    ScheduleExpression: Annotated[_Schedule | None, Default("")] = None
    State: Annotated[_States | None, Default("ENABLED")] = None
    Targets: Annotated[list[Target] | None, Field(max_length=MOST), Keyed("Id"), Default(())] = None
    Tags: list[Tag] | None = None


_OWN_CALL = frozenset({"Name", "Targets", "Tags"})
_OF_THE_RULE = frozenset(RuleProperties.model_fields) - _OWN_CALL


class EventsRule(Kind):
    """`AWS::Events::Rule` on the default bus, with a pattern, a schedule or both."""

    type = "AWS::Events::Rule"
    properties = RuleProperties
    identifier = "Name"
    facts = frozenset({"ManagedBy"})
    read_only = frozenset({"Arn", "RuleName"})
    not_supported = frozenset(
        {
            "EventBusName",
            "Targets.AppSyncParameters",
            "Targets.BatchParameters",
            "Targets.EcsParameters.PlacementConstraints",
            "Targets.EcsParameters.PlacementStrategies",
            "Targets.EcsParameters.ReferenceId",
            "Targets.EcsParameters.TagList",
            "Targets.RedshiftDataParameters",
            "Targets.SageMakerPipelineParameters",
        }
    )
    creation = Creation.UPSERT
    index = "events:rule"
    absent_codes = frozenset({"ResourceNotFoundException"})
    wait_codes = frozenset({"ConcurrentModificationException"})
    passes_roles_to = frozenset({"events.amazonaws.com"})
    iam = {
        "survey": frozenset({"events:ListRules"}),
        "read": frozenset({"events:DescribeRule", "events:ListTagsForResource", "events:ListTargetsByRule"}),
        "create": frozenset({"events:PutRule", "events:TagResource", "iam:PassRole"}),
        "update": frozenset(
            {
                "events:PutRule",
                "events:PutTargets",
                "events:RemoveTargets",
                "events:TagResource",
                "events:UntagResource",
                "iam:PassRole",
            }
        ),
        "delete": frozenset({"events:DeleteRule", "events:RemoveTargets"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        if not properties.get("EventPattern") and not properties.get("ScheduleExpression"):
            return "a rule needs an EventPattern, a ScheduleExpression or both"
        return next(problems(properties.get("Targets") or ()), None)

    def single_call(self, desired: Mapping[str, Json]) -> bool:
        return not desired.get("Targets")

    def has_arn(self, arn: str) -> bool:
        """`rule/name`; a rule of another bus is `rule/bus/name`."""
        return super().has_arn(arn) and arn.count("/") == 1

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        for prefix in prefixes:
            arguments = {"NamePrefix": prefix} if prefix else {}
            for rule in aws.pages("events", "list_rules", "Rules", **arguments):
                name = rule["Name"]
                yield Resource(type=self.type, id=name, name=name, handle=name, arn=rule["Arn"])

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        return self.look(aws, seen, self.words)

    def look(self, aws: Aws, seen: Resource, words: frozenset[str]) -> Resource | None:
        events = aws.client("events")
        rule = events.describe_rule(Name=seen.id)
        tags = seen.tags
        if tags is None:
            tags = {tag["Key"]: tag["Value"] for tag in events.list_tags_for_resource(ResourceARN=rule["Arn"])["Tags"]}
        properties = {word: rule[word] for word in _OF_THE_RULE & rule.keys() if rule[word]}
        pages = aws.pages("events", "list_targets_by_rule", "Targets", Rule=seen.id)
        if "Targets" in words and (targets := list(pages)):
            properties["Targets"] = [parse(target) for target in targets]
        return Resource(
            type=self.type,
            id=seen.id,
            name=seen.id,
            handle=seen.id,
            arn=rule["Arn"],
            tags=tags,
            properties={"Name": seen.id, **properties},
            facts={"ManagedBy": rule.get("ManagedBy")},
        )

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        declared = {**desired.initial, **desired.properties}
        tags = [{"Key": key, "Value": value} for key, value in desired.tags.items()]
        aws.client("events").put_rule(Name=desired.name, Tags=tags, **_spell(declared))
        return Progress.COMPLETE if self.single_call(declared) else Progress.PARTIAL

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        events, found = aws.client("events"), seen.properties or {}
        if change.properties.keys() - _OWN_CALL:
            events.put_rule(Name=seen.id, **_spell({**found, **change.properties}))
        if "Targets" in change.properties:
            wanted = change.properties["Targets"] or ()
            replace_targets(events, seen.id, found.get("Targets") or (), wanted)
        if change.tags:
            tags = [{"Key": key, "Value": value} for key, value in change.tags.items()]
            events.tag_resource(ResourceARN=seen.arn, Tags=tags)
        if change.untag:
            events.untag_resource(ResourceARN=seen.arn, TagKeys=sorted(change.untag))
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        events = aws.client("events")
        remove_targets(events, seen.id, [target["Id"] for target in (seen.properties or {}).get("Targets") or ()])
        events.delete_rule(Name=seen.id)


def _spell(properties: Mapping[str, Json]) -> dict[str, Json]:
    """All that PutRule takes; what is null or empty is left out, which blanks it."""
    told = {word: properties[word] for word in _OF_THE_RULE & properties.keys() if properties[word]}
    if isinstance(told.get("EventPattern"), Mapping):
        told["EventPattern"] = json.dumps(thaw(told["EventPattern"]), sort_keys=True)
    return told
