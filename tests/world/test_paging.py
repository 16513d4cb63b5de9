"""Small pages and shuffled lists."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.world import World

LISTS: dict[str, tuple[str, str, str, Callable[[World, int], Any]]] = {
    "logs": (
        "logs", "describe_log_groups", "logGroups",
        lambda w, n: w.outside.logs.create_log_group(logGroupName=f"g{n}"),
    ),
    "instances": (
        "ec2", "describe_instances", "Reservations",
        lambda w, n: w.outside.ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1),
    ),
    "tables": (
        "dynamodb", "list_tables", "TableNames",
        lambda w, n: w.outside.dynamodb.create_table(
            TableName=f"table{n}",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        ),
    ),
    "alarms": (
        "cloudwatch", "describe_alarms", "MetricAlarms",
        lambda w, n: w.outside.cloudwatch.put_metric_alarm(
            AlarmName=f"a{n}", MetricName="m", Namespace="n", Threshold=1, EvaluationPeriods=1, Period=60,
            ComparisonOperator="GreaterThanThreshold", Statistic="Sum",
        ),
    ),
    "tags": (
        "resourcegroupstaggingapi", "get_resources", "ResourceTagMappingList",
        lambda w, n: w.outside.sqs.create_queue(QueueName=f"q{n}", tags={"k": "v"}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LISTS)
def test_lists_come_in_small_pages_and_lose_nothing(world: World, case: str) -> None:
    service, operation, rows, make = LISTS[case]
    for number in range(5):
        make(world, number)
    world.page_size, world.shuffle = 2, True
    pages = list(world.session.client(service).get_paginator(operation).paginate())
    assert [len(page[rows]) for page in pages] == [2, 2, 1]
    assert len({str(row) for page in pages for row in page[rows]}) == 5


def test_a_page_size_of_the_caller_that_is_smaller_stays(world: World) -> None:
    for number in range(5):
        world.outside.logs.create_log_group(logGroupName=f"g{number}")
    world.page_size = 3
    logs = world.session.client("logs")
    assert [len(logs.describe_log_groups(limit=size)["logGroups"]) for size in (1, 50)] == [1, 3]
    assert world.history[1].params == {"limit": 50}


def test_log_groups_come_fifty_at_a_time(world: World) -> None:
    for number in range(51):
        world.outside.logs.create_log_group(logGroupName=f"g{number}")
    assert len(world.session.client("logs").describe_log_groups()["logGroups"]) == 50


def test_shuffling_repeats_with_the_seed() -> None:
    def order(seed: int) -> list[str]:
        with World(seed) as world:
            for number in range(20):
                world.outside.sqs.create_queue(QueueName=f"q{number}")
            world.shuffle = True
            urls: list[str] = world.session.client("sqs").list_queues()["QueueUrls"]
            return urls

    assert order(1) == order(1) != order(2)


def test_a_listing_of_the_tag_index_survives_changes_between_its_pages(world: World) -> None:
    for number in range(4):
        world.outside.sqs.create_queue(QueueName=f"q{number}", tags={"k": "v"})
    world.page_size = 2
    tagging, sqs = world.session.client("resourcegroupstaggingapi"), world.session.client("sqs")
    pages = iter(tagging.get_paginator("get_resources").paginate())
    first = next(pages)["ResourceTagMappingList"]
    sqs.create_queue(QueueName="new", tags={"k": "v"})
    assert len(first) + sum(len(page["ResourceTagMappingList"]) for page in pages) == 4
