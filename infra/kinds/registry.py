"""Every resource kind, one line each. Others ship theirs through the entry point group `setpoint.kinds`."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import EntryPoint
from typing import Any

from infra.kinds.kind import Kind
from policies.errors import PluginError
from policies.plugins import Plugins

GROUP = "setpoint.kinds"


class Kinds(Plugins[Kind]):
    """Kinds by CloudFormation type; entry points name the class, policies share one instance."""

    def make(self, loaded: Any) -> Kind:
        made: Kind = loaded()
        for does in made.together:
            if getattr(loaded, f"{does}_all") is getattr(Kind, f"{does}_all"):
                raise TypeError(f"together says {does!r}, and there is no {does}_all")
        return made

    def of_arn(self, arn: str) -> Kind | None:
        """The kind of an ARN; one that cannot be loaded has none, and is the concern of those who name it."""
        for word in self:
            with suppress(PluginError):
                if self[word].has_arn(arn):
                    return self[word]
        return None


KINDS = Kinds(
    GROUP,
    (
        EntryPoint("AWS::SQS::Queue", "infra.kinds.sqs_queue:SqsQueue", GROUP),
        EntryPoint("AWS::CloudWatch::Alarm", "infra.kinds.alarm:Alarm", GROUP),
        EntryPoint("AWS::DynamoDB::Table", "infra.kinds.dynamodb_table:DynamodbTable", GROUP),
        EntryPoint("AWS::Logs::LogGroup", "infra.kinds.log_group:LogGroup", GROUP),
        EntryPoint("AWS::AutoScaling::AutoScalingGroup", "infra.kinds.auto_scaling_group:AutoScalingGroup", GROUP),
        EntryPoint("AWS::ECS::Service", "infra.kinds.ecs_service:EcsService", GROUP),
        EntryPoint("AWS::EC2::Instance", "infra.kinds.ec2_instance:Ec2Instance", GROUP),
        EntryPoint("AWS::EC2::Snapshot", "infra.kinds.ec2_snapshot:Ec2Snapshot", GROUP),
        EntryPoint("AWS::EC2::Volume", "infra.kinds.ec2_volume:Ec2Volume", GROUP),
        EntryPoint(
            "AWS::ElastiCache::ReplicationGroup",
            "infra.kinds.elasticache_replication_group:ElasticacheReplicationGroup",
            GROUP,
        ),
        EntryPoint("AWS::Events::Rule", "infra.kinds.events_rule:EventsRule", GROUP),
        EntryPoint("AWS::Lambda::Function", "infra.kinds.lambda_function:LambdaFunction", GROUP),
        EntryPoint("AWS::Kinesis::Stream", "infra.kinds.kinesis_stream:KinesisStream", GROUP),
        EntryPoint("AWS::RDS::DBCluster", "infra.kinds.rds_db_cluster:RdsDbCluster", GROUP),
        EntryPoint("AWS::RDS::DBInstance", "infra.kinds.rds_db_instance:RdsDbInstance", GROUP),
        EntryPoint("AWS::S3::Bucket", "infra.kinds.s3_bucket:S3Bucket", GROUP),
        EntryPoint("AWS::SNS::Topic", "infra.kinds.sns_topic:SnsTopic", GROUP),
        EntryPoint("AWS::SSM::Parameter", "infra.kinds.ssm_parameter:SsmParameter", GROUP),
    ),
)
