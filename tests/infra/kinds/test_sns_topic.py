"""SNS topics: one call creates, or answers with what is there; every attribute changes by itself."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.sns.models import sns_backends
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.sns_topic import SnsTopic
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.errors import ExistsError
from policies.frozen import freeze
from policies.world import Resource, State

KIND = SnsTopic()
NAME = "orders"
ARN = f"arn:aws:sns:eu-west-1:123456789012:{NAME}"
TAGS = {"setpoint:policy": "main/topics", "setpoint:key": "a", "team": "orders"}
PLAIN = {"TopicName": NAME}
RICH = {
    "TopicName": NAME,
    "DisplayName": "Orders",
    "KmsMasterKeyId": "alias/aws/sns",
    "MaximumMessageSize": 1_048_576,
    "SignatureVersion": "2",
    "TracingConfig": "Active",
}
FIFO = {
    "TopicName": "orders.fifo",
    "FifoTopic": True,
    "ContentBasedDeduplication": True,
    "FifoThroughputScope": "MessageGroup",
    "ArchivePolicy": {"MessageRetentionPeriod": "30"},
}


@pytest.fixture(autouse=True)
def faithful(session: boto3.Session) -> None:
    """moto keeps every attribute and shows some; and it lets a create with other attributes or tags pass."""
    events: Any = session.events
    hidden = {
        "ArchivePolicy": "archive_policy",
        "FifoThroughputScope": "fifo_throughput_scope",
        "MaximumMessageSize": "maximum_message_size",
        "SignatureVersion": "signature_version",
        "TracingConfig": "tracing_config",
    }

    def show(parsed: dict[str, Any], **_: Any) -> None:
        if attributes := parsed.get("Attributes"):
            topic = sns_backends["123456789012"]["eu-west-1"].topics[attributes["TopicArn"]]
            attributes.update({word: getattr(topic, at) for word, at in hidden.items() if hasattr(topic, at)})

    events.register("after-call.sns.GetTopicAttributes", show)


def wanted(properties: dict[str, Any], **initial: Any) -> Desired:
    return Desired("a", properties["TopicName"], freeze(properties), freeze(TAGS), freeze(initial))


def read(aws: Aws, name: str = NAME) -> Resource:
    found = KIND.read(aws, KIND.locate(aws, name))
    assert found is not None
    return found


def create(aws: Aws, declared: dict[str, Any]) -> Resource:
    assert KIND.create(aws, wanted(declared), None) is Progress.COMPLETE
    return read(aws, declared["TopicName"])


def differences(declared: dict[str, Any], found: Resource) -> list[str]:
    return [str(one) for one in diff(freeze(declared), found.properties or {}, KIND.shape)]


@pytest.mark.parametrize("declared", [PLAIN, RICH, FIFO, {**PLAIN, "FifoTopic": False}])
def test_what_was_created_reads_back_without_a_difference(aws: Aws, declared: dict[str, Any]) -> None:
    KIND.properties.model_validate(declared)
    assert KIND.check(freeze(declared)) is None
    assert KIND.single_call(freeze(declared))
    found = create(aws, declared)
    assert differences(declared, found) == []
    name = declared["TopicName"]
    assert (found.id, found.name, found.tags, found.state) == (name, name, TAGS, State.READY)
    assert found.facts == {"SubscriptionsConfirmed": 0, "SubscriptionsPending": 0}


def test_what_is_initial_is_set_at_creation(aws: Aws) -> None:
    KIND.create(aws, wanted(PLAIN, DisplayName="Orders"), None)
    assert differences({"DisplayName": "Orders"}, read(aws)) == []


def test_service_defaults_are_no_difference(aws: Aws) -> None:
    nothing: dict[str, Any] = {
        "FifoTopic": False,
        "ArchivePolicy": {},
        "ContentBasedDeduplication": None,
        "FifoThroughputScope": "Topic",
        "DisplayName": "",
        "KmsMasterKeyId": None,
        "MaximumMessageSize": 262_144,
        "SignatureVersion": "1",
        "TracingConfig": "PassThrough",
    }
    assert differences(nothing, create(aws, PLAIN)) == []


@pytest.mark.parametrize(
    ("before", "word", "value"),
    [
        (RICH, "DisplayName", "All orders"),
        (RICH, "KmsMasterKeyId", "alias/orders"),
        (RICH, "MaximumMessageSize", 1024),
        (RICH, "SignatureVersion", "1"),
        (RICH, "TracingConfig", "PassThrough"),
        (FIFO, "ArchivePolicy", {"MessageRetentionPeriod": "7"}),
        (FIFO, "ContentBasedDeduplication", False),
        (FIFO, "FifoThroughputScope", "Topic"),
    ],
)
def test_an_update_changes_its_property_and_leaves_every_other(
    aws: Aws, before: dict[str, Any], word: str, value: Any
) -> None:
    seen = create(aws, before)
    for wants in (value, None):
        assert KIND.update(aws, seen, Change(properties=freeze({word: wants}))) is Progress.COMPLETE
        assert differences({**before, word: wants}, read(aws, seen.id)) == []
    assert read(aws, seen.id).tags == TAGS


def test_the_order_of_a_document_does_not_matter(aws: Aws) -> None:
    found = create(aws, {**FIFO, "ArchivePolicy": {"b": 1, "a": 2}})
    assert differences({"ArchivePolicy": {"a": 2, "b": 1}}, found) == []


def test_fifo_is_create_only(aws: Aws) -> None:
    (one,) = diff({"FifoTopic": True}, create(aws, PLAIN).properties or {}, KIND.shape)
    assert one.create_only


def test_tags_are_merged_and_removed(aws: Aws) -> None:
    seen = create(aws, PLAIN)
    KIND.update(aws, seen, Change(tags=freeze({"stage": "live"}), untag=frozenset({"team"})))
    owner = {key: value for key, value in TAGS.items() if key != "team"}
    assert read(aws).tags == {**owner, "stage": "live"}


def test_a_create_where_there_is_one_changes_nothing(aws: Aws) -> None:
    create(aws, RICH)
    KIND.create(aws, Desired("b", NAME, freeze(PLAIN), freeze({"other": "tags"})), None)
    assert read(aws).tags == TAGS
    assert differences(RICH, read(aws)) == []


def test_other_attributes_than_the_topic_has_mean_that_it_exists(aws: Aws, session: boto3.Session) -> None:
    """At AWS such a create is InvalidParameter; other invalid parameters stay what they are."""

    def refuse(parsed: dict[str, Any], http_response: Any, **_: Any) -> None:
        http_response.status_code = 400
        message = "Invalid parameter: Tags Reason: Topic already exists with different tags"
        parsed["Error"] = {"Code": "InvalidParameter", "Message": message, "Type": "Sender"}

    with pytest.raises(ClientError, match="InvalidParameter"):
        KIND.create(aws, wanted({"TopicName": "orders.fifo"}), None)
    events: Any = session.events
    events.register("after-call.sns.CreateTopic", refuse)
    with pytest.raises(ExistsError, match="different tags"):
        KIND.create(Aws(session, aws.scope), wanted(PLAIN), None)


def test_a_deleted_topic_is_absent(aws: Aws) -> None:
    seen = create(aws, PLAIN)
    KIND.delete(aws, seen)
    KIND.delete(aws, seen)  # SNS has no objection
    with pytest.raises(ClientError) as refusal:
        KIND.read(aws, KIND.locate(aws, NAME))
    assert refusal.value.response["Error"]["Code"] in KIND.absent_codes


def test_known_tags_are_not_read_again(aws: Aws, recorded: set[str]) -> None:
    create(aws, PLAIN)
    recorded.clear()
    found = KIND.read(aws, KIND.locate(aws, NAME).with_tags({"team": "orders"}))
    assert found is not None
    assert found.tags == {"team": "orders"}
    assert recorded == {"sns:GetTopicAttributes"}


def test_the_survey_is_complete_over_pages(aws: Aws) -> None:
    names = [f"a{number:03}" for number in range(105)]
    for name in names:
        KIND.create(aws, wanted({"TopicName": name}), None)
    create(aws, PLAIN)
    assert sorted(one.id for one in KIND.survey(aws, ["a", "x"])) == names
    assert len(list(KIND.survey(aws, [""]))) == 106
    assert list(KIND.survey(aws, [])) == []
    (found,) = KIND.survey(aws, [NAME])
    assert read(aws) == KIND.read(aws, found)


def test_the_tag_index_finds_it_by_its_arn(aws: Aws) -> None:
    assert create(aws, PLAIN).arn == ARN
    assert KIND.has_arn(ARN)
    assert KIND.name_of_arn(ARN) == NAME
    assert not KIND.has_arn(f"{ARN}:2bcfbf39-05c3-41de-beaa-fcfcc21c8f55")
    assert not KIND.has_arn("arn:aws:sqs:eu-west-1:123456789012:orders")


def test_iam_lists_the_calls_that_are_made(aws: Aws, recorded: set[str]) -> None:
    def calls() -> set[str]:
        made = set(recorded)
        recorded.clear()
        return made

    KIND.create(aws, wanted(PLAIN), None)
    assert calls() | {"sns:TagResource"} == KIND.iam["create"]  # SNS demands it for tags in the create
    list(KIND.survey(aws, [""]))
    assert calls() == KIND.iam["survey"]
    seen = read(aws)
    assert calls() == KIND.iam["read"]
    KIND.update(aws, seen, Change(freeze({"DisplayName": "a"}), freeze({"a": "b"}), frozenset({"team"})))
    assert calls() == KIND.iam["update"]
    KIND.delete(aws, seen)
    assert calls() == KIND.iam["delete"]


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"TopicName": "orders.fifo"}, "ends in .fifo"),
        ({"TopicName": "orders", "FifoTopic": True}, "ends in .fifo"),
        ({**PLAIN, "ArchivePolicy": {"MessageRetentionPeriod": "30"}}, "for FIFO topics only"),
        ({**FIFO, "TracingConfig": "Active"}, "standard topics only"),
    ],
)
def test_what_would_be_refused_is_said_before(declared: dict[str, Any], says: str) -> None:
    KIND.properties.model_validate(declared)
    assert says in (KIND.check(freeze(declared)) or "")


@pytest.mark.parametrize(
    "wrong",
    [
        {"TopicName": "a" * 257},
        {"TopicName": "a b"},
        {"TopicName": "a", "MaximumMessageSize": 1},
        {"TopicName": "a", "SignatureVersion": 2},
        {"TopicName": "a", "ArchivePolicy": "{}"},
        {"TopicName": "a", "Subscription": []},
    ],
)
def test_the_model_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate(wrong)
