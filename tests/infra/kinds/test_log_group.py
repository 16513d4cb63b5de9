"""Log groups: born with tags, key, class and protection; retention and bearer tokens come after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER
from moto import mock_aws
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.log_group import LogGroup
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.frozen import freeze, thaw
from policies.item_pattern import compile_pattern
from policies.world import Resource, Scope, State

KIND = LogGroup()
NAME = "/orders/live"
ARN = f"arn:aws:logs:eu-west-1:123456789012:log-group:{NAME}"
TAGS = {"setpoint:policy": "main/logs", "setpoint:key": "a", "team": "orders"}
KEY = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
PLAIN = {"LogGroupName": NAME}
RICH = {
    "LogGroupName": NAME,
    "LogGroupClass": "INFREQUENT_ACCESS",
    "RetentionInDays": 14,
    "KmsKeyId": KEY,
    "DeletionProtectionEnabled": True,
    "BearerTokenAuthenticationEnabled": True,
}
DELIVERY = {"LogGroupName": NAME, "LogGroupClass": "DELIVERY"}


class Faithful:
    """What moto leaves out of CloudWatch Logs: classes, keys, protection and bearer tokens."""

    def __init__(self, session: boto3.Session) -> None:
        self.memory: dict[str, dict[str, Any]] = {}
        events = session.events
        events.register("before-parameter-build.logs.CreateLogGroup", self.create)
        events.register("after-call.logs.DescribeLogGroups", self.describe)
        for operation in (
            "AssociateKmsKey",
            "DisassociateKmsKey",
            "PutLogGroupDeletionProtection",
            "PutBearerTokenAuthentication",
        ):
            events.register(f"before-parameter-build.logs.{operation}", self.remember)
            events.register(f"before-call.logs.{operation}", self.answer)

    def create(self, params: dict[str, Any], **_: Any) -> None:
        self.memory[params["logGroupName"]] = {
            "logGroupClass": params.get("logGroupClass", "STANDARD"),
            "deletionProtectionEnabled": params.get("deletionProtectionEnabled", False),
            "bearerTokenAuthenticationEnabled": False,
            "kmsKeyId": params.get("kmsKeyId"),
        }
        if params.get("logGroupClass") == "DELIVERY":
            self.memory[params["logGroupName"]]["retentionInDays"] = 2

    def remember(self, params: dict[str, Any], **_: Any) -> None:
        name = params.get("logGroupName") or params["logGroupIdentifier"]
        told = {"kmsKeyId": None, **params}
        kept = self.memory[name]
        if "logGroupIdentifier" in params:
            told.pop("kmsKeyId")
        self.memory[name] = {**kept, **{word: told[word] for word in told if word in kept}}

    def answer(self, **_: Any) -> tuple[AWSResponse, dict[str, Any]]:
        return AWSResponse("", 200, {}, None), {"ResponseMetadata": {}}

    def describe(self, parsed: dict[str, Any], **_: Any) -> None:
        for group in parsed["logGroups"]:
            group.pop("kmsKeyId", None)
            told = self.memory[group["logGroupName"]]
            group.update({word: value for word, value in told.items() if value is not None})


@pytest.fixture
def session() -> Iterator[boto3.Session]:
    with mock_aws():
        yield boto3.Session(region_name="eu-west-1")


@pytest.fixture
def faithful(session: boto3.Session) -> Faithful:
    return Faithful(session)


@pytest.fixture
def recorded(session: boto3.Session) -> set[str]:
    """Every `service:Operation` that was called."""
    called: set[str] = set()

    def record(model: Any, **_: Any) -> None:
        called.add(f"{model.service_model.service_name}:{model.name}")

    session.events.register("before-parameter-build", record)
    return called


@pytest.fixture
def aws(session: boto3.Session, faithful: Faithful, recorded: set[str]) -> Aws:
    return Aws(session, Scope("123456789012", "eu-west-1"))


def wanted(properties: dict[str, Any], **initial: Any) -> Desired:
    name = properties["LogGroupName"]
    return Desired(key="a", name=name, properties=freeze(properties), tags=freeze(TAGS), initial=freeze(initial))


def create(aws: Aws, properties: dict[str, Any], **initial: Any) -> Resource:
    """As the engine does it: create, and what is still different comes as an update."""
    progress = KIND.create(aws, wanted(properties, **initial), None)
    found = read(aws, properties["LogGroupName"])
    missing = diff(freeze(properties), found.properties or {}, KIND.shape)
    assert (progress is Progress.PARTIAL) == bool(missing)
    if missing:
        words = {one.path[0]: properties[one.path[0]] for one in missing}
        assert KIND.update(aws, found, Change(properties=freeze(words))) is Progress.COMPLETE
    return read(aws, properties["LogGroupName"])


def read(aws: Aws, name: str = NAME) -> Resource:
    found = KIND.read(aws, KIND.locate(aws, name))
    assert found is not None
    return found


def differences(declared: dict[str, Any], found: Resource) -> list[str]:
    return [str(one) for one in diff(freeze(declared), found.properties or {}, KIND.shape)]


@pytest.mark.parametrize("declared", [PLAIN, RICH, DELIVERY, {**PLAIN, "RetentionInDays": 1}])
def test_what_was_created_reads_back_without_a_difference(aws: Aws, declared: dict[str, Any]) -> None:
    KIND.properties.model_validate(declared)
    assert KIND.check(freeze(declared)) is None
    found = create(aws, declared)
    assert differences(declared, found) == []
    assert (found.id, found.name, found.tags, found.state) == (NAME, NAME, TAGS, State.READY)
    assert found.created is not None
    assert found.created.tzinfo is not None
    assert found.facts["CreateTime"] == found.created.isoformat()
    assert found.facts["StoredBytes"] == 0
    KIND.properties.model_validate(thaw(found.properties))


def test_the_create_alone_brings_tags_key_class_and_protection(aws: Aws) -> None:
    assert KIND.create(aws, wanted(RICH), None) is Progress.PARTIAL
    found = read(aws)
    assert found.tags == TAGS
    assert differences(RICH, found) == ["RetentionInDays", "BearerTokenAuthenticationEnabled"]


def test_what_is_initial_and_takes_a_call_of_its_own_is_left_to_the_update(aws: Aws) -> None:
    found = create(aws, {**PLAIN, "BearerTokenAuthenticationEnabled": True}, RetentionInDays=30, KmsKeyId=KEY)
    assert differences({"KmsKeyId": KEY, "BearerTokenAuthenticationEnabled": True}, found) == []
    assert differences({"RetentionInDays": 30}, found) == ["RetentionInDays"]
    assert not LogGroup().single_call({**PLAIN, "RetentionInDays": 30})  # so the engine goes on, `initial` included


def test_service_defaults_are_no_difference(aws: Aws) -> None:
    nothing = {
        "LogGroupClass": "STANDARD",
        "RetentionInDays": None,
        "KmsKeyId": None,
        "DeletionProtectionEnabled": False,
        "BearerTokenAuthenticationEnabled": False,
    }
    assert differences(nothing, create(aws, PLAIN)) == []
    assert differences(nothing, create(aws, {**nothing, "LogGroupName": "other"})) == []


def test_the_days_of_a_delivery_group_are_nobodys_choice(aws: Aws) -> None:
    assert differences({"RetentionInDays": None}, create(aws, DELIVERY)) == []


def test_the_class_is_create_only(aws: Aws) -> None:
    (one,) = diff({"LogGroupClass": "STANDARD"}, create(aws, RICH).properties or {}, KIND.shape)
    assert one.create_only


OTHER_KEY = KEY.replace("1234abcd", "abcd1234")


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("RetentionInDays", 3653),
        ("RetentionInDays", None),
        ("KmsKeyId", OTHER_KEY),
        ("KmsKeyId", None),
        ("DeletionProtectionEnabled", False),
        ("DeletionProtectionEnabled", None),
        ("BearerTokenAuthenticationEnabled", False),
        ("BearerTokenAuthenticationEnabled", None),
    ],
)
def test_an_update_changes_its_property_and_leaves_every_other(aws: Aws, word: str, value: Any) -> None:
    seen = create(aws, RICH)
    assert KIND.update(aws, seen, Change(properties=freeze({word: value}))) is Progress.COMPLETE
    assert differences({**RICH, word: value}, read(aws)) == []
    assert read(aws).tags == TAGS


def test_tags_are_merged_and_removed(aws: Aws) -> None:
    seen = create(aws, PLAIN)
    KIND.update(aws, seen, Change(tags=freeze({"stage": "live"}), untag=frozenset({"team"})))
    owner = {key: value for key, value in TAGS.items() if key != "team"}
    assert read(aws).tags == {**owner, "stage": "live"}


def test_a_taken_name_is_refused_and_stays_as_it_is(aws: Aws) -> None:
    create(aws, RICH)
    with pytest.raises(ClientError) as refusal:
        KIND.create(aws, wanted(PLAIN), None)
    assert refusal.value.response["Error"]["Code"] in KIND.exists_codes
    assert read(aws).tags == TAGS


def test_a_deleted_group_is_absent(aws: Aws) -> None:
    seen = create(aws, PLAIN)
    KIND.delete(aws, seen)
    assert KIND.read(aws, KIND.locate(aws, NAME)) is None
    with pytest.raises(ClientError) as refusal:
        KIND.delete(aws, seen)
    assert refusal.value.response["Error"]["Code"] in KIND.absent_codes


def test_a_longer_name_is_another_group(aws: Aws) -> None:
    create(aws, {"LogGroupName": f"{NAME}2"})
    assert KIND.read(aws, KIND.locate(aws, NAME)) is None
    create(aws, PLAIN)
    assert read(aws).id == NAME


def test_arns_of_both_forms_name_the_group(aws: Aws) -> None:
    assert KIND.name_of_arn(ARN) == KIND.name_of_arn(f"{ARN}:*") == NAME
    assert create(aws, PLAIN).arn == ARN


def test_known_tags_are_not_read_again(aws: Aws, recorded: set[str]) -> None:
    create(aws, PLAIN)
    recorded.clear()
    found = KIND.read(aws, KIND.locate(aws, NAME).with_tags({"team": "orders"}))
    assert found is not None
    assert found.tags == {"team": "orders"}
    assert recorded == {"logs:DescribeLogGroups"}


def test_the_survey_is_complete_over_pages_and_shows_every_property(aws: Aws) -> None:
    for number in range(120):
        KIND.create(aws, wanted({"LogGroupName": f"a/{number}"}), None)
    create(aws, {**RICH, "LogGroupName": "b"})
    assert sorted(one.id for one in KIND.survey(aws, ["a/", "c"])) == sorted(f"a/{number}" for number in range(120))
    (rich,) = KIND.survey(aws, ["b"])
    assert differences({**RICH, "LogGroupName": "b"}, rich) == []
    assert rich.tags is None
    assert len(list(KIND.survey(aws, [""]))) == 121
    assert list(KIND.survey(aws, [])) == []


def test_iam_lists_the_calls_that_are_made(aws: Aws, recorded: set[str]) -> None:
    def calls() -> set[str]:
        made = set(recorded)
        recorded.clear()
        return made

    KIND.create(aws, wanted({"LogGroupName": NAME}, RetentionInDays=1, BearerTokenAuthenticationEnabled=True), None)
    # CloudWatch Logs demands the right to tag for tags in the create.
    assert calls() | {"logs:TagResource"} == KIND.iam["create"]
    list(KIND.survey(aws, [""]))
    assert calls() == KIND.iam["survey"]
    seen = read(aws)
    assert calls() == KIND.iam["read"]
    some = {word: value for word, value in RICH.items() if word not in ("LogGroupName", "LogGroupClass")}
    KIND.update(aws, seen, Change(freeze(some), freeze({"a": "b"}), frozenset({"team"})))
    KIND.update(aws, seen, Change(freeze(dict.fromkeys(some))))
    assert calls() == KIND.iam["update"]
    KIND.delete(aws, seen)
    assert calls() == KIND.iam["delete"]


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"LogGroupName": "aws/orders"}, "must not start with aws/"),
        ({**DELIVERY, "RetentionInDays": 30}, "fixed retention"),
        ({**PLAIN, "KmsKeyId": "arn:aws:kms:eu-west-1:123456789012:alias/logs"}, "not an alias"),
    ],
)
def test_what_would_be_refused_or_never_settle_is_said_before(declared: dict[str, Any], says: str) -> None:
    KIND.properties.model_validate(declared)
    assert says in (KIND.check(freeze(declared)) or "")


@pytest.mark.parametrize(
    "wrong",
    [
        {"LogGroupName": "a" * 513},
        {"LogGroupName": "a b"},
        {"LogGroupName": "a", "RetentionInDays": 2},
        {"LogGroupName": "a", "RetentionInDays": "30"},
        {"LogGroupName": "a", "LogGroupClass": "standard"},
        {"LogGroupName": "a", "DataProtectionPolicy": {}},
    ],
)
def test_the_model_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate(wrong)


def test_every_official_property_is_accounted_for() -> None:
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", KIND.type).schema
    assert KIND.properties.model_fields.keys() | KIND.not_supported | KIND.read_only == schema["properties"].keys()


def test_the_name_can_be_proven_disjoint() -> None:
    (name,) = KIND.names
    assert compile_pattern(name.pattern).accepts(NAME)
