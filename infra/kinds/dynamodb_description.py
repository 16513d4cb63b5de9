"""What DynamoDB says of a table, in CloudFormation's words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from policies.frozen import Json
from policies.world import State

DESCRIBABLE = frozenset({"ACTIVE", "UPDATING", "INACCESSIBLE_ENCRYPTION_CREDENTIALS"})
"""In other states the calls for time to live and backups say "not found" of a table that is there."""

_STATES = {"ACTIVE": State.READY, "CREATING": State.PENDING, "UPDATING": State.PENDING, "DELETING": State.DELETING}


def state_of(table: Mapping[str, Any]) -> State:
    """A table is in transition while one of its indexes is; what has no key, or is archived, does not work."""
    state = _STATES.get(table["TableStatus"], State.UNHEALTHY)
    busy = any(index["IndexStatus"] != "ACTIVE" for index in table.get("GlobalSecondaryIndexes", ()))
    return State.PENDING if busy and state is State.READY else state


def created_of(table: Mapping[str, Any]) -> datetime:
    moment: datetime = table["CreationDateTime"]
    return moment.astimezone(UTC)


def facts_of(table: Mapping[str, Any]) -> dict[str, Json]:
    return {
        "CreateTime": created_of(table).isoformat(),
        "ItemCount": table.get("ItemCount", 0),
        "TableSizeBytes": table.get("TableSizeBytes", 0),
        "NumberOfDecreasesToday": table.get("ProvisionedThroughput", {}).get("NumberOfDecreasesToday", 0),
    }


def parse(table: Mapping[str, Any]) -> dict[str, Json]:
    """A table description as CloudFormation's properties; defaults are spelled out so that conditions can test them."""
    # Tables that were never on demand have no BillingModeSummary.
    mode = table.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED")
    indexes = [_index(index, mode) for index in table.get("GlobalSecondaryIndexes", ()) if _stays(index)]
    locals_ = [_index(index, None) for index in table.get("LocalSecondaryIndexes", ())]
    used = {key["AttributeName"] for part in (table, *indexes, *locals_) for key in part["KeySchema"]}
    stream = table.get("StreamSpecification", {})
    parsed = {
        "TableName": table["TableName"],
        "KeySchema": table["KeySchema"],
        "AttributeDefinitions": [item for item in table["AttributeDefinitions"] if item["AttributeName"] in used],
        "BillingMode": mode,
        **_capacity(table, mode),
        "GlobalSecondaryIndexes": indexes,
        "LocalSecondaryIndexes": locals_,
        "StreamSpecification": {"StreamViewType": stream["StreamViewType"]} if stream.get("StreamEnabled") else None,
        "SSESpecification": _encryption(table.get("SSEDescription", {})),
        "TableClass": table.get("TableClassSummary", {}).get("TableClass", "STANDARD"),
        "DeletionProtectionEnabled": table.get("DeletionProtectionEnabled", False),
    }
    return {word: value for word, value in parsed.items() if value not in (None, [])}


def _stays(index: Mapping[str, Any]) -> bool:
    return index.get("IndexStatus") != "DELETING"


def _index(index: Mapping[str, Any], mode: str | None) -> dict[str, Json]:
    return {word: index[word] for word in ("IndexName", "KeySchema", "Projection")} | _capacity(index, mode)


def _capacity(part: Mapping[str, Any], mode: str | None) -> dict[str, Json]:
    """What counts in this billing mode: on demand the provisioned throughput is shown as 0 and 0."""
    if mode == "PROVISIONED":
        units = part["ProvisionedThroughput"]
        return {"ProvisionedThroughput": {word: units[word] for word in ("ReadCapacityUnits", "WriteCapacityUnits")}}
    limits = {word: limit for word, limit in part.get("OnDemandThroughput", {}).items() if limit > 0}
    return {"OnDemandThroughput": limits} if limits else {}


def _encryption(shown: Mapping[str, Any]) -> dict[str, Json]:
    if shown.get("Status") not in ("ENABLED", "ENABLING", "UPDATING"):
        return {"SSEEnabled": False}
    return {"SSEEnabled": True, "SSEType": shown["SSEType"], "KMSMasterKeyId": shown["KMSMasterKeyArn"]}


def time_to_live_of(shown: Mapping[str, Any]) -> dict[str, Json]:
    enabled = shown["TimeToLiveStatus"] in ("ENABLED", "ENABLING")
    value = {"Enabled": True, "AttributeName": shown["AttributeName"]} if enabled else {"Enabled": False}
    return {"TimeToLiveSpecification": value}


def recovery_of(shown: Mapping[str, Any]) -> dict[str, Json]:
    described = shown.get("PointInTimeRecoveryDescription", {})
    enabled = described.get("PointInTimeRecoveryStatus") == "ENABLED"
    days = {"RecoveryPeriodInDays": described.get("RecoveryPeriodInDays", 35)} if enabled else {}
    return {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": enabled, **days}}
