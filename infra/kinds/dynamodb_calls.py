"""The calls that give a table what is wanted, in order, each one change that DynamoDB takes by itself. Pure.

Sources: UpdateTable ("you can only perform one of the following operations at once"), UpdateTimeToLive, and what the
service answers: a table class or a stream is not changed together with anything else, an enabled stream not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from policies.errors import RefusedError
from policies.frozen import NOTHING, Json, thaw

Arguments: TypeAlias = dict[str, Any]
Wanted: TypeAlias = Mapping[str, Json]

_UNITS = ("ReadCapacityUnits", "WriteCapacityUnits")
_LATER = ("TimeToLiveSpecification", "PointInTimeRecoverySpecification")


@dataclass(frozen=True, slots=True)
class Call:
    """One call, without the name of the table."""

    operation: str
    arguments: Arguments


def creation(initial: Wanted, declared: Wanted) -> tuple[Arguments, bool]:
    """What CreateTable takes, and whether something is left that it does not take: that must be declared."""
    if early := sorted(word for word in _LATER if word in initial and word not in declared):
        raise RefusedError(f"{', '.join(early)} cannot be initial: CreateTable does not take it; put it in properties")
    wanted = given(_over(initial, declared))
    expiry, backups = (wanted.pop(word, NOTHING) for word in _LATER)
    if "StreamSpecification" in wanted:
        wanted["StreamSpecification"] = _stream(wanted["StreamSpecification"])
    if "SSESpecification" in wanted:
        wanted["SSESpecification"] = _encryption(wanted["SSESpecification"])
    return wanted, bool(expiry.get("Enabled") or backups.get("PointInTimeRecoveryEnabled"))


def recovery(wanted: Wanted | None) -> Arguments:
    """The specification that UpdateContinuousBackups takes; null: off."""
    if not (wanted or {}).get("PointInTimeRecoveryEnabled"):
        return {"PointInTimeRecoveryEnabled": False}
    return {
        "PointInTimeRecoveryEnabled": True,
        "RecoveryPeriodInDays": (wanted or {}).get("RecoveryPeriodInDays") or 35,
    }


def update_calls(has: Wanted, wanted: Wanted) -> tuple[Call, ...]:
    """Every call still to be made. Protection comes first; what the service rations by the hour or day comes last."""
    return (
        *(Call("update_table", arguments) for arguments in _changes(has, wanted)),
        *(Call("update_time_to_live", {"TimeToLiveSpecification": spec}) for spec in _expiries(has, wanted)),
        *(Call("update_table", arguments) for arguments in _throughput(has, wanted, min)),
    )


def _changes(has: Wanted, wanted: Wanted) -> Iterator[Arguments]:
    if "DeletionProtectionEnabled" in wanted:
        yield {"DeletionProtectionEnabled": bool(wanted["DeletionProtectionEnabled"])}
    if "BillingMode" in wanted:
        yield _billing(has, wanted)
    else:
        yield from _throughput(has, wanted, max)
    yield from _limits(has, wanted)
    yield from _indexes(has, wanted)
    if "StreamSpecification" in wanted:
        if has.get("StreamSpecification"):
            yield {"StreamSpecification": {"StreamEnabled": False}}
        if wanted["StreamSpecification"]:
            yield {"StreamSpecification": _stream(wanted["StreamSpecification"])}
    if "SSESpecification" in wanted:
        yield {"SSESpecification": _encryption(wanted["SSESpecification"] or {})}
    if "TableClass" in wanted:
        yield {"TableClass": wanted["TableClass"] or "STANDARD"}


def _billing(has: Wanted, wanted: Wanted) -> Arguments:
    """The switch to provisioned takes the throughput of the table and of all its indexes in one call."""
    mode = wanted["BillingMode"] or "PROVISIONED"
    if mode != "PROVISIONED":
        return {"BillingMode": mode}
    throughput = next(_throughput({**has, "ProvisionedThroughput": None}, wanted, max), {})
    return {"BillingMode": mode, **throughput}


def _throughput(has: Wanted, wanted: Wanted, level: Callable[[int, int], int]) -> Iterator[Arguments]:
    """With `max` only what goes up, with `min` only what goes down: a decrease may be refused for the day."""
    arguments: Arguments = {}
    if units := _moved(has, wanted, level):
        arguments["ProvisionedThroughput"] = units
    pairs = ((name, _moved(old, new, level)) for name, old, new in _kept_indexes(has, wanted))
    if updates := [_index_update(name, "ProvisionedThroughput", units) for name, units in pairs if units]:
        arguments["GlobalSecondaryIndexUpdates"] = updates
    if arguments:
        yield arguments


def _moved(has: Wanted, wanted: Wanted, level: Callable[[int, int], int]) -> dict[str, int]:
    old, new = (part.get("ProvisionedThroughput") or {} for part in (has, wanted))
    present = {word: old.get(word) or 0 for word in _UNITS}
    target = {word: level(present[word], new.get(word) or present[word]) for word in _UNITS}
    return target if target != present else {}


def _limits(has: Wanted, wanted: Wanted) -> Iterator[Arguments]:
    """The limits of on-demand throughput; null is written as -1."""
    arguments: Arguments = {}
    if "OnDemandThroughput" in wanted:
        arguments["OnDemandThroughput"] = _limit(has, wanted)
    pairs = [(name, old, new) for name, old, new in _kept_indexes(has, wanted) if _limit_differs(old, new)]
    if updates := [_index_update(name, "OnDemandThroughput", _limit(old, new)) for name, old, new in pairs]:
        arguments["GlobalSecondaryIndexUpdates"] = updates
    if arguments:
        yield arguments


def _limit(has: Wanted, wanted: Wanted) -> dict[str, int]:
    limits = wanted["OnDemandThroughput"] or dict.fromkeys(has.get("OnDemandThroughput") or ())
    return {word: limit or -1 for word, limit in limits.items()}


def _limit_differs(has: Wanted, wanted: Wanted) -> bool:
    present = has.get("OnDemandThroughput") or {}
    if "OnDemandThroughput" not in wanted:
        return False
    return any(present.get(word, -1) != limit for word, limit in _limit(has, wanted).items())


def _indexes(has: Wanted, wanted: Wanted) -> Iterator[Arguments]:
    """One index created or deleted at a time. DynamoDB forgets by itself the attributes that no key uses."""
    if "GlobalSecondaryIndexes" not in wanted:
        return
    old, new = _by_name(has), _by_name(wanted)
    for name in old.keys() - new.keys():
        yield {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": name}}]}
    attributes = {
        item["AttributeName"]: thaw(item) for part in (has, wanted) for item in part.get("AttributeDefinitions") or ()
    }
    for name in [name for name in new if name not in old]:
        create = {"GlobalSecondaryIndexUpdates": [{"Create": given(new[name])}]}
        yield {"AttributeDefinitions": list(attributes.values()), **create}


def _expiries(has: Wanted, wanted: Wanted) -> Iterator[Arguments]:
    """Another attribute takes two calls: off, and on again."""
    if "TimeToLiveSpecification" not in wanted:
        return
    old, new = (part.get("TimeToLiveSpecification") or {} for part in (has, wanted))
    if old.get("Enabled"):
        yield {"Enabled": False, "AttributeName": old["AttributeName"]}
    if new.get("Enabled"):
        yield {"Enabled": True, "AttributeName": new["AttributeName"]}


def _by_name(part: Wanted) -> dict[str, Wanted]:
    return {index["IndexName"]: index for index in part.get("GlobalSecondaryIndexes") or ()}


def _kept_indexes(has: Wanted, wanted: Wanted) -> Iterator[tuple[str, Wanted, Wanted]]:
    old = _by_name(has)
    for name, new in _by_name(wanted).items():
        if name in old:
            yield name, old[name], new


def _index_update(name: str, word: str, value: dict[str, int]) -> Arguments:
    return {"Update": {"IndexName": name, word: value}}


def _stream(wanted: Wanted) -> Arguments:
    return {"StreamEnabled": True, "StreamViewType": wanted["StreamViewType"]}


def _encryption(wanted: Wanted) -> Arguments:
    """KMSMasterKeyId names a key other than the one that AWS manages; SSEEnabled is called Enabled here."""
    words = ("SSEType", "KMSMasterKeyId") if wanted.get("SSEEnabled") else ()
    return {"Enabled": bool(wanted.get("SSEEnabled")), **{word: wanted[word] for word in words if wanted.get(word)}}


def given(value: Json) -> Any:
    """The value without nulls and empty lists, which stand for what is left out."""
    if isinstance(value, Mapping):
        return {word: given(item) for word, item in value.items() if item not in (None, (), [])}
    return [given(item) for item in value] if isinstance(value, list | tuple) else value


def _over(initial: Json, declared: Json) -> Json:
    """What is declared over what a resource is born with, object by object."""
    if not isinstance(initial, Mapping) or not isinstance(declared, Mapping):
        return declared
    return {**initial, **{word: _over(initial.get(word), value) for word, value in declared.items()}}
