"""Replication groups: one change at a time, replicas before failover and after it, shards by number."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.elasticache_replication_group import ElasticacheReplicationGroup
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.drift import drift
from policies.errors import RefusedError
from policies.frozen import freeze
from policies.world import Resource, Scope, State
from tests.world import World

KIND = ElasticacheReplicationGroup()
NAME = "carts"
TAGS = {"setpoint:policy": "main/carts", "setpoint:key": NAME, "setpoint:spec": "v1:x", "team": "shop"}
TOPIC = "arn:aws:sns:eu-west-1:123456789012:alerts"
PLAIN: dict[str, Any] = {
    "ReplicationGroupId": NAME,
    "ReplicationGroupDescription": "Shopping carts",
    "CacheNodeType": "cache.t4g.small",
    "Engine": "valkey",
}
SLOW = {
    "LogType": "slow-log",
    "LogFormat": "json",
    "DestinationType": "cloudwatch-logs",
    "DestinationDetails": {"CloudWatchLogsDetails": {"LogGroup": "/carts"}},
}
ENGINE = {
    "LogType": "engine-log",
    "LogFormat": "text",
    "DestinationType": "kinesis-firehose",
    "DestinationDetails": {"KinesisFirehoseDetails": {"DeliveryStream": "logs"}},
}
RICH: dict[str, Any] = {
    **PLAIN,
    "AtRestEncryptionEnabled": True,
    "AutoMinorVersionUpgrade": False,
    "AutomaticFailoverEnabled": True,
    "CacheParameterGroupName": "carts",
    "CacheSubnetGroupName": "private",
    "DataTieringEnabled": True,
    "EngineVersion": "7.2",
    "IpDiscovery": "ipv6",
    "KmsKeyId": "arn:aws:kms:eu-west-1:123456789012:key/1",
    "LogDeliveryConfigurations": [SLOW],
    "MultiAZEnabled": True,
    "NetworkType": "dual_stack",
    "NotificationTopicArn": TOPIC,
    "NumCacheClusters": 3,
    "Port": 6380,
    "PreferredMaintenanceWindow": "mon:01:00-mon:02:00",
    "SecurityGroupIds": ["sg-2", "sg-1"],
    "SnapshotRetentionLimit": 5,
    "SnapshotWindow": "03:00-04:00",
    "TransitEncryptionEnabled": True,
    "TransitEncryptionMode": "preferred",
    "UserGroupIds": ["carts"],
}
SHARDED: dict[str, Any] = {
    **PLAIN,
    "AutomaticFailoverEnabled": True,
    "NumNodeGroups": 3,
    "ReplicasPerNodeGroup": 1,
}


class Caches:
    """An account, and groups that are left alone until they are available."""

    def __init__(self, world: World) -> None:
        self.world, self.aws = world, Aws(world.session, Scope("123456789012", "eu-west-1"))
        self.progress = Progress.COMPLETE

    def make(self, properties: dict[str, Any] = PLAIN, **more: Any) -> Resource:
        name = properties["ReplicationGroupId"]
        desired = Desired(name, name, freeze(properties), freeze(TAGS), **more)
        self.progress = KIND.create(self.aws, desired, None)
        self.settle()
        return self.read(name)

    def read(self, name: str = NAME) -> Resource:
        found = KIND.read(self.aws, KIND.locate(self.aws, name))
        assert found is not None
        return found

    def step(self, seen: Resource, **wanted: Any) -> Resource:
        change = drift(KIND, Desired(NAME, NAME, freeze(wanted)), seen)
        self.progress = KIND.update(self.aws, seen, Change(properties=change.properties))
        self.settle()
        return self.read()

    def bring(self, seen: Resource, **wanted: Any) -> Resource:
        """As many runs as it takes, and no more than there are kinds of calls."""
        for _ in range(4):
            seen = self.step(seen, **wanted)
            if self.progress is Progress.COMPLETE:
                return seen
        raise AssertionError("it does not come to rest")

    def settle(self) -> None:
        for _ in range(2):
            self.world.tick_started()

    def updates(self) -> list[str]:
        return [call.operation for call in self.world.calls(mutating=True)[1:] if call.outcome == "ok"]


@pytest.fixture
def caches(world: World) -> Caches:
    return Caches(world)


def differences(declared: dict[str, Any], seen: Resource) -> list[str]:
    return [str(found) for found in diff(freeze(declared), seen.properties or {}, KIND.shape)]


# Creating and reading


@pytest.mark.parametrize("declared", [PLAIN, RICH, SHARDED], ids=["plain", "rich", "sharded"])
def test_what_was_created_is_what_is_read(caches: Caches, declared: dict[str, Any]) -> None:
    KIND.properties.model_validate(declared)
    assert KIND.check(declared) is None
    seen = caches.make(declared)
    assert differences(declared, seen) == []
    assert (seen.id, seen.name, seen.tags, seen.state) == (NAME, NAME, TAGS, State.READY)
    assert seen.created is not None and seen.facts["CreateTime"] == seen.created.isoformat()


def test_the_rich_group_shows_every_property(caches: Caches) -> None:
    assert set(caches.make(RICH).properties or {}) | {"Tags"} == set(KIND.properties.model_fields)


def test_nodes_of_several_shards_are_no_cache_clusters(caches: Caches) -> None:
    seen = caches.make(SHARDED)
    assert seen.properties is not None and "NumCacheClusters" not in seen.properties
    assert seen.facts["NodeCount"] == 6


def test_tags_are_in_the_create_call(caches: Caches) -> None:
    caches.make()
    assert caches.updates() == []


def test_tags_are_unknown_while_it_is_being_created(caches: Caches) -> None:
    KIND.create(caches.aws, Desired(NAME, NAME, freeze(PLAIN), freeze(TAGS)), None)
    assert (caches.read().tags, caches.read().state) == (None, State.PENDING)
    caches.settle()
    assert caches.read().tags == TAGS


def test_initial_is_under_what_is_declared(caches: Caches) -> None:
    seen = caches.make(PLAIN, initial=freeze({"NumCacheClusters": 3, "Engine": "redis"}))
    assert seen.properties is not None
    assert (seen.properties["NumCacheClusters"], seen.properties["Engine"]) == (3, "valkey")


def test_an_existing_name_is_told(caches: Caches) -> None:
    caches.make()
    with pytest.raises(ClientError) as raised:
        caches.make()
    assert raised.value.response["Error"]["Code"] in KIND.exists_codes


def test_what_is_not_there_is_not_there(caches: Caches) -> None:
    with pytest.raises(ClientError) as raised:
        KIND.read(caches.aws, KIND.locate(caches.aws, NAME))
    assert raised.value.response["Error"]["Code"] in KIND.absent_codes


def test_tags_that_are_known_are_kept(caches: Caches) -> None:
    found = KIND.read(caches.aws, caches.make().with_tags({"a": "b"}))
    assert found is not None and found.tags == {"a": "b"}


def test_the_survey_is_complete(caches: Caches, world: World) -> None:
    described = {word: value for word, value in PLAIN.items() if word != "ReplicationGroupId"}
    names = {f"{'a' if number % 2 else 'b'}{number}" for number in range(110)}
    for name in names:
        world.outside.elasticache.create_replication_group(ReplicationGroupId=name, **described)
    seen = list(KIND.survey(caches.aws, ("",)))
    assert {one.id for one in seen} == names
    assert {one.properties for one in seen} == {None}
    assert {one.id[0] for one in KIND.survey(caches.aws, ("b",))} == {"b"}


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("creating", State.PENDING),
        ("modifying", State.PENDING),
        ("snapshotting", State.PENDING),
        ("deleting", State.DELETING),
        ("create-failed", State.UNHEALTHY),
    ],
)
def test_states(caches: Caches, status: str, state: State) -> None:
    def show(parsed: dict[str, Any], **_: Any) -> None:
        parsed["ReplicationGroups"][0]["Status"] = status

    caches.make()
    caches.aws.client("elasticache").meta.events.register("after-call.elasticache.DescribeReplicationGroups", show)
    assert caches.read().state is state


@pytest.mark.parametrize(("shown", "read"), [("7.2.6", "7.2"), ("8.0.1", "8.0"), ("5.0.6", "5.0.6")])
def test_the_last_number_of_a_version_is_the_services(caches: Caches, shown: str, read: str) -> None:
    def show(parsed: dict[str, Any], **_: Any) -> None:
        parsed["CacheClusters"][0]["EngineVersion"] = shown

    caches.aws.client("elasticache").meta.events.register("after-call.elasticache.DescribeCacheClusters", show)
    assert (caches.make().properties or {})["EngineVersion"] == read


# Updating


CHANGES: dict[str, Any] = {
    "AutoMinorVersionUpgrade": True,
    "AutomaticFailoverEnabled": False,
    "CacheNodeType": "cache.r7g.large",
    "CacheParameterGroupName": "other",
    "Engine": "redis",
    "EngineVersion": "8.0",
    "IpDiscovery": "ipv4",
    "LogDeliveryConfigurations": [ENGINE],
    "MultiAZEnabled": False,
    "NotificationTopicArn": f"{TOPIC}-2",
    "NumCacheClusters": 5,
    "PreferredMaintenanceWindow": "tue:01:00-tue:02:00",
    "ReplicationGroupDescription": "Full carts",
    "SecurityGroupIds": ["sg-3"],
    "SnapshotRetentionLimit": 7,
    "SnapshotWindow": "05:00-06:00",
    "TransitEncryptionMode": "required",
    "TransitEncryptionEnabled": False,
    "UserGroupIds": ["others"],
}


def test_every_property_changes(caches: Caches) -> None:
    seen = caches.make(RICH)
    fixed = {word for word in RICH if KIND.create_only(word)}
    assert set(CHANGES) == set(RICH) - fixed
    for word, value in CHANGES.items():
        assert differences({word: value}, seen), word
        seen = caches.bring(seen, **{word: value})
        assert differences({word: value}, seen) == [], word


def test_many_settings_are_one_call(caches: Caches) -> None:
    wanted = {word: value for word, value in CHANGES.items() if word != "NumCacheClusters"}
    caches.bring(caches.make(RICH), **wanted)
    assert caches.updates() == ["ModifyReplicationGroup"]


def test_null_resets(caches: Caches) -> None:
    seen = caches.make(RICH)
    for word in (
        "MultiAZEnabled",
        "AutomaticFailoverEnabled",
        "AutoMinorVersionUpgrade",
        "IpDiscovery",
        "LogDeliveryConfigurations",
        "NotificationTopicArn",
        "NumCacheClusters",
        "SnapshotRetentionLimit",
        "TransitEncryptionEnabled",
        "UserGroupIds",
    ):
        assert differences({word: None}, seen) == [word]
        seen = caches.bring(seen, **{word: None})
        assert differences({word: None}, seen) == [], word


@pytest.mark.parametrize("word", ["CacheNodeType", "Engine", "ReplicasPerNodeGroup", "SnapshotWindow"])
def test_what_has_no_default_cannot_be_reset(caches: Caches, word: str) -> None:
    with pytest.raises(RefusedError, match=word):
        caches.step(caches.make(RICH), **{word: None})


def test_replicas_come_before_failover_and_go_after_it(caches: Caches) -> None:
    failover = {"AutomaticFailoverEnabled": True, "NumCacheClusters": 2}
    seen = caches.step(caches.make(), **failover)
    assert caches.progress is Progress.PARTIAL
    seen = caches.bring(seen, **failover)
    seen = caches.bring(seen, AutomaticFailoverEnabled=False, NumCacheClusters=1)
    assert caches.updates() == [
        "IncreaseReplicaCount",
        "ModifyReplicationGroup",
        "ModifyReplicationGroup",
        "DecreaseReplicaCount",
    ]
    assert seen.facts["NodeCount"] == 1


@pytest.mark.parametrize(("shards", "replicas"), [(5, 1), (2, 1), (3, 2), (1, 3)])
def test_shards_and_their_replicas_change(caches: Caches, shards: int, replicas: int) -> None:
    wanted = {"NumNodeGroups": shards, "ReplicasPerNodeGroup": replicas}
    seen = caches.bring(caches.make(SHARDED), **wanted)
    assert differences(wanted, seen) == []
    assert seen.facts["NodeCount"] == shards * (replicas + 1)


def test_a_busy_group_takes_nothing_and_that_is_waited_for(caches: Caches) -> None:
    seen = caches.make()
    KIND.update(caches.aws, seen, Change(properties=freeze({"SnapshotRetentionLimit": 3})))
    with pytest.raises(ClientError) as raised:
        KIND.update(caches.aws, seen, Change(properties=freeze({"SnapshotRetentionLimit": 4})))
    assert raised.value.response["Error"]["Code"] in KIND.wait_codes


def test_tags_are_merged(caches: Caches) -> None:
    seen = caches.make()
    change = Change(tags=freeze({"team": "web", "new": "1"}), untag=frozenset({"setpoint:key"}))
    KIND.update(caches.aws, seen, change)
    kept = {key: value for key, value in TAGS.items() if key != "setpoint:key"}
    assert caches.read().tags == {**kept, "team": "web", "new": "1"}


# Deleting, words


def test_a_group_goes(caches: Caches) -> None:
    seen = caches.make()
    KIND.delete(caches.aws, seen)
    assert caches.read().state is State.DELETING
    caches.settle()
    with pytest.raises(ClientError):
        KIND.read(caches.aws, seen)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"Engine": None}, "Engine"),
        ({"CacheNodeType": None}, "CacheNodeType"),
        ({"ReplicationGroupDescription": None}, "ReplicationGroupDescription"),
        ({"NumCacheClusters": 2, "ReplicasPerNodeGroup": 1}, "neither"),
        ({"NumNodeGroups": 2}, "AutomaticFailoverEnabled"),
        ({"AutomaticFailoverEnabled": True}, "needs a replica"),
        ({"MultiAZEnabled": True}, "MultiAZEnabled"),
        ({"TransitEncryptionMode": "preferred"}, "TransitEncryptionEnabled"),
    ],
)
def test_what_the_service_would_refuse_is_told_before(change: dict[str, Any], said: str) -> None:
    assert said in (KIND.check({**PLAIN, **change}) or "")


@pytest.mark.parametrize(
    "wrong",
    [{"ReplicationGroupId": "a--b"}, {"ReplicationGroupId": "Carts"}, {"EngineVersion": "7.2.6"}, {"AuthToken": "x"}],
)
def test_wrong_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate({**PLAIN, **wrong})


def test_arns_of_groups_are_told_from_those_of_nodes(caches: Caches) -> None:
    seen = caches.make()
    assert seen.arn is not None
    assert KIND.has_arn(seen.arn) and KIND.name_of_arn(seen.arn) == NAME
    assert not KIND.has_arn("arn:aws:elasticache:eu-west-1:123456789012:cluster:carts-001")


def test_the_iam_actions_are_the_calls_that_are_made(caches: Caches, world: World) -> None:
    list(KIND.survey(caches.aws, ("",)))
    seen = caches.bring(caches.make(SHARDED), ReplicasPerNodeGroup=2, NumNodeGroups=2, SnapshotRetentionLimit=3)
    seen = caches.bring(seen, ReplicasPerNodeGroup=1)
    KIND.update(caches.aws, seen, Change(tags=freeze({"a": "b"}), untag=frozenset({"team"})))
    KIND.delete(caches.aws, caches.read())
    assert {call.name for call in world.calls()} == set().union(*KIND.iam.values())
