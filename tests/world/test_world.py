"""The world itself: time, randomness, history, the view from outside."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from botocore.config import Config

from tests.world import Fault, World


def test_time_stands_still_and_moto_follows_it(world: World) -> None:
    sqs = world.session.client("sqs")
    world.advance(minutes=5)
    url = sqs.create_queue(QueueName="a")["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["CreatedTimestamp"])["Attributes"]
    assert world.now == datetime(2026, 3, 2, 9, 5, tzinfo=UTC)
    assert int(attributes["CreatedTimestamp"]) == world.now.timestamp()


def test_timestamps_of_every_service_follow_the_clock(world: World) -> None:
    world.advance(timedelta(days=40))
    _one_of_each(world.session)
    outside = world.outside
    launched = outside.ec2.describe_instances()["Reservations"][0]["Instances"][0]["LaunchTime"]
    created = outside.dynamodb.describe_table(TableName="table")["Table"]["CreationDateTime"]
    group = outside.logs.describe_log_groups()["logGroups"][0]["creationTime"]
    configured = outside.cloudwatch.describe_alarms()["MetricAlarms"][0]["AlarmConfigurationUpdatedTimestamp"]
    assert {launched, created, configured, datetime.fromtimestamp(group / 1000, UTC)} == {world.now}


def test_time_does_not_go_back(world: World) -> None:
    with pytest.raises(ValueError, match="does not go back"):
        world.advance(seconds=-1)


def test_the_same_seed_gives_the_same_history() -> None:
    def ids(seed: int) -> list[str]:
        with World(seed) as world:
            ec2 = world.session.client("ec2")
            return [
                ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1)["Instances"][0]["InstanceId"] for _ in "ab"
            ]

    assert ids(1) == ids(1) != ids(2)


def test_every_call_is_recorded_with_what_was_passed(world: World) -> None:
    sqs = world.session.client("sqs")
    tags = {"team": "orders"}
    sqs.create_queue(QueueName="a", tags=tags)
    tags["team"] = "changed later"
    world.tick_started()
    with pytest.raises(sqs.exceptions.QueueDoesNotExist):
        sqs.get_queue_url(QueueName="b")
    first, second = world.history
    assert (first.number, first.name, first.tick, first.mutating, first.outcome) == (
        1,
        "sqs:CreateQueue",
        0,
        True,
        "ok",
    )
    assert first.params == {"QueueName": "a", "tags": {"team": "orders"}}
    assert (second.number, second.tick, second.mutating) == (2, 1, False)
    assert second.outcome == "AWS.SimpleQueueService.NonExistentQueue"
    assert world.calls(mutating=True) == [first]
    assert world.calls(operation="GetQueueUrl") == [second]


def test_tokens_that_botocore_fills_in_are_not_recorded(world: World) -> None:
    world.session.client("ec2").run_instances(ImageId="ami-1", MinCount=1, MaxCount=1)
    assert world.history[0].params == {"ImageId": "ami-1", "MinCount": 1, "MaxCount": 1}


def test_assuming_a_role_changes_nothing_and_leads_to_its_account(world: World) -> None:
    role = "arn:aws:iam::222222222222:role/setpoint"
    given = world.session.client("sts").assume_role(RoleArn=role, RoleSessionName="run")["Credentials"]
    world.session.client(
        "sqs",
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    ).create_queue(QueueName="theirs")
    assert [call.account for call in world.calls(mutating=True)] == ["222222222222"]
    assert world.resources() == {}
    assert len(world.outside.client("sqs", account="222222222222").list_queues()["QueueUrls"]) == 1


def test_the_account_is_the_worlds() -> None:
    with World(account="111111111111") as world:
        assert world.session.client("sts").get_caller_identity()["Account"] == "111111111111"
        world.session.client("sqs").create_queue(QueueName="a")
        assert list(world.resources()["AWS::SQS::Queue"]) == ["a"]


def test_clients_are_shared_and_worlds_are_not() -> None:
    with World() as world:
        first = world.session.client("sqs", config=Config(connect_timeout=3))
        first.create_queue(QueueName="a")
    with World() as world:
        assert world.session.client("sqs", config=Config(connect_timeout=3)) is first
        assert world.resources() == {}
        assert "QueueUrls" not in first.list_queues()
    with pytest.raises(RuntimeError, match="closed"):
        first.list_queues()


def test_handlers_of_the_code_under_test_end_with_their_world() -> None:
    seen: list[str] = []
    with World() as world:
        world.session.events.register("before-call", lambda **_: seen.append("session"))
        world.session.client("sqs").meta.events.register("before-call", lambda **_: seen.append("client"))
        world.session.client("sqs").list_queues()
    with World() as world:
        world.session.client("sqs").list_queues()
    assert seen == ["client"]


def test_one_world_at_a_time(world: World) -> None:
    with pytest.raises(RuntimeError, match="another World is open"), World():
        pass


def test_outside_is_neither_recorded_nor_faulted(world: World) -> None:
    world.inject(Fault(at=lambda call: True, kind="denied", times=None))
    world.outside.sqs.create_queue(QueueName="a", tags={"team": "x"})
    assert world.history == []
    assert world.resources()["AWS::SQS::Queue"]["a"]["Tags"] == {"team": "x"}


def test_resources_of_equal_worlds_are_equal() -> None:
    def built(seed: int, minutes: int) -> dict[str, object]:
        with World(seed) as world:
            world.advance(minutes=minutes)
            _one_of_each(world.session)
            return world.resources()

    assert built(1, 0) == built(2, 30)
    services = {kind.split("::")[1] for kind in built(1, 0)}
    assert services == {"SQS", "CloudWatch", "DynamoDB", "Logs", "EC2"}


def test_resources_tell_worlds_apart(world: World) -> None:
    _one_of_each(world.session)
    before = world.resources()
    world.outside.logs.put_retention_policy(logGroupName="group", retentionInDays=7)
    after = world.resources()
    assert {kind for kind in after if after[kind] != before[kind]} == {"AWS::Logs::LogGroup"}


def test_on_call_runs_before_that_call_and_does_not_count(world: World) -> None:
    sqs = world.session.client("sqs")
    world.on_call(2, lambda: sqs.create_queue(QueueName="between"))
    sqs.create_queue(QueueName="first")
    assert len(sqs.list_queues()["QueueUrls"]) == 2
    assert [(call.number, call.operation) for call in world.history] == [
        (1, "CreateQueue"),
        (2, "ListQueues"),
        (0, "CreateQueue"),
    ]


def test_on_call_may_end_the_run(world: World) -> None:
    def trip() -> None:
        raise TimeoutError

    world.on_call(1, trip)
    with pytest.raises(TimeoutError):
        world.session.client("sqs").create_queue(QueueName="a")
    assert world.history[0].outcome == "TimeoutError"
    assert world.resources() == {}


def test_threads_share_a_world(world: World) -> None:
    sqs = world.session.client("sqs")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: sqs.create_queue(QueueName=f"q{n}"), range(40)))
    assert sorted(call.number for call in world.history) == list(range(1, 41))
    assert {call.outcome for call in world.history} == {"ok"}
    assert len(world.resources()["AWS::SQS::Queue"]) == 40


def _one_of_each(session: object) -> None:
    client = session.client  # type: ignore[attr-defined]
    client("sqs").create_queue(QueueName="queue", tags={"a": "b"})
    client("logs").create_log_group(logGroupName="group", tags={"a": "b"})
    client("ec2").run_instances(ImageId="ami-1", MinCount=1, MaxCount=1)
    client("cloudwatch").put_metric_alarm(
        AlarmName="alarm",
        MetricName="m",
        Namespace="n",
        Threshold=1,
        ComparisonOperator="GreaterThanThreshold",
        EvaluationPeriods=1,
        Period=60,
        Statistic="Sum",
    )
    client("dynamodb").create_table(
        TableName="table",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


def test_queues_are_told_as_the_api_tells_them(world: World) -> None:
    sqs = world.session.client("sqs")
    url = sqs.create_queue(QueueName="a.fifo", Attributes={"FifoQueue": "true", "DelaySeconds": "5"})["QueueUrl"]
    shown = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    told = world.resources()["AWS::SQS::Queue"]["a.fifo"]
    assert {key: value for key, value in told.items() if key != "Tags"}.items() <= shown.items()
    assert {"FifoQueue", "DelaySeconds", "VisibilityTimeout"} <= told.keys()
