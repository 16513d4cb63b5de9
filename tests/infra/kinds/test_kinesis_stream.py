"""Kinesis streams: born with tags, shards, mode and record size; every change after that is a step of its own."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError
from moto.kinesis.models import kinesis_backends
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.kinesis_stream import KinesisStream
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.errors import ExistsError, RefusedError
from policies.frozen import freeze, thaw
from policies.world import Resource, State

KIND = KinesisStream()
NAME = "orders"
TAGS = {"setpoint:policy": "main/streams", "setpoint:key": "a", "team": "orders"}
KEY = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
PLAIN = {"Name": NAME, "ShardCount": 4}
ON_DEMAND = {"Name": NAME, "StreamModeDetails": {"StreamMode": "ON_DEMAND"}}
RICH = {
    "Name": NAME,
    "ShardCount": 4,
    "StreamModeDetails": {"StreamMode": "PROVISIONED"},
    "RetentionPeriodHours": 48,
    "StreamEncryption": {"EncryptionType": "KMS", "KeyId": KEY},
    "DesiredShardLevelMetrics": ["OutgoingBytes", "IncomingBytes"],
    "MaxRecordSizeInKiB": 2048,
}


class Faithful:
    """What moto leaves out of Kinesis: the tags of the create call, and the size of a record."""

    def __init__(self, session: boto3.Session) -> None:
        self.sizes: dict[str, int] = {}
        self.born: dict[str, Any] = {}
        self.status: str | None = None
        events = session.events
        events.register("before-parameter-build.kinesis.CreateStream", self.create)
        events.register("after-call.kinesis.CreateStream", self.created)
        events.register("before-parameter-build.kinesis.UpdateMaxRecordSize", self.resize)
        events.register("before-call.kinesis.UpdateMaxRecordSize", self.answer)
        events.register("after-call.kinesis.DescribeStreamSummary", self.describe)

    def create(self, params: dict[str, Any], **_: Any) -> None:
        self.born = params

    def created(self, http_response: Any, **_: Any) -> None:
        if http_response.status_code == 200:
            name = self.born["StreamName"]
            self.sizes[name] = self.born.get("MaxRecordSizeInKiB", 1024)
            kinesis_backends["123456789012"]["eu-west-1"].streams[name].tags.update(self.born.get("Tags", {}))

    def resize(self, params: dict[str, Any], **_: Any) -> None:
        self.sizes[params["StreamARN"].rpartition("/")[2]] = params["MaxRecordSizeInKiB"]

    def answer(self, **_: Any) -> tuple[AWSResponse, dict[str, Any]]:
        return AWSResponse("", 200, {}, None), {"ResponseMetadata": {}}

    def describe(self, parsed: dict[str, Any], **_: Any) -> None:
        if summary := parsed.get("StreamDescriptionSummary"):
            summary["MaxRecordSizeInKiB"] = self.sizes[summary["StreamName"]]
            summary["StreamStatus"] = self.status or summary["StreamStatus"]


@pytest.fixture(autouse=True)
def faithful(session: boto3.Session) -> Faithful:
    return Faithful(session)


def wanted(properties: dict[str, Any], **initial: Any) -> Desired:
    return Desired("a", properties["Name"], freeze(properties), freeze(TAGS), freeze(initial))


def read(aws: Aws, name: str = NAME) -> Resource:
    found = KIND.read(aws, KIND.locate(aws, name))
    assert found is not None
    return found


def differences(declared: dict[str, Any], found: Resource) -> list[str]:
    return [str(one) for one in diff(freeze(declared), found.properties or {}, KIND.shape)]


def converge(aws: Aws, declared: dict[str, Any]) -> int:
    """Run after run until nothing differs; how many steps it took."""
    for steps in range(20):
        found = read(aws, declared["Name"])
        words = {one.path[0]: declared[one.path[0]] for one in diff(freeze(declared), found.properties, KIND.shape)}  # type: ignore[arg-type]
        if not words:
            return steps
        assert KIND.update(aws, found, Change(properties=freeze(words))) is Progress.PARTIAL
    raise AssertionError(f"still different: {words}")


def create(aws: Aws, declared: dict[str, Any]) -> Resource:
    progress = KIND.create(aws, wanted(declared), None)
    assert (progress is Progress.PARTIAL) == bool(converge(aws, declared))
    return read(aws, declared["Name"])


@pytest.mark.parametrize("declared", [PLAIN, RICH, ON_DEMAND, {**PLAIN, "MaxRecordSizeInKiB": 1024}])
def test_what_was_created_reads_back_without_a_difference(aws: Aws, declared: dict[str, Any]) -> None:
    KIND.properties.model_validate(declared)
    assert KIND.check(freeze(declared)) is None
    found = create(aws, declared)
    assert differences(declared, found) == []
    assert (found.id, found.name, found.tags, found.state) == (NAME, NAME, TAGS, State.READY)
    assert found.created is not None
    assert found.created.tzinfo is not None
    assert found.facts["CreateTime"] == found.created.isoformat()
    assert (found.facts["OpenShardCount"], found.facts["ConsumerCount"]) == (4, 0)
    KIND.properties.model_validate(thaw(found.properties))


def test_the_create_alone_brings_tags_shards_and_record_size(aws: Aws) -> None:
    assert KIND.create(aws, wanted(RICH), None) is Progress.PARTIAL
    found = read(aws)
    assert found.tags == TAGS
    later = ["RetentionPeriodHours", "StreamEncryption", "DesiredShardLevelMetrics"]
    assert differences(RICH, found) == later
    assert not KIND.single_call(freeze(RICH))
    assert KIND.single_call(freeze(PLAIN))


def test_what_is_initial_is_set_at_creation(aws: Aws) -> None:
    assert KIND.create(aws, wanted({"Name": NAME}, ShardCount=3), None) is Progress.COMPLETE
    assert differences({"ShardCount": 3}, read(aws)) == []


def test_service_defaults_are_no_difference(aws: Aws) -> None:
    nothing = {
        "StreamModeDetails": None,
        "RetentionPeriodHours": 24,
        "StreamEncryption": None,
        "DesiredShardLevelMetrics": [],
        "MaxRecordSizeInKiB": None,
    }
    assert differences(nothing, create(aws, PLAIN)) == []


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("RetentionPeriodHours", 168),
        ("RetentionPeriodHours", 24),
        ("RetentionPeriodHours", None),
        ("StreamEncryption", {"EncryptionType": "KMS", "KeyId": "alias/aws/kinesis"}),
        ("StreamEncryption", None),
        ("DesiredShardLevelMetrics", ["OutgoingBytes", "OutgoingRecords"]),
        ("DesiredShardLevelMetrics", None),
        ("MaxRecordSizeInKiB", 10_240),
        ("MaxRecordSizeInKiB", None),
        ("ShardCount", 8),
        ("ShardCount", 2),
    ],
)
def test_an_update_changes_its_property_and_leaves_every_other(aws: Aws, word: str, value: Any) -> None:
    create(aws, RICH)
    converge(aws, {"Name": NAME, word: value})
    assert differences({**RICH, word: value}, read(aws)) == []
    assert read(aws).tags == TAGS


@pytest.mark.parametrize(("shards", "steps"), [(33, 4), (5, 1), (2, 1), (1, 2)])
def test_a_long_way_is_gone_in_doublings_and_halvings(aws: Aws, shards: int, steps: int) -> None:
    create(aws, PLAIN)
    assert converge(aws, {**PLAIN, "ShardCount": shards}) == steps


@pytest.mark.parametrize(("now", "wants", "next_"), [(5, 1, 3), (3, 1, 2), (1, 9, 2), (3, 5, 5)])
def test_one_step_at_most_doubles_or_halves(aws: Aws, now: int, wants: int, next_: int) -> None:
    seen = create(aws, {**PLAIN, "ShardCount": now})
    KIND.update(aws, seen, Change(freeze({"ShardCount": wants})))
    assert differences({"ShardCount": next_}, read(aws)) == []


def test_one_run_makes_one_change(aws: Aws) -> None:
    seen = create(aws, PLAIN)
    words = {word: value for word, value in RICH.items() if word not in ("Name", "StreamModeDetails", "ShardCount")}
    assert KIND.update(aws, seen, Change(freeze(words))) is Progress.PARTIAL
    assert len(differences(words, read(aws))) == len(words) - 1


def test_the_mode_changes_both_ways_and_shards_are_counted_where_we_count_them(aws: Aws) -> None:
    create(aws, PLAIN)
    converge(aws, ON_DEMAND)
    assert differences(ON_DEMAND, read(aws)) == []
    assert "ShardCount" not in (read(aws).properties or {})
    assert converge(aws, {**PLAIN, "ShardCount": 8, "StreamModeDetails": None}) == 2
    assert differences({**PLAIN, "ShardCount": 8}, read(aws)) == []


def test_shards_have_no_default(aws: Aws) -> None:
    with pytest.raises(RefusedError, match="no default"):
        KIND.update(aws, create(aws, PLAIN), Change(freeze({"ShardCount": None})))


def test_tags_are_merged_and_removed(aws: Aws) -> None:
    seen = create(aws, PLAIN)
    change = Change(tags=freeze({"stage": "live"}), untag=frozenset({"team"}))
    assert KIND.update(aws, seen, change) is Progress.COMPLETE
    owner = {key: value for key, value in TAGS.items() if key != "team"}
    assert read(aws).tags == {**owner, "stage": "live"}


def test_a_taken_name_is_refused_and_stays_as_it_is(aws: Aws) -> None:
    create(aws, RICH)
    with pytest.raises(ExistsError):
        KIND.create(aws, wanted(PLAIN), None)
    assert read(aws).tags == TAGS


def test_a_deleted_stream_is_absent(aws: Aws) -> None:
    KIND.delete(aws, create(aws, PLAIN))
    with pytest.raises(ClientError) as refusal:
        KIND.read(aws, KIND.locate(aws, NAME))
    assert refusal.value.response["Error"]["Code"] in KIND.absent_codes


@pytest.mark.parametrize(
    ("status", "state"),
    [("CREATING", State.PENDING), ("UPDATING", State.PENDING), ("ACTIVE", State.READY), ("DELETING", State.DELETING)],
)
def test_every_status_is_a_state(aws: Aws, faithful: Faithful, status: str, state: State) -> None:
    create(aws, PLAIN)
    faithful.status = status
    found = read(aws)
    assert found.state is state
    assert found.facts["StreamStatus"] == status
    assert found.tags == (None if status == "DELETING" else TAGS)


def test_known_tags_are_not_read_again(aws: Aws, recorded: set[str]) -> None:
    create(aws, PLAIN)
    recorded.clear()
    found = KIND.read(aws, KIND.locate(aws, NAME).with_tags({"team": "orders"}))
    assert found is not None
    assert found.tags == {"team": "orders"}
    assert recorded == {"kinesis:DescribeStreamSummary"}


def test_tags_come_in_pages(aws: Aws, session: boto3.Session) -> None:
    create(aws, PLAIN)
    session.events.register(
        "provide-client-params.kinesis.ListTagsForStream", lambda params, **_: {**params, "Limit": 2}
    )
    assert read(Aws(session, aws.scope)).tags == TAGS


def test_the_survey_is_complete_over_pages(aws: Aws, session: boto3.Session) -> None:
    names = [f"a{number:03}" for number in range(25)]
    for name in names:
        KIND.create(aws, wanted({"Name": name, "ShardCount": 1}), None)
    KIND.create(aws, wanted({"Name": "b", "ShardCount": 1}), None)
    session.events.register("provide-client-params.kinesis.ListStreams", lambda params, **_: {**params, "Limit": 10})
    small = Aws(session, aws.scope)
    assert [one.id for one in KIND.survey(small, ["a", "c"])] == names
    assert len(list(KIND.survey(small, [""]))) == 26
    assert list(KIND.survey(small, [])) == []


def test_the_tag_index_finds_it_by_its_arn(aws: Aws) -> None:
    arn = create(aws, PLAIN).arn or ""
    assert KIND.has_arn(arn)
    assert KIND.name_of_arn(arn) == NAME
    assert not KIND.has_arn("arn:aws:sqs:eu-west-1:123456789012:orders")


def test_iam_lists_the_calls_that_are_made(aws: Aws, recorded: set[str]) -> None:
    def calls() -> set[str]:
        made = set(recorded)
        recorded.clear()
        return made

    KIND.create(aws, wanted(PLAIN), None)
    assert calls() | {"kinesis:AddTagsToStream"} == KIND.iam["create"]
    list(KIND.survey(aws, [""]))
    assert calls() == KIND.iam["survey"]
    seen = read(aws)
    assert calls() == KIND.iam["read"]
    KIND.update(aws, seen, Change(tags=freeze({"a": "b"}), untag=frozenset({"team"})))
    for declared in (RICH, {**PLAIN, "RetentionPeriodHours": None, "StreamEncryption": None}):
        converge(aws, {"DesiredShardLevelMetrics": None, "ShardCount": 8, **declared})
    converge(aws, {**PLAIN, "ShardCount": 8, "StreamEncryption": None, "DesiredShardLevelMetrics": None})
    converge(aws, ON_DEMAND)
    assert calls() - KIND.iam["read"] == KIND.iam["update"]
    KIND.delete(aws, seen)
    assert calls() == KIND.iam["delete"]


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"Name": NAME}, "needs a ShardCount"),
        ({**PLAIN, "ShardCount": None}, "needs a ShardCount"),
        ({**ON_DEMAND, "ShardCount": 2}, "leave ShardCount out"),
        ({**PLAIN, "DesiredShardLevelMetrics": ["ALL"]}, "instead of ALL"),
    ],
)
def test_what_would_be_refused_or_never_settle_is_said_before(declared: dict[str, Any], says: str) -> None:
    KIND.properties.model_validate(declared)
    assert says in (KIND.check(freeze(declared)) or "")


@pytest.mark.parametrize(
    "wrong",
    [
        {"Name": "a" * 129},
        {"Name": "a b"},
        {"Name": "a", "ShardCount": 0},
        {"Name": "a", "RetentionPeriodHours": 23},
        {"Name": "a", "RetentionPeriodHours": "48"},
        {"Name": "a", "StreamEncryption": {"EncryptionType": "NONE", "KeyId": "a"}},
        {"Name": "a", "StreamEncryption": {"EncryptionType": "KMS"}},
        {"Name": "a", "WarmThroughputMiBps": 5},
    ],
)
def test_the_model_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate(wrong)
