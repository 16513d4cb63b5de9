"""Everything that exists, in one canonical dictionary: equal worlds give equal dictionaries.

Left out, since two runs of one scenario may differ there: ARNs and ids made by the service, timestamps, counters, an
alarm's state, a table's status. Instances, volumes and snapshots have no name, so they are sorted lists, without ids;
`pending` counts as running and `stopping` as stopped. Dead instances and tables being deleted do not exist.
Tags are mappings. A service that was never used costs nothing. Parameters and buckets without a tag are left out too:
in them tests keep their policies and items.
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
        "AWS::ECS::Service": ("ecs", lambda: _services(client("ecs"))),
        "AWS::RDS::DBInstance": ("rds", lambda: _databases(client("rds"), "DBInstance")),
        "AWS::RDS::DBCluster": ("rds", lambda: _databases(client("rds"), "DBCluster")),
        "AWS::Lambda::Function": ("lambda", lambda: _functions(client("lambda"))),
        "AWS::ElastiCache::ReplicationGroup": ("elasticache", lambda: _caches(client("elasticache"))),
        "AWS::Kinesis::Stream": ("kinesis", lambda: _streams(account, region, streams)),
        "AWS::Logs::LogGroup": ("logs", lambda: _log_groups(client("logs"))),
        "AWS::Events::Rule": ("events", lambda: _rules(client("events"))),
        "AWS::SNS::Topic": ("sns", lambda: _topics(client("sns"))),
        "AWS::S3::Bucket": ("s3", lambda: _buckets(account, region)),
        "AWS::SSM::Parameter": ("ssm", lambda: _parameters(account, region)),
        "AWS::EC2::Instance": ("ec2", lambda: _instances(client("ec2"))),
        "AWS::EC2::Volume": ("ec2", lambda: _volumes(account, region)),
        "AWS::EC2::Snapshot": ("ec2", lambda: _snapshots(account, region)),
    }
    found = {kind: read() for kind, (service, read) in readers.items() if _is_used(service, account, region)}
    return {kind: things for kind, things in found.items() if things}


def _is_used(service: str, account: str, region: str) -> bool:
    found = moto.backends.get_backend(service)  # type: ignore[call-overload]
    if service == "s3":
        return account in found  # moto keeps buckets of all regions in one place
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


def _rules(events: Any) -> Found:
    rules = {}
    for page in events.get_paginator("list_rules").paginate():
        for rule in page["Rules"]:
            targets = events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
            tags = events.list_tags_for_resource(ResourceARN=rule["Arn"])["Tags"]
            kept = {key: value for key, value in rule.items() if key != "Arn"}
            rules[rule["Name"]] = {**kept, "Targets": targets, "Tags": _tags(tags)}
    return rules


def _buckets(account: str, region: str) -> Found:
    s3 = moto.backends.get_backend("s3")[account]["aws"]
    tags = {name: s3.get_bucket_tagging(name) for name, bucket in s3.buckets.items() if bucket.region_name == region}
    return {name: _bucket(s3.buckets[name], pairs["Tags"]) for name, pairs in tags.items() if pairs.get("Tags")}


def _bucket(bucket: Any, pairs: list[dict[str, str]]) -> Found:
    return {
        "Encryption": bucket.encryption,
        "Lifecycle": sorted((rule.id, rule.status, rule.expiration_days) for rule in bucket.rules),
        "Ownership": bucket.ownership_rule,
        "PublicAccessBlock": bucket.public_access_block and bucket.public_access_block.to_config_dict(),
        "Versioning": bucket.versioning_status,
        "Tags": _tags(pairs),
    }


def _parameters(account: str, region: str) -> Found:
    ssm = moto.backends.get_backend("ssm")[account][region]
    tags = ssm._resource_tags["Parameter"]
    found = {name: ssm.get_parameter(name) for name in ssm._parameters if tags.get(name)}
    return {
        name: {**_kept(_without_version(parameter.describe_response_object())), "Tags": dict(tags[name])}
        for name, parameter in found.items()
    }


def _without_version(parameter: Found) -> Found:
    """It counts the writes, those that changed nothing too."""
    return {key: value for key, value in parameter.items() if key != "Version"}


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


def _volumes(account: str, region: str) -> list[Found]:
    """Those that no instance uses, and that carry tags."""
    volumes = moto.backends.get_backend("ec2")[account][region].volumes.values()
    free = [one for one in volumes if one.status == "available" and one.get_tags()]
    words = ("size", "volume_type", "iops", "throughput", "encrypted")
    return _sorted({**{word: getattr(one, word) for word in words}, "Tags": _small(one.get_tags())} for one in free)


def _snapshots(account: str, region: str) -> list[Found]:
    """This account's own, and of these the tagged ones."""
    snapshots = moto.backends.get_backend("ec2")[account][region].snapshots.values()
    own = [one for one in snapshots if one.owner_id == account and one.get_tags()]
    return _sorted({"Description": one.description, "Tags": _small(one.get_tags())} for one in own)


