"""A bucket's lifecycle in CloudFormation's words and in those of the S3 API, which differ in almost every one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from policies.frozen import Json, thaw

_SIZES = ("ObjectSizeGreaterThan", "ObjectSizeLessThan")


def parse(answer: Mapping[str, Any]) -> dict[str, Json]:
    """`LifecycleConfiguration` from what GetBucketLifecycleConfiguration says."""
    lifecycle: dict[str, Json] = {"Rules": [dict(_parse_rule(rule)) for rule in answer["Rules"]]}
    if size := answer.get("TransitionDefaultMinimumObjectSize"):
        lifecycle["TransitionDefaultMinimumObjectSize"] = size
    return lifecycle


def _parse_rule(rule: Mapping[str, Any]) -> Iterator[tuple[str, Json]]:
    yield "Id", rule["ID"]
    yield "Status", rule["Status"]
    yield from _parse_filter(rule)
    expiration = rule.get("Expiration", {})
    if "Days" in expiration:
        yield "ExpirationInDays", expiration["Days"]
    if "Date" in expiration:
        yield "ExpirationDate", _moment(expiration["Date"])
    if expiration.get("ExpiredObjectDeleteMarker"):
        yield "ExpiredObjectDeleteMarker", True
    if transitions := rule.get("Transitions"):
        yield "Transitions", [_renamed(one, _FROM_TRANSITION) for one in transitions]
    if transitions := rule.get("NoncurrentVersionTransitions"):
        yield "NoncurrentVersionTransitions", [_renamed(one, _FROM_TRANSITION) for one in transitions]
    for word in ("NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload"):
        if word in rule:
            yield word, dict(rule[word])


def _parse_filter(rule: Mapping[str, Any]) -> Iterator[tuple[str, Json]]:
    """One condition stands by itself, several under And; old rules have a prefix outside of the filter."""
    alone = rule.get("Filter") or {}
    where = {**alone, **alone.get("And", {})}
    if prefix := rule.get("Prefix") or where.get("Prefix"):
        yield "Prefix", prefix
    if tags := [*where.get("Tags", ()), *([where["Tag"]] if "Tag" in where else ())]:
        yield "TagFilters", [dict(tag) for tag in tags]
    yield from ((word, str(where[word])) for word in _SIZES if where.get(word) is not None)


def spell(lifecycle: Mapping[str, Json]) -> dict[str, Any]:
    """The arguments of PutBucketLifecycleConfiguration, which replaces all rules."""
    told: dict[str, Any] = {"LifecycleConfiguration": {"Rules": [_spell_rule(rule) for rule in lifecycle["Rules"]]}}
    if size := lifecycle.get("TransitionDefaultMinimumObjectSize"):
        told["TransitionDefaultMinimumObjectSize"] = size
    return told


def _spell_rule(declared: Mapping[str, Json]) -> dict[str, Any]:
    rule = {word: thaw(value) for word, value in declared.items() if value is not None}
    told: dict[str, Any] = {"ID": rule["Id"], "Status": rule["Status"], "Filter": _spell_filter(rule)}
    expiration = {
        "Days": rule.get("ExpirationInDays"),
        "Date": rule.get("ExpirationDate"),
        "ExpiredObjectDeleteMarker": rule.get("ExpiredObjectDeleteMarker") or None,
    }
    if any(value is not None for value in expiration.values()):
        told["Expiration"] = {word: value for word, value in expiration.items() if value is not None}
    for word, names in (("Transitions", _TO_TRANSITION), ("NoncurrentVersionTransitions", _TO_NONCURRENT)):
        if rule.get(word):
            told[word] = [_renamed(one, names) for one in rule[word]]
    for word in ("NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload"):
        if word in rule:
            told[word] = {name: value for name, value in rule[word].items() if value is not None}
    return told


def _spell_filter(rule: Mapping[str, Any]) -> dict[str, Any]:
    tags: list[dict[str, str]] = rule.get("TagFilters") or []
    where: dict[str, Any] = {word: int(rule[word]) for word in _SIZES if word in rule}
    if rule.get("Prefix"):
        where["Prefix"] = rule["Prefix"]
    if len(where) + len(tags) > 1:
        return {"And": {**where, "Tags": tags} if tags else where}
    return {"Tag": tags[0]} if tags else where or {"Prefix": ""}


_TO_TRANSITION = {"TransitionInDays": "Days", "TransitionDate": "Date"}
_TO_NONCURRENT = {"TransitionInDays": "NoncurrentDays"}
_FROM_TRANSITION = {"Days": "TransitionInDays", "Date": "TransitionDate", "NoncurrentDays": "TransitionInDays"}


def _renamed(transition: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    told = ((names.get(word, word), value) for word, value in transition.items() if value is not None)
    return {word: _moment(value) if isinstance(value, datetime) else value for word, value in told}


def _moment(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
