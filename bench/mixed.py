"""A mixed world: thirty policies over every kind of the registry that the emulator serves."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import Any

from bench.places import ARTIFACT, clean_environment, python_of
from bench.worlds import TAG_LIST, TAGS, World, policy

Json = dict[str, Any]
POLICIES = 30
TEMPLATE, CLUSTER, FAMILY = "lab-template", "lab-cluster", "lab-family"

RECIPES: Mapping[str, Json] = {
    "AWS::SQS::Queue": {"QueueName": "{name}-${item}", "VisibilityTimeout": 45},
    "AWS::CloudWatch::Alarm": {
        "AlarmName": "{name}-${item}",
        "Namespace": "AWS/SQS",
        "MetricName": "ApproximateNumberOfMessagesVisible",
        "Statistic": "Maximum",
        "Period": 60,
        "EvaluationPeriods": 3,
        "Threshold": 100,
        "ComparisonOperator": "GreaterThanThreshold",
    },
    "AWS::DynamoDB::Table": {
        "TableName": "{name}-${item}",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    },
    "AWS::Logs::LogGroup": {"LogGroupName": "/{name}/${item}", "RetentionInDays": 30},
    "AWS::AutoScaling::AutoScalingGroup": {
        "AutoScalingGroupName": "{name}-${item}",
        "LaunchTemplate": {"LaunchTemplateName": TEMPLATE, "Version": "$Default"},
        "AvailabilityZones": ["${region}a"],
        "MinSize": 0,
        "MaxSize": 1,
        "Tags": [{**tag, "PropagateAtLaunch": False} for tag in TAG_LIST],
    },
    "AWS::ECS::Service": {
        "Cluster": CLUSTER,
        "ServiceName": "{name}-${item}",
        "TaskDefinition": f"{FAMILY}:1",
        "DesiredCount": 0,
    },
    "AWS::Events::Rule": {"Name": "{name}-${item}", "ScheduleExpression": "rate(5 minutes)"},
    "AWS::SNS::Topic": {"TopicName": "{name}-${item}", "DisplayName": "lab"},
    "AWS::SSM::Parameter": {"Name": "/{name}/${item}", "Type": "String", "Value": "on", "Tags": TAGS},
    "AWS::RDS::DBInstance": {
        "DBInstanceIdentifier": "{name}-${item}",
        "DBInstanceClass": "db.t4g.medium",
        "Engine": "postgres",
        "MasterUsername": "lab",
        "ManageMasterUserPassword": True,
        "AllocatedStorage": "20",
    },
    "AWS::EC2::Instance": {"LaunchTemplate": {"LaunchTemplateName": TEMPLATE, "Version": "1"}},
}
"""What a policy of each kind keeps its resources at. `{name}` is the policy's own name."""

ENFORCED: Mapping[str, Json] = {
    "AWS::EC2::Volume": {"VolumeType": "gp3"},
    "AWS::EC2::Snapshot": {"Tags": TAG_LIST},
}
"""Kinds of which nothing is made here: what is declared is enforced on what others made."""

LEFT_OUT: Mapping[str, str] = {
    "AWS::Kinesis::Stream": "the emulator drops the tags of a create",
    "AWS::S3::Bucket": "the emulator drops the tags of a create",
    "AWS::Lambda::Function": "the emulator runs functions in containers only",
    "AWS::ElastiCache::ReplicationGroup": "the emulator lacks parts of it",
    "AWS::RDS::DBCluster": "its instances are there in its place",
}
"""Kinds without a recipe, and why."""


