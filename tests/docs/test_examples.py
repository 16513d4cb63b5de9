"""Every example policy is legal, alone and beside the others, and on an embedded AWS it comes to rest."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from handler.compose import Setpoint, vocabulary
from handler.loop.conductor import InlineExecutor
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport, failures
from infra.cloud import AwsCloud
from infra.kinds.registry import KINDS
from policies.document import Policy
from policies.estate import Estate, parse_estate
from policies.schema import json_schema
from strategies.registry import STRATEGIES
from tests.world import World

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "policies").glob("*.json"))
VOCABULARY = vocabulary("123456789012", "eu-west-1")
RUNS = 8
"""Enough for everything that waits for something else."""

each = pytest.mark.parametrize("examples", [[path] for path in EXAMPLES], ids=lambda paths: paths[0].stem)
each_and_all = pytest.mark.parametrize(
    "examples", [*([path] for path in EXAMPLES), EXAMPLES], ids=[*(path.stem for path in EXAMPLES), "all"]
)


@each_and_all
def test_it_parses_and_no_two_policies_collide(examples: Sequence[Path]) -> None:
    estate = _estate(examples)
    assert estate.failures == ()
    assert estate.conflicts == {}


@each
def test_an_editor_finds_nothing_to_underline(examples: Sequence[Path]) -> None:
    validator = Draft7Validator(json_schema(VOCABULARY))
    assert [error.message for error in validator.iter_errors(json.loads(examples[0].read_text()))] == []


@each
def test_it_points_to_the_schema(examples: Sequence[Path]) -> None:
    assert (examples[0].parent / json.loads(examples[0].read_text())["$schema"]).is_file()


@each
def test_every_policy_says_what_it_is_for(examples: Sequence[Path]) -> None:
    assert [policy.name for policy in _estate(examples).policies if not policy.clause.description] == []


@each_and_all
def test_it_comes_to_rest(world: World, examples: Sequence[Path]) -> None:
    _furnish(world)
    controller = _controller(world, examples)
    _, estate = controller.load()
    first = _run(world, controller, estate)
    assert {report.policy.name for report in first.policies if report.plan.actions} == _names(estate)
    for _ in range(RUNS):
        last = _run(world, controller, estate)
    assert [report.plan.actions for report in last.policies if report.plan.actions] == []
    assert all(report.plan.ready == report.plan.desired for report in last.policies)


def test_the_examples_leave_others_alone(world: World) -> None:
    _furnish(world)
    controller = _controller(world, EXAMPLES)
    _, estate = controller.load()
    for _ in range(RUNS):
        _run(world, controller, estate)
    kept = {group["logGroupName"]: group.get("retentionInDays") for group in _log_groups(world)}
    assert kept == {
        "/aws/lambda/web": 30,
        "/aws/lambda/payment-in": None,
        "/app/chosen": 7,
        "/app/forgotten": 90,
        "/audit/123456789012": 3653,
    }
    assert _power(world) == {"parked": "stopped", "busy": "running", "desk": "stopped"}


def test_every_supported_strategy_has_an_example() -> None:
    supported = {word for word, strategy in STRATEGIES.items() if strategy.supported}
    assert {policy.strategy.type for policy in _every_policy()} == supported


def test_every_kind_has_an_example() -> None:
    assert {policy.kind.type for policy in _every_policy()} == set(KINDS)


def _every_policy() -> Iterator[Policy]:
    return iter(_estate(EXAMPLES).policies)


def _estate(paths: Sequence[Path]) -> Estate:
    return parse_estate(((path.stem, "1", path.read_bytes()) for path in paths), VOCABULARY, full=True)


def _names(estate: Estate) -> set[str]:
    return {policy.name for policy in estate.policies}


def _controller(world: World, paths: Sequence[Path]) -> Setpoint:
    places = tuple(map(str, paths))
    return Setpoint(AwsCloud(world.session, KINDS), VOCABULARY, InlineExecutor(), places)


def _run(world: World, controller: Setpoint, estate: Estate) -> RunReport:
    """One run, a minute after the last, in which nothing fails and nothing is held."""
    world.advance(minutes=1)
    world.tick_started()
    report = controller.run(estate, Moment(world.now))
    assert list(failures(estate, report)) == []
    assert [held.reason for one in report.policies for held in one.guarded.held] == []
    return report


def _furnish(world: World) -> None:
    """What the descriptions of the examples speak of, and what nobody asked to be touched."""
    aws, tenants = world.outside, [{"id": "acme", "patience": 120}, {"id": "globex", "patience": 30}]
    aws.ssm.put_parameter(Name="/orders/tenants", Value=json.dumps(tenants), Type="String")
    aws.sqs.create_queue(QueueName="orders-legacy")
    image: dict[str, Any] = {"ImageId": "ami-12c6146b", "InstanceType": "t3.micro"}
    aws.ec2.create_launch_template(LaunchTemplateName="build-agent", LaunchTemplateData=image)
    for name, parked in (("parked", "true"), ("busy", "false")):
        tags = [{"Key": "Name", "Value": name}, {"Key": "parked", "Value": parked}]
        labels = [{"ResourceType": "instance", "Tags": tags}]
        aws.ec2.run_instances(**image, MinCount=1, MaxCount=1, TagSpecifications=labels)
    labels = [
        {"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "desk"}, {"Key": "hours", "Value": "new-york"}]}
    ]
    aws.ec2.run_instances(**image, MinCount=1, MaxCount=1, TagSpecifications=labels)
    aws.sqs.create_queue(QueueName="sandbox-tryout", tags={"expires": "2026-02-28T18:00:00Z"})
    aws.sqs.create_queue(QueueName="sandbox-in-use", tags={"expires": "2026-12-31T18:00:00Z"})
    aws.dynamodb.create_table(
        TableName="sessions",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        ProvisionedThroughput={"ReadCapacityUnits": 50, "WriteCapacityUnits": 20},
    )
    old = aws.ec2.create_volume(AvailabilityZone="eu-west-1a", Size=100, VolumeType="gp2")["VolumeId"]
    aws.ec2.create_snapshot(VolumeId=old, Description="nightly of the orders database")
    aws.iam.create_role(RoleName="thumbnails", AssumeRolePolicyDocument="{}")
    aws.ecs.create_cluster(clusterName="shops")
    container: Any = {"name": "shop", "image": "shop", "memory": 256}
    aws.ecs.register_task_definition(family="shop", containerDefinitions=[container])
    size = {"DBInstanceClass": "db.t4g.small", "AllocatedStorage": 20, "MasterUsername": "app"}
    size |= {"Engine": "postgres", "EngineVersion": "16.3", "MasterUserPassword": "not-a-good-one"}
    aws.rds.create_db_instance(DBInstanceIdentifier="sandbox", **size, Tags=[{"Key": "parked", "Value": "true"}])
    for name in ("/aws/lambda/web", "/aws/lambda/payment-in", "/app/chosen", "/app/forgotten"):
        aws.logs.create_log_group(logGroupName=name)
    aws.logs.put_retention_policy(logGroupName="/app/chosen", retentionInDays=7)


def _log_groups(world: World) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = world.outside.logs.describe_log_groups()["logGroups"]
    return groups


def _power(world: World) -> dict[str, str]:
    """What the instances do that were there before, by the value of their Name."""
    found = {}
    for reservation in world.outside.ec2.describe_instances()["Reservations"]:
        for instance in reservation["Instances"]:
            tags = {tag["Key"]: tag["Value"] for tag in instance["Tags"]}
            if not tags.keys() & {"setpoint:policy", "aws:autoscaling:groupName"}:
                found[tags["Name"]] = instance["State"]["Name"]
    return found
