"""Strategies that move with time and load, end to end on a world: each converges, and then stays quiet."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.engine.given import INSTANCE, QUEUE, document, run, settle
from tests.world import Fault, World

TABLE, GROUP = "AWS::DynamoDB::Table", "AWS::Logs::LogGroup"
MINUTE = timedelta(minutes=1)


def of(*policies: Any) -> Mapping[str, Any]:
    return {"main": document(*policies)}


def written(world: World, documents: Mapping[str, Any], runs: int = 3) -> list[str]:
    """What further runs would write: nothing, once it is converged."""
    before = len(world.calls(mutating=True))
    settle(world, documents, runs)
    return [call.operation for call in world.calls(mutating=True)[before:]]


@pytest.fixture
def year_end() -> Iterator[World]:
    with World(start=datetime(2025, 11, 10, 9, tzinfo=UTC)) as world:
        yield world


# --- rotation: monthly tables over the end of a year ---------------------------------------------------------------


def monthly(keep: Any = 1, **more: Any) -> dict[str, Any]:
    throughput = {"ReadCapacityUnits": 10, "WriteCapacityUnits": 10}
    key = {"AttributeName": "id", "AttributeType": "S"}
    properties = {
        "TableName": "events-${period}",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [key],
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": throughput,
    }
    rotation = {
        "type": "rotation",
        "period": "month",
        "timezone": "Europe/Paris",
        "format": "%Y-%m",
        "ahead": 1,
        "keep": keep,
    }
    low = {"past": {"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 1}}}
    return {
        "name": "events", "removal": "delete", "grace": "2d", "resource": {"type": TABLE, "properties": properties},
        "strategy": {**rotation, "overrides": low}, **more,
    }  # fmt: skip


def tables(world: World) -> dict[str, int]:
    """Every table and its write capacity."""
    client = world.outside.dynamodb
    shown = (client.describe_table(TableName=name)["Table"] for name in client.list_tables()["TableNames"])
    return {one["TableName"]: one["ProvisionedThroughput"]["WriteCapacityUnits"] for one in shown}


def go_to(world: World, text: str) -> None:
    world.advance(datetime.fromisoformat(text) - world.now)


def test_monthly_tables_over_the_end_of_a_year(year_end: World) -> None:
    world, policies = year_end, of(monthly())
    settle(world, policies)
    assert tables(world) == {"events-2025-11": 10, "events-2025-12": 10}
    assert written(world, policies) == []
    go_to(world, "2025-11-30T22:59:00Z")  # one minute to December in Paris
    assert written(world, policies, 1) == []
    settle(world, policies, 8)
    assert tables(world) == {"events-2025-11": 1, "events-2025-12": 10, "events-2026-01": 10}
    assert written(world, policies) == []
    go_to(world, "2025-12-31T23:00:00Z")
    settle(world, policies, 8)
    assert tables(world) == {"events-2025-11": 1, "events-2025-12": 1, "events-2026-01": 10, "events-2026-02": 10}
    assert written(world, policies) == []
    go_to(world, "2026-01-02T23:30:00Z")  # the grace of November's is over
    settle(world, policies, 4)
    assert sorted(tables(world)) == ["events-2025-12", "events-2026-01", "events-2026-02"]
    assert written(world, policies) == []


def test_missed_months_are_made_up_for_at_once_and_the_past_is_not_made(year_end: World) -> None:
    world, policies = year_end, of(monthly(keep="all"))
    settle(world, policies)
    go_to(world, "2026-06-15T09:00:00Z")
    settle(world, policies, 8)
    assert tables(world) == {"events-2025-11": 1, "events-2025-12": 1, "events-2026-06": 10, "events-2026-07": 10}
    assert written(world, policies) == []


def test_a_past_table_is_never_replaced(year_end: World) -> None:
    world = year_end
    settle(world, of(monthly()))
    go_to(world, "2025-12-05T09:00:00Z")
    settle(world, of(monthly()), 8)
    other = monthly(replace="deleteFirst", guardrails={"maxDeletes": "100%"}, grace="0s")
    other["resource"]["properties"] |= {
        "KeySchema": [{"AttributeName": "sku", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "sku", "AttributeType": "S"}],
    }
    settle(world, of(other), 8)
    keys = {name: world.outside.dynamodb.describe_table(TableName=name)["Table"]["KeySchema"] for name in tables(world)}
    assert {name: key[0]["AttributeName"] for name, key in keys.items()} == {
        "events-2025-11": "id",
        "events-2025-12": "sku",
        "events-2026-01": "sku",
    }


# --- expire: a janitor ---------------------------------------------------------------------------------------------


def janitor(type_: str = QUEUE, after: Any = "14d", meanwhile: Any = None, **more: Any) -> dict[str, Any]:
    words = {"meanwhile": meanwhile} if meanwhile else {}
    return {
        "name": "janitor", "resource": {"type": type_, "match": {"namePrefix": "tmp-"}},
        "strategy": {"type": "expire", "after": after, "grace": "2d", **words},
        "guardrails": {"maxDeletes": "100%"}, **more,
    }  # fmt: skip


def queues(world: World) -> dict[str, Mapping[str, str]]:
    """Every queue and its tags."""
    client = world.outside.sqs
    urls = client.list_queues().get("QueueUrls", [])
    return {url.rpartition("/")[2]: client.list_queue_tags(QueueUrl=url).get("Tags", {}) for url in urls}


def url(world: World, name: str) -> str:
    return str(world.outside.sqs.get_queue_url(QueueName=name)["QueueUrl"])


def test_a_queue_is_marked_shrunk_and_deleted_and_others_are_left_alone(world: World) -> None:
    for name in ("tmp-a", "keep-a"):
        world.outside.sqs.create_queue(QueueName=name)
    policies = of(janitor(meanwhile={"VisibilityTimeout": 900}))
    world.advance(days=13)
    settle(world, policies, 6)
    assert set(map(frozenset, (tags.items() for tags in queues(world).values()))) == {frozenset()}
    world.outside.sqs.create_queue(QueueName="tmp-young")
    world.advance(days=1)
    settle(world, policies, 16)
    assert {name for name, tags in queues(world).items() if "setpoint:marked" in tags} == {"tmp-a"}
    shown = world.outside.sqs.get_queue_attributes(QueueUrl=url(world, "tmp-a"), AttributeNames=["VisibilityTimeout"])
    assert shown["Attributes"]["VisibilityTimeout"] == "900"
    assert written(world, policies) == []
    world.advance(days=2)
    settle(world, policies, 6)
    assert set(queues(world)) == {"keep-a", "tmp-young"}
    assert written(world, policies) == []


def test_who_puts_the_time_off_keeps_it(world: World) -> None:
    world.outside.sqs.create_queue(QueueName="tmp-a", tags={"until": "2026-03-01T00:00:00Z"})
    policies = of(janitor(after={"tag": "until"}))
    settle(world, policies, 3)
    assert "setpoint:marked" in queues(world)["tmp-a"]
    world.outside.sqs.tag_queue(QueueUrl=url(world, "tmp-a"), Tags={"until": "2026-04-01T00:00:00Z"})
    world.advance(days=3)
    settle(world, policies, 3)
    assert queues(world)["tmp-a"] == {"until": "2026-04-01T00:00:00Z"}
    assert written(world, policies) == []
    world.advance(days=30)
    settle(world, policies, 3)
    world.advance(days=2)
    settle(world, policies, 3)
    assert queues(world) == {}


def test_a_time_put_off_just_now_counts_though_the_index_does_not_show_it_yet(world: World) -> None:
    world.outside.sqs.create_queue(QueueName="tmp-a", tags={"until": "2026-03-01T00:00:00Z"})
    policies = of(janitor(after={"tag": "until"}))
    settle(world, policies, 3)
    world.advance(days=2)
    run(world, of())
    world.index_lag = 1
    world.outside.sqs.tag_queue(QueueUrl=url(world, "tmp-a"), Tags={"until": "2026-04-01T00:00:00Z"})
    told = run(world, policies)
    assert told.done("janitor") == ["delete tmp-a: waiting"]
    assert set(queues(world)) == {"tmp-a"}


def test_a_copied_mark_is_worth_nothing(world: World) -> None:
    for name in ("tmp-a", "tmp-b"):
        world.outside.sqs.create_queue(QueueName=name, tags={"until": "2026-03-01T00:00:00Z"})
    policies = of(janitor(after={"tag": "until"}))
    settle(world, policies, 2)
    mark = queues(world)["tmp-a"]["setpoint:marked"]
    world.advance(days=1)
    world.outside.sqs.tag_queue(QueueUrl=url(world, "tmp-b"), Tags={"setpoint:marked": mark})
    settle(world, policies, 2)
    world.advance(days=1)
    settle(world, policies, 2)
    assert set(queues(world)) == {"tmp-b"}  # its grace began anew


def test_nothing_with_an_owner_is_touched(world: World) -> None:
    owner = {
        "name": "ours", "resource": {"type": QUEUE, "properties": {"QueueName": "tmp-${item}"}},
        "strategy": {"type": "forEach", "items": {"source": "list", "values": ["a"]}},
    }  # fmt: skip
    policies = of(owner, janitor(after="1d"))
    settle(world, policies)
    world.advance(days=40)
    settle(world, policies, 6)
    world.advance(days=40)
    assert written(world, policies, 6) == []
    assert set(queues(world)) == {"tmp-a"}


def test_too_many_deletes_are_held(world: World) -> None:
    for number in range(10):
        world.outside.sqs.create_queue(QueueName=f"tmp-{number}")
    policies = of(janitor(guardrails={"maxDeletes": "20%"}))
    world.advance(days=14)
    settle(world, policies, 6)
    world.advance(days=2)
    settle(world, policies, 6)
    assert len(queues(world)) == 10


def test_log_groups_expire_as_well(world: World) -> None:
    for name in ("tmp-a", "other"):
        world.outside.logs.create_log_group(logGroupName=name)
    policies = of(janitor(GROUP))
    world.advance(days=14)
    settle(world, policies, 4)
    world.advance(days=2)
    settle(world, policies, 4)
    assert [one["logGroupName"] for one in world.outside.logs.describe_log_groups()["logGroups"]] == ["other"]
    assert written(world, policies) == []


# --- scale ---------------------------------------------------------------------------------------------------------

HOURS = {
    "type": "schedule", "timezone": "UTC", "otherwise": 5,
    "windows": [{"from": "09:10", "to": "10:00", "value": 40}],
}  # fmt: skip


def scaled(to: Any, property_: str = "ProvisionedThroughput.WriteCapacityUnits", **more: Any) -> dict[str, Any]:
    resource = {"type": TABLE, "match": {"namePrefix": "theirs-"}}
    return {
        "name": "scaled",
        "resource": resource,
        "strategy": {"type": "scale", "property": property_, "to": to},
        **more,
    }


def their_table(world: World, name: str = "theirs-a") -> None:
    world.outside.dynamodb.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        ProvisionedThroughput={"ReadCapacityUnits": 7, "WriteCapacityUnits": 10},
    )


def test_a_tables_capacity_follows_the_clock_within_the_minute(world: World) -> None:
    their_table(world)
    policies = of(scaled(HOURS))
    settle(world, policies, 9)
    assert tables(world) == {"theirs-a": 5}
    assert written(world, policies, 1) == []
    settle(world, policies, 1)  # it is 09:10
    assert tables(world) == {"theirs-a": 40}
    settle(world, policies, 3)
    assert written(world, policies) == []
    world.advance(hours=1)
    settle(world, policies, 4)
    assert tables(world) == {"theirs-a": 5}
    shown = world.outside.dynamodb.describe_table(TableName="theirs-a")["Table"]["ProvisionedThroughput"]
    assert shown["ReadCapacityUnits"] == 7


def put(world: World, value: float, minutes: int = 10, **dimensions: str) -> None:
    """The same value in each of the last minutes, this one included."""
    for ago in range(minutes):
        data = {
            "MetricName": "Backlog", "Value": value, "Timestamp": world.now.replace(second=0) - ago * MINUTE,
            "Dimensions": [{"Name": word, "Value": text} for word, text in dimensions.items()],
        }  # fmt: skip
        world.outside.cloudwatch.put_metric_data(Namespace="Shop", MetricData=[data])


def backlog(**more: Any) -> dict[str, Any]:
    metric = {"namespace": "Shop", "name": "Backlog", "statistic": "Maximum", "period": "1m", **more}
    return {"type": "target", "load": metric, "perUnit": 10, "min": 1, "max": 50}


def test_each_table_follows_a_metric_of_its_own(world: World) -> None:
    for name, value in (("theirs-a", 300), ("theirs-b", 120)):
        their_table(world, name)
        put(world, value, Table=name)
    their_table(world, "theirs-c")
    policies = of(scaled(backlog(dimensions={"Table": "${match.TableName}"})))
    settle(world, policies, 1)
    assert tables(world) == {"theirs-a": 30, "theirs-b": 12, "theirs-c": 10}
    told = run(world, policies)
    assert told.true("scaled") >= {"Held"}
    assert "nothing is reported of Shop Backlog (Table=theirs-c)" in told.message("scaled", "Held")
    assert told.errors == []


# --- enforce by the clock ------------------------------------------------------------------------------------------


def test_office_hours_of_instances(world: World) -> None:
    image: Any = {"ImageId": "ami-1", "InstanceType": "t3.micro", "MinCount": 1, "MaxCount": 1}
    for name, hours in (("desk", "office"), ("web", "always")):
        tags = [{"Key": "Name", "Value": name}, {"Key": "hours", "Value": hours}]
        world.outside.ec2.run_instances(**image, TagSpecifications=[{"ResourceType": "instance", "Tags": tags}])
    day = {
        "days": ["mon", "tue", "wed", "thu", "fri"],
        "from": "08:00",
        "to": "18:00",
        "value": {"PowerState": "running"},
    }
    schedule = {
        "type": "schedule",
        "timezone": "Europe/Paris",
        "windows": [day],
        "otherwise": {"PowerState": "stopped"},
    }
    resource = {"type": INSTANCE, "match": {"tags": {"hours": "office"}}}
    policies = of({"name": "office", "resource": resource, "strategy": {"type": "enforce", "set": schedule}})

    def power() -> dict[str, str]:
        found = (one for it in world.outside.ec2.describe_instances()["Reservations"] for one in it["Instances"])
        return {{tag["Key"]: tag["Value"] for tag in one["Tags"]}["Name"]: one["State"]["Name"] for one in found}

    assert written(world, policies) == []  # Monday morning
    go_to(world, "2026-03-02T16:59:00Z")
    assert written(world, policies, 1) == []
    settle(world, policies, 3)
    assert power() == {"desk": "stopped", "web": "running"}
    assert written(world, policies) == []
    go_to(world, "2026-03-03T07:00:00Z")
    settle(world, policies, 3)
    assert power() == {"desk": "running", "web": "running"}
    assert written(world, policies) == []
    go_to(world, "2026-03-07T12:00:00Z")  # Saturday
    settle(world, policies, 3)
    assert power() == {"desk": "stopped", "web": "running"}


# --- metrics of a run ----------------------------------------------------------------------------------------------


def workers(name: str, **metric: Any) -> dict[str, Any]:
    count = {**backlog(**metric), "max": 5, "perUnit": 100}
    properties = {"QueueName": f"{name}-${{index}}"}
    return {
        "name": name,
        "resource": {"type": QUEUE, "properties": properties},
        "strategy": {"type": "replicas", "count": count},
    }


def test_all_policies_ask_in_one_call(world: World) -> None:
    put(world, 250, Shop="a")
    put(world, 410, Shop="b")
    policies = of(*(workers(f"w{number}", dimensions={"Shop": "ab"[number % 2]}) for number in range(12)))
    run(world, policies)
    (call,) = world.calls(operation="GetMetricData")
    assert len(call.params["MetricDataQueries"]) == 2  # twelve policies, two questions
    assert len([name for name in queues(world) if name.startswith("w0-")]) == 3
    assert len([name for name in queues(world) if name.startswith("w1-")]) == 5


def test_a_denied_metric_holds_and_rings_and_the_rest_goes_on(world: World) -> None:
    world.inject(Fault(at=lambda call: call.operation == "GetMetricData", kind="denied", times=None))
    fixed = {
        "name": "fixed",
        "resource": {"type": QUEUE, "properties": {"QueueName": "fixed"}},
        "strategy": {"type": "forEach"},
    }
    told = run(world, of(workers("w"), fixed))
    assert set(queues(world)) == {"w-0", "fixed"}  # min, which needs no metric
    world.advance(minutes=1)
    told = run(world, of(workers("w"), fixed))
    assert "cloudwatch:GetMetricData" in told.words
    assert told.true("w") >= {"Degraded"}
    assert told.true("fixed").isdisjoint({"Degraded"})
