"""What DB instances and DB clusters have in common: their states, their power, how changes are spelled. Pure.

Sources: "Viewing Amazon RDS DB instance status" and "Viewing DB cluster status" in the user guides; ModifyDBInstance,
ModifyDBCluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policies.frozen import Json, thaw
from policies.properties import Shape
from policies.world import Resource, State

NAME = r"[a-z](-?[a-z0-9])*"
"""The service lower-cases every identifier; in any other spelling a resource would never be found again."""

LOWER = rf"^{NAME}$"
KEY_ARN = r"^arn:[a-z-]+:kms:[a-z0-9-]+:\d{12}:key/.+$"
"""What the service shows, whatever was written: an id or an alias would look like drift for ever."""

DAY_WINDOW = r"^\d\d:\d\d-\d\d:\d\d$"
WEEK_WINDOW = r"^(mon|tue|wed|thu|fri|sat|sun):\d\d:\d\d-(mon|tue|wed|thu|fri|sat|sun):\d\d:\d\d$"

OTHERS = frozenset({"docdb", "neptune"})
"""Engines of other services, which RDS lists all the same and which its calls refuse."""

NO_SNAPSHOT = frozenset({"failed", "incompatible-restore", "incompatible-network"})
"""In these states an instance cannot be deleted with a final snapshot."""

_DELETING = frozenset({"deleting", "delete-precheck"})
_READY = frozenset({"available", "stopped", "storage-optimization", "storage-initialization"})
"""Storage is optimised for hours, in which all works and only storage cannot be changed."""

_BROKEN = ("failed", "inaccessible-", "incompatible-", "insufficient-", "restore-error", "storage-full")


def state_of(status: str) -> State:
    """Everything that is not known to be anything else is on its way somewhere."""
    if status in _READY:
        return State.READY
    if status in _DELETING:
        return State.DELETING
    return State.UNHEALTHY if status.startswith(_BROKEN) or status.endswith("-failed") else State.PENDING


def power_of(status: str) -> str:
    return "stopped" if status in ("stopping", "stopped") else "running"


def tags_of(seen: Resource, shown: Mapping[str, Any]) -> Mapping[str, str]:
    """Those already known, or the description's own."""
    if seen.tags is not None:
        return seen.tags
    return {tag["Key"]: tag["Value"] for tag in shown.get("TagList", ()) if not tag["Key"].startswith("aws:")}


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in sorted(tags.items())]


def active(shown: Mapping[str, Any], members: str, word: str) -> list[str]:
    """The groups that are or will be in force, of those that a description lists with a status."""
    leaving = ("removing", "pending-removal", "pending-maintenance-removal")
    return [one[word] for one in shown.get(members, ()) if one.get("Status") not in leaving]


def exports(seen: Resource, wanted: Iterable[str] | None) -> dict[str, list[str]]:
    """Which logs to export from now on, and which no longer."""
    has, will = set((seen.properties or {}).get("EnableCloudwatchLogsExports") or ()), set(wanted or ())
    changes = {"EnableLogTypes": sorted(will - has), "DisableLogTypes": sorted(has - will)}
    return {word: types for word, types in changes.items() if types}


def settled(shape: Shape, words: Mapping[str, Json]) -> dict[str, Any]:
    """The values to write, with the service's default in place of null."""
    return {word: thaw(shape.inner(word).default if value is None else value) for word, value in words.items()}


def given(words: Mapping[str, Json]) -> dict[str, Any]:
    """The values of a create call, which leaves out what is null."""
    return {word: thaw(value) for word, value in words.items() if value is not None}


def shown(words: Mapping[str, Json]) -> dict[str, Json]:
    """Without what is not set, which descriptions show in several ways."""
    return {word: value for word, value in words.items() if value not in (None, "", [], {})}


def backward(seen: Resource, wanted: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """What would have to shrink, or go back to an older or an unfinished version, and why that is never accepted."""
    has = seen.properties or {}
    for word in ("AllocatedStorage", "EngineVersion"):
        was, will = has.get(word), wanted.get(word)
        if was is not None and will is not None and _numbers(will) < _numbers(was):
            advice = f"write {was}, or put {word} in 'initial', where it holds at creation only"
            yield word, f"{word} of {seen.name} is {was} and cannot become {will}: {advice}"


def final_snapshot(name: str, resource_id: str) -> str:
    """One name for each database that ever was, so that none loses its snapshot to a successor of the same name."""
    return f"{name}-final-{resource_id}".lower()


def _numbers(value: Json) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", str(value))]