def mixed(count: int, kinds: Sequence[str]) -> World:
    """`count` resources over thirty policies, of those of these kinds that have a recipe here."""
    served = [kind for kind in RECIPES if kind in kinds]
    each = [f"{at:03d}" for at in range(max(1, count // POLICIES))]
    enforced = [_enforced(kind) for kind in ENFORCED if kind in kinds]
    types = islice(cycle(served), POLICIES - len(enforced))
    owning = [_owning(f"lab-{at:02d}", kind, each) for at, kind in enumerate(types)]
    size = len(each) * len(owning)
    title = f"{POLICIES} policies over {len(served) + len(enforced)} kinds, {size:,} resources"
    return World("mixed", "mixed", title, size, [*owning, *enforced], [*owning, *enforced], {})


CUSTODIAN: Mapping[str, str] = {
    "AWS::SQS::Queue": "aws.sqs",
    "AWS::CloudWatch::Alarm": "aws.alarm",
    "AWS::DynamoDB::Table": "aws.dynamodb-table",
    "AWS::Logs::LogGroup": "aws.log-group",
    "AWS::AutoScaling::AutoScalingGroup": "aws.asg",
    "AWS::ECS::Service": "aws.ecs-service",
    "AWS::EC2::Instance": "aws.ec2",
    "AWS::EC2::Volume": "aws.ebs",
    "AWS::EC2::Snapshot": "aws.ebs-snapshot",
    "AWS::Events::Rule": "aws.event-rule",
    "AWS::SNS::Topic": "aws.sns",
    "AWS::SSM::Parameter": "aws.ssm-parameter",
    "AWS::RDS::DBInstance": "aws.rds",
}


def custodian(world: World) -> Json:
    """Cloud Custodian's nearest policies: as many, over the same kinds, each looking for a wrong tag."""
    wrong = {"type": "value", "key": "tag:owner", "op": "ne", "value": "lab"}
    return {
        "policies": [
            {"name": one["name"], "resource": CUSTODIAN[one["resource"]["type"]], "filters": [wrong]}
            for one in world.policies
        ]
    }


def left_out(kinds: Sequence[str]) -> Mapping[str, str]:
    """Which of these kinds are not in the mixed world, and why."""
    return {kind: LEFT_OUT.get(kind, "no recipe yet") for kind in kinds if kind not in {**RECIPES, **ENFORCED}}


def known_kinds() -> Sequence[str]:
    """What the registry of the artifact names."""
    program = "import json; from infra.kinds.registry import KINDS; print(json.dumps(list(KINDS)))"
    environment = {**clean_environment(), "PYTHONPATH": str(ARTIFACT)}
    command = [python_of("sdk"), "-S", "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    kinds: Sequence[str] = json.loads(done.stdout)
    return kinds


def _owning(name: str, kind: str, items: Sequence[str]) -> Json:
    properties = {word: _named(value, name) for word, value in RECIPES[kind].items()}
    if kind == "AWS::EC2::Instance":
        strategy = {"type": "replicas", "count": len(items)}
        return {"name": name, "resource": {"type": kind, "properties": properties}, "strategy": strategy}
    return policy(name, kind, properties, items)


def _enforced(kind: str) -> Json:
    resource = {"type": kind, "match": {"tags": {"lab": "foundation"}}, "properties": ENFORCED[kind]}
    name = "lab-" + kind.rpartition("::")[2].lower()
    return {"name": name, "resource": resource, "strategy": {"type": "enforce"}}


def _named(value: Any, name: str) -> Any:
    return value.replace("{name}", name) if isinstance(value, str) else value


def found(client: Any) -> None:
    """What the policies of the mixed world take for granted. `client(service)` gives a boto3 client."""
    ec2, ecs = client("ec2"), client("ecs")
    ec2.create_launch_template(
        LaunchTemplateName=TEMPLATE, LaunchTemplateData={"ImageId": "ami-12c6146b", "InstanceType": "t3.micro"}
    )
    ecs.create_cluster(clusterName=CLUSTER)
    container = {"name": "main", "image": "main", "memory": 64}
    ecs.register_task_definition(family=FAMILY, containerDefinitions=[container])
    tags = [{"Key": "lab", "Value": "foundation"}, *TAG_LIST]
    for _ in range(5):
        volume = ec2.create_volume(
            AvailabilityZone="us-east-1a",
            Size=8,
            VolumeType="gp3",
            TagSpecifications=[{"ResourceType": "volume", "Tags": tags}],
        )
        ec2.create_snapshot(VolumeId=volume["VolumeId"], TagSpecifications=[{"ResourceType": "snapshot", "Tags": tags}])
