"""Everything that exists, in one canonical dictionary: equal worlds give equal dictionaries.

Left out, since two runs of one scenario may differ there: ARNs and ids made by the service, timestamps, counters, an
alarm's state, a table's status. Instances have no name, so they are a sorted list, without their ids and client tokens;
`pending` counts as running and `stopping` as stopped. Dead instances and tables being deleted do not exist.
Tags are mappings. A service that was never used costs nothing.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import moto.backends

from tests.world.sessions import Outside
from tests.world.traps_dynamodb import TableTraps
from tests.world.traps_kinesis import StreamTraps

Found = dict[str, Any]
Tags = dict[str, str]


def take(outside: Outside, tables: TableTraps, streams: StreamTraps, region: str, account: str) -> dict[str, Any]:
    """Read the services with plain clients (queues, of which there are most, from moto: 20 times faster).

    Types of which there is nothing are left out.
    """

    def client(service: str) -> Any:
        return outside.client(service, region, account)

    def is_deleting(name: str) -> bool:
        return tables.is_deleting((account, region), name)

    readers: dict[str, tuple[str, Callable[[], Any]]] = {
        "AWS::SQS::Queue": ("sqs", lambda: _queues(account, region)),
        "AWS::CloudWatch::Alarm": ("cloudwatch", lambda: _alarms(client("cloudwatch"))),
        "AWS::DynamoDB::Table": ("dynamodb", lambda: _tables(client("dynamodb"), is_deleting)),
        "AWS::AutoScaling::AutoScalingGroup": ("autoscaling", lambda: _groups(client("autoscaling"))),
        "AWS::Kinesis::Stream": ("kinesis", lambda: _streams(account, region, streams)),
        "AWS::Logs::LogGroup": ("logs", lambda: _log_groups(client("logs"))),
        "AWS::SNS::Topic": ("sns", lambda: _topics(client("sns"))),
        "AWS::EC2::Instance": ("ec2", lambda: _instances(client("ec2"))),
    }
    found = {kind: read() for kind, (service, read) in readers.items() if _is_used(service, account, region)}
    return {kind: things for kind, things in found.items() if things}


def _is_used(service: str, account: str, region: str) -> bool:
    found = moto.backends.get_backend(service)  # type: ignore[call-overload]
    return account in found and region in found[account].keys()  # noqa: SIM118 - moto's own `in` means "could be used"


def _queues(account: str, region: str) -> Found:
    sqs = moto.backends.get_backend("sqs")[account][region]
    return {name: {**_attributes(sqs, name), "Tags": dict(queue.tags or {})} for name, queue in sqs.queues.items()}


def _attributes(sqs: Any, name: str) -> Found:
    attributes = sqs.get_queue_attributes(name, ["All"])
    return {key: _text(value) for key, value in attributes.items() if not _is_incidental(key) and value is not None}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _alarms(cloudwatch: Any) -> Found:
    alarms = {}
    for page in cloudwatch.get_paginator("describe_alarms").paginate():
        for alarm in page["MetricAlarms"]:
            tags = cloudwatch.list_tags_for_resource(ResourceARN=alarm["AlarmArn"])["Tags"]
            alarms[alarm["AlarmName"]] = {**_kept(alarm), "Tags": _tags(tags)}
    return alarms


def _tables(dynamodb: Any, is_deleting: Callable[[str], bool]) -> Found:
    names = (name for page in dynamodb.get_paginator("list_tables").paginate() for name in page["TableNames"])
    return {name: _table(dynamodb, name) for name in names if not is_deleting(name)}


def _table(dynamodb: Any, name: str) -> Found:
    table = dynamodb.describe_table(TableName=name)["Table"]
    pages = dynamodb.get_paginator("list_tags_of_resource").paginate(ResourceArn=table["TableArn"])
    backups = dynamodb.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    return {
        **_kept(table),
        "Tags": _tags([tag for page in pages for tag in page["Tags"]]),
        "TimeToLive": dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"],
        "PointInTimeRecovery": backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"],
    }


def _streams(account: str, region: str, traps: StreamTraps) -> Found:
    kinesis = moto.backends.get_backend("kinesis")[account][region]
    return {
        name: {
            **_kept(stream.to_json_summary()["StreamDescriptionSummary"]),
            "EnhancedMonitoring": sorted(stream.shard_level_metrics),
            "Tags": dict(stream.tags),
        }
        for name, stream in kinesis.streams.items()
        if not traps.is_deleting((account, region), name)
    }


def _log_groups(logs: Any) -> Found:
    groups = {}
    for page in logs.get_paginator("describe_log_groups").paginate():
        for group in page["logGroups"]:
            arn = group["arn"].removesuffix(":*")
            groups[group["logGroupName"]] = {
                **_kept(group),
                "Tags": logs.list_tags_for_resource(resourceArn=arn)["tags"],
            }
    return groups


def _topics(sns: Any) -> Found:
    topics = {}
    for page in sns.get_paginator("list_topics").paginate():
        for arn in (topic["TopicArn"] for topic in page["Topics"]):
            attributes = sns.get_topic_attributes(TopicArn=arn)["Attributes"]
            tags = sns.list_tags_for_resource(ResourceArn=arn)["Tags"]
            topics[arn.rpartition(":")[2]] = {**_kept(attributes), "Tags": _tags(tags)}
    return topics


def _instances(ec2: Any) -> list[Found]:
    pages = ec2.get_paginator("describe_instances").paginate()
    alive = [_instance(i) for page in pages for r in page["Reservations"] for i in r["Instances"] if _is_alive(i)]
    return sorted(alive, key=lambda instance: json.dumps(instance, sort_keys=True, default=str))


def _is_alive(instance: Found) -> bool:
    return instance["State"]["Name"] not in ("shutting-down", "terminated")


def _instance(instance: Found) -> Found:
    settled = {"pending": "running", "stopping": "stopped"}
    state = instance["State"]["Name"]
    kept = ("ImageId", "InstanceType", "KeyName", "EbsOptimized", "Monitoring", "MetadataOptions", "IamInstanceProfile")
    return {
        **{key: instance[key] for key in kept if key in instance},
        "AvailabilityZone": instance["Placement"]["AvailabilityZone"],
        "SecurityGroups": sorted(group["GroupName"] for group in instance.get("SecurityGroups", [])),
        "State": settled.get(state, state),
        "Tags": _tags(instance.get("Tags", [])),
    }


def _groups(autoscaling: Any) -> Found:
    pages = autoscaling.get_paginator("describe_auto_scaling_groups").paginate()
    return {group["AutoScalingGroupName"]: _group(group) for page in pages for group in page["AutoScalingGroups"]}


def _group(group: Found) -> Found:
    kept = _kept({key: value for key, value in group.items() if key not in ("AutoScalingGroupARN", "CreatedTime")})
    template = {key: value for key, value in group.get("LaunchTemplate", {}).items() if key != "LaunchTemplateId"}
    return {**kept, "Instances": len(group["Instances"]), "LaunchTemplate": template, "Tags": _tags(group["Tags"])}


def _tags(pairs: list[dict[str, str]]) -> Tags:
    return {pair["Key"]: pair["Value"] for pair in pairs}


def _kept(thing: Any) -> Any:
    """Drop what is incidental, at every depth."""
    if isinstance(thing, dict):
        return {key: _kept(value) for key, value in thing.items() if not _is_incidental(key)}
    return [_kept(item) for item in thing] if isinstance(thing, list) else thing


def _is_incidental(key: str) -> bool:
    return key in _INCIDENTAL or key.endswith(_ENDINGS) or key.startswith("Approximate")


_ENDINGS = (
    "Timestamp",
    "DateTime",
    "TableArn",
    "IndexArn",
    "SizeBytes",
    "ItemCount",
    "StreamArn",
    "StreamLabel",
    "Time",
)
_INCIDENTAL = frozenset(
    {
        "QueueArn", "AlarmArn", "arn", "logGroupArn", "creationTime", "storedBytes", "metricFilterCount", "TableId",
        "TableStatus", "IndexStatus", "Backfilling", "NumberOfDecreasesToday", "StateValue", "StateReason",
        "StateReasonData", "StateTransitionedTimestamp", "StreamARN", "StreamStatus", "TopicArn", "WarmThroughput",
        "EvaluationState",
    }
)  # fmt: skip


def iterate(found: dict[str, Any]) -> Iterator[tuple[str, str, Found]]:
    """Walk an inventory as (type, name, properties); an instance's name is its place in the list."""
    for kind, things in found.items():
        pairs = things.items() if isinstance(things, dict) else enumerate(things)
        for name, properties in pairs:
            yield kind, str(name), properties
