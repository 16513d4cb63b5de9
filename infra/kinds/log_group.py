"""CloudWatch log groups. DescribeLogGroups returns everything but tags, fifty to a page.

Retention is set by a call of its own, after the create. An account-level retention policy overrides it: the service
then shows the policy's days, and the fact `RetentionPolicyName` its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from infra.aws import Aws
from infra.kinds.kind import Kind
from policies.action import Change, Desired, Progress
from policies.frozen import Json
from policies.names import common_start
from policies.properties import CreateOnly, Default, Name, Properties, Tag
from policies.world import Resource

# fmt: off
_Days = Literal[
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653
]
# fmt: on
_Class = Literal["STANDARD", "INFREQUENT_ACCESS", "DELIVERY", "ESSENTIALS"]


class LogGroupProperties(Properties):
    """`AWS::Logs::LogGroup`. No RetentionInDays, or null: kept for ever."""

    LogGroupName: Annotated[str, CreateOnly, Name(r"[A-Za-z0-9._/#-]+", 512)]
    # CloudFormation calls it updatable, the service does not (CreateLogGroup); ESSENTIALS only the service knows.
    LogGroupClass: Annotated[_Class | None, CreateOnly, Default("STANDARD")] = None
    RetentionInDays: _Days | None = None
    KmsKeyId: Annotated[str | None, Field(max_length=256)] = None
    DeletionProtectionEnabled: Annotated[bool | None, Default(False)] = None
    BearerTokenAuthenticationEnabled: Annotated[bool | None, Default(False)] = None
    Tags: list[Tag] | None = None


_BORN_WITH = {
    "LogGroupClass": "logGroupClass",
    "KmsKeyId": "kmsKeyId",
    "DeletionProtectionEnabled": "deletionProtectionEnabled",
}
_SHOWN = _BORN_WITH | {
    "LogGroupName": "logGroupName",
    "RetentionInDays": "retentionInDays",
    "BearerTokenAuthenticationEnabled": "bearerTokenAuthenticationEnabled",
}
_LATER = frozenset({"RetentionInDays", "BearerTokenAuthenticationEnabled"})


class LogGroup(Kind):
    """`AWS::Logs::LogGroup` of any class."""

    type = "AWS::Logs::LogGroup"
    properties = LogGroupProperties
    identifier = "LogGroupName"
    facts = frozenset({"CreateTime", "StoredBytes", "RetentionPolicyName"})
    not_supported = frozenset({"DataProtectionPolicy", "FieldIndexPolicies", "ResourcePolicyDocument"})
    read_only = frozenset({"Arn"})
    holds_data = True
    complete_survey = True
    names_per_call = 50
    index = "logs"  # the whole service, which is little else: emulators know no finer word
    arn_type = "logs:log-group"
    absent_codes = frozenset({"ResourceNotFoundException"})
    exists_codes = frozenset({"ResourceAlreadyExistsException"})
    wait_codes = frozenset({"OperationAbortedException"})
    iam = {
        "survey": frozenset({"logs:DescribeLogGroups"}),
        "read": frozenset({"logs:DescribeLogGroups", "logs:ListTagsForResource"}),
        "create": frozenset({"logs:CreateLogGroup", "logs:TagResource"}),
        "update": frozenset(
            {
                "logs:PutRetentionPolicy",
                "logs:DeleteRetentionPolicy",
                "logs:AssociateKmsKey",
                "logs:DisassociateKmsKey",
                "logs:PutLogGroupDeletionProtection",
                "logs:PutBearerTokenAuthentication",
                "logs:TagResource",
                "logs:UntagResource",
            }
        ),
        "delete": frozenset({"logs:DeleteLogGroup"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        if str(properties["LogGroupName"]).startswith("aws/"):
            return "LogGroupName must not start with aws/"
        if properties.get("LogGroupClass") == "DELIVERY" and properties.get("RetentionInDays"):
            return "a log group of class DELIVERY has a fixed retention; leave RetentionInDays out"
        if ":key/" not in (properties.get("KmsKeyId") or ":key/"):
            # The service takes more, and shows the key's ARN: anything else would differ for ever.
            return "KmsKeyId is the ARN of a key, arn:aws:kms:…:key/…, not an alias or a bare id"
        return None

    def single_call(self, desired: Mapping[str, Json]) -> bool:
        return not any(desired.get(word) for word in _LATER)

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        for prefix in prefixes:
            yield from map(self._parse, _describe(aws, prefix))

    def find(self, aws: Aws, names: Sequence[str]) -> Iterator[Resource]:
        found = list(aws.pages("logs", "describe_log_groups", "logGroups", logGroupIdentifiers=list(names)))
        if {group["logGroupName"] for group in found} <= set(names):
            yield from map(self._parse, found)
        else:  # moto does not know the filter, and what it shows is a page of all
            yield from self.survey(aws, (common_start(names),))

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        # Names come in order, so the exact one is the first that starts with itself.
        found = next((group for group in _describe(aws, seen.id) if group["logGroupName"] == seen.id), None)
        if found is None:
            return None
        resource = self._parse(found)
        if seen.tags is not None:
            return resource.with_tags(seen.tags)
        return resource.with_tags(aws.client("logs").list_tags_for_resource(resourceArn=resource.arn).get("tags", {}))

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        logs = aws.client("logs")
        declared = {**desired.initial, **desired.properties}
        born_with = {field: declared[word] for word, field in _BORN_WITH.items() if declared.get(word) is not None}
        logs.create_log_group(logGroupName=desired.name, tags=dict(desired.tags), **born_with)
        return Progress.COMPLETE if self.single_call(declared) else Progress.PARTIAL

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        logs = aws.client("logs")
        for word, value in change.properties.items():
            _write(logs, seen.id, word, value)
        if change.tags:
            logs.tag_resource(resourceArn=seen.arn, tags=dict(change.tags))
        if change.untag:
            logs.untag_resource(resourceArn=seen.arn, tagKeys=sorted(change.untag))
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        aws.client("logs").delete_log_group(logGroupName=seen.id)

    def name_of_arn(self, arn: str) -> str:
        """A log group's name may hold slashes, and its ARN may end in `:*`."""
        return arn.split(":")[6]

    def _parse(self, group: Mapping[str, Any]) -> Resource:
        created = datetime.fromtimestamp(group["creationTime"] / 1000, UTC)
        properties = {word: group[field] for word, field in _SHOWN.items() if group.get(field) is not None}
        if properties.get("LogGroupClass") == "DELIVERY":
            # Shown as 2 days, which is no value of RetentionInDays and nobody's choice.
            properties.pop("RetentionInDays", None)
        return Resource(
            type=self.type,
            id=group["logGroupName"],
            name=group["logGroupName"],
            handle=group["logGroupName"],
            # The tagging calls take the ARN without the `:*` that DescribeLogGroups puts behind it.
            arn=group["arn"].removesuffix(":*"),
            properties=properties,
            facts={
                "CreateTime": created.isoformat(),
                "StoredBytes": group.get("storedBytes", 0),
                "RetentionPolicyName": group.get("retentionPolicyName"),
            },
            created=created,
        )


def _describe(aws: Aws, prefix: str) -> Iterator[Mapping[str, Any]]:
    arguments = {"logGroupNamePrefix": prefix} if prefix else {}
    return aws.pages("logs", "describe_log_groups", "logGroups", PaginationConfig={"PageSize": 50}, **arguments)


def _write(logs: Any, name: str, word: str, value: Json) -> None:
    """Set one property; None resets it. Each has its own call, so none can leave another half done."""
    match word, value:
        case "RetentionInDays", None:
            logs.delete_retention_policy(logGroupName=name)
        case "RetentionInDays", days:
            logs.put_retention_policy(logGroupName=name, retentionInDays=days)
        case "KmsKeyId", None:
            logs.disassociate_kms_key(logGroupName=name)
        case "KmsKeyId", key:
            logs.associate_kms_key(logGroupName=name, kmsKeyId=key)
        case "DeletionProtectionEnabled", on:
            logs.put_log_group_deletion_protection(logGroupIdentifier=name, deletionProtectionEnabled=bool(on))
        case "BearerTokenAuthenticationEnabled", on:
            logs.put_bearer_token_authentication(logGroupIdentifier=name, bearerTokenAuthenticationEnabled=bool(on))
