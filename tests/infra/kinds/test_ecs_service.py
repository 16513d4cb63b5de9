"""Services: what is declared is what is read, deployments are waited for while they get on, names come free late."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto.core.utils import camelcase_to_underscores
from moto.ecs.models import ecs_backends
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.ecs_service import EcsService
from policies.action import Change, Desired
from policies.diff import diff
from policies.drift import drift
from policies.errors import ExistsError, RefusedError, SenseError, WaitError
from policies.frozen import freeze
from policies.world import Resource, Scope, State
from tests.world import World

KIND = EcsService()
NAME = "web/shop"
TAGS = {"setpoint:policy": "main/shops", "setpoint:key": "shop", "setpoint:spec": "v1:x", "team": "shop"}
PLAIN: dict[str, Any] = {
    "Cluster": "web",
    "ServiceName": "shop",
    "TaskDefinition": "app:1",
    "DesiredCount": 2,
}
FORGOTTEN = (
    "availabilityZoneRebalancing",
    "capacityProviderStrategy",
    "deploymentConfiguration",
    "enableECSManagedTags",
    "enableExecuteCommand",
    "healthCheckGracePeriodSeconds",
    "placementConstraints",
    "placementStrategy",
)
"""What moto takes in an update and forgets in a create."""


class Ecs:
    """A cluster, two revisions of a task definition, and subnets for the tasks."""

    def __init__(self, world: World) -> None:
        self.world, self.aws = world, Aws(world.session, Scope("123456789012", "eu-west-1"))
        self.client = self.aws.client("ecs")
        self.client.meta.events.register("provide-client-params.ecs.CreateService", self._remember)
        self.client.meta.events.register("after-call.ecs.CreateService", self._restore)
        outside = world.outside
        outside.ecs.create_cluster(clusterName="web")
        for memory in (128, 256):
            container: Any = {"name": "app", "image": "app", "memory": memory}
            outside.ecs.register_task_definition(family="app", containerDefinitions=[container])
        subnets = outside.ec2.describe_subnets()["Subnets"]
        self.subnets = [subnet["SubnetId"] for subnet in subnets[:2]]
        vpc = subnets[0]["VpcId"]
        self.groups = [
            outside.ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc)["GroupId"] for name in "ab"
        ]
        self.created: dict[str, Any] = {}

    @property
    def rich(self) -> dict[str, Any]:
        return {
            **PLAIN,
            "AvailabilityZoneRebalancing": "ENABLED",
            "DeploymentConfiguration": {
                "Alarms": {"AlarmNames": ["down", "slow"], "Enable": True, "Rollback": True},
                "DeploymentCircuitBreaker": {"Enable": True, "Rollback": True},
                "MaximumPercent": 150,
                "MinimumHealthyPercent": 50,
            },
            "EnableECSManagedTags": True,
            "EnableExecuteCommand": True,
            "HealthCheckGracePeriodSeconds": 30,
            "LaunchType": "EC2",
            "LoadBalancers": [{"TargetGroupArn": "arn:tg/a", "ContainerName": "app", "ContainerPort": 80}],
            "NetworkConfiguration": {
                "AwsvpcConfiguration": {
                    "AssignPublicIp": "ENABLED",
                    "SecurityGroups": self.groups,
                    "Subnets": self.subnets,
                }
            },
            "PlacementConstraints": [{"Type": "distinctInstance"}, {"Type": "memberOf", "Expression": "attribute:x"}],
            "PlacementStrategies": [
                {"Type": "spread", "Field": "attribute:ecs.availability-zone"},
                {"Type": "binpack", "Field": "memory"},
            ],
            "PlatformVersion": "1.4.0",
            "PropagateTags": "SERVICE",
            "SchedulingStrategy": "REPLICA",
            "ServiceRegistries": [{"RegistryArn": "arn:registry", "ContainerName": "app", "ContainerPort": 80}],
        }

    @property
    def provided(self) -> dict[str, Any]:
        return {**PLAIN, "CapacityProviderStrategy": [{"CapacityProvider": "spot", "Weight": 1}]}

    def make(self, properties: dict[str, Any] = PLAIN, **more: Any) -> Resource:
        name = KIND.name(properties) or ""
        KIND.create(self.aws, Desired(name, name, freeze(properties), freeze(TAGS), **more), None)
        self.settle()
        return self.read(name)

    def read(self, name: str = NAME) -> Resource:
        found = KIND.read(self.aws, KIND.locate(self.aws, name))
        assert found is not None
        return found

    def bring(self, seen: Resource, **wanted: Any) -> Resource:
        change = drift(KIND, Desired(NAME, NAME, freeze(wanted)), seen)
        KIND.update(self.aws, seen, Change(properties=change.properties))
        self.settle()
        return self.read()

    def settle(self) -> None:
        for _ in range(2):
            self.world.tick_started()

    def moto(self) -> Any:
        return ecs_backends["123456789012"]["eu-west-1"].services["web:shop"]

    def _remember(self, params: dict[str, Any], **_: Any) -> None:
        self.created = params

    def _restore(self, http_response: Any, **_: Any) -> None:
        if http_response.status_code == 200:
            made = ecs_backends["123456789012"]["eu-west-1"].services
            service = made[f"{self.created['cluster']}:{self.created['serviceName']}"]
            for word in FORGOTTEN:
                if word in self.created:
                    setattr(service, camelcase_to_underscores(word), self.created[word])


@pytest.fixture
def ecs(world: World) -> Ecs:
    return Ecs(world)


def differences(declared: dict[str, Any], seen: Resource) -> list[str]:
    return [str(found) for found in diff(freeze(declared), seen.properties or {}, KIND.shape)]


# Creating and reading


@pytest.mark.parametrize("shape", ["rich", "provided"])
def test_what_was_created_is_what_is_read(ecs: Ecs, shape: str) -> None:
    declared = getattr(ecs, shape)
    KIND.properties.model_validate(declared)
    assert KIND.check(declared) is None
    seen = ecs.make(declared)
    assert differences(declared, seen) == []
    assert [seen] == list(KIND.survey(ecs.aws, ("",)))
    assert (seen.id, seen.name, seen.tags, seen.state) == (NAME, NAME, TAGS, State.READY)
    assert seen.created is not None and seen.facts["CreateTime"] == seen.created.isoformat()


def test_the_rich_service_shows_every_property(ecs: Ecs) -> None:
    shown = set(ecs.make(ecs.rich).properties or {}) | {"CapacityProviderStrategy", "Tags"}
    assert shown == set(KIND.properties.model_fields)


def test_tags_are_in_the_create_call(ecs: Ecs, world: World) -> None:
    assert ecs.make().tags == TAGS
    assert world.calls(service="ecs", operation="TagResource") == []


def test_initial_is_under_what_is_declared(ecs: Ecs) -> None:
    declared = {word: value for word, value in PLAIN.items() if word != "DesiredCount"}
    seen = ecs.make(declared, initial=freeze({"DesiredCount": 3, "TaskDefinition": "app:2"}))
    assert seen.properties is not None
    assert (seen.properties["DesiredCount"], seen.properties["TaskDefinition"]) == (3, "app:1")


def test_an_existing_name_is_told(ecs: Ecs) -> None:
    ecs.make()
    with pytest.raises(ExistsError):
        ecs.make({**PLAIN, "DesiredCount": 1})


def test_another_mistake_stays_what_it_is(ecs: Ecs) -> None:
    subnets = {"Subnets": ["subnet-none"], "SecurityGroups": ecs.groups}
    with pytest.raises(ClientError, match="subnet"):
        ecs.make({**PLAIN, "NetworkConfiguration": {"AwsvpcConfiguration": subnets}})


@pytest.mark.parametrize("name", ["web/none", "none/shop"])
def test_what_is_not_there_is_not_there(ecs: Ecs, name: str) -> None:
    assert KIND.read(ecs.aws, KIND.locate(ecs.aws, name)) is None


def test_a_missing_cluster_is_waited_for() -> None:
    assert "ClusterNotFoundException" in KIND.wait_codes
    assert "ClusterNotFoundException" not in KIND.absent_codes


def test_a_service_that_cannot_be_described_is_not_absent(ecs: Ecs) -> None:
    def fail(parsed: dict[str, Any], **_: Any) -> None:
        parsed.update(services=[], failures=[{"arn": "arn:shop", "reason": "BUSY"}])

    ecs.make()
    ecs.client.meta.events.register("after-call.ecs.DescribeServices", fail)
    with pytest.raises(SenseError, match="BUSY"):
        KIND.read(ecs.aws, KIND.locate(ecs.aws, NAME))


def test_the_survey_is_complete_over_clusters_and_tens(ecs: Ecs, world: World) -> None:
    world.outside.ecs.create_cluster(clusterName="web-2")
    places = {"web": 23, "web-2": 2}
    for cluster, count in places.items():
        for number in range(count):
            world.outside.ecs.create_service(
                cluster=cluster, serviceName=f"s{number}", taskDefinition="app:1", desiredCount=0
            )
    names = {f"{cluster}/s{number}" for cluster, count in places.items() for number in range(count)}
    assert {seen.id for seen in KIND.survey(ecs.aws, ("",))} == names
    assert {seen.id for seen in KIND.survey(ecs.aws, ("web-2/",))} == {"web-2/s0", "web-2/s1"}
    assert {seen.id for seen in KIND.survey(ecs.aws, ("web/s22", "web-"))} == {"web/s22", "web-2/s0", "web-2/s1"}


# States


def test_a_deployment_that_gets_on_is_waited_for(ecs: Ecs) -> None:
    KIND.create(ecs.aws, Desired(NAME, NAME, freeze(PLAIN), freeze(TAGS)), None)
    assert (ecs.read().state, ecs.read().facts["PendingCount"]) == (State.PENDING, 2)
    ecs.settle()
    assert (ecs.read().state, ecs.read().facts["RunningCount"]) == (State.READY, 2)


def test_a_deployment_that_fails_may_be_cured(ecs: Ecs, world: World) -> None:
    world.ecs.failing.add(NAME)
    seen = ecs.make()
    assert seen.state is State.UNHEALTHY
    ecs.moto().deployments[0].update(rolloutState="FAILED", failedTasks=0)
    assert ecs.read().state is State.UNHEALTHY
    world.ecs.failing.clear()
    assert ecs.bring(seen, TaskDefinition="app:2").state is State.READY


def test_tasks_that_find_no_place_are_no_reason_to_wait(ecs: Ecs) -> None:
    ecs.make()
    ecs.moto().deployments[0].update(rolloutState="IN_PROGRESS", pendingCount=0)
    ecs.world.views.touch("ecs")
    seen = next(KIND.survey(ecs.aws, ("",)))
    assert seen.state is not State.PENDING


def test_scaling_is_not_waited_for(ecs: Ecs) -> None:
    seen = ecs.make()
    KIND.update(ecs.aws, seen, Change(properties=freeze({"DesiredCount": 9})))
    assert (ecs.read().state, ecs.read().facts["PendingCount"]) == (State.READY, 7)


# Updating


def changes(ecs: Ecs) -> dict[str, Any]:
    return {
        "AvailabilityZoneRebalancing": "DISABLED",
        "DeploymentConfiguration": {"MaximumPercent": 200, "MinimumHealthyPercent": 50},
        "DesiredCount": 4,
        "EnableECSManagedTags": False,
        "EnableExecuteCommand": False,
        "HealthCheckGracePeriodSeconds": 60,
        "LoadBalancers": [{"TargetGroupArn": "arn:tg/b", "ContainerName": "app", "ContainerPort": 81}],
        "NetworkConfiguration": {"AwsvpcConfiguration": {"SecurityGroups": ecs.groups[:1]}},
        "PlacementConstraints": [{"Type": "distinctInstance"}],
        "PlacementStrategies": [{"Type": "random"}],
        "PlatformVersion": "LATEST",
        "PropagateTags": "TASK_DEFINITION",
        "ServiceRegistries": [{"RegistryArn": "arn:other"}],
        "TaskDefinition": "app:2",
    }


def test_every_property_changes(ecs: Ecs) -> None:
    seen = ecs.make(ecs.rich)
    assert set(changes(ecs)) == set(ecs.rich) - {"Cluster", "ServiceName", "LaunchType", "SchedulingStrategy"}
    for word, value in changes(ecs).items():
        seen = ecs.bring(seen, **{word: value})
        assert differences({word: value}, seen) == []


def test_only_what_differs_is_sent(ecs: Ecs, world: World) -> None:
    ecs.bring(ecs.make(ecs.rich), **{**ecs.rich, "DesiredCount": 5})
    (call,) = world.calls(service="ecs", operation="UpdateService")
    assert call.params == {"cluster": "web", "service": "shop", "desiredCount": 5}


def test_part_of_an_object_changes_and_the_rest_stays(ecs: Ecs) -> None:
    seen = ecs.bring(ecs.make(ecs.rich), DeploymentConfiguration={"MaximumPercent": 300})
    assert seen.properties is not None
    kept = {**ecs.rich["DeploymentConfiguration"], "MaximumPercent": 300}
    assert differences({"DeploymentConfiguration": kept}, seen) == []


RESETS: list[tuple[str, Any]] = [
    ("AvailabilityZoneRebalancing", None),
    ("DeploymentConfiguration", {"Alarms": None, "DeploymentCircuitBreaker": None, "MaximumPercent": None}),
    ("EnableECSManagedTags", None),
    ("EnableExecuteCommand", None),
    ("HealthCheckGracePeriodSeconds", None),
    ("LoadBalancers", None),
    ("NetworkConfiguration", {"AwsvpcConfiguration": {"AssignPublicIp": None}}),
    ("PlacementConstraints", None),
    ("PlacementStrategies", None),
    ("PlatformVersion", None),
    ("PropagateTags", None),
    ("ServiceRegistries", None),
]


def test_null_resets(ecs: Ecs) -> None:
    seen = ecs.make({**ecs.rich, "AvailabilityZoneRebalancing": "DISABLED"})
    for word, value in RESETS:
        assert differences({word: value}, seen), word
        seen = ecs.bring(seen, **{word: value})
        assert differences({word: value}, seen) == [], word


def test_capacity_providers_change_and_go(ecs: Ecs) -> None:
    shares = [{"CapacityProvider": "spot", "Weight": 3}, {"CapacityProvider": "on-demand", "Base": 1, "Weight": 1}]
    seen = ecs.bring(ecs.make(ecs.provided), CapacityProviderStrategy=shares)
    assert differences({"CapacityProviderStrategy": shares[::-1]}, seen) == []
    assert differences({"CapacityProviderStrategy": None}, ecs.bring(seen, CapacityProviderStrategy=None)) == []


@pytest.mark.parametrize("word", ["DesiredCount", "TaskDefinition", "NetworkConfiguration"])
def test_what_has_no_default_cannot_be_reset(ecs: Ecs, word: str) -> None:
    with pytest.raises(RefusedError, match=word):
        ecs.bring(ecs.make(ecs.rich), **{word: None})


def test_deployments_of_another_strategy_are_not_half_changed(ecs: Ecs) -> None:
    seen = ecs.make()
    ecs.moto().deployment_configuration = {"strategy": "BLUE_GREEN", "maximumPercent": 200}
    with pytest.raises(RefusedError, match="BLUE_GREEN"):
        ecs.bring(ecs.read(), DeploymentConfiguration={"MaximumPercent": 150})
    assert differences({"DesiredCount": 1}, ecs.bring(seen, DesiredCount=1)) == []


def test_tags_are_merged(ecs: Ecs) -> None:
    seen = ecs.make()
    KIND.update(ecs.aws, seen, Change(tags=freeze({"team": "web", "new": "1"}), untag=frozenset({"setpoint:key"})))
    kept = {key: value for key, value in TAGS.items() if key != "setpoint:key"}
    assert ecs.read().tags == {**kept, "team": "web", "new": "1"}


# Deleting


def test_a_service_goes_in_one_step_and_its_name_comes_free_later(ecs: Ecs) -> None:
    KIND.delete(ecs.aws, ecs.make())  # in two, it would stay at zero if it were wanted again in between
    seen = ecs.read()
    assert (seen.state, seen.facts["Status"]) == (State.DELETING, "DRAINING")
    assert list(KIND.survey(ecs.aws, ("",))) == []
    with pytest.raises(WaitError, match="draining"):
        ecs.make()
    ecs.settle()
    assert KIND.read(ecs.aws, seen) is None
    assert ecs.make().state is State.READY


def test_a_daemon_goes_at_once(ecs: Ecs) -> None:
    daemon = {word: value for word, value in PLAIN.items() if word != "DesiredCount"}
    seen = ecs.make({**daemon, "SchedulingStrategy": "DAEMON"})
    assert "DesiredCount" not in (seen.properties or {})
    KIND.delete(ecs.aws, seen)
    ecs.settle()
    assert KIND.read(ecs.aws, seen) is None


# Words


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"TaskDefinition": None}, "TaskDefinition"),
        ({"DesiredCount": None}, "DesiredCount"),
        ({"SchedulingStrategy": "DAEMON"}, "DAEMON"),
        ({"LaunchType": "EC2", "CapacityProviderStrategy": [{"CapacityProvider": "spot"}]}, "exclude"),
    ],
)
def test_what_the_service_would_refuse_is_told_before(change: dict[str, Any], said: str) -> None:
    assert said in (KIND.check({**PLAIN, **change}) or "")


@pytest.mark.parametrize("wrong", ["app", "arn:aws:ecs:eu-west-1:123456789012:task-definition/app:1", "app:0"])
def test_a_task_definition_is_told_by_family_and_revision(wrong: str) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate({**PLAIN, "TaskDefinition": wrong})


def test_arns_of_services_are_told_from_others(ecs: Ecs) -> None:
    seen = ecs.make()
    assert seen.arn is not None
    assert KIND.has_arn(seen.arn) and KIND.name_of_arn(seen.arn) == NAME
    assert not KIND.has_arn("arn:aws:ecs:eu-west-1:123456789012:task-definition/app:1")
    assert not KIND.has_arn("arn:aws:ecs:eu-west-1:123456789012:service/shop")


def test_the_iam_actions_are_the_calls_that_are_made(ecs: Ecs, world: World) -> None:
    seen = ecs.bring(ecs.make(), DesiredCount=3)
    KIND.update(ecs.aws, seen, Change(tags=freeze({"a": "b"}), untag=frozenset({"team"})))
    list(KIND.survey(ecs.aws, ("",)))
    KIND.delete(ecs.aws, ecs.read())
    assert {call.name for call in world.calls()} == set().union(*KIND.iam.values())