def _small(pairs: list[dict[str, str]]) -> Tags:
    return {pair["key"]: pair["value"] for pair in pairs}


def _sorted(things: Iterator[Found]) -> list[Found]:
    return sorted(things, key=lambda one: json.dumps(one, sort_keys=True, default=str))


def _groups(autoscaling: Any) -> Found:
    pages = autoscaling.get_paginator("describe_auto_scaling_groups").paginate()
    return {group["AutoScalingGroupName"]: _group(group) for page in pages for group in page["AutoScalingGroups"]}


def _group(group: Found) -> Found:
    kept = _kept({key: value for key, value in group.items() if key not in ("AutoScalingGroupARN", "CreatedTime")})
    template = {key: value for key, value in group.get("LaunchTemplate", {}).items() if key != "LaunchTemplateId"}
    return {**kept, "Instances": len(group["Instances"]), "LaunchTemplate": template, "Tags": _tags(group["Tags"])}


def _services(ecs: Any) -> Found:
    clusters = [arn for page in ecs.get_paginator("list_clusters").paginate() for arn in page["clusterArns"]]
    pages = {arn: list(ecs.get_paginator("list_services").paginate(cluster=arn)) for arn in clusters}
    named = [(cluster, arn) for cluster, found in pages.items() for page in found for arn in page["serviceArns"]]
    return dict(pair for cluster, arn in named for pair in _service(ecs, cluster, arn))


def _service(ecs: Any, cluster: str, arn: str) -> Iterator[tuple[str, Found]]:
    """What is left of it is none: draining and inactive ones do not exist."""
    for service in ecs.describe_services(cluster=cluster, services=[arn], include=["TAGS"])["services"]:
        if service["status"] == "ACTIVE":
            incidental = (
                "deployments",
                "events",
                "createdAt",
                "clusterArn",
                "serviceArn",
                "runningCount",
                "pendingCount",
            )
            kept = {key: value for key, value in service.items() if key not in (*incidental, "tags")}
            tags = {tag["key"]: tag["value"] for tag in service.get("tags", [])}
            yield f"{cluster.rpartition('/')[2]}/{service['serviceName']}", {**_kept(kept), "Tags": tags}


def _databases(rds: Any, sort: str) -> Found:
    """Those that are on their way out do not exist; the others are where they are going."""
    pages = rds.get_paginator("describe_db_instances" if sort == "DBInstance" else "describe_db_clusters").paginate()
    databases = {}
    for database in (one for page in pages for one in page[f"{sort}s"]):
        status = database.get("DBInstanceStatus") or database["Status"]
        if status != "deleting":
            kept = {key: value for key, value in _kept(database).items() if key not in _OF_DATABASES}
            settled = "stopped" if status in ("stopping", "stopped") else "available"
            databases[database[f"{sort}Identifier"]] = {**kept, "Status": settled, "Tags": _tags(database["TagList"])}
    return databases


_OF_DATABASES = frozenset(
    {
        "DBClusterArn", "DBClusterMembers", "DBInstanceArn", "DBInstanceStatus", "DbClusterResourceId",
        "DbiResourceId", "Endpoint", "HostedZoneId", "MasterUserSecret", "ReadReplicaDBInstanceIdentifiers",
        "ReaderEndpoint", "TagList",
    }
)  # fmt: skip


def _functions(functions: Any) -> Found:
    names = (
        one["FunctionName"]
        for page in functions.get_paginator("list_functions").paginate()
        for one in page["Functions"]
    )
    return {name: _function(functions.get_function(FunctionName=name)) for name in names}


def _function(found: Found) -> Found:
    incidental = ("FunctionArn", "LastModified", "LastUpdateStatus", "State")
    kept = {key: value for key, value in found["Configuration"].items() if key not in incidental}
    tags = {key: value for key, value in found.get("Tags", {}).items() if key != "setpoint:code"}
    return {**_kept(kept), "Concurrency": found.get("Concurrency"), "Tags": tags}


def _caches(elasticache: Any) -> Found:
    pages = elasticache.get_paginator("describe_replication_groups").paginate()
    groups = [group for page in pages for group in page["ReplicationGroups"] if group["Status"] != "deleting"]
    return {group["ReplicationGroupId"]: _cache(elasticache, group) for group in groups}


def _cache(elasticache: Any, group: Found) -> Found:
    incidental = (
        "ARN",
        "ConfigurationEndpoint",
        "NodeGroups",
        "ReplicationGroupCreateTime",
        "SnapshottingClusterId",
        "Status",
    )
    kept = {key: value for key, value in group.items() if key not in incidental}
    return {**_kept(kept), "Tags": _tags(elasticache.list_tags_for_resource(ResourceName=group["ARN"])["TagList"])}


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
    "LastModifiedDate",
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
