"""EventBridge rules: PutRule writes the whole rule, targets come after it and go before it."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.events_rule import EventsRule
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.errors import RefusedError, WaitError
from policies.frozen import freeze
from policies.world import Resource, State

KIND = EventsRule()
NAME = "orders.placed"
ARN = f"arn:aws:events:eu-west-1:123456789012:rule/{NAME}"
TAGS = {"setpoint:policy": "main/rules", "setpoint:key": "a", "team": "orders"}
QUEUE = "arn:aws:sqs:eu-west-1:123456789012:orders"
PATTERN = {"source": ["orders"], "detail": {"state": ["PLACED", "PAID"]}}
PLAIN = {"Name": NAME, "EventPattern": PATTERN}
SCHEDULED = {"Name": NAME, "ScheduleExpression": "rate(5 minutes)", "State": "DISABLED"}
TASK = {
    "Id": "task",
    "Arn": "arn:aws:ecs:eu-west-1:123456789012:cluster/jobs",
    "RoleArn": "arn:aws:iam::123456789012:role/rules",
    "EcsParameters": {
        "TaskDefinitionArn": "arn:aws:ecs:eu-west-1:123456789012:task-definition/nightly",
        "TaskCount": 2,
        "CapacityProviderStrategy": [{"CapacityProvider": "FARGATE_SPOT", "Weight": 1, "Base": 0}],
        "NetworkConfiguration": {
            "AwsVpcConfiguration": {"Subnets": ["subnet-1", "subnet-2"], "AssignPublicIp": "DISABLED"}
        },
        "PlatformVersion": "LATEST",
        "EnableExecuteCommand": False,
    },
}
RICH = {
    "Name": NAME,
    "Description": "Orders",
    "EventPattern": PATTERN,
    "ScheduleExpression": "cron(0 12 * * ? *)",
    "RoleArn": "arn:aws:iam::123456789012:role/rules",
    "State": "DISABLED",
    "Targets": [
        {"Id": "queue", "Arn": QUEUE, "InputPath": "$.detail", "RetryPolicy": {"MaximumRetryAttempts": 3}},
        {
            "Id": "fifo",
            "Arn": f"{QUEUE}.fifo",
            "SqsParameters": {"MessageGroupId": "a"},
            "InputTransformer": {"InputPathsMap": {"id": "$.id"}, "InputTemplate": '{"id": <id>}'},
            "DeadLetterConfig": {"Arn": f"{QUEUE}-dead"},
        },
    ],
}


def wanted(properties: dict[str, Any], **initial: Any) -> Desired:
    return Desired("a", properties["Name"], freeze(properties), freeze(TAGS), freeze(initial))


def read(aws: Aws, name: str = NAME) -> Resource:
    found = KIND.read(aws, KIND.locate(aws, name))
    assert found is not None
    return found


def differences(declared: dict[str, Any], found: Resource) -> list[str]:
    return [str(one) for one in diff(freeze(declared), found.properties or {}, KIND.shape)]


def create(aws: Aws, declared: dict[str, Any]) -> Resource:
    """As the engine does it: create, and what is still different comes as an update."""
    progress = KIND.create(aws, wanted(declared), None)
    found = read(aws, declared["Name"])
    words = {one.path[0]: declared[one.path[0]] for one in diff(freeze(declared), found.properties or {}, KIND.shape)}
    assert (progress is Progress.PARTIAL) == bool(words)
    if words:
        assert KIND.update(aws, found, Change(properties=freeze(words))) is Progress.COMPLETE
    return read(aws, declared["Name"])


@pytest.mark.parametrize("declared", [PLAIN, SCHEDULED, {**SCHEDULED, "Targets": [TASK]}, RICH])
def test_what_was_created_reads_back_without_a_difference(aws: Aws, declared: dict[str, Any]) -> None:
    KIND.properties.model_validate(declared)
    assert KIND.check(freeze(declared)) is None
    found = create(aws, declared)
    assert differences(declared, found) == []
    assert (found.id, found.name, found.arn, found.tags, found.state) == (NAME, NAME, ARN, TAGS, State.READY)


def test_targets_are_read_where_they_are_asked_for(aws: Aws, recorded: set[str]) -> None:
    whole = create(aws, RICH)
    recorded.clear()
    seen = KIND.look(aws, whole, frozenset({"EventPattern"}))
    assert seen is not None
    assert seen.properties == {word: value for word, value in (whole.properties or {}).items() if word != "Targets"}
    assert recorded == {"events:DescribeRule"}
    assert KIND.look(aws, whole, frozenset({"Targets"})) == whole


def test_the_create_alone_brings_everything_but_the_targets(aws: Aws) -> None:
    assert KIND.create(aws, wanted(RICH), None) is Progress.PARTIAL
    found = read(aws)
    assert found.tags == TAGS
    assert differences(RICH, found) == ["Targets.queue", "Targets.fifo"]
    assert not KIND.single_call(freeze(RICH))
    assert KIND.single_call(freeze({**PLAIN, "Targets": []}))


def test_what_is_initial_is_set_at_creation(aws: Aws) -> None:
    KIND.create(aws, wanted(PLAIN, State="DISABLED"), None)
    assert differences({"State": "DISABLED"}, read(aws)) == []


def test_service_defaults_are_no_difference(aws: Aws) -> None:
    nothing: dict[str, Any] = {
        "Description": "",
        "RoleArn": None,
        "ScheduleExpression": None,
        "State": "ENABLED",
        "Targets": [],
    }
    assert differences(nothing, create(aws, PLAIN)) == []


def test_a_pattern_is_compared_as_json(aws: Aws, session: boto3.Session) -> None:
    create(aws, PLAIN)
    text = json.dumps(dict(reversed(PATTERN.items())), indent=3)
    session.client("events").put_rule(Name=NAME, EventPattern=text)
    assert differences(PLAIN, read(aws)) == []
    session.client("events").put_rule(Name=NAME, EventPattern=json.dumps({**PATTERN, "account": ["1"]}))
    assert differences(PLAIN, read(aws)) == ["EventPattern"]


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("Description", "All orders"),
        ("Description", None),
        ("EventPattern", {"source": ["payment"]}),
        ("EventPattern", None),
        ("ScheduleExpression", "rate(1 hour)"),
        ("ScheduleExpression", None),
        ("RoleArn", "arn:aws:iam::123456789012:role/others"),
        ("RoleArn", None),
        ("State", "ENABLED"),
        ("State", None),
        ("Targets", [{"Id": "queue", "Arn": QUEUE, "Input": '"hello"'}]),
        ("Targets", [TASK]),
        ("Targets", [{**TASK, "EcsParameters": {"TaskDefinitionArn": "arn:aws:ecs:a", "TaskCount": None}}]),
        ("Targets", [{"Id": f"t{number}", "Arn": QUEUE} for number in range(5)]),
        ("Targets", None),
    ],
)
def test_an_update_changes_its_property_and_blanks_no_other(aws: Aws, word: str, value: Any) -> None:
    seen = create(aws, RICH)
    assert KIND.update(aws, seen, Change(properties=freeze({word: value}))) is Progress.COMPLETE
    assert differences({**RICH, word: value}, read(aws)) == []
    assert read(aws).tags == TAGS


def test_a_target_that_changes_is_replaced_whole(aws: Aws) -> None:
    seen = create(aws, RICH)
    targets = [{"Id": "queue", "Arn": QUEUE, "Input": '"hello"', "InputPath": None}]
    KIND.update(aws, seen, Change(properties=freeze({"Targets": targets})))
    assert (read(aws).properties or {})["Targets"] == [{"Id": "queue", "Arn": QUEUE, "Input": '"hello"'}]


@pytest.mark.parametrize(("new", "order"), [(3, ["PutTargets", "RemoveTargets"]), (4, ["RemoveTargets", "PutTargets"])])
def test_new_targets_come_before_old_ones_go_if_there_is_room(
    aws: Aws, session: boto3.Session, new: int, order: list[str]
) -> None:
    seen = create(aws, RICH)
    made: list[str] = []
    events: Any = session.events
    events.register("before-parameter-build.events", lambda model, **_: made.append(model.name))
    targets = [{"Id": f"t{number}", "Arn": QUEUE} for number in range(new)]
    KIND.update(Aws(session, aws.scope), seen, Change(properties=freeze({"Targets": targets})))
    assert made == order


@pytest.mark.parametrize(
    ("code", "error"), [("ConcurrentModificationException", WaitError), ("ResourceNotFoundException", RefusedError)]
)
@pytest.mark.parametrize("operation", ["PutTargets", "RemoveTargets"])
def test_entries_that_failed_are_errors(
    aws: Aws, session: boto3.Session, operation: str, code: str, error: type[Exception]
) -> None:
    seen = create(aws, RICH)

    def fail(parsed: dict[str, Any], **_: Any) -> None:
        entry = {"TargetId": "queue", "ErrorCode": code, "ErrorMessage": "no"}
        parsed.update(FailedEntryCount=1, FailedEntries=[entry])

    events: Any = session.events
    events.register(f"after-call.events.{operation}", fail)
    change = Change(properties=freeze({"Targets": [{"Id": "other", "Arn": QUEUE}]}))
    with pytest.raises(error, match=f"target queue: {code}"):
        KIND.update(Aws(session, aws.scope), seen, change)


def test_a_rule_whose_targets_stay_is_not_deleted(aws: Aws, session: boto3.Session) -> None:
    seen = create(aws, RICH)
    events: Any = session.events
    failed = {"FailedEntryCount": 1, "FailedEntries": [{"TargetId": "a", "ErrorCode": "b", "ErrorMessage": "c"}]}
    events.register("after-call.events.RemoveTargets", lambda parsed, **_: parsed.update(failed))
    with pytest.raises(RefusedError):
        KIND.delete(Aws(session, aws.scope), seen)
    assert read(aws).tags == TAGS


def test_tags_are_merged_and_removed(aws: Aws) -> None:
    seen = create(aws, PLAIN)
    KIND.update(aws, seen, Change(tags=freeze({"stage": "live"}), untag=frozenset({"team"})))
    owner = {key: value for key, value in TAGS.items() if key != "team"}
    assert read(aws).tags == {**owner, "stage": "live"}


@pytest.mark.parametrize("declared", [PLAIN, RICH])
def test_a_deleted_rule_is_absent(aws: Aws, declared: dict[str, Any]) -> None:
    seen = create(aws, declared)
    KIND.delete(aws, seen)
    with pytest.raises(ClientError) as refusal:
        KIND.read(aws, KIND.locate(aws, NAME))
    assert refusal.value.response["Error"]["Code"] in KIND.absent_codes


def test_known_tags_are_not_read_again(aws: Aws, recorded: set[str]) -> None:
    create(aws, PLAIN)
    recorded.clear()
    found = KIND.read(aws, KIND.locate(aws, NAME).with_tags({"team": "orders"}))
    assert found is not None
    assert found.tags == {"team": "orders"}
    assert recorded == {"events:DescribeRule", "events:ListTargetsByRule"}


def test_the_survey_is_complete_over_pages_of_the_default_bus(aws: Aws, session: boto3.Session) -> None:
    names = [f"a{number:03}" for number in range(110)]
    for name in names:
        KIND.create(aws, wanted({"Name": name, "EventPattern": PATTERN}), None)
    create(aws, PLAIN)
    client = session.client("events")
    client.create_event_bus(Name="other")
    client.put_rule(Name="a000", EventBusName="other", EventPattern=json.dumps(PATTERN))
    assert sorted(one.id for one in KIND.survey(aws, ["a", "x"])) == names
    assert len(list(KIND.survey(aws, [""]))) == 111
    assert list(KIND.survey(aws, [])) == []


def test_the_tag_index_finds_it_by_its_arn(aws: Aws) -> None:
    assert KIND.has_arn(ARN)
    assert KIND.name_of_arn(ARN) == NAME
    assert not KIND.has_arn("arn:aws:events:eu-west-1:123456789012:rule/bus/orders")
    assert not KIND.has_arn("arn:aws:events:eu-west-1:123456789012:event-bus/orders")


def test_iam_lists_the_calls_that_are_made(aws: Aws, recorded: set[str]) -> None:
    def calls() -> set[str]:
        made = set(recorded)
        recorded.clear()
        return made

    KIND.create(aws, wanted(PLAIN), None)
    # Tags in the create and roles need rights of their own.
    assert calls() | {"events:TagResource", "iam:PassRole"} == KIND.iam["create"]
    list(KIND.survey(aws, [""]))
    assert calls() == KIND.iam["survey"]
    read(aws)
    assert calls() == KIND.iam["read"]
    some = freeze({"State": "DISABLED", "Targets": RICH["Targets"]})
    KIND.update(aws, read(aws), Change(some, freeze({"a": "b"}), frozenset({"team"})))
    KIND.update(aws, read(aws), Change(freeze({"Targets": RICH["Targets"][:1]})))
    assert (calls() - KIND.iam["read"]) | {"iam:PassRole"} == KIND.iam["update"]
    seen = read(aws)
    calls()
    KIND.delete(aws, seen)
    assert calls() == KIND.iam["delete"]


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"Name": NAME}, "needs an EventPattern"),
        ({**PLAIN, "Targets": [{"Id": "a", "Arn": QUEUE}, {"Id": "a", "Arn": QUEUE}]}, "the same Id"),
        ({**PLAIN, "Targets": [{"Id": "a", "Arn": QUEUE, "Input": "1", "InputPath": "$"}]}, "exclude each other"),
    ],
)
def test_what_would_be_refused_is_said_before(declared: dict[str, Any], says: str) -> None:
    KIND.properties.model_validate(declared)
    assert says in (KIND.check(freeze(declared)) or "")


@pytest.mark.parametrize(
    "wrong",
    [
        {"Name": "a" * 65},
        {"Name": "a b"},
        {"Name": "a", "EventBusName": "other"},
        {"Name": "a", "ScheduleExpression": "every minute"},
        {"Name": "a", "State": "enabled"},
        {"Name": "a", "EventPattern": "{}"},
        {"Name": "a", "Targets": [{"Id": "a"}]},
        {"Name": "a", "Targets": [{"Id": "a", "Arn": QUEUE, "EcsParameters": {}}]},
        {"Name": "a", "Targets": [{"Id": str(number), "Arn": QUEUE} for number in range(6)]},
    ],
)
def test_the_model_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate(wrong)
