"""Small pages on demand, and lists in no particular order."""

from random import Random

from tests.world.call import Call, Params

LIMITS = {
    "sqs:ListQueues": "MaxResults",
    "ec2:DescribeInstances": "MaxResults",
    "cloudwatch:DescribeAlarms": "MaxRecords",
    "dynamodb:ListTables": "Limit",
    "events:ListRules": "Limit",
    "events:ListTargetsByRule": "Limit",
    "kinesis:ListStreams": "Limit",
    "dynamodb:Scan": "Limit",
    "dynamodb:Query": "Limit",
    "logs:DescribeLogGroups": "limit",
    "resourcegroupstaggingapi:GetResources": "ResourcesPerPage",
    "s3:ListObjectsV2": "MaxKeys",
    "s3:ListObjectVersions": "MaxKeys",
    "ssm:GetParametersByPath": "MaxResults",
    "ssm:DescribeParameters": "MaxResults",
}
"""The parameter that limits a page, per operation."""

UNORDERED = {
    "sqs:ListQueues": "QueueUrls",
    "ec2:DescribeInstances": "Reservations",
    "cloudwatch:DescribeAlarms": "MetricAlarms",
    "dynamodb:ListTables": "TableNames",
    "resourcegroupstaggingapi:GetResources": "ResourceTagMappingList",
}
"""Lists whose order AWS does not promise. Log groups come sorted by name, S3 keys too."""


def limited(name: str, params: Params, size: int | None) -> Params:
    """Ask for pages of at most `size`, where the service lets a caller ask at all.

    ListQueues pages only if MaxResults was given, and DescribeInstances not with InstanceIds: those stay as they are.
    """
    if name == "resourcegroupstaggingapi:GetResources":
        # moto ends a page after 100 tags, or at most 500; at AWS only ResourcesPerPage counts unless one asks.
        params = {"TagsPerPage": 500, **params}
    limit = LIMITS.get(name)
    if size is None or limit is None or (name == "sqs:ListQueues" and limit not in params) or "InstanceIds" in params:
        return params
    return {**params, limit: min(size, params.get(limit, size))}


def shuffle(call: Call, answer: Params, seed: int) -> None:
    """Shuffle the page that came back, the same way for the same seed and call."""
    rows = answer.get(UNORDERED.get(call.name, ""))
    if rows:
        Random(f"{seed}/{call.number}/{call.name}").shuffle(rows)
