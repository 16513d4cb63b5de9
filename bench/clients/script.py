"""What a careful engineer writes by hand: boto3, one session, a client per service, bulk calls, tags from one index.

`--workers 1` is one thread, else as many as it says, with a connection for each.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import botocore.session
from botocore.config import Config

TAGS = {"owner": "lab", "env": "bench"}
TAG_LIST = [{"Key": key, "Value": value} for key, value in TAGS.items()]
QUEUE = {"VisibilityTimeout": "45", "MessageRetentionPeriod": "86400"}
ALARM = {
    "Statistic": "Maximum",
    "Period": 60,
    "EvaluationPeriods": 3,
    "Threshold": 100.0,
    "ComparisonOperator": "GreaterThanThreshold",
    "TreatMissingData": "notBreaching",
}
CAPACITY = {"ReadCapacityUnits": 2, "WriteCapacityUnits": 2}
Write = tuple[Callable[..., Any], dict[str, Any]]


class Script:
    """One pass over one kind of resource: look at all, then write what is out of line."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._session = botocore.session.get_session()
        self._pool = ThreadPoolExecutor(options.workers) if options.workers > 1 else None
        self._aside = ThreadPoolExecutor(1)
        self._config = Config(max_pool_connections=options.workers, retries={"mode": "standard", "max_attempts": 6})
        self.seen = self.written = 0

    def queues(self) -> None:
        sqs, tags = self._client("sqs"), self._tags("sqs:queue")
        urls = self._queue_urls(sqs, "lab-q-")
        shown = self._each(lambda url: self._attributes(sqs, url, [*QUEUE, "QueueArn"]), urls)
        found, tagged = list(zip(urls, shown, strict=True)), tags.result()
        self.seen = len(found)
        self._write(self._queue_writes(sqs, found, tagged))

    def alarms(self) -> None:
        cloudwatch, tags = self._client("cloudwatch"), self._tags("cloudwatch:alarm")
        names = [f"lab-a-{at:04d}" for at in range(self._options.n)]
        pages = cloudwatch.get_paginator("describe_alarms").paginate(
            AlarmNamePrefix="lab-a-", AlarmTypes=["MetricAlarm"], MaxRecords=100
        )
        found = {alarm["AlarmName"]: alarm for page in pages for alarm in page["MetricAlarms"]}
        self.seen, tagged = len(found), tags.result()
        self._write(self._alarm_writes(cloudwatch, names, found, tagged))

    def tables(self) -> None:
        dynamodb, tags = self._client("dynamodb"), self._tags("dynamodb:table")
        pages = dynamodb.get_paginator("list_tables").paginate()
        names = [name for page in pages for name in page["TableNames"] if name.startswith("lab-t-")]
        found = list(self._each(lambda name: dynamodb.describe_table(TableName=name)["Table"], names))
        self.seen, tagged = len(found), tags.result()
        self._write(self._table_writes(dynamodb, found, tagged))

    def groups(self) -> None:
        logs, tags = self._client("logs"), self._tags("logs:log-group")
        names = [f"/lab-lg/{at:04d}" for at in range(self._options.n)]
        pages = logs.get_paginator("describe_log_groups").paginate(
            logGroupNamePrefix="/lab-lg/", PaginationConfig={"PageSize": 50}
        )
        found = {group["logGroupName"]: group for page in pages for group in page["logGroups"]}
        self.seen, tagged = len(found), tags.result()
        self._write(self._group_writes(logs, names, found, tagged))

    def converge(self) -> None:
        """Creates, updates and deletes among cv-*. Owns nothing: what has a name of ours is taken for ours."""
        sqs = self._client("sqs")
        wanted = [f"cv-new-{at:04d}" for at in range(self._options.new)]
        wanted += [f"cv-upd-{at:04d}" for at in range(self._options.changed)]
        there = {url.rpartition("/")[2]: url for url in self._queue_urls(sqs, "cv-")}
        kept = [name for name in wanted if name in there]
        shown = self._each(lambda name: self._attributes(sqs, there[name], [*QUEUE]), kept)
        writes: list[Write] = [
            (sqs.create_queue, {"QueueName": name, "Attributes": QUEUE, "tags": TAGS})
            for name in wanted
            if name not in there
        ]
        for name, attributes in zip(kept, shown, strict=True):
            if drift := _differing(QUEUE, attributes):
                writes.append((sqs.set_queue_attributes, {"QueueUrl": there[name], "Attributes": drift}))
        gone = there.keys() - set(wanted)
        writes += [(sqs.delete_queue, {"QueueUrl": there[name]}) for name in sorted(gone)]
        self.seen = len(there)
        self._write(writes)

    def mixed(self) -> None:
        """Looks at every kind of the mixed world: lists, deep reads where lists show too little, and one index."""
        index = self._aside.submit(lambda: list(self._indexed([])))
        looks = (
            *("queues_seen", "tables_seen", "streams_seen", "topics_seen", "rules_seen", "services_seen"),
            *("alarms_seen", "groups_seen", "parameters_seen", "scaling_seen", "instances_seen", "disks_seen"),
        )
        self.seen = sum(getattr(self, "_" + look)() for look in looks)
        index.result()

    # --- the looks of the mixed world ------------------------------------------------------------------------------

    def _queues_seen(self) -> int:
        sqs = self._client("sqs")
        urls = self._queue_urls(sqs, "lab-")
        return len(list(self._each(lambda url: self._attributes(sqs, url, ["All"]), urls)))

    def _tables_seen(self) -> int:
        dynamodb = self._client("dynamodb")
        names = self._listed(dynamodb, "list_tables", "TableNames")
        return len(list(self._each(lambda name: dynamodb.describe_table(TableName=name), names)))

    def _streams_seen(self) -> int:
        kinesis = self._client("kinesis")
        names = self._listed(kinesis, "list_streams", "StreamNames")
        return len(list(self._each(lambda name: kinesis.describe_stream_summary(StreamName=name), names)))

    def _topics_seen(self) -> int:
        sns = self._client("sns")
        arns = [one["TopicArn"] for one in self._listed(sns, "list_topics", "Topics")]
        return len(list(self._each(lambda arn: sns.get_topic_attributes(TopicArn=arn), arns)))

    def _rules_seen(self) -> int:
        events = self._client("events")
        names = [one["Name"] for one in self._listed(events, "list_rules", "Rules")]
        return len(list(self._each(lambda name: events.list_targets_by_rule(Rule=name), names)))

    def _services_seen(self) -> int:
        ecs = self._client("ecs")
        arns = self._listed(ecs, "list_services", "serviceArns", cluster="lab-cluster")
        tens = [arns[at : at + 10] for at in range(0, len(arns), 10)]
        return len(list(self._each(lambda ten: ecs.describe_services(cluster="lab-cluster", services=ten), tens)))

    def _alarms_seen(self) -> int:
        return len(self._listed(self._client("cloudwatch"), "describe_alarms", "MetricAlarms", MaxRecords=100))

    def _groups_seen(self) -> int:
        return len(self._listed(self._client("logs"), "describe_log_groups", "logGroups"))

    def _parameters_seen(self) -> int:
        ssm = self._client("ssm")
        names = [one["Name"] for one in self._listed(ssm, "describe_parameters", "Parameters")]
        tens = [names[at : at + 10] for at in range(0, len(names), 10)]
        return len(list(self._each(lambda ten: ssm.get_parameters(Names=ten), tens)))

    def _scaling_seen(self) -> int:
        return len(self._listed(self._client("autoscaling"), "describe_auto_scaling_groups", "AutoScalingGroups"))

    def _instances_seen(self) -> int:
        return len(self._listed(self._client("ec2"), "describe_instances", "Reservations"))

    def _disks_seen(self) -> int:
        ec2 = self._client("ec2")
        snapshots = self._listed(ec2, "describe_snapshots", "Snapshots", OwnerIds=["self"])
        return len(self._listed(ec2, "describe_volumes", "Volumes")) + len(snapshots)

    # --- what is out of line ---------------------------------------------------------------------------------------

    def _queue_writes(self, sqs: Any, found: Iterable[tuple[str, Any]], tagged: Mapping[str, Any]) -> Iterator[Write]:
        for url, attributes in found:
            if drift := _differing(QUEUE, attributes):
                yield sqs.set_queue_attributes, {"QueueUrl": url, "Attributes": drift}
            if _lacks_tags(tagged, attributes["QueueArn"]):
                yield sqs.tag_queue, {"QueueUrl": url, "Tags": TAGS}

    def _alarm_writes(
        self, cloudwatch: Any, names: Iterable[str], found: Mapping[str, Any], tagged: Mapping[str, Any]
    ) -> Iterator[Write]:
        for name in names:
            alarm = found.get(name)
            if alarm is None or _differing(ALARM, alarm):
                metric = {"Namespace": "AWS/SQS", "MetricName": "ApproximateNumberOfMessagesVisible"}
                dimensions = [{"Name": "QueueName", "Value": name.replace("-a-", "-q-")}]
                alarm = {"AlarmName": name, **metric, "Dimensions": dimensions, **ALARM, "Tags": TAG_LIST}
                yield cloudwatch.put_metric_alarm, alarm
            elif _lacks_tags(tagged, alarm["AlarmArn"]):
                yield cloudwatch.tag_resource, {"ResourceARN": alarm["AlarmArn"], "Tags": TAG_LIST}

    def _table_writes(self, dynamodb: Any, found: Iterable[Any], tagged: Mapping[str, Any]) -> Iterator[Write]:
        for table in found:
            if _differing(CAPACITY, table["ProvisionedThroughput"]):
                yield dynamodb.update_table, {"TableName": table["TableName"], "ProvisionedThroughput": CAPACITY}
            if _lacks_tags(tagged, table["TableArn"]):
                yield dynamodb.tag_resource, {"ResourceArn": table["TableArn"], "Tags": TAG_LIST}

    def _group_writes(
        self, logs: Any, names: Iterable[str], found: Mapping[str, Any], tagged: Mapping[str, Any]
    ) -> Iterator[Write]:
        for name in names:
            group = found.get(name)
            if group is None:
                yield logs.create_log_group, {"logGroupName": name, "tags": TAGS}
                continue
            if group.get("retentionInDays") != 30:
                yield logs.put_retention_policy, {"logGroupName": name, "retentionInDays": 30}
            arn = group["arn"].removesuffix(":*")
            if _lacks_tags(tagged, arn):
                yield logs.tag_resource, {"resourceArn": arn, "tags": TAGS}

    # --- how it calls ----------------------------------------------------------------------------------------------

    def _client(self, service: str) -> Any:
        return self._session.create_client(service, config=self._config)

    def _each(self, call: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        return self._pool.map(call, items) if self._pool else map(call, items)

    def _tags(self, type_: str) -> Future[Mapping[str, Any]]:
        """The tag index of a type; beside the rest where there are threads."""
        if self._pool:
            return self._aside.submit(lambda: dict(self._indexed([type_])))
        now: Future[Mapping[str, Any]] = Future()
        now.set_result(dict(self._indexed([type_])))
        return now

    def _indexed(self, types: list[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
        pages = self._client("resourcegroupstaggingapi").get_paginator("get_resources")
        filters = {"ResourceTypeFilters": types} if types else {}
        for page in pages.paginate(ResourcesPerPage=100, **filters):
            for one in page["ResourceTagMappingList"]:
                yield one["ResourceARN"], {tag["Key"]: tag["Value"] for tag in one["Tags"]}

    @staticmethod
    def _listed(client: Any, operation: str, field: str, **arguments: Any) -> list[Any]:
        return [one for page in client.get_paginator(operation).paginate(**arguments) for one in page.get(field, ())]

    @staticmethod
    def _queue_urls(sqs: Any, prefix: str) -> list[str]:
        pages = sqs.get_paginator("list_queues").paginate(QueueNamePrefix=prefix, PaginationConfig={"PageSize": 1000})
        return [url for page in pages for url in page.get("QueueUrls", ())]

    @staticmethod
    def _attributes(sqs: Any, url: str, names: list[str]) -> Any:
        return sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]

    def _write(self, writes: Iterable[Write]) -> None:
        self.written = len(list(self._each(lambda write: write[0](**write[1]), writes)))


def _differing(wanted: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    return {word: value for word, value in wanted.items() if shown.get(word) != value}


def _lacks_tags(tagged: Mapping[str, Mapping[str, str]], arn: str) -> bool:
    return not TAGS.items() <= tagged.get(arn, {}).items()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", choices=["queues", "alarms", "tables", "groups", "converge", "mixed"])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--new", type=int, default=100)
    parser.add_argument("--changed", type=int, default=50)
    given = parser.parse_args()
    script = Script(given)
    getattr(script, given.job)()
    print(json.dumps({"seen": script.seen, "written": script.written}))


if __name__ == "__main__":
    main()
