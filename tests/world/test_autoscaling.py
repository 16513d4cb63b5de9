"""The traps of Auto Scaling groups."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.world import World


def create(world: World, size: int) -> Any:
    world.outside.ec2.create_launch_template(
        LaunchTemplateName="agents", LaunchTemplateData={"ImageId": "ami-1", "InstanceType": "t3.micro"}
    )
    autoscaling: Any = world.session.client("autoscaling")
    autoscaling.create_auto_scaling_group(
        AutoScalingGroupName="agents",
        MinSize=size,
        MaxSize=2,
        AvailabilityZones=["eu-west-1a"],
        LaunchTemplate={"LaunchTemplateName": "agents"},
    )
    return autoscaling


def test_a_name_is_taken(world: World) -> None:
    autoscaling = create(world, 0)
    with pytest.raises(autoscaling.exceptions.AlreadyExistsFault):
        autoscaling.create_auto_scaling_group(
            AutoScalingGroupName="agents", MinSize=2, MaxSize=2, AvailabilityZones=["eu-west-1a"]
        )
    assert world.resources()["AWS::AutoScaling::AutoScalingGroup"]["agents"]["MinSize"] == 0


def test_a_group_with_instances_goes_by_force_only(world: World) -> None:
    autoscaling = create(world, 1)
    with pytest.raises(autoscaling.exceptions.ResourceInUseFault):
        autoscaling.delete_auto_scaling_group(AutoScalingGroupName="agents")
    autoscaling.delete_auto_scaling_group(AutoScalingGroupName="agents", ForceDelete=True)
    assert "AWS::AutoScaling::AutoScalingGroup" not in world.resources()


def test_an_empty_group_goes_at_once(world: World) -> None:
    autoscaling = create(world, 0)
    autoscaling.delete_auto_scaling_group(AutoScalingGroupName="agents")
    assert "AWS::AutoScaling::AutoScalingGroup" not in world.resources()


def test_what_moto_refuses_is_still_refused(world: World) -> None:
    with pytest.raises(ClientError):
        world.session.client("autoscaling").delete_auto_scaling_group(AutoScalingGroupName="none")
