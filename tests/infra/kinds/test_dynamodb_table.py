"""Tables: whatever is declared is what is read after as many updates as the service needs, each one change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from pydantic import ValidationError

from infra.aws import Aws
from infra.kinds.dynamodb_calls import update_calls
from infra.kinds.dynamodb_table import DynamodbTable
from policies.action import Change, Desired, Progress
from policies.diff import diff
from policies.errors import ExistsError, RefusedError
from policies.frozen import freeze, thaw
from policies.world import Resource, Scope, State
from tests.world import World

KIND = DynamodbTable()
NAME = "orders-2026.03"
TAGS = {"setpoint:policy": "main/orders", "setpoint:key": "2026-03", "team": "orders"}
KEY_ARN = "arn:aws:kms:eu-west-1:123456789012:key/11111111-2222-3333-4444-555555555555"
OTHER_ARN = "arn:aws:kms:eu-west-1:123456789012:key/99999999-2222-3333-4444-555555555555"


def keys(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": word} for name, word in zip(names, ("HASH", "RANGE"), strict=False)]


def attributes(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def units(read: int, write: int) -> dict[str, int]:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def limits(read: int, write: int) -> dict[str, int]:
    return {"MaxReadRequestUnits": read, "MaxWriteRequestUnits": write}


def an_index(name: str, key: str, **more: Any) -> dict[str, Any]:
    return {"IndexName": name, "KeySchema": keys(key), "Projection": {"ProjectionType": "ALL"}, **more}


PLAIN = {
    "TableName": NAME,
    "KeySchema": keys("pk", "sk"),
    "AttributeDefinitions": attributes("pk", "sk"),
    "ProvisionedThroughput": units(5, 5),
}
ON_DEMAND = {
    "TableName": NAME,
    "KeySchema": keys("pk"),
    "AttributeDefinitions": attributes("pk"),
    "BillingMode": "PAY_PER_REQUEST",
}
BY_DAY = an_index("by-day", "day", ProvisionedThroughput=units(2, 2))
BY_CITY = an_index("by-city", "city", ProvisionedThroughput=units(2, 2))
INDEXED = {
    **PLAIN,
    "AttributeDefinitions": attributes("pk", "sk", "day"),
    "GlobalSecondaryIndexes": [BY_DAY],
}
RICH = {
    **PLAIN,
    "AttributeDefinitions": attributes("day", "pk", "sk", "zip"),
    "BillingMode": "PROVISIONED",
    "DeletionProtectionEnabled": True,
    "GlobalSecondaryIndexes": [
        {
            **BY_DAY,
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["total", "city"]},
        }
    ],
    "LocalSecondaryIndexes": [
        {"IndexName": "by-zip", "KeySchema": keys("pk", "zip"), "Projection": {"ProjectionType": "KEYS_ONLY"}}
    ],
    "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7},
    "SSESpecification": {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": KEY_ARN},
    "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"},
    "TableClass": "STANDARD_INFREQUENT_ACCESS",
    "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"},
}
LIMITED = {
    **ON_DEMAND,
    "AttributeDefinitions": attributes("pk", "day"),
    "OnDemandThroughput": limits(100, 50),
    "GlobalSecondaryIndexes": [an_index("by-day", "day", OnDemandThroughput={"MaxReadRequestUnits": 7})],
}


class Service:
    """DynamoDB where moto has less of it: table class, encryption and on-demand limits change and show, indexes keep
    what an update does not name, one kind of change goes into a call, and a table can be in any state."""

    def __init__(self, session: boto3.Session) -> None:
        self.calls: list[str] = []
        self.shown: dict[str, Any] = {}
        self.time_to_live: dict[str, Any] = {}
        self.kept: dict[str, Any] = {}
        self.index_limits: dict[str, dict[str, int]] = {}
        session.events.register("provide-client-params.dynamodb.*", self.note)
        session.events.register("after-call.dynamodb.DescribeTable", self.describe)
        session.events.register("after-call.dynamodb.DescribeTimeToLive", self.describe_time_to_live)

    def note(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        self.calls.append(f"dynamodb:{model.name}")
        if model.name == "UpdateTable":
            self.refuse_mixtures(params)
        if model.name in ("CreateTable", "UpdateTable"):
            self.keep(params)

    def refuse_mixtures(self, params: Mapping[str, Any]) -> None:
        throughput = {"BillingMode", "ProvisionedThroughput", "OnDemandThroughput"}
        kinds = {"throughput" if word in throughput else word for word in params}
        kinds -= {"TableName", "AttributeDefinitions", "GlobalSecondaryIndexUpdates"}
        updates = params.get("GlobalSecondaryIndexUpdates", ())
        kinds |= {"throughput" if "Update" in update else f"index {place}" for place, update in enumerate(updates)}
        if len(kinds) != 1:
            raise ClientError({"Error": {"Code": "ValidationException", "Message": str(kinds)}}, "UpdateTable")

    def keep(self, params: Mapping[str, Any]) -> None:
        self.kept |= {word: params[word] for word in ("TableClass", "SSESpecification") if word in params}
        if params.get("BillingMode") == "PROVISIONED":
            self.kept.pop("OnDemandThroughput", None)
        self.kept.setdefault("OnDemandThroughput", {}).update(params.get("OnDemandThroughput", {}))
        updates = [change for update in params.get("GlobalSecondaryIndexUpdates", ()) for change in update.values()]
        for index in (*params.get("GlobalSecondaryIndexes", ()), *updates):
            self.index_limits.setdefault(index["IndexName"], {}).update(index.get("OnDemandThroughput", {}))

    def describe(self, parsed: dict[str, Any], **_: Any) -> None:
        if "Table" not in parsed:
            return
        table = parsed["Table"]
        if table["BillingModeSummary"]["BillingMode"] == "PROVISIONED":
            del table["BillingModeSummary"]
        if "TableClass" in self.kept:
            table["TableClassSummary"] = {"TableClass": self.kept["TableClass"]}
        table["OnDemandThroughput"] = self.kept["OnDemandThroughput"]
        for index in table["GlobalSecondaryIndexes"]:
            index["OnDemandThroughput"] = self.index_limits.get(index["IndexName"], {})
        self.describe_encryption(table)
        table |= self.shown

    def describe_encryption(self, table: dict[str, Any]) -> None:
        wanted = self.kept.get("SSESpecification", {})
        table.pop("SSEDescription", None)
        if wanted.get("Enabled"):
            arn = wanted.get("KMSMasterKeyId", f"{KEY_ARN}-of-aws")
            table["SSEDescription"] = {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": arn}

    def describe_time_to_live(self, parsed: dict[str, Any], **_: Any) -> None:
        parsed["TimeToLiveDescription"] |= self.time_to_live
        if parsed["TimeToLiveDescription"]["TimeToLiveStatus"] == "DISABLED":
            parsed["TimeToLiveDescription"].pop("AttributeName", None)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[boto3.Session]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with mock_aws():
        yield boto3.Session(region_name="eu-west-1")


@pytest.fixture
def service(session: boto3.Session) -> Service:
    return Service(session)


@pytest.fixture
def aws(session: boto3.Session, service: Service) -> Aws:
    return Aws(session, Scope("123456789012", "eu-west-1"))


def create(aws: Aws, properties: Mapping[str, Any], **initial: Any) -> Progress:
    KIND.properties.model_validate(properties)
    assert KIND.check(freeze({**initial, **properties})) is None
    desired = Desired(NAME, NAME, freeze(properties), freeze(TAGS), freeze(initial))
    return KIND.create(aws, desired, None)


def read(aws: Aws) -> Resource:
    found = KIND.read(aws, KIND.locate(aws, NAME))
    assert found is not None
    return found


def change_of(declared: Mapping[str, Any], seen: Resource) -> Change:
    """The change as the engine makes it: whole top-level properties, objects merged over what is there."""
    actual = seen.properties or {}
    differences = diff(freeze(declared), freeze(actual), KIND.shape)
    assert not [found for found in differences if found.create_only]
    return Change(freeze({found.path[0]: merged(declared, actual, found.path[0]) for found in differences}))


def merged(declared: Mapping[str, Any], actual: Mapping[str, Any], word: str) -> Any:
    after, before = declared[word], actual.get(word)
    return {**before, **after} if isinstance(after, Mapping) and isinstance(before, Mapping) else after


def converge(aws: Aws, declared: Mapping[str, Any]) -> int:
    """Update until nothing differs; the number of runs that it took. All but the last one say that more must follow."""
    answers = []
    while change := change_of(declared, read(aws)):
        answers.append(KIND.update(aws, read(aws), change))
        assert len(answers) < 20, f"does not converge: {change}"
    assert answers == [Progress.PARTIAL] * (len(answers) - 1) + [Progress.COMPLETE] * bool(answers)
    return len(answers)


@pytest.mark.parametrize("properties", [PLAIN, RICH, ON_DEMAND, LIMITED], ids=["plain", "rich", "on demand", "limited"])
def test_what_is_declared_is_what_is_read(aws: Aws, properties: Mapping[str, Any]) -> None:
    create(aws, properties)
    converge(aws, properties)
    found = read(aws)
    assert diff(freeze(properties), freeze(found.properties), KIND.shape) == ()
    KIND.properties.model_validate(thaw(found.properties))
    assert set(properties) <= set(found.properties or ())


def test_a_create_carries_the_tags_and_says_whether_it_was_all(aws: Aws) -> None:
    assert create(aws, RICH) is Progress.PARTIAL
    assert read(aws).tags == TAGS
    aws.client("dynamodb").update_table(TableName=NAME, DeletionProtectionEnabled=False)
    KIND.delete(aws, read(aws))
    nothing: dict[str, Any] = {"TableClass": None, "GlobalSecondaryIndexes": []}
    off = {"TimeToLiveSpecification": {"Enabled": False}}
    assert create(aws, {**PLAIN, **nothing, **off}) is Progress.COMPLETE
    assert read(aws).tags == TAGS


def test_what_a_table_is_born_with_is_merged_below_what_is_declared(aws: Aws) -> None:
    declared = {**PLAIN, "ProvisionedThroughput": {"ReadCapacityUnits": 9}}
    KIND.create(aws, Desired(NAME, NAME, freeze(declared), {}, freeze({"ProvisionedThroughput": units(1, 3)})), None)
    assert (read(aws).properties or {})["ProvisionedThroughput"] == units(9, 3)


def test_what_a_create_cannot_do_is_not_initial(aws: Aws) -> None:
    expiry = {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"}}
    with pytest.raises(RefusedError, match="TimeToLiveSpecification"):
        create(aws, PLAIN, **expiry)


CHANGES = {
    "capacity": (PLAIN, {"ProvisionedThroughput": units(9, 1)}, 2),
    "more capacity": (PLAIN, {"ProvisionedThroughput": units(9, 9)}, 1),
    "less capacity": (PLAIN, {"ProvisionedThroughput": units(1, 5)}, 1),
    "one unit": (PLAIN, {"ProvisionedThroughput": {"ReadCapacityUnits": 8}}, 1),
    "of an index too": (
        INDEXED,
        {
            "ProvisionedThroughput": units(6, 6),
            "GlobalSecondaryIndexes": [{**BY_DAY, "ProvisionedThroughput": units(3, 1)}],
        },
        2,
    ),
    "to on demand": (INDEXED, {"BillingMode": "PAY_PER_REQUEST"}, 1),
    "to on demand with limits": (PLAIN, {"BillingMode": "PAY_PER_REQUEST", "OnDemandThroughput": limits(9, 9)}, 2),
    "to provisioned": (
        LIMITED,
        {"BillingMode": None, "ProvisionedThroughput": units(4, 4), "GlobalSecondaryIndexes": [BY_DAY]},
        1,
    ),
    "limits": (LIMITED, {"OnDemandThroughput": limits(200, 50)}, 1),
    "one limit less": (LIMITED, {"OnDemandThroughput": {"MaxWriteRequestUnits": None}}, 1),
    "no limits": (LIMITED, {"OnDemandThroughput": None}, 1),
    "limits of an index": (
        LIMITED,
        {"GlobalSecondaryIndexes": [an_index("by-day", "day", OnDemandThroughput=limits(8, 8))]},
        1,
    ),
    "another index": (
        INDEXED,
        {"AttributeDefinitions": attributes("pk", "sk", "day", "city"), "GlobalSecondaryIndexes": [BY_DAY, BY_CITY]},
        1,
    ),
    "index for index": (
        INDEXED,
        {"AttributeDefinitions": attributes("pk", "sk", "city"), "GlobalSecondaryIndexes": [BY_CITY]},
        2,
    ),
    "two indexes": (
        PLAIN,
        {"AttributeDefinitions": attributes("pk", "sk", "day", "city"), "GlobalSecondaryIndexes": [BY_DAY, BY_CITY]},
        2,
    ),
    "no index": (INDEXED, {"AttributeDefinitions": attributes("pk", "sk"), "GlobalSecondaryIndexes": []}, 1),
    "indexes reset": (INDEXED, {"AttributeDefinitions": attributes("pk", "sk"), "GlobalSecondaryIndexes": None}, 1),
    "stream": (PLAIN, {"StreamSpecification": {"StreamViewType": "KEYS_ONLY"}}, 1),
    "encryption": (PLAIN, {"SSESpecification": {"SSEEnabled": True}}, 1),
    "other key": (RICH, {"SSESpecification": {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": OTHER_ARN}}, 1),
    "encryption off": (RICH, {"SSESpecification": {"SSEEnabled": False}}, 1),
    "encryption reset": (RICH, {"SSESpecification": None}, 1),
    "table class": (PLAIN, {"TableClass": "STANDARD_INFREQUENT_ACCESS"}, 1),
    "table class reset": (RICH, {"TableClass": None}, 1),
    "protection": (PLAIN, {"DeletionProtectionEnabled": True}, 1),
    "protection reset": (RICH, {"DeletionProtectionEnabled": None}, 1),
    "expiry": (PLAIN, {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"}}, 1),
    "expiry elsewhere": (RICH, {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ends"}}, 2),
    "expiry off": (RICH, {"TimeToLiveSpecification": {"Enabled": False}}, 1),
    "expiry reset": (RICH, {"TimeToLiveSpecification": None}, 1),
    "recovery": (PLAIN, {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}, 1),
    "recovery days": (RICH, {"PointInTimeRecoverySpecification": {"RecoveryPeriodInDays": 3}}, 1),
    "recovery days reset": (RICH, {"PointInTimeRecoverySpecification": {"RecoveryPeriodInDays": None}}, 1),
    "recovery off": (RICH, {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False}}, 1),
    "recovery reset": (RICH, {"PointInTimeRecoverySpecification": None}, 1),
    "recovery and stream": (
        PLAIN,
        {
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
            "StreamSpecification": {"StreamViewType": "NEW_IMAGE"},
        },
        1,
    ),
    "much": (PLAIN, {"TableClass": "STANDARD_INFREQUENT_ACCESS", "SSESpecification": {"SSEEnabled": True}}, 2),
    "nothing": (RICH, {"ProvisionedThroughput": units(5, 5), "TableClass": "STANDARD_INFREQUENT_ACCESS"}, 0),
}


@pytest.mark.parametrize(("before", "change", "runs"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_read_after_as_many_runs_as_it_takes(
    aws: Aws, before: Mapping[str, Any], change: Mapping[str, Any], runs: int
) -> None:
    create(aws, before)
    converge(aws, before)
    untouched = {word: value for word, value in (read(aws).properties or {}).items() if word not in change}
    assert converge(aws, change) == runs
    found = read(aws).properties or {}
    shared = {"ProvisionedThroughput", "OnDemandThroughput", "GlobalSecondaryIndexes", "AttributeDefinitions"}
    if "BillingMode" in change:
        untouched = {word: value for word, value in untouched.items() if word not in shared}
    assert {word: found.get(word) for word in untouched} == untouched


def test_a_stream_is_switched_off_before_its_view_changes(aws: Aws) -> None:
    create(aws, {**PLAIN, "StreamSpecification": {"StreamViewType": "KEYS_ONLY"}})
    change = change_of({"StreamSpecification": {"StreamViewType": "NEW_IMAGE"}}, read(aws))
    assert KIND.update(aws, read(aws), change) is Progress.PARTIAL
    assert "StreamSpecification" not in (read(aws).properties or {})


def test_an_increase_never_waits_for_a_decrease(aws: Aws) -> None:
    create(aws, INDEXED)
    index = {**BY_DAY, "ProvisionedThroughput": units(1, 7)}
    change = change_of({"ProvisionedThroughput": units(9, 1), "GlobalSecondaryIndexes": [index]}, read(aws))
    assert KIND.update(aws, read(aws), change) is Progress.PARTIAL
    found = read(aws).properties or {}
    assert found["ProvisionedThroughput"] == units(9, 5)
    assert found["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] == units(2, 7)


def test_what_the_service_rations_comes_last() -> None:
    has = freeze({**RICH, "ProvisionedThroughput": units(5, 5)})
    wanted = {
        "ProvisionedThroughput": units(1, 9),
        "TimeToLiveSpecification": None,
        "TableClass": None,
        "DeletionProtectionEnabled": False,
    }
    made = [(call.operation, *call.arguments) for call in update_calls(has, freeze(wanted))]
    assert made == [
        ("update_table", "DeletionProtectionEnabled"),
        ("update_table", "ProvisionedThroughput"),
        ("update_table", "TableClass"),
        ("update_time_to_live", "TimeToLiveSpecification"),
        ("update_table", "ProvisionedThroughput"),
    ]


def test_an_expiry_in_transition_lets_others_go_ahead_and_waits(aws: Aws, service: Service) -> None:
    create(aws, PLAIN)
    converge(aws, {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"}})
    service.time_to_live = {"TimeToLiveStatus": "ENABLING"}
    assert (read(aws).properties or {})["TimeToLiveSpecification"]["Enabled"] is True
    wanted = {"TimeToLiveSpecification": None, "ProvisionedThroughput": units(1, 1)}
    assert KIND.update(aws, read(aws), change_of(wanted, read(aws))) is Progress.PARTIAL
    assert (read(aws).properties or {})["ProvisionedThroughput"] == units(1, 1)
    assert KIND.update(aws, read(aws), change_of(wanted, read(aws))) is Progress.PARTIAL
    service.time_to_live = {}
    assert converge(aws, wanted) == 1


def test_tags_are_merged_and_only_the_named_ones_go(aws: Aws) -> None:
    create(aws, PLAIN)
    change = Change(tags=freeze({"team": "shop", "stage": "live"}), untag=frozenset({"setpoint:key"}))
    assert KIND.update(aws, read(aws), change) is Progress.COMPLETE
    assert read(aws).tags == {"setpoint:policy": "main/orders", "team": "shop", "stage": "live"}
    many = {f"tag-{number}": "x" for number in range(25)}
    KIND.update(aws, read(aws), Change(tags=freeze(many)))
    assert many.items() <= (read(aws).tags or {}).items()


def test_known_tags_are_kept(aws: Aws) -> None:
    create(aws, PLAIN)
    found = KIND.read(aws, KIND.locate(aws, NAME).with_tags({"known": "yes"}))
    assert found is not None
    assert found.tags == {"known": "yes"}


def test_a_taken_name_is_told_apart_from_a_busy_table(aws: Aws) -> None:
    create(aws, PLAIN)
    with pytest.raises(ExistsError):
        create(aws, PLAIN)
    assert "ResourceInUseException" in KIND.wait_codes


def test_a_deleted_table_is_absent(aws: Aws) -> None:
    create(aws, PLAIN)
    KIND.delete(aws, read(aws))
    for call in (read, lambda aws: KIND.delete(aws, KIND.locate(aws, NAME))):
        with pytest.raises(ClientError) as error:
            call(aws)
        assert error.value.response["Error"]["Code"] in KIND.absent_codes


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("ACTIVE", State.READY),
        ("CREATING", State.PENDING),
        ("UPDATING", State.PENDING),
        ("DELETING", State.DELETING),
        ("INACCESSIBLE_ENCRYPTION_CREDENTIALS", State.UNHEALTHY),
        ("ARCHIVED", State.UNHEALTHY),
    ],
)
def test_states(aws: Aws, service: Service, status: str, state: State) -> None:
    create(aws, PLAIN)
    service.shown = {"TableStatus": status}
    assert read(aws).state is state


@pytest.mark.parametrize("status", ["CREATING", "DELETING"])
def test_tags_of_a_table_in_the_making_are_unknown(aws: Aws, service: Service, status: str) -> None:
    create(aws, PLAIN)
    service.shown = {"TableStatus": status}
    service.calls.clear()
    assert read(aws).tags is None
    assert service.calls == ["dynamodb:DescribeTable"]


@pytest.mark.parametrize("status", ["CREATING", "UPDATING", "DELETING"])
def test_a_table_waits_for_its_indexes(aws: Aws, service: Service, status: str) -> None:
    create(aws, INDEXED)
    shown = {**BY_DAY, "IndexStatus": status}
    service.shown = {"GlobalSecondaryIndexes": [shown]}
    found = read(aws)
    assert found.state is State.PENDING
    assert ("GlobalSecondaryIndexes" in (found.properties or {})) == (status != "DELETING")


def test_facts_and_times(aws: Aws) -> None:
    create(aws, PLAIN)
    found = read(aws)
    assert set(found.facts) == KIND.facts
    assert found.created is not None
    assert found.created.tzinfo is UTC
    assert found.facts["CreateTime"] == found.created.isoformat()
    assert found.arn == f"arn:aws:dynamodb:eu-west-1:123456789012:table/{NAME}"
    assert KIND.name_of_arn(found.arn) == NAME


def test_a_survey_lists_every_page_by_prefix(aws: Aws) -> None:
    client = aws.client("dynamodb")
    names = [*(f"a-{number:03}" for number in range(104)), "b-1", "c-1"]
    for name in names:
        client.create_table(
            TableName=name,
            KeySchema=keys("pk"),
            AttributeDefinitions=attributes("pk"),
            BillingMode="PAY_PER_REQUEST",
        )
    assert [found.name for found in KIND.survey(aws, [""])] == names
    assert [found.name for found in KIND.survey(aws, ["b-", "c-"])] == ["b-1", "c-1"]
    assert list(KIND.survey(aws, ["z"])) == []


CREATE_ONLY = {
    "another key": ({"KeySchema": keys("pk")}, "KeySchema"),
    "another type": ({"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "N"}]}, "AttributeDefinitions"),
    "another projection": (
        {"GlobalSecondaryIndexes": [{**BY_DAY, "Projection": {"ProjectionType": "KEYS_ONLY"}}]},
        "GlobalSecondaryIndexes",
    ),
    "another index key": ({"GlobalSecondaryIndexes": [{**BY_DAY, "KeySchema": keys("sk")}]}, "GlobalSecondaryIndexes"),
    "a local index": (
        {
            "LocalSecondaryIndexes": [
                {"IndexName": "late", "KeySchema": keys("pk", "day"), "Projection": {"ProjectionType": "ALL"}}
            ]
        },
        "LocalSecondaryIndexes",
    ),
}


@pytest.mark.parametrize(("change", "word"), CREATE_ONLY.values(), ids=CREATE_ONLY)
def test_what_no_call_can_change_needs_another_table(aws: Aws, change: Mapping[str, Any], word: str) -> None:
    create(aws, INDEXED)
    differences = diff(freeze(change), freeze(read(aws).properties), KIND.shape)
    assert [found.path[0] for found in differences if found.create_only] == [word]


def test_the_order_of_attributes_and_indexes_means_nothing(aws: Aws) -> None:
    both = {
        **PLAIN,
        "AttributeDefinitions": attributes("city", "day", "pk", "sk"),
        "GlobalSecondaryIndexes": [BY_CITY, BY_DAY],
    }
    create(aws, both)
    turned = {
        "AttributeDefinitions": attributes("sk", "pk", "day", "city"),
        "GlobalSecondaryIndexes": [BY_DAY, BY_CITY],
    }
    assert diff(freeze(turned), freeze(read(aws).properties), KIND.shape) == ()


REFUSED = {
    "at least 3": {"TableName": "ab"},
    "KeySchema": {"KeySchema": None},
    "exactly the attributes": {"AttributeDefinitions": attributes("pk", "sk", "more")},
    "pk, sk": {"AttributeDefinitions": None},
    "both units": {"ProvisionedThroughput": {"ReadCapacityUnits": 1}},
    "needs BillingMode PROVISIONED": {"BillingMode": "PAY_PER_REQUEST"},
    "needs BillingMode PAY_PER_REQUEST": {"OnDemandThroughput": limits(1, 1)},
    "by-pk: BillingMode": {"GlobalSecondaryIndexes": [an_index("by-pk", "pk")]},
    "by-pk: NonKeyAttributes": {
        "GlobalSecondaryIndexes": [
            an_index("by-pk", "pk", Projection={"ProjectionType": "INCLUDE"}, ProvisionedThroughput=units(1, 1))
        ]
    },
    "AttributeName goes with": {"TimeToLiveSpecification": {"Enabled": False, "AttributeName": "expires"}},
    "TimeToLiveSpecification": {"TimeToLiveSpecification": {"Enabled": True}},
    "RecoveryPeriodInDays": {"PointInTimeRecoverySpecification": {"RecoveryPeriodInDays": 3}},
    "SSEType needs": {"SSESpecification": {"SSEEnabled": False, "SSEType": "KMS"}},
    "null resets nothing": {"SSESpecification": {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": None}},
    "KMSMasterKeyId needs": {"SSESpecification": {"SSEEnabled": True, "KMSMasterKeyId": KEY_ARN}},
}


@pytest.mark.parametrize(("message", "change"), REFUSED.items(), ids=REFUSED)
def test_what_cannot_be_is_refused(message: str, change: Mapping[str, Any]) -> None:
    assert message in str(KIND.check(freeze({**PLAIN, **change})))


@pytest.mark.parametrize(
    "change",
    [
        {"SSESpecification": {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/orders"}},
        {"StreamSpecification": {"StreamViewType": "NEW_IMAGE", "Tags": []}},
        {"WarmThroughput": {"ReadUnitsPerSecond": 1}},
        {"ProvisionedThroughput": units(0, 1)},
        {"ProvisionedThroughput": {"ReadCapacityUnits": "1"}},
        {"TableName": "a/b"},
    ],
)
def test_what_the_model_refuses(change: Mapping[str, Any]) -> None:
    with pytest.raises(ValidationError):
        KIND.properties.model_validate({**PLAIN, **change})


@pytest.mark.parametrize("verb", sorted(KIND.iam))
def test_the_permissions_are_those_of_the_calls(aws: Aws, service: Service, verb: str) -> None:
    if verb != "create":
        create(aws, PLAIN)
    seen = read(aws) if verb != "create" else KIND.locate(aws, NAME)
    service.calls.clear()
    match verb:
        case "survey":
            list(KIND.survey(aws, [""]))
        case "read":
            read(aws)
        case "create":
            create(aws, PLAIN)
            service.calls.append("dynamodb:TagResource")  # what tags in the call need
        case "update":
            recovery = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
            expiry = {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"}}
            tags, gone = freeze({"a": "b"}), frozenset({"team"})
            KIND.update(aws, seen, Change(freeze({**recovery, **expiry}), tags, gone))
            KIND.update(aws, seen, Change(freeze({"DeletionProtectionEnabled": True})))
        case "delete":
            KIND.delete(aws, seen)
    assert set(service.calls) == KIND.iam[verb]


def test_changes_go_out_one_kind_a_call(aws: Aws) -> None:
    create(aws, PLAIN)
    assert (
        converge(aws, {word: value for word, value in RICH.items() if word != "LocalSecondaryIndexes"} | INDEXED) == 6
    )


def run(world: World, aws: Aws, declared: Mapping[str, Any]) -> Resource:
    """One run: look, and where the table is in no transition make the next change."""
    world.tick_started()
    found = read(aws)
    change = change_of(declared, found) if found.state is State.READY else Change()
    if change:
        KIND.update(aws, found, change)
    return found


def test_a_table_gets_there_run_by_run_without_one_refused_call(world: World) -> None:
    aws = Aws(world.session, Scope(world.account, world.region))
    unknown = ("LocalSecondaryIndexes", "SSESpecification", "TableClass")
    declared = {word: value for word, value in RICH.items() if word not in unknown} | INDEXED
    declared["ProvisionedThroughput"] = units(9, 1)
    create(aws, PLAIN)
    states = [run(world, aws, declared).state for _ in range(20)]
    assert states[0] is State.PENDING
    found = read(aws)
    assert found.state is State.READY
    assert diff(freeze(declared), freeze(found.properties), KIND.shape) == ()


def test_when_the_decreases_of_the_day_are_spent_increases_go_on(world: World) -> None:
    aws = Aws(world.session, Scope(world.account, world.region))
    create(aws, {**PLAIN, "ProvisionedThroughput": units(9, 9)})
    for read_units in (9, 9, 8, 8, 8, 7, 7, 7, 6, 6, 6, 5, 5, 5):
        run(world, aws, {"ProvisionedThroughput": {"ReadCapacityUnits": read_units}})
    assert read(aws).facts["NumberOfDecreasesToday"] == 4
    wanted = {"ProvisionedThroughput": units(1, 20)}
    for _ in range(3):
        with suppress(ClientError):
            run(world, aws, wanted)
    assert (read(aws).properties or {})["ProvisionedThroughput"] == units(5, 20)
    with pytest.raises(ClientError) as error:
        run(world, aws, wanted)
    assert error.value.response["Error"]["Code"] in KIND.wait_codes
