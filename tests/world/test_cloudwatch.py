"""The traps of CloudWatch alarms."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.world import World


def put(cloudwatch: Any, name: str = "alarm", **more: Any) -> None:
    cloudwatch.put_metric_alarm(
        AlarmName=name,
        MetricName="m",
        Namespace="n",
        ComparisonOperator="GreaterThanThreshold",
        EvaluationPeriods=1,
        Period=60,
        Statistic="Sum",
        **{"Threshold": 1, **more},
    )


def described(cloudwatch: Any) -> Any:
    return cloudwatch.describe_alarms()["MetricAlarms"][0]


def test_a_new_alarm_has_insufficient_data(world: World) -> None:
    cloudwatch = world.session.client("cloudwatch")
    put(cloudwatch)
    assert described(cloudwatch)["StateValue"] == "INSUFFICIENT_DATA"


def test_putting_again_overwrites_all_but_tags_and_state(world: World) -> None:
    cloudwatch = world.session.client("cloudwatch")
    put(cloudwatch, AlarmDescription="old", Tags=[{"Key": "owner", "Value": "them"}])
    cloudwatch.set_alarm_state(AlarmName="alarm", StateValue="ALARM", StateReason="test")
    put(cloudwatch, Threshold=2, Tags=[{"Key": "owner", "Value": "us"}, {"Key": "more", "Value": "x"}])
    alarm = described(cloudwatch)
    tags = cloudwatch.list_tags_for_resource(ResourceARN=alarm["AlarmArn"])["Tags"]
    assert (alarm["Threshold"], alarm.get("AlarmDescription"), alarm["StateValue"]) == (2, None, "ALARM")
    assert tags == [{"Key": "owner", "Value": "them"}]


def test_deleting_is_forgiving_only_in_company(world: World) -> None:
    cloudwatch = world.session.client("cloudwatch")
    put(cloudwatch)
    cloudwatch.delete_alarms(AlarmNames=["alarm", "none"])
    with pytest.raises(cloudwatch.exceptions.ResourceNotFound):
        cloudwatch.delete_alarms(AlarmNames=["alarm"])


def test_at_most_a_hundred_at_once(world: World) -> None:
    cloudwatch = world.session.client("cloudwatch")
    with pytest.raises(ClientError, match="at most 100"):
        cloudwatch.delete_alarms(AlarmNames=[str(number) for number in range(101)])


def test_a_deleted_alarm_takes_its_tags_with_it(world: World) -> None:
    cloudwatch = world.session.client("cloudwatch")
    put(cloudwatch, Tags=[{"Key": "a", "Value": "b"}])
    cloudwatch.delete_alarms(AlarmNames=["alarm"])
    put(cloudwatch)
    assert cloudwatch.list_tags_for_resource(ResourceARN=described(cloudwatch)["AlarmArn"])["Tags"] == []


def test_alarms_come_in_pages(world: World) -> None:
    for number in range(120):
        put(world.outside.cloudwatch, f"alarm{number:03}")
    cloudwatch = world.session.client("cloudwatch")
    assert len(cloudwatch.describe_alarms()["MetricAlarms"]) == 50
    assert len(cloudwatch.describe_alarms(MaxRecords=100)["MetricAlarms"]) == 100
    assert len(cloudwatch.get_paginator("describe_alarms").paginate().build_full_result()["MetricAlarms"]) == 120
