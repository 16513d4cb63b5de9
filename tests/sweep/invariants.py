"""What must hold whatever went wrong. Each is one function, named in what it says. The world is asked, not the engine.

    Converges          in the end the world is the one that was asked for
    Quiet              and then nothing is written any more
    SameTally          everything was made and ended as often as when nothing went wrong
    OwnedOnly          what is not ours is as it was, byte for byte
    NeverOver          at no time are more instances alive than wanted (and the surge that was allowed)
    NeverUnder         nothing that works is taken away while too few work
    OneTokenOneResource  a client token stands for one request and one instance
    BornOwned          everything carries the owner tags from the call that made it
    BlindNeverDeletes  a run that could not see everything deletes nothing
    Isolated           what fails stays in its policy
    Bounded            a run makes few calls, none of its writes twice, and none once its time is over
    Truthful           Ready is never said of a world that is not as desired, and what is told is what happened
    NoSecrets          what stands in secret places comes out nowhere
    Replayable         the same misfortune gives the same history

All but the last are checked after every run; `Isolated` where a scenario has a second policy (`test_interruptions.py`),
`Replayable` by doing it twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from handler.loop.run import RunReport, failures
from handler.loop.status import run_status
from handler.loop.tally import facts
from handler.picture import plan_picture
from policies.action import Outcome, Result, Verb
from policies.identity import DOCUMENT, ID, KEY, MARKED, POLICY, SPEC
from policies.redact import redact
from tests.sweep.harness import Documents, conditions, parse, status_of, told
from tests.sweep.ledger import DESTROYS, Ledger
from tests.sweep.scenarios import SECRET
from tests.world import Call, World
from tests.world.inventory import iterate
from tests.world.trap import backends

OWNER_TAGS = {POLICY, KEY, ID, SPEC, DOCUMENT}
INSTANCE = "AWS::EC2::Instance"
LAST_ACTION = 12
"""Calls that one action makes at most."""

BULK = {
    "DescribeAlarms", "DescribeAutoScalingGroups", "DescribeDBClusters", "DescribeDBInstances",
    "DescribeInstanceStatus", "DescribeInstances", "DescribeLogGroups", "DescribeParameters",
    "DescribeReplicationGroups", "DescribeSnapshots", "DescribeVolumes",
    "ListBuckets", "ListClusters", "ListFunctions", "ListQueues", "ListRules", "ListServices",
    "ListStreams", "ListTables", "ListTopics",
}  # fmt: skip
ONE = {
    "AlarmNames", "AutoScalingGroupNames", "DBClusterIdentifier", "DBInstanceIdentifier", "InstanceIds",
    "ParameterFilters", "ReplicationGroupId", "SnapshotIds", "VolumeIds",
}  # fmt: skip
"""Parameters by which a bulk read becomes the read of one."""

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


def same_tally(ledger: Ledger, births: Mapping[str, int], deaths: Mapping[str, int]) -> None:
    assert ledger.births == births, f"SameTally: made {dict(ledger.births)}, not {dict(births)}"
    assert ledger.deaths == deaths, f"SameTally: ended {dict(ledger.deaths)}, not {dict(deaths)}"


def owned_only(found: Found, foreign: Found) -> None:
    for kind, name, properties in iterate(dict(foreign)):
        there = found.get(kind, {})
        same = properties in there if isinstance(there, list) else there.get(name) == properties
        assert same, (
            f"OwnedOnly: {kind} {name} was {properties} and is {there if isinstance(there, list) else there.get(name)}"
        )


def never_over(ledger: Ledger, foreign: Found, most: int) -> None:
    alive = ledger.most_alive - len(foreign.get(INSTANCE, []))
    assert alive <= most, f"NeverOver: {alive} instances were alive at a time, and at most {most} may be"


def never_under(work: int, foreign: Found, least: int) -> None:
    """`work` is how many run; only asked of scenarios in which nothing dies by itself."""
    ours = work - len(foreign.get(INSTANCE, []))
    assert ours >= least, f"NeverUnder: {ours} instances run, and {least} must"


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


def born_owned(ledger: Ledger) -> None:
    assert not ledger.unowned, f"BornOwned: {ledger.unowned}"


def blind_never_deletes(calls: list[Call], found: Found) -> None:
    """`calls` are those of one run of one policy. What is read for one resource only blinds for that one only."""
    blind: Call | None = None
    acting = False
    for call in [call for call in calls if call.number]:
        if blind is None and not acting and is_sense(call, found) and call.outcome != "ok":
            blind = call
        acting = acting or call.mutating
        assert blind is None or call.operation not in DESTROYS, f"BlindNeverDeletes: {blind}, and yet {call}"


def is_sense(call: Call, found: Found) -> bool:
    """A bulk read of what there is, of its tags, or of the items. A log group is read by its whole name as prefix, an
    alarm by its name and of either type; both are also looked up by many names of one type.
    """
    many = call.params.get("AlarmTypes") == ["MetricAlarm"]
    one = not many and ONE & call.params.keys()
    one = one or call.params.get("logGroupNamePrefix") in found.get("AWS::Logs::LogGroup", {})
    one = one or call.params.get("Name") in found.get("AWS::SSM::Parameter", {})
    index = call.operation == "GetResources" and "ResourceTypeFilters" in call.params
    return index or (call.operation in BULK | SOURCES and not one)


def isolated(ready: set[str], failing: str, everything: set[str]) -> None:
    assert ready == everything - {failing}, f"Isolated: {sorted(ready)} are ready while {failing} fails"


def in_time(calls: list[Call], limit: int) -> None:
    """An action that has begun may end; the next one must not begin."""
    late = [call for call in calls if call.mutating and call.number > limit + LAST_ACTION]
    assert not late, f"Bounded: written after the run's time: {[str(call) for call in late]}"


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


def told_truly(calls: list[Call], report: RunReport) -> None:
    """The outcomes against the history: as many ended as were told, and nothing done of which nobody wrote."""
    outcomes = [outcome for one in (*report.policies, *report.orphans) for outcome in one.outcomes]
    ours = [call for call in calls if call.number and call.mutating and call.outcome == "ok"]
    ended = sum(call.targets for call in ours if call.operation in DESTROYS)
    touched = sum(call.targets for call in ours)
    happened = [one for one in outcomes if one.result is Result.DONE and "gone already" not in one.message]
    told = [one for one in outcomes if _is_end(one)]
    assert ended == len(told), f"Truthful: {ended} deletes were accepted and {len(told)} are told"
    assert len(happened) <= touched, f"Truthful: {len(happened)} outcomes are done, {touched} writes were accepted"
    idle = {Result.NOTHING, Result.UNVISITED}
    assert not ours or any(one.result not in idle for one in outcomes), f"Truthful: {ours} are told by nobody"


def _is_end(outcome: Outcome) -> bool:
    """Whether it tells of a delete that was accepted; of a replacement that is the first half."""
    result = Result.PARTIAL if outcome.action.verb is Verb.REPLACE else Result.DONE
    return outcome.action.verb.destroys and outcome.result is result and "gone already" not in outcome.message


def no_secrets(world: World, documents: Documents, report: RunReport) -> None:
    """Statuses, the plan as people see it, log lines and events: what is said of every outcome, and every error."""
    shown = json.dumps(status_of(world, documents, report)) + json.dumps(
        run_status(parse(documents), report, world.now)
    )
    everything = (*report.policies, *report.orphans)
    shown += json.dumps([facts(outcome) for one in everything for outcome in one.outcomes])
    shown += "".join(str(line) for line in plan_picture(report)) + "".join(told_outside(documents, report))
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
