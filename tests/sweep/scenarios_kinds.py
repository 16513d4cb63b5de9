"""forEach over every further kind: new, edited, leaving. What moto does not keep of a kind is not declared here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.sweep.scenarios import GONE, TAGS, Scenario, for_each, of, policy
from tests.world import World

TOPIC, RULE, PARAMETER, BUCKET = "AWS::SNS::Topic", "AWS::Events::Rule", "AWS::SSM::Parameter", "AWS::S3::Bucket"
STREAM, SERVICE, FUNCTION = "AWS::Kinesis::Stream", "AWS::ECS::Service", "AWS::Lambda::Function"
DATABASE, CLUSTER = "AWS::RDS::DBInstance", "AWS::RDS::DBCluster"
CACHE, FLEET = "AWS::ElastiCache::ReplicationGroup", "AWS::AutoScaling::AutoScalingGroup"
VOLUME, SNAPSHOT = "AWS::EC2::Volume", "AWS::EC2::Snapshot"
ROLE = "arn:aws:iam::123456789012:role/media"
IMAGE = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/media:1"


def nothing(world: World) -> None:
    pass


def a_cluster(world: World) -> None:
    """Where services run, what they run, and a service of somebody else."""
    ecs = world.outside.ecs
    ecs.create_cluster(clusterName="shops")
    container: Any = {"name": "app", "image": "app", "memory": 128}
    for _ in range(2):
        ecs.register_task_definition(family="shop", containerDefinitions=[container])
    ecs.create_service(cluster="shops", serviceName="shop-theirs", taskDefinition="shop:1", desiredCount=1)
    world.tick_started()
    world.tick_started()


def an_image(world: World) -> None:
    """A repository with the image that functions are made of, and their role."""
    world.outside.ecr.create_repository(repositoryName="media")
    sort = "application/vnd.docker.distribution.manifest.v2+json"
    manifest = json.dumps({"schemaVersion": 2, "mediaType": sort})
    world.outside.ecr.put_image(repositoryName="media", imageManifest=manifest, imageTag="1")
    world.outside.iam.create_role(RoleName="media", AssumeRolePolicyDocument="{}")


def a_template(world: World) -> None:
    data = {"ImageId": "ami-1", "InstanceType": "t3.micro"}
    world.outside.ec2.create_launch_template(LaunchTemplateName="work", LaunchTemplateData=data)


def their_topic(world: World) -> None:
    world.outside.sns.create_topic(Name="orders-theirs", Tags=[{"Key": "owner", "Value": "them"}])


def their_rule(world: World) -> None:
    world.outside.events.put_rule(Name="orders-theirs", ScheduleExpression="rate(5 minutes)")


def their_parameter(world: World) -> None:
    tags = [{"Key": "owner", "Value": "them"}]
    world.outside.ssm.put_parameter(Name="/orders/theirs", Value="1", Type="String", Tags=tags)


def their_database(world: World) -> None:
    admin = {"MasterUsername": "app", "MasterUserPassword": "not-a-good-one"}
    size = {"DBInstanceClass": "db.t4g.small", "Engine": "postgres", "AllocatedStorage": 20}
    world.outside.rds.create_db_instance(DBInstanceIdentifier="orders-theirs", **size, **admin)


Make = Callable[..., Mapping[str, Any]]


def _topic(display: str = "Orders") -> Mapping[str, Any]:
    return {"TopicName": "orders-${item}", "DisplayName": display, "KmsMasterKeyId": "alias/aws/sns", "Tags": TAGS}


def _rule(rate: int = 5) -> Mapping[str, Any]:
    target = {"Id": "queue", "Arn": "arn:aws:sqs:eu-west-1:123456789012:orders"}
    every = f"rate({rate} minutes)"
    return {"Name": "orders-${item}", "ScheduleExpression": every, "Targets": [target], "Tags": TAGS}


def _parameter(value: str = "1") -> Mapping[str, Any]:
    return {"Name": "/orders/${item}", "Type": "String", "Value": value, "Tags": {"team": "orders"}}


def _bucket(days: int = 30) -> Mapping[str, Any]:
    rule = {"Id": "old", "Status": "Enabled", "ExpirationInDays": days}
    return {
        "BucketName": "orders-${item}",
        "VersioningConfiguration": {"Status": "Enabled"},
        "LifecycleConfiguration": {"Rules": [rule]},
        "Tags": TAGS,
    }


def _stream(hours: int = 48) -> Mapping[str, Any]:
    key = {"EncryptionType": "KMS", "KeyId": "alias/aws/kinesis"}
    shape = {"ShardCount": 2, "RetentionPeriodHours": hours, "StreamEncryption": key}
    return {"Name": "orders-${item}", **shape, "Tags": TAGS}


def _service(count: int = 1, revision: int = 1) -> Mapping[str, Any]:
    names = {"Cluster": "shops", "ServiceName": "shop-${item}"}
    return {**names, "TaskDefinition": f"shop:{revision}", "DesiredCount": count, "Tags": TAGS}


def _function(memory: int = 256) -> Mapping[str, Any]:
    code = {"Role": ROLE, "PackageType": "Image", "Code": {"ImageUri": IMAGE}}
    limits = {"MemorySize": memory, "ReservedConcurrentExecutions": 5}
    return {"FunctionName": "orders-${item}", **code, **limits, "Tags": TAGS}


def _database(days: int = 7, **more: Any) -> Mapping[str, Any]:
    size = {"DBInstanceClass": "db.t4g.small", "Engine": "postgres", "AllocatedStorage": "20", "EngineVersion": "16.3"}
    admin = {"MasterUsername": "app", "ManageMasterUserPassword": True, "BackupRetentionPeriod": days}
    return {"DBInstanceIdentifier": "orders-${item}", **size, **admin, "Tags": TAGS, **more}


def _cluster(days: int = 7) -> Mapping[str, Any]:
    engine = {"Engine": "aurora-postgresql", "EngineVersion": "16.3", "BackupRetentionPeriod": days}
    admin = {"MasterUsername": "app", "ManageMasterUserPassword": True}
    return {"DBClusterIdentifier": "orders-${item}", **engine, **admin, "Tags": TAGS}


def _cache(kept: int = 1) -> Mapping[str, Any]:
    size = {"CacheNodeType": "cache.t4g.small", "Engine": "valkey", "NumCacheClusters": 2}
    words = {"ReplicationGroupDescription": "Carts", "AutomaticFailoverEnabled": True, "SnapshotRetentionLimit": kept}
    return {"ReplicationGroupId": "orders-${item}", **size, **words, "Tags": TAGS}


def _fleet(most: int = 4) -> Mapping[str, Any]:
    tags = [{"Key": "team", "Value": "orders", "PropagateAtLaunch": True}]
    template = {"LaunchTemplate": {"LaunchTemplateName": "work", "Version": "$Default"}}
    size = {"AvailabilityZones": ["eu-west-1a"], "MinSize": 0, "MaxSize": most, "SuspendedProcesses": ["AZRebalance"]}
    return {"AutoScalingGroupName": "orders-${item}", **template, **size, "Tags": tags}


KINDS: Mapping[str, tuple[str, Make, Any, Callable[[World], None]]] = {
    "topics": (TOPIC, _topic, "Late orders", their_topic),
    "rules": (RULE, _rule, 9, their_rule),
    "parameters": (PARAMETER, _parameter, "2", their_parameter),
    "buckets": (BUCKET, _bucket, 60, nothing),
    "streams": (STREAM, _stream, 72, nothing),
    "services": (SERVICE, _service, 2, a_cluster),
    "functions": (FUNCTION, _function, 512, an_image),
    "databases": (DATABASE, _database, 9, their_database),
    "clusters": (CLUSTER, _cluster, 9, nothing),
    "caches": (CACHE, _cache, 2, nothing),
    "fleets": (FLEET, _fleet, 6, a_template),
}
"""By a short name: the type, what makes its properties, an edit of them, and what stands there before."""


def scenarios() -> Iterator[Scenario]:
    """Each of these kinds new, edited and leaving; and those that are only ever matched."""
    for name, (type_, make, edit, foreign) in KINDS.items():
        one = of(policy(name, type_, make(), for_each("a")))
        edited = of(policy(name, type_, make(edit), for_each("a")))
        yield Scenario(f"{name}-new", one, foreign=foreign)
        yield Scenario(f"{name}-edited", edited, one, foreign=foreign)
        two, left = (of(policy(name, type_, make(), for_each(*items), **GONE)) for items in (("a", "b"), ("a",)))
        yield Scenario(f"{name}-leaving", left, two, foreign=foreign)
    three = of(policy("parameters", PARAMETER, _parameter(), for_each("a", "b", "c", "d"), **GONE))
    yield Scenario(
        "parameters-leaving-together", of(policy("parameters", PARAMETER, _parameter(), for_each("a"), **GONE)), three
    )
    parked = of(policy("databases", DATABASE, _database(PowerState="stopped"), for_each("a")))
    yield Scenario("databases-stopped", parked, foreign=their_database)
    yield from _matched()


def volumes(world: World) -> None:
    """Two volumes that nobody uses, and a snapshot of one."""
    ec2 = world.outside.ec2
    for env in ("sandbox", "production"):
        tags = [{"ResourceType": "volume", "Tags": [{"Key": "env", "Value": env}]}]
        made = ec2.create_volume(AvailabilityZone="eu-west-1a", Size=8, VolumeType="gp2", TagSpecifications=tags)
        tags[0]["ResourceType"] = "snapshot"
        ec2.create_snapshot(VolumeId=made["VolumeId"], Description=f"nightly {env}", TagSpecifications=tags)


def _matched() -> Iterator[Scenario]:
    modern = {"VolumeType": "gp3"}
    enforce = {"type": "enforce"}
    match = {"match": {"where": {"VolumeType": "gp2"}, "tags": {"env": "sandbox"}}}
    one = policy("modern", VOLUME, modern, enforce, resource=match)
    yield Scenario("volumes-enforced", of(one), foreign=volumes, ours=frozenset({VOLUME}))
    labels = {"Tags": [{"Key": "kept", "Value": "yes"}]}
    match = {"match": {"where": {"Description": {"like": "nightly s*"}}}}
    one = policy("labels", SNAPSHOT, labels, enforce, resource=match)
    yield Scenario("snapshots-enforced", of(one), foreign=volumes, ours=frozenset({SNAPSHOT}))
