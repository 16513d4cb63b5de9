"""The traps of DynamoDB tables."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.world import World


def create(world: World, **more: Any) -> Any:
    dynamodb = world.session.client("dynamodb")
    dynamodb.create_table(
        TableName="table",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        **(more or {"ProvisionedThroughput": units(10)}),
    )
    return dynamodb


def units(number: int) -> dict[str, int]:
    return {"ReadCapacityUnits": number, "WriteCapacityUnits": number}


def status(dynamodb: Any) -> str:
    return str(dynamodb.describe_table(TableName="table")["Table"]["TableStatus"])


def settle(world: World) -> None:
    for _ in range(2):
        world.tick_started()


def test_a_table_takes_a_round_to_be_made(world: World) -> None:
    world.tick_started()
    dynamodb = create(world)
    seen = [status(dynamodb)]
    for _ in range(2):
        world.tick_started()
        seen.append(status(dynamodb))
    assert seen == ["CREATING", "CREATING", "ACTIVE"]


def test_nothing_is_changed_or_deleted_meanwhile(world: World) -> None:
    dynamodb = create(world)
    in_use = dynamodb.exceptions.ResourceInUseException
    arn = dynamodb.describe_table(TableName="table")["Table"]["TableArn"]
    for attempt in (
        lambda: dynamodb.update_table(TableName="table", ProvisionedThroughput=units(20)),
        lambda: dynamodb.delete_table(TableName="table"),
        lambda: dynamodb.tag_resource(ResourceArn=arn, Tags=[{"Key": "a", "Value": "b"}]),
        lambda: dynamodb.update_time_to_live(
            TableName="table", TimeToLiveSpecification={"Enabled": True, "AttributeName": "t"}
        ),
    ):
        with pytest.raises(in_use):
            attempt()


def test_an_update_takes_a_round_in_which_the_old_values_show(world: World) -> None:
    dynamodb = create(world)
    settle(world)
    dynamodb.update_table(TableName="table", ProvisionedThroughput=units(20))
    table = dynamodb.describe_table(TableName="table")["Table"]
    assert (table["TableStatus"], table["ProvisionedThroughput"]["ReadCapacityUnits"]) == ("UPDATING", 10)
    with pytest.raises(dynamodb.exceptions.ResourceInUseException):
        dynamodb.delete_table(TableName="table")
    settle(world)
    table = dynamodb.describe_table(TableName="table")["Table"]
    assert (table["TableStatus"], table["ProvisionedThroughput"]["ReadCapacityUnits"]) == ("ACTIVE", 20)


@pytest.mark.parametrize(
    "changes",
    [
        {"ProvisionedThroughput": units(20), "DeletionProtectionEnabled": True},
        {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}, "TableClass": "STANDARD"},
        {
            "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "one"}}, {"Delete": {"IndexName": "two"}}],
        },
        {"ProvisionedThroughput": units(10)},
    ],
    ids=["two kinds", "two more", "two indexes", "no change"],
)
def test_an_update_is_one_real_change(world: World, changes: dict[str, Any]) -> None:
    dynamodb = create(world)
    settle(world)
    with pytest.raises(ClientError, match="ValidationException"):
        dynamodb.update_table(TableName="table", **changes)


def test_billing_mode_and_throughput_go_together(world: World) -> None:
    dynamodb = create(world, BillingMode="PAY_PER_REQUEST")
    settle(world)
    with pytest.raises(ClientError, match="must both be specified"):
        dynamodb.update_table(TableName="table", BillingMode="PROVISIONED")
    with pytest.raises(ClientError, match="Neither"):
        dynamodb.update_table(TableName="table", ProvisionedThroughput=units(5))
    dynamodb.update_table(TableName="table", BillingMode="PROVISIONED", ProvisionedThroughput=units(5))
    settle(world)
    dynamodb.update_table(TableName="table", BillingMode="PAY_PER_REQUEST")
    settle(world)
    table = dynamodb.describe_table(TableName="table")["Table"]
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 0


def test_a_table_takes_a_round_to_go(world: World) -> None:
    dynamodb = create(world)
    settle(world)
    assert dynamodb.delete_table(TableName="table")["TableDescription"]["TableStatus"] == "DELETING"
    assert (status(dynamodb), world.resources()) == ("DELETING", {})
    dynamodb.delete_table(TableName="table")
    with pytest.raises(dynamodb.exceptions.ResourceInUseException):
        create(world)
    settle(world)
    with pytest.raises(dynamodb.exceptions.ResourceNotFoundException):
        status(dynamodb)
    create(world)


def test_a_new_table_may_be_unknown_at_first(world: World) -> None:
    world.dynamodb.hidden_ticks = 1
    dynamodb = create(world)
    with pytest.raises(dynamodb.exceptions.ResourceNotFoundException):
        status(dynamodb)
    settle(world)
    assert status(dynamodb) == "ACTIVE"


def test_four_decreases_a_day_and_one_an_hour(world: World) -> None:
    world.dynamodb.create_ticks = world.dynamodb.update_ticks = 0
    dynamodb = create(world)
    for number in (9, 8, 7, 6):
        dynamodb.update_table(TableName="table", ProvisionedThroughput=units(number))
    with pytest.raises(dynamodb.exceptions.LimitExceededException):
        dynamodb.update_table(TableName="table", ProvisionedThroughput=units(5))
    throughput = dynamodb.describe_table(TableName="table")["Table"]["ProvisionedThroughput"]
    assert throughput["NumberOfDecreasesToday"] == 4
    dynamodb.update_table(TableName="table", ProvisionedThroughput=units(50))
    world.advance(hours=1)
    dynamodb.update_table(TableName="table", ProvisionedThroughput=units(5))


def test_a_table_made_again_has_another_id(world: World) -> None:
    world.dynamodb.create_ticks = world.dynamodb.delete_ticks = 0
    ids = set()
    for _ in range(2):
        dynamodb = create(world)
        ids.add(dynamodb.describe_table(TableName="table")["Table"]["TableId"])
        dynamodb.delete_table(TableName="table")
    assert len(ids) == 2
