"""What must hold whatever went wrong. Each is one function, named in what it says. The world is asked, not the engine.

    Converges          in the end the world is the one that was asked for
    Quiet              and then nothing is written any more
    SameTally          nothing is there twice, and nothing is left over
    OwnedOnly          what is not ours is as it was, byte for byte
    NeverOver          at no time are more instances alive than wanted (and the surge that was allowed)
    OneTokenOneResource  a client token stands for one request and one instance
    BornOwned          every create call carries the owner tags
    BlindNeverDeletes  a run that could not see everything deletes nothing
    Bounded            a run makes few calls, and none of its writes twice
    Truthful           Ready is never said of a world that is not as desired
    NoSecrets          what stands in secret places comes out nowhere

`Isolated` (a failure stays in its policy) and `Replayable` (the same misfortune gives the same history) need more than
one run to see: they are tests of their own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from handler.loop.run import RunReport, failures
from policies.identity import DOCUMENT, ID, KEY, MARKED, POLICY, SPEC
from policies.redact import redact
from tests.sweep.harness import Documents, conditions, parse, status_of, told
from tests.sweep.scenarios import SECRET
from tests.world import Call, World
from tests.world.inventory import iterate
from tests.world.trap import backends

OWNER_TAGS = {POLICY, KEY, ID, SPEC, DOCUMENT}
INSTANCE = "AWS::EC2::Instance"
CREATES = {"CreateQueue", "CreateLogGroup", "PutMetricAlarm", "CreateTable", "RunInstances"}
DESTROYS = {"DeleteQueue", "DeleteLogGroup", "DeleteAlarms", "DeleteTable", "TerminateInstances"}
BULK = {
    "ListQueues",
    "DescribeLogGroups",
    "DescribeAlarms",
    "ListTables",
    "DescribeInstances",
    "DescribeInstanceStatus",
}
SOURCES = {"GetParameter", "Scan", "GetObject"}

Found = Mapping[str, Any]


def settled(world: World) -> Found:
    """Everything that exists; the moment of a mark is left out, since it says only when."""
    found = world.resources()
    for _, _, properties in iterate(found):
        if MARKED in properties["Tags"]:
            properties["Tags"][MARKED] = "marked"
    return found


def converges(found: Found, wanted: Found) -> None:
    assert found == wanted, f"Converges: {differences(found, wanted)}"


def quiet(writes: list[Call]) -> None:
    assert not writes, f"Quiet: {[str(call) for call in writes]}"


def same_tally(found: Found, wanted: Found) -> None:
    tallies = [{kind: len(things) for kind, things in world.items()} for world in (found, wanted)]
    assert tallies[0] == tallies[1], f"SameTally: {tallies[0]} where {tallies[1]} are wanted"


def owned_only(found: Found, foreign: Found) -> None:
    for kind, name, properties in iterate(dict(foreign)):
        there = found.get(kind, {})
        same = properties in there if isinstance(there, list) else there.get(name) == properties
        assert same, (
            f"OwnedOnly: {kind} {name} was {properties} and is {there if isinstance(there, list) else there.get(name)}"
        )


def never_over(found: Found, foreign: Found, most: int) -> None:
    alive = len(found.get(INSTANCE, [])) - len(foreign.get(INSTANCE, []))
    assert alive <= most, f"NeverOver: {alive} instances are alive, and at most {most} may be"


def one_token_one_resource(world: World) -> None:
    asked: dict[str, str] = {}
    if not any(call.operation == "RunInstances" for call in world.history):
        return
    for call in world.calls(operation="RunInstances"):
        request = json.dumps(call.params, sort_keys=True, default=str)
        token = call.params.get("ClientToken", "")
        assert token and asked.setdefault(token, request) == request, f"OneTokenOneResource: {token} means two things"
    tokens = Counter(
        one.client_token
        for _, ec2 in backends("ec2")
        for reservation in ec2.reservations.values()
        for one in reservation.instances
        if one.client_token in asked
    )
    assert not tokens or max(tokens.values()) == 1, f"OneTokenOneResource: {tokens}"


def born_owned(calls: list[Call]) -> None:
    for call in calls:
        if call.operation in CREATES:
            assert tag_keys(call) >= OWNER_TAGS, f"BornOwned: {call}"


def tag_keys(call: Call) -> set[str]:
    """The keys of the tags that a create call carries."""
    if call.operation == "RunInstances":
        return set.intersection(*({tag["Key"] for tag in one["Tags"]} for one in call.params["TagSpecifications"]))
    tags = call.params.get("tags") or call.params.get("Tags") or {}
    return set(tags) if isinstance(tags, dict) else {tag["Key"] for tag in tags}


def blind_never_deletes(calls: list[Call]) -> None:
    """`calls` are those of one run of one policy. What is read for one resource only blinds for that one only."""
    blind: Call | None = None
    acting = False
    for call in [call for call in calls if call.number]:
        if blind is None and not acting and is_sense(call) and call.outcome != "ok":
            blind = call
        acting = acting or call.mutating
        assert blind is None or call.operation not in DESTROYS, f"BlindNeverDeletes: {blind}, and yet {call}"


def is_sense(call: Call) -> bool:
    """A bulk read of what there is, of its tags, or of the items."""
    one = {"InstanceIds", "AlarmNames"} & call.params.keys()
    index = call.operation == "GetResources" and "ResourceTypeFilters" in call.params
    return index or (call.operation in BULK | SOURCES and not one)


def bounded(calls: list[Call], most: int) -> None:
    assert len(calls) <= most, f"Bounded: {len(calls)} calls in one run, {most} are plenty"
    writes = Counter(
        (call.name, json.dumps(call.params, sort_keys=True, default=str))
        for call in calls
        if call.mutating and call.number
    )
    twice = [write for write, times in writes.items() if times > 1]
    assert not twice, f"Bounded: written twice in one run: {twice}"


def truthful(world: World, documents: Documents, report: RunReport, found: Found, wanted: Found) -> None:
    """A run that says Ready wrote nothing, so the world after it is the world that it speaks of."""
    for name, held in conditions(world, documents, report).items():
        others = [word for word, true in held.items() if true and word != "Ready"]
        assert held["Ready"] != bool(others), f"Truthful: {name} is Ready={held['Ready']} with {others}"
    left = any(one.outcomes or one.error or one.guarded.allowed for one in report.orphans) or report.errors
    if not left and all(held["Ready"] for held in conditions(world, documents, report).values()):
        assert found == wanted, f"Truthful: Ready, but {differences(found, wanted)}"


def no_secrets(world: World, documents: Documents, report: RunReport) -> None:
    shown = json.dumps(status_of(world, documents, report)) + "".join(told_outside(documents, report))
    assert SECRET not in shown, f"NoSecrets: {told(report)}"


def told_outside(documents: Documents, report: RunReport) -> list[str]:
    """What the run is failed with, as the log gets it."""
    return [redact(str(error)) for error in failures(parse(documents), report)]


def differences(found: Found, wanted: Found) -> list[str]:
    """Where two worlds differ, for the message of a failed test."""
    lines = []
    for kind in sorted({*found, *wanted}):
        have, want = found.get(kind, {}), wanted.get(kind, {})
        if isinstance(have, list) or isinstance(want, list):
            have, want = dict(enumerate(have)), dict(enumerate(want))
        for name in sorted({*have, *want}):
            if have.get(name) != want.get(name):
                lines.append(f"{kind} {name}: is {have.get(name)}, not {want.get(name)}")
    return lines
