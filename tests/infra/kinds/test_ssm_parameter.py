"""SSM parameters: an exclusive create with tags, then whole overwrites; no secrets."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.ssm_parameter import SsmParameter
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.errors import AbsentError, RefusedError, WaitError
from policies.frozen import freeze, thaw
from policies.world import Resource, State

KIND = SsmParameter()
NAME = "/orders/live"
ARN = "arn:aws:ssm:eu-west-1:123456789012:parameter/orders/live"
TAGS = {"setpoint:policy": "main/parameters", "setpoint:key": "a", "team": "orders"}
PLAIN = {"Name": NAME, "Type": "String", "Value": "1"}
RICH = {
    "Name": NAME,
    "Type": "StringList",
    "Value": "a,b",
    "Description": "Orders",
    "AllowedPattern": "[a-z,]+",
    "DataType": "text",
    "Tier": "Advanced",
}


def wanted(properties: dict[str, Any], **initial: Any) -> Desired:
    return Desired("a", properties["Name"], freeze(properties), freeze(TAGS), freeze(initial))


def read(aws: Aws, name: str = NAME) -> Resource:
    found = KIND.read(aws, KIND.locate(aws, name))
    assert found is not None
    return found


def create(aws: Aws, declared: dict[str, Any]) -> Resource:
    assert KIND.create(aws, wanted(declared), None) is Progress.COMPLETE
    return read(aws, declared["Name"])


def differences(declared: dict[str, Any], found: Resource) -> list[str]:
    return [str(one) for one in diff(freeze(declared), found.properties or {}, KIND.shape)]


@pytest.mark.parametrize("declared", [PLAIN, RICH, {**PLAIN, "Name": "flat"}, {**PLAIN, "Name": "/tenants"}])
def test_what_was_created_reads_back_without_a_difference(aws: Aws, declared: dict[str, Any]) -> None:
    KIND.properties.model_validate(declared)
    assert KIND.check(freeze(declared)) is None
    assert KIND.single_call(freeze(declared))
    found = create(aws, declared)
    assert differences(declared, found) == []
    assert (found.name, found.tags, found.state) == (declared["Name"], TAGS, State.READY)
    assert found.facts["Version"] == 1
    KIND.properties.model_validate(thaw(found.properties))


def test_what_is_initial_is_set_at_creation(aws: Aws) -> None:
    KIND.create(aws, wanted({"Name": NAME, "Type": "String"}, Value="1", Description="first"), None)
    assert differences({"Value": "1", "Description": "first"}, read(aws)) == []


def test_service_defaults_are_no_difference(aws: Aws) -> None:
    nothing = {"Description": "", "AllowedPattern": None, "DataType": "text", "Tier": "Standard"}
    assert differences(nothing, create(aws, PLAIN)) == []


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("Value", "c"),
        ("Type", "String"),
        ("Description", "All orders"),
        ("Description", None),
        ("AllowedPattern", "[a-d,]+"),
        ("AllowedPattern", None),
        ("DataType", None),
    ],
)
def test_an_update_changes_its_property_and_leaves_every_other(aws: Aws, word: str, value: Any) -> None:
    seen = create(aws, RICH)
    assert KIND.update(aws, seen, Change(properties=freeze({word: value}))) is Progress.COMPLETE
    assert differences({**RICH, word: value}, read(aws)) == []
    assert read(aws).tags == TAGS


def test_a_tier_goes_up_in_place_and_never_down(aws: Aws) -> None:
    seen = create(aws, PLAIN)
    (up,) = diff({"Tier": "Advanced"}, seen.properties or {}, KIND.shape)
    assert KIND.locked([up], seen) == ()
    KIND.update(aws, seen, Change(properties=freeze({"Tier": "Advanced"})))
    seen = read(aws)
    for less in ("Standard", None):
        (down,) = diff({"Tier": less}, seen.properties or {}, KIND.shape)
        assert KIND.locked([down], seen) == ("Tier",)
    (value,) = diff({"Value": "2"}, seen.properties or {}, KIND.shape)
    assert KIND.locked([value], seen) == ()


def test_a_secret_is_neither_shown_nor_written(aws: Aws, session: boto3.Session) -> None:
    session.client("ssm").put_parameter(Name=NAME, Value="hush", Type="SecureString")
    found = read(aws)
    assert "hush" not in str(found)
    assert (found.properties or {})["Type"] == "SecureString"
    with pytest.raises(RefusedError, match="SecureString") as refusal:
        KIND.update(aws, found, Change(properties=freeze({"Description": "mine"})))
    assert "hush" not in str(refusal.value)


def test_tags_are_merged_and_removed(aws: Aws) -> None:
    seen = create(aws, PLAIN)
    KIND.update(aws, seen, Change(tags=freeze({"stage": "live"}), untag=frozenset({"team"})))
    owner = {key: value for key, value in TAGS.items() if key != "team"}
    assert read(aws).tags == {**owner, "stage": "live"}


def test_declared_tags_are_a_mapping() -> None:
    assert KIND.declared_tags({"Tags": {"team": "orders"}}) == {"team": "orders"}


def test_a_taken_name_is_refused_and_stays_as_it_is(aws: Aws) -> None:
    create(aws, RICH)
    with pytest.raises(ClientError) as refusal:
        KIND.create(aws, wanted(PLAIN), None)
    assert refusal.value.response["Error"]["Code"] in KIND.exists_codes
    assert differences(RICH, read(aws)) == []


def test_a_deleted_parameter_is_absent(aws: Aws) -> None:
    seen = create(aws, PLAIN)
    KIND.delete(aws, seen)
    with pytest.raises(ClientError) as refusal:
        KIND.read(aws, KIND.locate(aws, NAME))
    assert refusal.value.response["Error"]["Code"] in KIND.absent_codes
    with pytest.raises(AbsentError, match="/orders/live is not there"):
        KIND.delete(aws, seen)


def test_several_end_in_one_call_that_tells_which_were_gone(aws: Aws, recorded: set[str]) -> None:
    seen = [create(aws, {**PLAIN, "Name": name}) for name in ("/orders/a", "/orders/b", "c")]
    KIND.delete(aws, seen[1])
    recorded.clear()
    assert KIND.delete_all(aws, seen) == {"/orders/b"}
    assert recorded == {"ssm:DeleteParameters"}
    assert list(KIND.survey(aws, [""])) == []


def test_what_is_not_described_yet_waits(aws: Aws, session: boto3.Session) -> None:
    create(aws, PLAIN)
    events: Any = session.events
    events.register("after-call.ssm.DescribeParameters", lambda parsed, **_: parsed.update(Parameters=[]))
    with pytest.raises(WaitError, match="not described"):
        read(Aws(session, aws.scope))


def test_known_tags_are_not_read_again(aws: Aws, recorded: set[str]) -> None:
    create(aws, PLAIN)
    recorded.clear()
    found = KIND.read(aws, KIND.locate(aws, NAME).with_tags({"team": "orders"}))
    assert found is not None
    assert found.tags == {"team": "orders"}
    assert recorded == {"ssm:DescribeParameters", "ssm:GetParameter"}


def test_the_survey_is_complete_over_pages(aws: Aws) -> None:
    names = [f"/a/{number:03}" for number in range(25)]
    for name in names:
        KIND.create(aws, wanted({**PLAIN, "Name": name}), None)
    create(aws, {**PLAIN, "Name": "b"})
    assert sorted(one.name or "" for one in KIND.survey(aws, ["/a/", "x"])) == names
    assert len(list(KIND.survey(aws, [""]))) == 26
    assert list(KIND.survey(aws, [])) == []
    (found,) = KIND.survey(aws, ["b"])
    assert KIND.read(aws, found) == read(aws, "b")


@pytest.mark.parametrize("name", [NAME, "flat", "/tenants", "/a/b/c"])
def test_the_tag_index_finds_it_by_its_arn(aws: Aws, name: str) -> None:
    found = create(aws, {**PLAIN, "Name": name})
    assert KIND.has_arn(found.arn or "")
    assert KIND.name_of_arn(found.arn or "") == found.id
    assert KIND.locate(aws, name).id == found.id
    assert read(aws).arn == ARN if name == NAME else True


def test_iam_lists_the_calls_that_are_made(aws: Aws, recorded: set[str]) -> None:
    def calls() -> set[str]:
        made = set(recorded)
        recorded.clear()
        return made

    KIND.create(aws, wanted(PLAIN), None)
    assert calls() | {"ssm:AddTagsToResource"} == KIND.iam["create"]  # demanded for tags in the create
    list(KIND.survey(aws, [""]))
    assert calls() == KIND.iam["survey"]
    seen = read(aws)
    assert calls() == KIND.iam["read"]
    KIND.update(aws, seen, Change(freeze({"Value": "2"}), freeze({"a": "b"}), frozenset({"team"})))
    assert calls() == KIND.iam["update"]
    KIND.delete(aws, seen)
    assert calls() == KIND.iam["delete"]


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"Name": NAME}, "needs a Type and a Value"),
        ({"Name": NAME, "Type": "String", "Value": None}, "needs a Value"),
        ({**PLAIN, "Name": "/AWS/a"}, "must not start with"),
        ({**PLAIN, "Name": "ssm-a"}, "must not start with"),
        ({**PLAIN, "Name": "/a" * 16}, "16 levels"),
        ({**PLAIN, "Tier": "Intelligent-Tiering"}, "say Standard or Advanced"),
    ],
)
def test_what_would_be_refused_or_never_settle_is_said_before(declared: dict[str, Any], says: str) -> None:
    KIND.properties.model_validate(declared)
    assert says in (KIND.check(freeze(declared)) or "")


@pytest.mark.parametrize(
    "wrong",
    [
        {"Name": "a/b"},
        {"Name": "/a/"},
        {"Name": "a b"},
        {"Name": "a", "Type": "SecureString"},
        {"Name": "a", "Value": 3},
        {"Name": "a", "Value": ""},
        {"Name": "a", "Policies": "[]"},
        {"Name": "a", "Tags": [{"Key": "a", "Value": "b"}]},
        {"Name": "a", "Tags": {"aws:a": "b"}},
        {"Name": "a", "Tags": {"setpoint:policy": "b"}},
        {"Name": "a", "Tags": {"a": "*"}},
    ],
)
def test_the_model_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate(wrong)
