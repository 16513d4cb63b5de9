"""Instances: what was launched is what is read; the dead are told by their tokens; power moves step by step."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")

import boto3
import pytest
from botocore.exceptions import ClientError
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER
from moto import mock_aws
from moto.ec2.models import ec2_backends
from moto.ec2.models.instances import Instance
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.ec2_instance import Ec2Instance
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.errors import WaitError
from policies.frozen import freeze, thaw
from policies.properties import WriteOnly
from policies.world import Resource, Scope, State

KIND = Ec2Instance()
TAGS = {
    "setpoint:policy": "main/agents",
    "setpoint:key": "0",
    "setpoint:id": "b1",
    "setpoint:spec": "v1:x",
    "team": "ci",
}
PLAIN: dict[str, Any] = {"ImageId": "ami-1", "InstanceType": "t3.micro"}
ACCOUNT, REGION = "123456789012", "eu-west-1"
SESSION = boto3.Session("test", "test", region_name=REGION)  # one for all: parsing EC2's model takes a second


class Ec2:
    """An account, and what moto leaves out of it: detailed monitoring, and placement other than the zone."""

    def __init__(self) -> None:
        self.aws = Aws(SESSION, Scope(ACCOUNT, REGION))
        self.client = self.aws.client("ec2")
        self.called: set[str] = set()
        self.launches: list[dict[str, Any]] = []
        events = self.client.meta.events
        events.register("provide-client-params.ec2", self._note)
        events.register("provide-client-params.ec2.RunInstances", self._launch)
        events.register("after-call.ec2.RunInstances", self._place)
        events.register("before-call.ec2.MonitorInstances", self._monitor("enabled"))
        events.register("before-call.ec2.UnmonitorInstances", self._monitor("disabled"))
        vpc = self.client.describe_vpcs()["Vpcs"][0]["VpcId"]
        self.subnet = self.client.describe_subnets()["Subnets"][0]["SubnetId"]
        self.groups = [
            self.client.create_security_group(GroupName=name, Description=name, VpcId=vpc)["GroupId"] for name in "abc"
        ]
        template = {"ImageId": "ami-9", "InstanceType": "t3.small"}
        made = self.client.create_launch_template(LaunchTemplateName="agents", LaunchTemplateData=template)
        self.template = made["LaunchTemplate"]["LaunchTemplateId"]
        for name in ("one", "two"):
            SESSION.client("iam").create_instance_profile(InstanceProfileName=name)
        self.called.clear()

    def make(self, properties: dict[str, Any] = PLAIN, token: str = "t-0", **more: Any) -> Resource:
        desired = Desired("0", None, freeze(properties), freeze(more.pop("tags", TAGS)), **more)
        before = {seen.id for seen in self.survey()}
        self.progress = KIND.create(self.aws, desired, token)
        return next(seen for seen in self.survey() if seen.id not in before)

    def survey(self) -> list[Resource]:
        return list(KIND.survey(self.aws, ("",)))

    def read(self, seen: Resource) -> Resource:
        found = KIND.read(self.aws, seen)
        assert found is not None
        return found

    def update(
        self, seen: Resource, tags: dict[str, str] | None = None, untag: frozenset[str] = frozenset(), **wanted: Any
    ) -> Resource:
        change = Change(freeze(wanted), freeze(tags or {}), untag)
        self.progress = KIND.update(self.aws, self.read(seen), change)
        return self.read(seen)

    def inside(self, seen: Resource) -> Any:
        return ec2_backends[ACCOUNT][REGION].get_instance(seen.id)

    def _note(self, model: Any, **_: Any) -> None:
        self.called.add(f"ec2:{model.name}")

    def _launch(self, params: dict[str, Any], **_: Any) -> None:
        self.launches.append(params)

    def _place(self, parsed: dict[str, Any], **_: Any) -> None:
        placement = self.launches[-1].get("Placement", {})
        for launched in parsed.get("Instances", ()):
            moto = ec2_backends[ACCOUNT][REGION].get_instance(launched["InstanceId"]).placement
            moto.tenancy, moto.group_name = placement.get("Tenancy", "default"), placement.get("GroupName", "")

    def _monitor(self, state: str) -> Callable[..., Any]:
        def answer(params: dict[str, Any], **_: Any) -> Any:
            ec2_backends[ACCOUNT][REGION].get_instance(params["body"]["InstanceId.1"]).monitoring_state = state
            return SimpleNamespace(status_code=200), {}

        return answer


@pytest.fixture
def ec2() -> Iterator[Ec2]:
    with mock_aws():
        yield Ec2()


def rich(ec2: Ec2) -> dict[str, Any]:
    return {
        **PLAIN,
        "AvailabilityZone": ec2.client.describe_subnets(SubnetIds=[ec2.subnet])["Subnets"][0]["AvailabilityZone"],
        "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 20, "VolumeType": "gp3"}}],
        "CreditSpecification": {"CPUCredits": "standard"},
        "EbsOptimized": True,
        "HibernationOptions": {"Configured": True},
        "IamInstanceProfile": "one",
        "InstanceInitiatedShutdownBehavior": "terminate",
        "KeyName": "ops",
        "MetadataOptions": {
            "HttpEndpoint": "enabled",
            "HttpProtocolIpv6": "enabled",
            "HttpPutResponseHopLimit": 2,
            "HttpTokens": "required",
            "InstanceMetadataTags": "enabled",
        },
        "Monitoring": True,
        "PlacementGroupName": "near",
        "PowerState": "running",
        "SecurityGroupIds": ec2.groups[:2],
        "SourceDestCheck": True,
        "SubnetId": ec2.subnet,
        "Tenancy": "dedicated",
        "UserData": "ZWNobyBoaQ==",
    }


def differences(declared: dict[str, Any], seen: Resource) -> list[str]:
    return [str(found) for found in diff(freeze(declared), seen.properties or {}, KIND.shape)]


# Launching


def test_what_was_launched_is_what_is_read(ec2: Ec2) -> None:
    declared = rich(ec2)
    KIND.properties.model_validate(declared)
    seen = ec2.make(declared)
    assert ec2.progress is Progress.COMPLETE
    assert differences(declared, seen) == []
    assert ec2.read(seen) == seen


def test_every_declared_property_is_compared_or_write_only(ec2: Ec2) -> None:
    declared = rich(ec2)
    shown = (ec2.make(declared).properties or {}).keys()
    assert {word for word in declared if word not in shown} == {
        word for word in declared if KIND.shape.inner(word).has(WriteOnly)
    }


def test_user_data_reaches_the_instance_as_cloudformation_would_send_it(ec2: Ec2) -> None:
    seen = ec2.make({**PLAIN, "UserData": "ZWNobyBoaQ=="})
    answer = ec2.client.describe_instance_attribute(InstanceId=seen.id, Attribute="userData")
    assert answer["UserData"]["Value"] == "ZWNobyBoaQ=="


def test_tags_are_on_the_instance_its_volumes_and_its_interfaces_from_the_first_moment(ec2: Ec2) -> None:
    seen = ec2.make()
    assert "ec2:CreateTags" not in ec2.called
    assert seen.tags == TAGS
    volume = ec2.client.describe_volumes()["Volumes"][0]
    assert {tag["Key"]: tag["Value"] for tag in volume["Tags"]} == TAGS
    tagged = ec2.launches[-1]["TagSpecifications"]  # moto drops those of network interfaces
    assert [what["ResourceType"] for what in tagged] == ["instance", "network-interface", "volume"]
    assert len({str(what["Tags"]) for what in tagged}) == 1


def test_exactly_one_is_launched_with_the_token_and_the_same_request_every_time(ec2: Ec2) -> None:
    ec2.make(tags=TAGS)
    ec2.make(tags=dict(reversed(TAGS.items())))
    first, second = ec2.launches
    assert first == second
    assert (first["MinCount"], first["MaxCount"], first["ClientToken"]) == (1, 1, "t-0")


def test_initial_applies_at_launch_and_properties_win(ec2: Ec2) -> None:
    seen = ec2.make(PLAIN, initial=freeze({"KeyName": "first", "ImageId": "ami-0"}))
    assert seen.properties is not None
    assert (seen.properties["KeyName"], seen.properties["ImageId"]) == ("first", "ami-1")


def test_null_at_launch_leaves_it_to_the_service(ec2: Ec2) -> None:
    seen = ec2.make({**PLAIN, "KeyName": None, "MetadataOptions": {"HttpEndpoint": None, "HttpTokens": "required"}})
    assert "KeyName" not in (seen.properties or {})
    assert differences({"MetadataOptions": {"HttpEndpoint": None, "HttpTokens": "required"}}, seen) == []


def test_interfaces_are_made_as_declared(ec2: Ec2) -> None:
    nic = {"DeviceIndex": "0", "SubnetId": ec2.subnet, "GroupSet": [ec2.groups[2]], "AssociatePublicIpAddress": False}
    ec2.make({**PLAIN, "NetworkInterfaces": [nic]})
    found = ec2.client.describe_instances()["Reservations"][0]["Instances"][0]["NetworkInterfaces"]
    assert [[group["GroupId"] for group in one["Groups"]] for one in found] == [[ec2.groups[2]]]


@pytest.mark.parametrize("version", ["1", "$Latest", "$Default"])
def test_from_a_launch_template(ec2: Ec2, version: str) -> None:
    seen = ec2.make({"LaunchTemplate": {"LaunchTemplateName": "agents", "Version": version}, "KeyName": "ops"})
    assert differences({"ImageId": "ami-9", "InstanceType": "t3.small", "KeyName": "ops"}, seen) == []
    assert (seen.properties or {})["LaunchTemplate"] == {"LaunchTemplateId": ec2.template, "Version": "1"}
    assert seen.tags == TAGS  # the service's own aws: tags are not


@pytest.mark.parametrize("later", [{"PowerState": "stopped"}, {"SourceDestCheck": False}])
def test_what_a_launch_cannot_set_follows_in_a_later_run(ec2: Ec2, later: dict[str, Any]) -> None:
    seen = ec2.make({**PLAIN, **later})
    assert (ec2.progress, KIND.single_call(later)) == (Progress.PARTIAL, False)
    assert differences(later, seen) == list(later)
    assert differences(later, ec2.update(seen, **later)) == []
    assert ec2.progress is Progress.COMPLETE


def test_a_spent_token_is_told_by_its_code(ec2: Ec2) -> None:
    def refuse(**_: Any) -> Any:
        answer = {"Error": {"Code": "IdempotentInstanceTerminated", "Message": "terminated"}}
        return SimpleNamespace(status_code=400), answer

    ec2.client.meta.events.register("before-call.ec2.RunInstances", refuse)
    with pytest.raises(ClientError) as caught:
        KIND.create(ec2.aws, Desired("0", None, PLAIN, TAGS), "t-0")
    assert caught.value.response["Error"]["Code"] in KIND.spent_token_codes


# Seeing


def test_a_survey_is_complete_over_many_pages(ec2: Ec2) -> None:
    def small(params: dict[str, Any], **_: Any) -> None:
        params["MaxResults"] = 5

    made = {ec2.make(token=f"t-{place}").id for place in range(12)}
    ec2.client.meta.events.register("provide-client-params.ec2.DescribeInstances", small)
    assert {seen.id for seen in KIND.survey(ec2.aws, ())} == made
    assert [seen.token for seen in ec2.survey()] == [f"t-{place}" for place in range(12)]


def test_the_dead_are_listed_with_token_and_tags(ec2: Ec2) -> None:
    alive, dead = ec2.make(token="t-0"), ec2.make(token="t-1")
    KIND.delete(ec2.aws, dead)
    found = {seen.token: seen for seen in ec2.survey()}
    assert (found["t-0"].state, found["t-1"].state) == (State.READY, State.DEAD)
    assert (found["t-1"].tags, found["t-1"].id) == (TAGS, dead.id)
    assert ec2.read(dead).state is State.DEAD
    assert ec2.read(alive).alive


def test_a_dead_one_that_lost_all_else_is_still_listed(ec2: Ec2) -> None:
    def bare(parsed: dict[str, Any], **_: Any) -> None:
        for reservation in parsed["Reservations"]:
            for instance in reservation["Instances"]:
                for word in instance.keys() - {"InstanceId", "State", "LaunchTime", "ClientToken", "Tags"}:
                    del instance[word]

    dead = ec2.make()
    KIND.delete(ec2.aws, dead)
    ec2.client.meta.events.register("after-call.ec2.DescribeInstances", bare)
    assert [(seen.id, seen.token, seen.state) for seen in ec2.survey()] == [(dead.id, "t-0", State.DEAD)]


@pytest.mark.parametrize(
    ("power", "state", "shown"),
    [
        ("pending", State.PENDING, "running"),
        ("running", State.READY, "running"),
        ("stopping", State.PENDING, "stopped"),
        ("stopped", State.READY, "stopped"),
        ("shutting-down", State.DELETING, None),
        ("terminated", State.DEAD, None),
    ],
)
def test_states(ec2: Ec2, power: str, state: State, shown: str | None) -> None:
    seen = ec2.make()
    codes = {"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80}
    ec2.inside(seen)._state.name, ec2.inside(seen)._state.code = power, codes[power]
    for found in (ec2.survey()[0], ec2.read(seen)):
        assert (found.state, (found.properties or {}).get("PowerState")) == (state, shown)
        assert found.facts["State"] == power


@pytest.mark.parametrize(
    ("system", "instance", "state"),
    [
        ("ok", "ok", State.READY),
        ("impaired", "ok", State.UNHEALTHY),
        ("ok", "impaired", State.UNHEALTHY),
        ("initializing", "impaired", State.UNHEALTHY),
        ("ok", "initializing", State.PENDING),
        ("insufficient-data", "ok", State.READY),
        ("not-applicable", "not-applicable", State.READY),
    ],
)
def test_status_checks(ec2: Ec2, monkeypatch: pytest.MonkeyPatch, system: str, instance: str, state: State) -> None:
    seen = ec2.make()
    monkeypatch.setattr(Instance, "system_status", property(lambda _: {"Status": system}))
    monkeypatch.setattr(Instance, "instance_status", property(lambda _: {"Status": instance}))
    assert (ec2.survey()[0].state, ec2.read(seen).state) == (state, state)


def test_running_without_a_status_yet_is_not_known_to_be_well(ec2: Ec2) -> None:
    def silent(parsed: dict[str, Any], **_: Any) -> None:
        parsed["InstanceStatuses"] = []

    ec2.make()
    ec2.client.meta.events.register("after-call.ec2.DescribeInstanceStatus", silent)
    assert ec2.survey()[0].state is State.PENDING


def test_age_counts_from_the_first_launch_not_from_the_last_start(ec2: Ec2) -> None:
    seen = ec2.make()
    ec2.inside(seen).launch_time = datetime.now(UTC) + timedelta(days=3)
    again = ec2.survey()[0]
    assert again.created == seen.created
    assert seen.created is not None
    assert seen.created.tzinfo is not None
    assert again.facts["CreateTime"] == seen.created.isoformat() != again.facts["LaunchTime"]


def test_identity_and_facts(ec2: Ec2) -> None:
    seen = ec2.make()
    assert (seen.name, seen.handle, seen.arn) == (
        None,
        seen.id,
        f"arn:aws:ec2:eu-west-1:123456789012:instance/{seen.id}",
    )
    assert seen.facts.keys() <= KIND.facts
    assert seen.facts["InstanceId"] == seen.id
    assert not KIND.facts & KIND.properties.model_fields.keys()
    assert not KIND.named


def test_one_that_is_not_there(ec2: Ec2) -> None:
    with pytest.raises(ClientError) as caught:
        KIND.read(ec2.aws, Resource(KIND.type, "i-0123456789abcdef0"))
    assert caught.value.response["Error"]["Code"] in KIND.absent_codes


# Changing


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("Monitoring", True),
        ("SourceDestCheck", False),
        ("MetadataOptions", {"HttpTokens": "required", "HttpPutResponseHopLimit": 3, "HttpEndpoint": "enabled"}),
        ("PowerState", "stopped"),
    ],
)
def test_a_changed_property_reads_back(ec2: Ec2, word: str, value: Any) -> None:
    seen = ec2.make()
    assert differences({word: value}, seen)
    assert differences({word: value}, ec2.update(seen, **{word: value})) == []
    assert ec2.progress is Progress.COMPLETE


def test_security_groups_are_replaced_as_a_set(ec2: Ec2) -> None:
    seen = ec2.make({**PLAIN, "SecurityGroupIds": ec2.groups[:2]})
    assert differences({"SecurityGroupIds": ec2.groups[1::-1]}, seen) == []
    wanted = {"SecurityGroupIds": ec2.groups[1:]}
    assert differences(wanted, ec2.update(seen, **wanted)) == []


def test_an_instance_profile_comes_changes_and_goes(ec2: Ec2) -> None:
    def held() -> list[str]:
        known = ec2.client.describe_iam_instance_profile_associations()["IamInstanceProfileAssociations"]
        return [one["IamInstanceProfile"]["Arn"].rpartition("/")[2] for one in known]

    seen = ec2.make()
    assert differences({"IamInstanceProfile": "one"}, ec2.update(seen, IamInstanceProfile="one")) == []
    ec2.update(seen, IamInstanceProfile="two")
    assert held() == ["two"]  # moto shows the old one in DescribeInstances
    assert differences({"IamInstanceProfile": None}, ec2.update(seen, IamInstanceProfile=None)) == []
    assert held() == []
    ec2.update(seen, IamInstanceProfile=None)
    assert held() == []


@pytest.mark.parametrize("word", ["Monitoring", "SourceDestCheck", "PowerState"])
def test_null_resets(ec2: Ec2, word: str) -> None:
    other = {"Monitoring": True, "SourceDestCheck": False, "PowerState": "stopped"}[word]
    seen = ec2.update(ec2.make(), **{word: other})
    assert differences({word: None}, seen) == [word]
    assert differences({word: None}, ec2.update(seen, **{word: None})) == []


def test_null_inside_metadata_options_resets(ec2: Ec2) -> None:
    seen = ec2.make({**PLAIN, "MetadataOptions": {"InstanceMetadataTags": "enabled", "HttpTokens": "required"}})
    merged = {**thaw((seen.properties or {})["MetadataOptions"]), "InstanceMetadataTags": None}
    after = ec2.update(seen, MetadataOptions=merged)
    assert differences({"MetadataOptions": {"InstanceMetadataTags": None, "HttpTokens": "required"}}, after) == []


def test_tags_are_merged(ec2: Ec2) -> None:
    seen = ec2.make()
    after = ec2.update(seen, tags={"team": "web", "new": "1"}, untag=frozenset({"setpoint:key"}))
    expected = {**TAGS, "team": "web", "new": "1"}
    del expected["setpoint:key"]
    assert after.tags == expected


def test_a_stopped_one_changes_type_and_starts(ec2: Ec2) -> None:
    seen = ec2.update(ec2.make(), PowerState="stopped")
    after = ec2.update(seen, PowerState="running", InstanceType="t3.large", EbsOptimized=True)
    assert ec2.progress is Progress.COMPLETE
    assert differences({"PowerState": "running", "InstanceType": "t3.large", "EbsOptimized": True}, after) == []


def test_one_to_be_stopped_changes_type_in_the_next_run(ec2: Ec2) -> None:
    seen = ec2.update(ec2.make(), PowerState="stopped", InstanceType="t3.large")
    assert ec2.progress is Progress.PARTIAL
    assert differences({"PowerState": "stopped", "InstanceType": "t3.large"}, seen) == ["InstanceType"]
    seen = ec2.update(seen, InstanceType="t3.large")
    assert differences({"PowerState": "stopped", "InstanceType": "t3.large"}, seen) == []


def test_a_running_one_is_never_stopped_for_a_change_and_all_other_properties_are_set(ec2: Ec2) -> None:
    seen = ec2.make()
    with pytest.raises(WaitError, match=r"InstanceType .* only while it is stopped"):
        ec2.update(seen, tags={"setpoint:spec": "v1:y"}, InstanceType="t3.large", Monitoring=True)
    after = ec2.read(seen)
    assert differences({"PowerState": "running", "InstanceType": "t3.micro", "Monitoring": True}, after) == []
    assert after.tags == TAGS


def test_the_tags_come_only_when_all_properties_are_as_declared(ec2: Ec2) -> None:
    seen = ec2.update(ec2.make(), tags={"setpoint:spec": "v1:y"}, PowerState="stopped", InstanceType="t3.large")
    assert seen.tags == TAGS
    seen = ec2.update(seen, tags={"setpoint:spec": "v1:y"}, InstanceType="t3.large")
    assert seen.tags == {**TAGS, "setpoint:spec": "v1:y"}


def test_deleting_twice_is_deleting_once(ec2: Ec2) -> None:
    seen = ec2.make()
    KIND.delete(ec2.aws, seen)
    KIND.delete(ec2.aws, seen)
    assert ec2.read(seen).state is State.DEAD


# Words


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ({}, "ImageId and InstanceType are needed"),
        ({"ImageId": "ami-1"}, "ImageId and InstanceType are needed"),
        ({"LaunchTemplate": {"LaunchTemplateName": "a"}}, "needs a Version"),
        ({"LaunchTemplate": {"Version": "1"}}, "and not both"),
        ({"LaunchTemplate": {"LaunchTemplateName": "a", "LaunchTemplateId": "lt-1", "Version": "1"}}, "and not both"),
        ({**PLAIN, "SubnetId": None}, "SubnetId cannot be null"),
        ({**PLAIN, "MetadataOptions": {"HttpTokens": None}}, "HttpTokens cannot be null"),
        (
            {**PLAIN, "SubnetId": "subnet-1", "NetworkInterfaces": [{"DeviceIndex": "0"}]},
            "SubnetId and NetworkInterfaces",
        ),
    ],
)
def test_what_cannot_work_is_said_before_anything_runs(properties: dict[str, Any], words: str) -> None:
    assert words in (KIND.check(freeze(properties)) or "")


@pytest.mark.parametrize(
    "properties",
    [
        PLAIN,
        {"LaunchTemplate": {"LaunchTemplateId": "lt-1", "Version": "12"}},
        {**PLAIN, "KeyName": None, "IamInstanceProfile": None, "Monitoring": None, "PowerState": None},
    ],
)
def test_what_can_work_is_accepted(properties: dict[str, Any]) -> None:
    KIND.properties.model_validate(properties)
    assert KIND.check(freeze(properties)) is None


@pytest.mark.parametrize(
    "properties",
    [
        {"LaunchTemplate": {"LaunchTemplateName": "a", "Version": "$Newest"}},
        {"UserData": "#!/bin/sh"},
        {"SecurityGroupIds": []},
        {"PowerState": "hibernated"},
        {"DisableApiTermination": True},
        {"MetadataOptions": {"HttpPutResponseHopLimit": 65}},
    ],
)
def test_what_no_instance_has_is_refused(properties: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate(properties)


def test_every_official_property_is_accounted_for() -> None:
    official = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", KIND.type).schema
    modelled = KIND.properties.model_fields.keys() - {"PowerState"}
    assert modelled | KIND.read_only | KIND.not_supported == official["properties"].keys()
    assert not modelled & (KIND.read_only | KIND.not_supported)
    assert {path.rpartition("/")[2] for path in official["readOnlyProperties"]} == KIND.read_only
    locked = {path.rpartition("/")[2] for path in official["createOnlyProperties"]} & modelled
    assert {word for word in locked if not KIND.create_only(word)} == set()


def test_the_iam_listing_is_what_is_called(ec2: Ec2) -> None:
    needed_beside = {"create": {"ec2:CreateTags", "iam:PassRole"}, "update": {"iam:PassRole"}}
    calls: dict[str, set[str]] = {}

    def during(verb: str, step: Callable[[], Any]) -> Any:
        ec2.called.clear()
        result = step()
        calls.setdefault(verb, set()).update(ec2.called)
        return result

    def change(**wanted: Any) -> None:
        current = ec2.read(seen)
        during("update", lambda: KIND.update(ec2.aws, current, Change(freeze(wanted))))

    during("create", lambda: KIND.create(ec2.aws, Desired("0", None, PLAIN, TAGS), "t-0"))
    seen = during("survey", ec2.survey)[0]
    during("read", lambda: ec2.read(seen))
    during("update", lambda: KIND.update(ec2.aws, seen, Change({}, {"a": "b"}, frozenset({"team"}))))
    for profile in ("one", "two", None):
        change(IamInstanceProfile=profile)
    for on in (True, False):
        change(Monitoring=on)
    change(MetadataOptions={"HttpTokens": "required"}, SourceDestCheck=False, PowerState="stopped")
    change(PowerState="running")
    during("delete", lambda: KIND.delete(ec2.aws, seen))
    assert {verb: called | needed_beside.get(verb, set()) for verb, called in calls.items()} == KIND.iam
