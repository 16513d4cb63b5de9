"""Tags that AWS refuses are refused here."""

import pytest
from botocore.exceptions import ClientError

from tests.world import World


@pytest.mark.parametrize(
    "tags",
    [{"k": "a,b"}, {"k": "v" * 257}, {"k" * 129: "v"}, {"aws:x": "v"}, {f"k{n}": "v" for n in range(51)}],
    ids=["character", "long value", "long key", "reserved", "too many"],
)
def test_illegal_tags_are_refused(world: World, tags: dict[str, str]) -> None:
    with pytest.raises(ClientError, match="InvalidParameterValue"):
        world.session.client("sqs").create_queue(QueueName="a", tags=tags)
    assert world.resources() == {}


def test_lists_of_tags_are_checked_too(world: World) -> None:
    pairs = [{"Key": "a", "Value": "x|y"}]
    with pytest.raises(ClientError, match="ValidationException"):
        world.session.client("cloudwatch").tag_resource(ResourceARN="arn:aws:cloudwatch:::alarm:a", Tags=pairs)
    specification = [{"ResourceType": "instance", "Tags": [{"Key": "aws:a", "Value": "x"}]}]
    with pytest.raises(ClientError, match="InvalidParameterValue"):
        world.session.client("ec2").run_instances(
            ImageId="ami-1", MinCount=1, MaxCount=1, TagSpecifications=specification
        )


def test_legal_tags_pass(world: World) -> None:
    world.session.client("sqs").create_queue(QueueName="a", tags={"setpoint:policy": "prod/orders é+-=._:/@ 1"})
