"""The worlds that are measured: what Setpoint's policies say of them, and the least calls that a run over them takes.

Setpoint's policies own what is in them (it is Setpoint that made it), and it carries the two tags that the peers check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

Json = dict[str, Any]
TAGS = {"owner": "lab", "env": "bench"}
TAG_LIST = [{"Key": key, "Value": value} for key, value in TAGS.items()]
QUEUE = {"VisibilityTimeout": 45, "MessageRetentionPeriod": 86_400}
DEEP_READS = 1 / 5
"""`driftCheck` is five minutes, a run comes every minute."""
RUN = {"s3.ListObjectsV2": 1, "s3.GetObject": 1, "s3.PutObject": 2}
"""What every run of a fresh function calls: the policies, and the status of the document and of the run."""


@dataclass(frozen=True)
class World:
    """Resources of one account, how they come to be, and what is wanted of them.

    `before` are the policies that make what is there before a run, `policies` those of the run itself. `others` counts
    the log groups that somebody else made, and of these the ones out of line. `restored`: a run changes something, so
    the world is made anew for each. `least` are the calls that a fresh process of Setpoint cannot do without. `title`
    says what is there. `size` counts resources.
    """

    name: str
    job: str
    title: str
    size: int
    policies: Sequence[Json]
    before: Sequence[Json]
    least: Mapping[str, int]
    restored: bool = False
    options: Sequence[str] = ()
    others: tuple[int, int] = (0, 0)

    @property
    def least_calls(self) -> int:
        return sum(self.least.values())


def policy(name: str, type_: str, properties: Json, items: Sequence[Any], **more: Any) -> Json:
    """A policy that owns one resource per item."""
    return {
        "name": name,
        "resource": {"type": type_, "properties": {"Tags": TAG_LIST, **properties}},
        "strategy": {"type": "forEach", "items": {"source": "list", "values": list(items), "maxLength": 24}},
        **more,
    }


def document(policies: Sequence[Json], *, setting_up: bool = False) -> Json:
    """A document; for setting up without limits, and with every resource read in every run."""
    if not setting_up:
        return {"version": 1, "policies": list(policies)}
    free = {"guardrails": {"maxCreates": 1_000_000, "maxUpdates": 1_000_000}, "driftCheck": "1m"}
    return {"version": 1, "policies": [{**one, **free} for one in policies]}


def queues(count: int, name: str = "queues") -> World:
    """Queues, of which the list shows only the names."""
    made = [policy("lab-queues", "AWS::SQS::Queue", {"QueueName": "lab-q-${item}", **QUEUE}, _numbers(count))]
    least = {
        "sqs.ListQueues": ceil(count / 1000),
        "sqs.GetQueueAttributes": round(count * DEEP_READS),
        "tagging.GetResources": ceil(count / 100),
        **RUN,
    }
    return World(name, "queues", f"{count:,} SQS queues", count, made, made, least, options=("--n", str(count)))


def alarms(count: int) -> World:
    """Alarms, of which the list shows everything."""
    made = [_alarm_policy(count)]
    least = {"cloudwatch.DescribeAlarms": ceil(count / 100), "tagging.GetResources": ceil(count / 100), **RUN}
    return World("alarms", "alarms", f"{count:,} alarms", count, made, made, least, options=("--n", str(count)))


def tables(count: int) -> World:
    """Tables, of which the list shows only the names."""
    properties = {
        "TableName": "lab-t-${item}",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {"ReadCapacityUnits": 2, "WriteCapacityUnits": 2},
    }
    made = [policy("lab-tables", "AWS::DynamoDB::Table", properties, _numbers(count))]
    least = {
        "dynamodb.ListTables": ceil(count / 100),
        "dynamodb.DescribeTable": round(count * DEEP_READS),
        "tagging.GetResources": ceil(count / 100),
        **RUN,
    }
    return World(
        "tables", "tables", f"{count:,} DynamoDB tables", count, made, made, least, options=("--n", str(count))
    )


def groups(count: int) -> World:
    """Log groups that Setpoint owns."""
    made = [_group_policy(count)]
    least = {"logs.DescribeLogGroups": ceil(count / 50), "tagging.GetResources": ceil(count / 100), **RUN}
    return World("groups", "groups", f"{count:,} log groups", count, made, made, least, options=("--n", str(count)))


def retention(count: int, astray: int = 0) -> World:
    """Log groups of others whose retention is enforced, as Cloud Custodian does; some may be out of line."""
    kept = _enforced("lab-retention", "/lab-lg/")
    # Two indexes: of log groups, for marks and holds; and of whatever carries an owner tag (none does), for orphans.
    least = {"logs.DescribeLogGroups": ceil(count / 50), "tagging.GetResources": ceil(count / 100) + 1, **RUN}
    if astray:
        least |= {"logs.DescribeLogGroups": ceil(count / 50) + astray, "logs.PutRetentionPolicy": astray}
        least |= {"logs.ListTagsForResource": astray}
    name = "paced-retention" if astray else "retention"
    title = f"{count:,} log groups of others" + (f", {astray} to correct" if astray else "")
    return World(
        name, "groups", title, count, [kept], [], least, bool(astray), ("--n", str(count)), others=(count, astray)
    )


def paced_alarms(count: int) -> World:
    """Alarms that are all still to be made."""
    least = {
        "cloudwatch.DescribeAlarms": 1 + count,  # a look before every create
        "cloudwatch.PutMetricAlarm": count,
        "tagging.GetResources": 1,
        **RUN,
    }
    wanted = [_alarm_policy(count)]
    options = ("--n", str(count))
    return World("paced-alarms", "alarms", f"{count:,} alarms to create", count, wanted, [], least, True, options)


def converge(new: int, changed: int, gone: int) -> World:
    """Queues to create, to update and to delete, in one run."""
    begin = [_converging([_item(f"upd-{at:04d}", 99, 3600) for at in range(changed)] + _named("del", gone), gone)]
    wanted = [_converging(_named("new", new) + _named("upd", changed), gone)]
    writes = new + changed + gone
    least = {
        "sqs.ListQueues": 1,
        "sqs.CreateQueue": new,
        "sqs.SetQueueAttributes": changed,
        "sqs.DeleteQueue": gone,
        "sqs.GetQueueUrl": new,  # each create looks whether the name is taken
        "sqs.GetQueueAttributes": 2 * changed,  # to see the drift, and before the update
        "sqs.ListQueueTags": changed + gone,  # whose it is, from the service itself
        "sqs.TagQueue": changed,  # the spec hash of what is wanted now
        "tagging.GetResources": ceil((changed + gone) / 100),
        **RUN,
    }
    title = f"{new} queues to create, {changed} to update, {gone} to delete"
    options = ("--new", str(new), "--changed", str(changed))
    return World("converge", "converge", title, writes, wanted, begin, least, True, options)


def _converging(items: Sequence[Json], gone: int) -> Json:
    properties = {
        "QueueName": "cv-${item.id}",
        "VisibilityTimeout": "${item.patience}",
        "MessageRetentionPeriod": "${item.keep}",
    }
    limits = {"maxDeletes": gone}
    return policy("lab-converge", "AWS::SQS::Queue", properties, items, removal="delete", grace="0s", guardrails=limits)


def _item(name: str, patience: int = QUEUE["VisibilityTimeout"], keep: int = QUEUE["MessageRetentionPeriod"]) -> Json:
    return {"id": name, "patience": patience, "keep": keep}


def _named(kind: str, count: int) -> list[Json]:
    return [_item(f"{kind}-{at:04d}") for at in range(count)]


def _alarm_policy(count: int) -> Json:
    properties = {
        "AlarmName": "lab-a-${item}",
        "Namespace": "AWS/SQS",
        "MetricName": "ApproximateNumberOfMessagesVisible",
        "Dimensions": [{"Name": "QueueName", "Value": "lab-q-${item}"}],
        "Statistic": "Maximum",
        "Period": 60,
        "EvaluationPeriods": 3,
        "Threshold": 100,
        "ComparisonOperator": "GreaterThanThreshold",
        "TreatMissingData": "notBreaching",
    }
    return policy("lab-alarms", "AWS::CloudWatch::Alarm", properties, _numbers(count))


def _group_policy(count: int) -> Json:
    properties = {"LogGroupName": "/lab-lg/${item}", "RetentionInDays": 30}
    return policy("lab-groups", "AWS::Logs::LogGroup", properties, _numbers(count))


def _enforced(name: str, prefix: str) -> Json:
    return {
        "name": name,
        "resource": {
            "type": "AWS::Logs::LogGroup",
            "match": {"namePrefix": prefix},
            "properties": {"RetentionInDays": 30},
        },
        "strategy": {"type": "enforce"},
    }


def _numbers(count: int) -> list[str]:
    return [f"{at:04d}" for at in range(count)]
