"""Groups: sizes move in one call, tags carry their launch flag, and no instance ever dies by force."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")

import boto3
import pytest
from moto import mock_aws
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.auto_scaling_group import AutoScalingGroup
from policies.action import Change, Desired, Progress
from policies.blueprint import Blueprint
from policies.diff import diff
from policies.drift import drift
from policies.errors import RefusedError
from policies.frozen import freeze
from policies.world import Resource, Scope, State

KIND = AutoScalingGroup()
NAME = "workers"
TAGS = {"setpoint:policy": "main/workers", "setpoint:key": NAME, "setpoint:spec": "v1:x", "team": "ci"}
SESSION = boto3.Session("test", "test", region_name="eu-west-1")

KEPT = {
    "AvailabilityZoneDistribution",
    "CapacityRebalance",
    "DefaultCooldown",
    "DefaultInstanceWarmup",
    "DeletionProtection",
    "DesiredCapacityType",
    "InstanceMaintenancePolicy",
    "MaxInstanceLifetime",
    "MixedInstancesPolicy",
    "PlacementGroup",
    "TerminationPolicies",
}
"""What moto ignores in an update or altogether."""


class Groups:
    """An account with a launch template, two subnets and two target groups; and what moto forgets of a group."""

    def __init__(self) -> None:
        self.aws = Aws(SESSION, Scope("123456789012", "eu-west-1"))
        self.client, self.ec2 = self.aws.client("autoscaling"), self.aws.client("ec2")
        self.kept: dict[str, dict[str, Any]] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        events = self.client.meta.events
        events.register("provide-client-params.autoscaling", self._note)
        events.register("after-call.autoscaling.DescribeAutoScalingGroups", self._show)
        subnets = self.ec2.describe_subnets()["Subnets"][:2]
        self.subnets = [subnet["SubnetId"] for subnet in subnets]
        self.zones = [subnet["AvailabilityZone"] for subnet in subnets]
        for name in ("one", "two"):
            data = {"ImageId": "ami-1", "InstanceType": "t3.micro"}
            self.ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=data)
        elb, vpc = SESSION.client("elbv2"), subnets[0]["VpcId"]
        made = [elb.create_target_group(Name=name, Protocol="HTTP", Port=80, VpcId=vpc) for name in ("a", "b")]
        self.targets = [one["TargetGroups"][0]["TargetGroupArn"] for one in made]

    @property
    def plain(self) -> dict[str, Any]:
        return {
            "AutoScalingGroupName": NAME,
            "MinSize": 1,
            "MaxSize": 4,
            "LaunchTemplate": {"LaunchTemplateName": "one", "Version": "$Latest"},
            "VPCZoneIdentifier": self.subnets,
        }

    @property
    def rich(self) -> dict[str, Any]:
        return {
            **self.plain,
            "AvailabilityZoneDistribution": {"CapacityDistributionStrategy": "balanced-only"},
            "AvailabilityZones": self.zones,
            "CapacityRebalance": True,
            "Cooldown": 60,
            "DefaultInstanceWarmup": 0,
            "DeletionProtection": "prevent-force-deletion",
            "DesiredCapacity": 2,
            "DesiredCapacityType": "units",
            "HealthCheckGracePeriod": 120,
            "HealthCheckType": "ELB",
            "InstanceMaintenancePolicy": {"MinHealthyPercentage": 90, "MaxHealthyPercentage": 120},
            "MaxInstanceLifetime": 604_800,
            "NewInstancesProtectedFromScaleIn": True,
            "PlacementGroup": "near",
            "SuspendedProcesses": ["AZRebalance", "ScheduledActions"],
            "TagsAtLaunch": {"team": True},
            "TargetGroupARNs": self.targets,
            "TerminationPolicies": ["OldestInstance", "Default"],
        }

    @property
    def mixed(self) -> dict[str, Any]:
        template = {"LaunchTemplateName": "one", "Version": "1"}
        types = [{"InstanceType": "t3.small", "WeightedCapacity": "1"}, {"InstanceType": "t3.large"}]
        spot = {"OnDemandBaseCapacity": 1, "OnDemandPercentageAboveBaseCapacity": 25, "SpotMaxPrice": "0.1"}
        return {
            **{word: value for word, value in self.plain.items() if word != "LaunchTemplate"},
            "MixedInstancesPolicy": {
                "InstancesDistribution": {**spot, "SpotAllocationStrategy": "price-capacity-optimized"},
                "LaunchTemplate": {"LaunchTemplateSpecification": template, "Overrides": types},
            },
        }

    def make(self, properties: dict[str, Any] | None = None, tags: dict[str, str] = TAGS, **more: Any) -> Resource:
        properties = properties or self.plain
        desired = Desired(NAME, properties["AutoScalingGroupName"], freeze(properties), freeze(tags), **more)
        self.progress = KIND.create(self.aws, desired, None)
        seen = self.read(properties["AutoScalingGroupName"])
        if self.progress is Progress.PARTIAL:
            change = drift(KIND, desired, seen)
            KIND.update(self.aws, seen, Change(properties=change.properties))
        return self.read(properties["AutoScalingGroupName"])

    def read(self, name: str = NAME) -> Resource:
        found = KIND.read(self.aws, KIND.locate(self.aws, name))
        assert found is not None
        return found

    def bring(self, seen: Resource, **wanted: Any) -> Resource:
        """As the engine does: what differs, whole properties, in one update."""
        change = drift(KIND, Desired(NAME, NAME, freeze(wanted)), seen)
        KIND.update(self.aws, seen, Change(properties=change.properties))
        return self.read()

    def called(self, operation: str) -> list[dict[str, Any]]:
        return [params for name, params in self.calls if name == operation]

    def _note(self, params: dict[str, Any], model: Any, **_: Any) -> dict[str, Any] | None:
        self.calls.append((model.name, params))
        if model.name not in ("CreateAutoScalingGroup", "UpdateAutoScalingGroup"):
            return None
        kept = self.kept.setdefault(params["AutoScalingGroupName"], {})
        if "LaunchTemplate" in params:
            kept.pop("MixedInstancesPolicy", None)
        kept.update({word: value for word, value in params.items() if word in KEPT})
        return None

    def _show(self, parsed: dict[str, Any], **_: Any) -> None:
        for group in parsed.get("AutoScalingGroups", ()):
            kept = dict(self.kept.get(group["AutoScalingGroupName"], {}))
            if kept.get("PlacementGroup") == "":
                kept["PlacementGroup"] = None
            group.update(kept)


@pytest.fixture
def groups() -> Iterator[Groups]:
    with mock_aws():
        yield Groups()


def differences(declared: dict[str, Any], seen: Resource) -> list[str]:
    return [str(found) for found in diff(freeze(declared), seen.properties or {}, KIND.shape)]


# Creating and reading


@pytest.mark.parametrize("shape", ["plain", "rich", "mixed"])
def test_what_was_created_is_what_is_read(groups: Groups, shape: str) -> None:
    declared = getattr(groups, shape)
    KIND.properties.model_validate(declared)
    assert KIND.check(declared) is None
    seen = groups.make(declared)
    assert differences(declared, seen) == []
    assert seen == next(KIND.survey(groups.aws, ("",)))
    assert (seen.state, seen.id, seen.name) == (State.READY, NAME, NAME)
    assert seen.created is not None and seen.facts["CreateTime"] == seen.created.isoformat()


def test_the_rich_group_shows_every_property(groups: Groups) -> None:
    shown = set(groups.make(groups.rich).properties or {}) | {"MixedInstancesPolicy", "Tags"}
    assert shown == set(KIND.properties.model_fields)


def test_suspended_processes_take_a_second_call(groups: Groups) -> None:
    groups.make(groups.plain)
    assert (groups.progress, KIND.single_call(groups.plain)) == (Progress.COMPLETE, True)
    groups.make({**groups.rich, "AutoScalingGroupName": "other"})
    assert (groups.progress, KIND.single_call(groups.rich)) == (Progress.PARTIAL, False)


def test_tags_are_there_from_the_first_moment_and_stay_on_the_group(groups: Groups) -> None:
    seen = groups.make({**groups.plain, "TagsAtLaunch": {"team": True}})
    assert groups.called("CreateOrUpdateTags") == []
    assert seen.tags == TAGS
    tags = groups.ec2.describe_instances()["Reservations"][0]["Instances"][0]["Tags"]
    assert {tag["Key"] for tag in tags if not tag["Key"].startswith("aws:")} == {"team"}


def test_an_existing_name_is_told_by_the_code_that_the_service_has_for_it(groups: Groups) -> None:
    fault = groups.client.meta.service_model.shape_for("AlreadyExistsFault")
    assert KIND.exists_codes == {fault.metadata["error"]["code"]}


def test_what_is_not_there_is_not_there(groups: Groups) -> None:
    assert KIND.read(groups.aws, KIND.locate(groups.aws, NAME)) is None


def test_initial_is_under_what_is_declared(groups: Groups) -> None:
    seen = groups.make(groups.plain, initial=freeze({"DesiredCapacity": 3, "MaxSize": 9}))
    assert seen.properties is not None
    assert (seen.properties["DesiredCapacity"], seen.properties["MaxSize"]) == (3, 4)


def test_the_survey_is_complete_over_pages(groups: Groups) -> None:
    small = {**groups.plain, "MinSize": 0}
    names = {f"{'a' if number % 2 else 'b'}-{number:03}" for number in range(120)}
    for name in names:
        KIND.create(groups.aws, Desired(name, name, freeze({**small, "AutoScalingGroupName": name})), None)
    assert {seen.id for seen in KIND.survey(groups.aws, ("",))} == names
    assert len(groups.called("DescribeAutoScalingGroups")) == 2


def test_the_survey_shows_what_no_tag_index_would(groups: Groups) -> None:
    groups.make()
    assert [seen.id for seen in KIND.survey(groups.aws, ("other-",))] == [NAME]


# Updating


CHANGES: dict[str, Any] = {
    "AvailabilityZoneDistribution": {"CapacityDistributionStrategy": "balanced-best-effort"},
    "CapacityRebalance": False,
    "Cooldown": 120,
    "DefaultInstanceWarmup": 30,
    "DeletionProtection": "none",
    "DesiredCapacity": 3,
    "DesiredCapacityType": "vcpu",
    "HealthCheckGracePeriod": 300,
    "HealthCheckType": "EC2",
    "InstanceMaintenancePolicy": {"MinHealthyPercentage": 100, "MaxHealthyPercentage": 110},
    "LaunchTemplate": {"LaunchTemplateName": "two", "Version": "1"},
    "MaxInstanceLifetime": 86_400,
    "MaxSize": 6,
    "MinSize": 2,
    "NewInstancesProtectedFromScaleIn": False,
    "PlacementGroup": "far",
    "SuspendedProcesses": ["AZRebalance", "Terminate"],
    "TagsAtLaunch": {"team": False},
    "TerminationPolicies": ["NewestInstance"],
}


@pytest.mark.parametrize("word", CHANGES)
def test_every_property_changes(groups: Groups, word: str) -> None:
    seen = groups.make(groups.rich)
    wanted = {**groups.rich, word: CHANGES[word]}
    assert differences(wanted, groups.bring(seen, **wanted)) == []


@pytest.mark.parametrize("keep", [0, 1])
def test_subnets_zones_and_target_groups_change(groups: Groups, keep: int) -> None:
    wanted = {
        "VPCZoneIdentifier": [groups.subnets[keep]],
        "AvailabilityZones": [groups.zones[keep]],
        "TargetGroupARNs": [groups.targets[keep]],
    }
    assert differences(wanted, groups.bring(groups.make(groups.rich), **wanted)) == []


RESETS = [
    "AvailabilityZoneDistribution",
    "CapacityRebalance",
    "Cooldown",
    "DefaultInstanceWarmup",
    "DeletionProtection",
    "HealthCheckGracePeriod",
    "HealthCheckType",
    "InstanceMaintenancePolicy",
    "MaxInstanceLifetime",
    "NewInstancesProtectedFromScaleIn",
    "PlacementGroup",
    "SuspendedProcesses",
    "TargetGroupARNs",
    "TerminationPolicies",
]


@pytest.mark.parametrize("word", RESETS)
def test_null_resets(groups: Groups, word: str) -> None:
    seen = groups.make(groups.rich)
    assert differences({word: None}, seen) == [word]
    assert differences({word: None}, groups.bring(seen, **{word: None})) == []


@pytest.mark.parametrize("word", ["MinSize", "DesiredCapacity", "LaunchTemplate", "VPCZoneIdentifier"])
def test_what_has_no_default_cannot_be_reset(groups: Groups, word: str) -> None:
    with pytest.raises(RefusedError, match=word):
        groups.bring(groups.make(), **{word: None})


def test_sizes_move_in_one_call(groups: Groups) -> None:
    seen = groups.make()
    wanted = {"MinSize": 6, "MaxSize": 9, "DesiredCapacity": 7}
    after = groups.bring(seen, **wanted)
    assert differences(wanted, after) == []
    assert groups.called("UpdateAutoScalingGroup") == [{"AutoScalingGroupName": NAME, **wanted}]
    assert after.facts["InstanceCount"] == after.facts["InServiceCount"] == 7


def test_a_template_is_told_by_id_or_name_and_never_by_both(groups: Groups) -> None:
    seen = groups.make()
    ids = {one["LaunchTemplateName"]: one["LaunchTemplateId"] for one in _templates(groups)}
    by_name = {"LaunchTemplateName": "two", "Version": "$Latest"}
    seen = groups.bring(seen, LaunchTemplate=by_name)
    by_id = {"LaunchTemplateId": ids["one"], "Version": "$Latest"}
    seen = groups.bring(seen, LaunchTemplate=by_id)
    seen = groups.bring(seen, LaunchTemplate={**by_id, "Version": "1"})
    assert (seen.properties or {})["LaunchTemplate"] == {
        "LaunchTemplateId": ids["one"],
        "LaunchTemplateName": "one",
        "Version": "1",
    }


def _templates(groups: Groups) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = groups.ec2.describe_launch_templates()["LaunchTemplates"]
    return found


def test_a_mixed_policy_changes_in_part(groups: Groups) -> None:
    seen = groups.make(groups.mixed)
    wanted = {"MixedInstancesPolicy": {"InstancesDistribution": {"OnDemandBaseCapacity": 0, "SpotMaxPrice": None}}}
    after = groups.bring(seen, **wanted)
    assert differences(wanted, after) == []
    assert after.properties is not None
    policy = after.properties["MixedInstancesPolicy"]
    assert policy["InstancesDistribution"]["OnDemandPercentageAboveBaseCapacity"] == 25
    assert policy["LaunchTemplate"] == (seen.properties or {})["MixedInstancesPolicy"]["LaunchTemplate"]


def test_template_and_mixed_policy_take_each_others_place(groups: Groups) -> None:
    seen = groups.bring(groups.make(), **groups.mixed, LaunchTemplate=None)
    assert differences({**groups.mixed, "LaunchTemplate": None}, seen) == []
    back = {**groups.plain, "MixedInstancesPolicy": None}
    assert differences(back, groups.bring(seen, **back)) == []


# Tags


def test_tags_are_merged_and_keep_their_flags(groups: Groups) -> None:
    seen = groups.make({**groups.plain, "TagsAtLaunch": {"team": True}})
    KIND.update(groups.aws, seen, Change(tags=freeze({"team": "qa", "new": "1"}), untag=frozenset({"setpoint:spec"})))
    after = groups.read()
    assert after.tags == {
        **{key: value for key, value in TAGS.items() if key != "setpoint:spec"},
        "team": "qa",
        "new": "1",
    }
    flags = (after.properties or {})["TagsAtLaunch"]
    assert (flags["team"], flags["new"]) == (True, False)


def test_tags_say_what_instances_get(groups: Groups) -> None:
    tags = [{"Key": "team", "Value": "ci", "PropagateAtLaunch": True}]
    desired = Blueprint(KIND, freeze({**groups.plain, "Tags": tags})).render()
    assert desired.tags == {"team": "ci"}
    assert desired.properties["TagsAtLaunch"] == {"team": True}
    assert "TagsAtLaunch" not in Blueprint(KIND, freeze(groups.plain)).render().properties


def test_a_flag_that_drifted_is_put_back_and_a_new_tag_waits_for_its_own_write(groups: Groups) -> None:
    seen = groups.make()
    flags = freeze({"TagsAtLaunch": {"team": True, "later": True}})
    assert differences({"TagsAtLaunch": {"team": True}}, seen) == ["TagsAtLaunch.team"]
    KIND.update(groups.aws, seen, Change(properties=flags))
    KIND.update(groups.aws, seen, Change(tags=freeze({"later": "1"})))
    seen = groups.read()
    assert differences({"TagsAtLaunch": {"team": True}}, seen) == []
    KIND.update(groups.aws, seen, Change(properties=flags))
    assert differences({"TagsAtLaunch": {"team": True, "later": True}}, groups.read()) == []


# Deleting


def test_a_group_goes_in_one_step(groups: Groups) -> None:
    seen = groups.make()
    KIND.delete(groups.aws, seen)  # in two, it would stay at zero if it were wanted again in between
    assert groups.called("DeleteAutoScalingGroup") == [{"AutoScalingGroupName": NAME, "ForceDelete": True}]
    assert groups.called("UpdateAutoScalingGroup") == []
    assert KIND.read(groups.aws, seen) is None


@pytest.mark.parametrize("protection", ["prevent-all-deletion", "prevent-force-deletion"])
def test_protected_from_deletion_stays_as_it_is(groups: Groups, protection: str) -> None:
    seen = groups.make({**groups.plain, "DeletionProtection": protection})
    with pytest.raises(RefusedError, match=protection):
        KIND.delete(groups.aws, seen)
    assert groups.read().facts["InstanceCount"] == 1


def test_a_group_being_deleted_is_on_its_way_out(groups: Groups) -> None:
    groups.make()
    groups.kept[NAME]["Status"] = "Delete in progress"
    assert groups.read().state is State.DELETING


# Words


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"MinSize": None}, "needs MinSize"),
        ({"MaxSize": None}, "needs MaxSize"),
        ({"MinSize": 5}, "ascending"),
        ({"DesiredCapacity": 5}, "ascending"),
        ({"DesiredCapacity": 0}, "ascending"),
        ({"LaunchTemplate": None}, "either LaunchTemplate or"),
        ({"LaunchTemplate": {"Version": "1"}}, "LaunchTemplateId or"),
        ({"VPCZoneIdentifier": None}, "VPCZoneIdentifier"),
        ({"MaxInstanceLifetime": 60}, "a day"),
    ],
)
def test_what_the_service_would_refuse_is_told_before(groups: Groups, change: dict[str, Any], said: str) -> None:
    assert said in (KIND.check({**groups.plain, **change}) or "")


@pytest.mark.parametrize("wrong", [{"MinSize": "1"}, {"HealthCheckType": "EBSX"}, {"SuspendedProcesses": ["Sleep"]}])
def test_wrong_values_are_refused(groups: Groups, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate({**groups.plain, **wrong})


def test_arns_of_groups_are_told_from_others() -> None:
    arn = "arn:aws:autoscaling:eu-west-1:123456789012:autoScalingGroup:1-2:autoScalingGroupName/workers"
    assert KIND.has_arn(arn) and KIND.name_of_arn(arn) == "workers"
    assert not KIND.has_arn(arn.replace("autoScalingGroup:1", "scalingPolicy:1") + ":policyName/p")


def test_the_iam_actions_are_the_calls_that_are_made(groups: Groups) -> None:
    seen = groups.make(groups.rich)
    seen = groups.bring(seen, **groups.plain, TargetGroupARNs=None, SuspendedProcesses=None)
    seen = groups.bring(seen, TargetGroupARNs=groups.targets, NewInstancesProtectedFromScaleIn=False)
    KIND.update(groups.aws, seen, Change(tags=freeze({"a": "b"}), untag=frozenset({"team"})))
    groups.client.set_instance_protection(
        InstanceIds=[one["InstanceId"] for one in _instances(groups)],
        AutoScalingGroupName=NAME,
        ProtectedFromScaleIn=False,
    )
    KIND.delete(groups.aws, groups.bring(groups.read(), DeletionProtection="none"))
    made = {f"autoscaling:{name}" for name, _ in groups.calls} - {
        "autoscaling:SetInstanceProtection",
        "autoscaling:DescribeAutoScalingInstances",
    }
    assert made | {"ec2:RunInstances", "iam:PassRole"} == set().union(*KIND.iam.values())


def _instances(groups: Groups) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = groups.client.describe_auto_scaling_instances()["AutoScalingInstances"]
    return found
