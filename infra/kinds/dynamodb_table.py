"""DynamoDB tables. A create is one call; what it cannot set, and almost every change, takes calls of several kinds.

UpdateTable makes one kind of change at a time and none while a table is UPDATING, so an update makes the first change
that the service accepts now and a later run the next. Decreases of throughput are rationed per UTC day: increases go
out in a call of their own, before. Time to live can be changed once an hour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infra.aws import Aws
from infra.kinds.dynamodb_calls import creation, recovery, update_calls
from infra.kinds.dynamodb_description import (
    DESCRIBABLE,
    created_of,
    facts_of,
    parse,
    recovery_of,
    state_of,
    time_to_live_of,
)
from infra.kinds.dynamodb_properties import TableProperties, problems
from infra.kinds.kind import Kind
from policies.action import Change, Desired, Progress
from policies.errors import ExistsError
from policies.frozen import Json
from policies.world import Resource


class DynamodbTable(Kind):
    """`AWS::DynamoDB::Table`, in one region: replicas belong to `AWS::DynamoDB::GlobalTable`."""

    type = "AWS::DynamoDB::Table"
    properties = TableProperties
    identifier = "TableName"
    facts = frozenset({"CreateTime", "ItemCount", "TableSizeBytes", "NumberOfDecreasesToday", "TimeToLiveStatus"})
    read_only = frozenset({"Arn", "StreamArn"})
    not_supported = frozenset(
        {
            "ContributorInsightsSpecification",
            "GlobalSecondaryIndexes.ContributorInsightsSpecification",
            "GlobalSecondaryIndexes.WarmThroughput",
            "ImportSourceSpecification",
            "KinesisStreamSpecification",
            "ResourcePolicy",
            "StreamSpecification.ResourcePolicy",
            "StreamSpecification.Tags",
            "VectorIndexes",
            "WarmThroughput",
        }
    )
    holds_data = True
    index = "dynamodb:table"
    absent_codes = frozenset({"ResourceNotFoundException", "TableNotFoundException"})
    # Of create, ResourceInUseException says that the name is taken: see there.
    wait_codes = frozenset(
        {"ResourceInUseException", "LimitExceededException", "ContinuousBackupsUnavailableException"}
    )
    iam = {
        "survey": frozenset({"dynamodb:ListTables"}),
        "read": frozenset(
            {
                "dynamodb:DescribeContinuousBackups",
                "dynamodb:DescribeTable",
                "dynamodb:DescribeTimeToLive",
                "dynamodb:ListTagsOfResource",
            }
        ),
        "create": frozenset({"dynamodb:CreateTable", "dynamodb:TagResource"}),
        "update": frozenset(
            {
                "dynamodb:TagResource",
                "dynamodb:UntagResource",
                "dynamodb:UpdateContinuousBackups",
                "dynamodb:UpdateTable",
                "dynamodb:UpdateTimeToLive",
            }
        ),
        "delete": frozenset({"dynamodb:DeleteTable"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        return next(problems(properties), None)

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        # ListTables takes no prefix, and at most 100 names come to a page.
        for name in aws.pages("dynamodb", "list_tables", "TableNames"):
            if name.startswith(tuple(prefixes)):
                yield Resource(type=self.type, id=name, name=name, handle=name)

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        return self.look(aws, seen, self.words)

    def look(self, aws: Aws, seen: Resource, words: frozenset[str]) -> Resource | None:
        client = aws.client("dynamodb")
        table = client.describe_table(TableName=seen.id)["Table"]
        properties, facts = parse(table), facts_of(table)
        describable = table["TableStatus"] in DESCRIBABLE
        if describable and words & {"TimeToLiveSpecification", "TimeToLiveStatus"}:
            expiry = client.describe_time_to_live(TableName=seen.id)["TimeToLiveDescription"]
            properties |= time_to_live_of(expiry)
            facts["TimeToLiveStatus"] = expiry["TimeToLiveStatus"]
        if describable and "PointInTimeRecoverySpecification" in words:
            backups = client.describe_continuous_backups(TableName=seen.id)["ContinuousBackupsDescription"]
            properties |= recovery_of(backups)
        return Resource(
            type=self.type,
            id=seen.id,
            name=seen.id,
            handle=seen.id,
            arn=table["TableArn"],
            tags=self._tags(aws, seen, table),
            properties=properties,
            facts=facts,
            state=state_of(table),
            created=created_of(table),
        )

    def _tags(self, aws: Aws, seen: Resource, table: Mapping[str, Any]) -> Mapping[str, str] | None:
        # While a table is being created its tags are "not found": unknown, not absent.
        if seen.tags is not None or table["TableStatus"] in ("CREATING", "DELETING"):
            return seen.tags
        pages = aws.pages("dynamodb", "list_tags_of_resource", "Tags", ResourceArn=table["TableArn"])
        return {tag["Key"]: tag["Value"] for tag in pages}

    def single_call(self, desired: Mapping[str, Json]) -> bool:
        return not creation({}, desired)[1]

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        client = aws.client("dynamodb")
        arguments, rest = creation(desired.initial, desired.properties)
        try:
            client.create_table(**arguments, Tags=_tag_list(desired.tags))
        except client.exceptions.ResourceInUseException as error:
            raise ExistsError(str(error)) from error
        return Progress.PARTIAL if rest else Progress.COMPLETE

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        client = aws.client("dynamodb")
        if change.tags:
            client.tag_resource(ResourceArn=seen.arn, Tags=_tag_list(change.tags))
        if change.untag:
            client.untag_resource(ResourceArn=seen.arn, TagKeys=sorted(change.untag))
        if "PointInTimeRecoverySpecification" in change.properties:
            wanted = recovery(change.properties["PointInTimeRecoverySpecification"])
            client.update_continuous_backups(TableName=seen.id, PointInTimeRecoverySpecification=wanted)
        calls = update_calls(seen.properties or {}, change.properties)
        # A second change of the time to live within the hour of the first is refused: others go ahead of it.
        moving = seen.facts.get("TimeToLiveStatus") in ("ENABLING", "DISABLING")
        accepted = [call for call in calls if not (moving and call.operation == "update_time_to_live")]
        for call in accepted[:1]:
            getattr(client, call.operation)(TableName=seen.id, **call.arguments)
        return Progress.COMPLETE if len(calls) == len(accepted[:1]) else Progress.PARTIAL

    def delete(self, aws: Aws, seen: Resource) -> None:
        aws.client("dynamodb").delete_table(TableName=seen.id)


def _tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]
