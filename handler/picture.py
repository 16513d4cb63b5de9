"""How plans, runs and errors look on a terminal. In a pipe the same text, without colour and never cut."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.text import Text

from handler.loop.reconcile import PolicyReport
from handler.loop.run import RunReport
from handler.records import Record, actions, changes, outcome_record
from policies.action import Held, Outcome, Result, Verb

_SIGNS: Mapping[str, tuple[str, str]] = {
    Verb.CREATE.value: ("+", "green"),
    Verb.UPDATE.value: ("~", "yellow"),
    Verb.REPLACE.value: ("-/+", "magenta"),
    Verb.DELETE.value: ("-", "red"),
    Verb.ADOPT.value: ("&", "cyan"),
    Verb.RELEASE.value: ("/", "cyan"),
    Verb.MARK.value: ("x", "red"),
    Verb.WAIT.value: (".", "blue"),
}
_BAD, _LATER = (Result.FAILED, Result.CONFLICT), (Result.WAITING, Result.THROTTLED, Result.UNVISITED, Result.PARTIAL)


def plan_picture(report: RunReport) -> Iterator[Text]:
    """What a run would do, policy by policy, as a diff; then what stands in the way."""
    for one in (*report.policies, *report.orphans):
        records = list(actions(one))
        notes = [trouble for trouble in one.plan.troubles if trouble.condition in ("Held", "Progressing")]
        if records or notes:
            yield _title(one, orphaned=one in report.orphans)
        for record in records:
            yield from action_picture(record)
        for note in notes:
            yield Text(f"  {note.condition.lower()}: {note.message}", "magenta")


def _title(report: PolicyReport, *, orphaned: bool) -> Text:
    policy, plan = report.policy, report.plan
    numbers = f"{plan.actual} without a policy" if orphaned else f"{plan.desired} wanted, {plan.actual} there"
    return Text.assemble((policy.name, "bold"), f"  {policy.scope}  {numbers}")


def action_picture(record: Record) -> Iterator[Text]:
    """One action: a line that says what and why, and under it what would be written."""
    sign, colour = _SIGNS[record["action"]]
    held = record["state"] == "held"
    what = Text.assemble((f"  {sign} {record['action']} ", colour), f"{record['type']} ", (record["resource"], "bold"))
    what.append(f"  {record['reason']}", "dim")
    yield what
    yield from map(change_picture, record["changes"])
    if held:
        yield Text(f"      held: {record['heldBecause']}", "magenta")


def change_picture(change: Record) -> Text:
    before, after = change["before"], change["after"]
    if before is None:
        return Text(f"      + {change['path']}: {_shown(after)}", "green")
    if after is None:
        return Text(f"      - {change['path']}: {_shown(before)}", "red")
    line = Text(f"      ~ {change['path']}: ", "yellow")
    return line.append(_shown(before), "red").append(" -> ", "default").append(_shown(after), "green")


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def outcome_picture(outcome: Outcome) -> Iterator[Text]:
    """One action and what came of it."""
    record = outcome_record(outcome)
    sign, colour = _SIGNS[record["action"]]
    word = "red bold" if outcome.result in _BAD else "blue" if outcome.result in _LATER else "default"
    line = Text.assemble((f"{sign} {record['action']} ", colour), f"{record['type']} ", (record["resource"], "bold"))
    line.append(f"  {record['state']}", word).append(f"  {record['message'] or record['reason']}", "dim")
    yield line
    yield from map(change_picture, changes(outcome.action) if outcome.action.verb is not Verb.CREATE else ())


def held_picture(held: Sequence[Held]) -> Iterator[Text]:
    """What was held, by reason: one reason may hold many."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for one in held:
        by_reason.setdefault((one.action.policy, one.reason), []).append(f"{one.action.verb.value} {one.action.title}")
    for (policy, reason), titles in by_reason.items():
        yield Text.assemble((f"{policy}: ", "bold"), ("held: ", "magenta"), f"{', '.join(titles)}: {reason}")


def error_picture(record: Record) -> Text:
    """One error: where, and what is wrong there."""
    if "path" in record:
        return Text.assemble((f"{record['file']}:{record['path']}", "bold"), f": {record['message']}")
    where = f"{record['policy']}: " if "policy" in record else ""
    return Text.assemble((where, "bold"), record["message"])


def plan_summary(report: RunReport) -> str:
    """The plan in one line."""
    records = [record for one in report.policies for record in actions(one)]
    counts = Counter(record["action"] if record["state"] == "allowed" else record["state"] for record in records)
    words = [f"{counts[verb.value]} to {verb.value}" for verb in Verb if counts[verb.value]]
    words += [f"{counts[state]} {state}" for state in ("held", "waiting") if counts[state]]
    left = sum(len(one.guarded.held) + len(one.guarded.allowed) for one in report.orphans)
    orphaned = f" {left} orphaned: see setpoint orphans." if left else ""
    return f"{', '.join(words)}.{orphaned}" if words else f"Nothing to do.{orphaned}"


def run_summary(outcomes: Iterable[Outcome], held: int, errors: int) -> str:
    """The run in one line."""
    counts = Counter(outcome.result.value for outcome in outcomes)
    words = [f"{count} {word}" for word, count in sorted(counts.items())]
    words += [f"{held} held"] if held else []
    words += [f"{errors} error{'s' * (errors > 1)}"] if errors else []
    return f"{', '.join(words)}." if words else "Nothing to do."


def orphan_picture(report: RunReport) -> Iterator[Text | str]:
    """What policies that are gone left behind, and what would become of it."""
    if not report.orphans and not report.errors:
        yield "No orphans: whatever this controller made in these accounts and regions belongs to a policy."
    for one in report.orphans:
        kind, count = one.policy.kind.type, one.plan.actual
        yield Text.assemble(
            (one.policy.name, "bold"), f"  {one.policy.scope}  {count} {kind}, from {one.policy.document}"
        )
        for record in actions(one):
            yield from action_picture(record)
        yield from (Text(f"  . {line}", "dim") for line in one.plan.kept)
