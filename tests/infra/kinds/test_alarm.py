"""Alarms: what is put is what is read; what is not in a change stays; tags are no part of an update."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER
from moto import mock_aws
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.alarm import Alarm
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.frozen import freeze, thaw
from policies.item_pattern import compile_pattern
from policies.world import Resource, Scope, State

KIND = Alarm()
NAME = "orders/depth: high"
TAGS = {"setpoint:policy": "main/alarms", "setpoint:key": "a", "team": "orders"}
TOPIC = "arn:aws:sns:eu-west-1:123456789012:pager"
OTHER = "arn:aws:sns:eu-west-1:123456789012:mail"
JUDGED = {"ComparisonOperator": "GreaterThanThreshold", "EvaluationPeriods": 3, "Threshold": 0}
PLAIN = {
    "AlarmName": NAME,
    "Namespace": "AWS/SQS",
    "MetricName": "ApproximateNumberOfMessagesVisible",
    "Statistic": "Average",
    "Period": 60,
    **JUDGED,
}
RICH = {
    **PLAIN,
    "ActionConfiguration": {"AlarmTagsPropagation": {"Enabled": True, "IncludedTagKeys": ["team", "stage"]}},
    "ActionsEnabled": False,
    "AlarmActions": [TOPIC, OTHER],
    "AlarmDescription": "too deep",
    "DatapointsToAlarm": 2,
    "Dimensions": [{"Name": "QueueName", "Value": "orders"}, {"Name": "Stage", "Value": "live"}],
    "EvaluationWindow": {"WallClockWindow": {"Timezone": "Europe/Berlin"}},
    "InsufficientDataActions": [TOPIC],
    "OKActions": [OTHER],
    "Threshold": 100,
    "TreatMissingData": "notBreaching",
    "Unit": "Count",
    "WarmUpConfiguration": {"WarmUpPeriodDurationInMinutes": 30},
}
PERCENTILE = {
    **{word: value for word, value in PLAIN.items() if word != "Statistic"},
    "ExtendedStatistic": "p99",
    "EvaluateLowSampleCountPercentile": "ignore",
}


def metric(name: str) -> dict[str, Any]:
    dimensions = [{"Name": "QueueName", "Value": "orders"}]
    return {
        "Metric": {"Namespace": "AWS/SQS", "MetricName": name, "Dimensions": dimensions},
        "Period": 60,
        "Stat": "Sum",
    }


MATH = {
    "AlarmName": NAME,
    **JUDGED,
    "Metrics": [
        {"Id": "sent", "MetricStat": metric("NumberOfMessagesSent"), "ReturnData": False},
        {"Id": "gone", "MetricStat": {**metric("NumberOfMessagesDeleted"), "Unit": "Count"}, "ReturnData": False},
        {"Id": "rest", "Expression": "sent - gone", "Label": "left over"},
    ],
}
BAND = {
    "AlarmName": NAME,
    "ComparisonOperator": "GreaterThanUpperThreshold",
    "EvaluationPeriods": 2,
    "ThresholdMetricId": "band",
    "Metrics": [
        {"Id": "sent", "MetricStat": metric("NumberOfMessagesSent"), "ReturnData": True},
        {"Id": "band", "Expression": "ANOMALY_DETECTION_BAND(sent, 2)", "ReturnData": True},
    ],
}
PROMQL = {
    "AlarmName": NAME,
    "EvaluationCriteria": {"PromQLCriteria": {"Query": "up == 0", "PendingPeriod": 60, "RecoveryPeriod": 0}},
    "EvaluationInterval": 30,
}


class Faithful:
    """What moto leaves out of CloudWatch: pages, the newer properties, and that an update takes no tags."""

    forgotten = ("ActionConfiguration", "EvaluationCriteria", "EvaluationInterval", "EvaluationWindow")

    def __init__(self, session: boto3.Session) -> None:
        self.memory: dict[str, dict[str, Any]] = {}
        self.page = 100
        self.composites: set[str] = set()
        events = session.events
        events.register("before-parameter-build.cloudwatch.PutMetricAlarm", self.put)
        events.register("before-parameter-build.cloudwatch.DeleteAlarms", self.delete)
        events.register("before-parameter-build.cloudwatch.DescribeAlarms", self.ask)
        events.register("after-call.cloudwatch.DescribeAlarms", self.describe)

    def put(self, params: dict[str, Any], **_: Any) -> None:
        if params["AlarmName"] in self.memory:
            params.pop("Tags", None)
        words = (*self.forgotten, "WarmUpConfiguration")
        self.memory[params["AlarmName"]] = {word: params[word] for word in words if word in params}

    def delete(self, params: dict[str, Any], **_: Any) -> None:
        for name in params["AlarmNames"]:
            self.memory.pop(name, None)

    def ask(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["start"] = int(params.get("NextToken", 0))

    def describe(self, parsed: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        for alarm in parsed["MetricAlarms"]:
            alarm.update(self.memory.get(alarm["AlarmName"], {}))
        parsed["CompositeAlarms"] = [one for one in parsed["MetricAlarms"] if one["AlarmName"] in self.composites]
        parsed["MetricAlarms"] = [one for one in parsed["MetricAlarms"] if one["AlarmName"] not in self.composites]
        start, end = context["start"], context["start"] + self.page
        if len(parsed["MetricAlarms"]) > end:
            parsed["NextToken"] = str(end)
        parsed["MetricAlarms"] = parsed["MetricAlarms"][start:end]


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


def create(aws: Aws, properties: dict[str, Any], **more: Any) -> Resource:
    desired = Desired(key="a", name=properties["AlarmName"], properties=freeze(properties), tags=freeze(TAGS), **more)
    assert KIND.create(aws, desired, None) is Progress.COMPLETE
    return read(aws, properties["AlarmName"])


def read(aws: Aws, name: str = NAME) -> Resource:
    found = KIND.read(aws, KIND.locate(aws, name))
    assert found is not None
    return found


def differences(declared: dict[str, Any], found: Resource) -> list[str]:
    return [str(one) for one in diff(freeze(declared), found.properties or {}, KIND.shape)]


@pytest.mark.parametrize("declared", [PLAIN, RICH, PERCENTILE, MATH, BAND, PROMQL])
def test_what_was_created_reads_back_without_a_difference(aws: Aws, declared: dict[str, Any]) -> None:
    KIND.properties.model_validate(declared)
    assert KIND.check(freeze(declared)) is None
    found = create(aws, declared)
    assert differences(declared, found) == []
    assert (found.id, found.name, found.tags, found.state) == (NAME, NAME, TAGS, State.READY)
    assert KIND.name_of_arn(found.arn or "") == NAME
    assert found.facts["StateValue"] == "OK"
    KIND.properties.model_validate(thaw(found.properties))


def test_what_is_initial_is_set_at_creation(aws: Aws) -> None:
    properties = {word: value for word, value in PLAIN.items() if word != "Threshold"}
    assert create(aws, properties, initial=freeze({"Threshold": 7})).properties["Threshold"] == 7  # type: ignore[index]


def test_order_and_service_defaults_are_no_difference(aws: Aws) -> None:
    found = create(aws, RICH)
    turned = {**RICH, "AlarmActions": [OTHER, TOPIC], "Dimensions": list(reversed(RICH["Dimensions"]))}  # type: ignore[call-overload]
    assert differences(turned, found) == []
    defaults = {
        **{word: [] for word in ("AlarmActions", "OKActions", "InsufficientDataActions", "Dimensions", "Metrics")},
        "ActionsEnabled": True,
        "AlarmDescription": "",
        "EvaluateLowSampleCountPercentile": "evaluate",
        "TreatMissingData": "missing",
        "EvaluationWindow": None,
    }
    assert differences({**PLAIN, **defaults}, create(aws, {**PLAIN, "AlarmName": "plain"})) == ["AlarmName"]


def test_the_order_of_metrics_is_no_difference_and_a_changed_one_is_named(aws: Aws) -> None:
    found = create(aws, MATH)
    assert differences({**MATH, "Metrics": list(reversed(MATH["Metrics"]))}, found) == []  # type: ignore[call-overload]
    changed = [*MATH["Metrics"][:2], {**MATH["Metrics"][2], "Expression": "sent"}]  # type: ignore[index]
    assert differences({**MATH, "Metrics": changed}, found) == ["Metrics.rest.Expression"]


CHANGES = {
    "ActionConfiguration": {"AlarmTagsPropagation": {"Enabled": False}},
    "ActionsEnabled": True,
    "AlarmActions": [TOPIC],
    "AlarmDescription": "deeper than that",
    "ComparisonOperator": "LessThanThreshold",
    "DatapointsToAlarm": 1,
    "Dimensions": [{"Name": "QueueName", "Value": "bills"}],
    "EvaluationPeriods": 5,
    "EvaluationWindow": {"WallClockWindow": {}},
    "InsufficientDataActions": [OTHER],
    "MetricName": "NumberOfMessagesSent",
    "Namespace": "Ours",
    "OKActions": [],
    "Period": 300,
    "Statistic": "Maximum",
    "Threshold": 0.5,
    "TreatMissingData": "breaching",
    "Unit": "Seconds",
    "WarmUpConfiguration": {"WarmUpPeriodDurationInMinutes": 5, "OnlyStartEvaluatingAfterWarmUpPeriodEnds": True},
}


@pytest.mark.parametrize("word", CHANGES)
def test_an_update_changes_its_property_and_leaves_every_other(aws: Aws, word: str) -> None:
    seen = create(aws, RICH)
    assert KIND.update(aws, seen, Change(properties=freeze({word: CHANGES[word]}))) is Progress.COMPLETE
    assert differences({**RICH, word: CHANGES[word]}, read(aws)) == []
    assert read(aws).tags == TAGS


@pytest.mark.parametrize(
    "word",
    [
        "ActionConfiguration",
        "ActionsEnabled",
        "AlarmActions",
        "AlarmDescription",
        "DatapointsToAlarm",
        "Dimensions",
        "EvaluationWindow",
        "TreatMissingData",
        "Unit",
        "WarmUpConfiguration",
    ],
)
def test_null_resets_to_the_default(aws: Aws, word: str) -> None:
    seen = create(aws, RICH)
    KIND.update(aws, seen, Change(properties=freeze({word: None})))
    assert differences({**RICH, word: None}, read(aws)) == []


def test_null_deep_inside_resets_too(aws: Aws) -> None:
    seen = create(aws, RICH)
    quiet = {"WarmUpPeriodDurationInMinutes": 30, "OnlyStartEvaluatingAfterWarmUpPeriodEnds": None}
    KIND.update(aws, seen, Change(properties=freeze({"WarmUpConfiguration": quiet})))
    assert differences({**RICH, "WarmUpConfiguration": quiet}, read(aws)) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [(PLAIN, PERCENTILE), (PERCENTILE, PLAIN), (PLAIN, MATH), (MATH, PLAIN), (MATH, BAND), (PLAIN, PROMQL)],
)
def test_what_the_new_properties_exclude_goes_with_the_update(
    aws: Aws, before: dict[str, Any], after: dict[str, Any]
) -> None:
    seen = create(aws, before)
    new = {word: value for word, value in after.items() if before.get(word) != value}
    KIND.update(aws, seen, Change(properties=freeze(new)))
    found = read(aws)
    assert differences(after, found) == []
    assert KIND.check(freeze(found.properties)) is None


def test_tags_are_merged_and_removed_through_the_tagging_calls(aws: Aws) -> None:
    seen = create(aws, PLAIN)
    change = Change(properties=freeze({"Threshold": 9}), tags=freeze({"stage": "live"}), untag=frozenset({"team"}))
    KIND.update(aws, seen, change)
    owner = {key: value for key, value in TAGS.items() if key != "team"}
    assert read(aws).tags == {**owner, "stage": "live"}


def test_an_alarm_deleted_under_an_update_comes_back_with_its_owner(aws: Aws, faithful: Faithful) -> None:
    seen = create(aws, PLAIN)
    KIND.delete(aws, seen)
    KIND.update(aws, seen, Change(properties=freeze({"Threshold": 9})))
    assert read(aws).tags == TAGS


def test_known_tags_are_not_read_again(aws: Aws, recorded: set[str]) -> None:
    create(aws, PLAIN)
    recorded.clear()
    found = KIND.read(aws, KIND.locate(aws, NAME).with_tags({"team": "orders"}))
    assert found is not None
    assert found.tags == {"team": "orders"}
    assert recorded == {"cloudwatch:DescribeAlarms"}


def test_a_deleted_alarm_is_absent(aws: Aws) -> None:
    KIND.delete(aws, create(aws, PLAIN))
    assert KIND.read(aws, KIND.locate(aws, NAME)) is None


def test_tagging_what_is_gone_is_one_of_the_absent_codes(aws: Aws) -> None:
    seen = create(aws, PLAIN)
    KIND.delete(aws, seen)
    with pytest.raises(ClientError) as refusal:
        KIND.update(aws, seen, Change(tags=freeze({"stage": "live"})))
    assert refusal.value.response["Error"]["Code"] in KIND.absent_codes


def test_a_composite_alarm_under_our_name_is_no_free_name(aws: Aws, faithful: Faithful) -> None:
    create(aws, PLAIN)
    faithful.composites = {NAME}
    assert read(aws).tags == TAGS
    assert list(KIND.survey(aws, [""])) == []


def test_the_survey_is_complete_over_pages_and_shows_every_property(aws: Aws, faithful: Faithful) -> None:
    faithful.page = 4
    for number in range(10):
        create(aws, {**RICH, "AlarmName": f"a{number}"})
    create(aws, {**RICH, "AlarmName": "b"})
    found = {resource.id: resource for resource in KIND.survey(aws, ["a", "c"])}
    assert sorted(found) == [f"a{number}" for number in range(10)]
    assert all(differences({**RICH, "AlarmName": name}, one) == [] for name, one in found.items())
    assert all(one.tags is None and one.arn for one in found.values())
    assert len(list(KIND.survey(aws, [""]))) == 11
    assert list(KIND.survey(aws, [])) == []


def test_iam_lists_the_calls_that_are_made(aws: Aws, recorded: set[str]) -> None:
    def calls() -> set[str]:
        made = set(recorded)
        recorded.clear()
        return made

    desired = Desired(key="a", name=NAME, properties=freeze(PLAIN), tags=freeze(TAGS))
    KIND.create(aws, desired, None)
    # CloudWatch demands the right to tag for tags in the create.
    assert calls() | {"cloudwatch:TagResource"} == KIND.iam["create"]
    list(KIND.survey(aws, [""]))
    assert calls() == KIND.iam["survey"]
    seen = read(aws)
    assert calls() == KIND.iam["read"]
    changes = Change(properties=freeze({"Period": 300}), tags=freeze({"a": "b"}), untag=frozenset({"team"}))
    KIND.update(aws, seen, changes)
    assert calls() == KIND.iam["update"]
    KIND.delete(aws, seen)
    assert calls() == KIND.iam["delete"]


def without(declared: dict[str, Any], word: str) -> dict[str, Any]:
    return {name: value for name, value in declared.items() if name != word}


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"AlarmName": NAME}, "needs one of MetricName, Metrics, EvaluationCriteria"),
        (without(PLAIN, "Namespace"), "needs Namespace"),
        (without(PLAIN, "Statistic"), "needs Statistic or ExtendedStatistic"),
        ({**PLAIN, "Statistic": None}, "needs Statistic or ExtendedStatistic"),
        (without(PLAIN, "Threshold"), "needs Threshold"),
        (without(MATH, "EvaluationPeriods"), "needs EvaluationPeriods"),
        (without(PROMQL, "EvaluationInterval"), "needs EvaluationInterval"),
        ({**PLAIN, "ExtendedStatistic": "p99"}, "Statistic and ExtendedStatistic exclude each other"),
        ({**PLAIN, "Metrics": MATH["Metrics"]}, "MetricName and Metrics exclude each other"),
        ({**BAND, "Threshold": 1}, "exclude each other"),
        ({**PROMQL, "Threshold": 1}, "EvaluationCriteria and Threshold exclude each other"),
        ({**PLAIN, "Period": 45}, "multiple of 60, not 45"),
        ({**PLAIN, "DatapointsToAlarm": 4}, "at most EvaluationPeriods"),
        ({**BAND, "ThresholdMetricId": "bond"}, "no Id in Metrics"),
        ({**MATH, "Metrics": [{"Id": "a"}]}, "either Expression or MetricStat"),
        ({**MATH, "Metrics": [{"Id": "a", "Expression": "1"}, {"Id": "a", "Expression": "2"}]}, "stands once"),
        ({**MATH, "Metrics": [{"Id": "a", "Expression": "1"}, {"Id": "b", "Expression": "2"}]}, "exactly one"),
    ],
)
def test_what_the_service_would_refuse_is_said_before(declared: dict[str, Any], says: str) -> None:
    KIND.properties.model_validate(declared)
    assert says in (KIND.check(freeze(declared)) or "")


@pytest.mark.parametrize(
    "wrong",
    [
        {"AlarmName": "a" * 256},
        {"AlarmName": "é"},
        {"AlarmName": "a", "Threshold": "3"},
        {"AlarmName": "a", "TreatMissingData": "missed"},
        {"AlarmName": "a", "Namespace": ":a"},
        {"AlarmName": "a", "Metrics": [{"Id": "A"}]},
        {"AlarmName": "a", "OKActions": [TOPIC] * 6},
        {"AlarmName": "a", "EvaluationWindow": {"SlidingWindow": {}}},
    ],
)
def test_the_model_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate(wrong)


def test_every_official_property_is_accounted_for() -> None:
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", KIND.type).schema
    assert KIND.properties.model_fields.keys() | KIND.not_supported | KIND.read_only == schema["properties"].keys()


def test_the_model_says_everything_that_an_update_would_wipe() -> None:
    service = boto3.Session(region_name="eu-west-1").client("cloudwatch").meta.service_model
    assert KIND.properties.model_fields.keys() == service.operation_model("PutMetricAlarm").input_shape.members.keys()


def test_the_name_can_be_proven_disjoint() -> None:
    (name,) = KIND.names
    assert compile_pattern(name.pattern).accepts(NAME)
