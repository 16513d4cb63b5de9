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
from policies.redact import redact

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
    """What a run would do, policy by policy, as a diff, and what stands in the way; then what nobody owns."""
    for one in report.policies:
        records = list(actions(one))
        notes = [trouble for trouble in one.plan.troubles if trouble.condition in ("Held", "Progressing")]
        if records or notes or one.plan.kept or _paused(one):
            yield _title(one)
        for record in records:
            yield from action_picture(record)
        for note in notes:
            yield Text(f"  {note.condition.lower()}: {redact(note.message)}", "magenta")
        yield from (Text(f"  . {line}", "dim") for line in _kept(one))
    yield from map(_left_behind, report.orphans)


def _title(report: PolicyReport) -> Text:
    policy, plan = report.policy, report.plan
    numbers = f"{plan.desired} wanted, {plan.actual} there"
    return Text.assemble((policy.name, "bold"), f"  {policy.scope}  {'paused' if _paused(report) else numbers}")


def _paused(report: PolicyReport) -> bool:
    return report.policy.clause.mode == "paused"


def _left_behind(report: PolicyReport) -> Text:
    """What one policy that is gone left behind, in one line."""
    policy, guarded = report.policy, report.guarded
    what = f"{report.plan.actual} {policy.kind.type} without a policy, from {policy.document}"
    line = Text.assemble("orphaned: ", (policy.name, "bold"), f"  {policy.scope}  {what}: ")
    marked = len(_marked([report]))
    if policy.clause.mode != "enforce":
        return line.append(f"only reported{f', {marked} marked before' if marked else ''}", "dim")
    counts = Counter(action.verb.value for action in guarded.allowed)
    words = [f"{count} to {verb}" for verb, count in counts.items()]
    words += [f"{count} held: {redact(why)}" for why, count in Counter(held.reason for held in guarded.held).items()]
    words += [f"{len(guarded.waiting)} waiting"] if guarded.waiting else []
    words += [redact(trouble.message) for trouble in report.plan.troubles]
    words += _kept(report)
    return line.append(", ".join(words) or "nothing to do", "dim")


def _kept(report: PolicyReport) -> list[str]:
    """What is not wanted and stays: a line for each time, with all that it holds for."""
    same: dict[str, list[str]] = {}
    for line in report.plan.kept:
        name, _, what = line.rpartition(": ")
        same.setdefault(what, []).append(name)
    return [redact(f"{', '.join(names)}: {what}") for what, names in same.items()]


def _marked(reports: Iterable[PolicyReport]) -> list[str]:
    """When each marked resource may go."""
    whats = (line.rpartition(": ")[2] for one in reports for line in one.plan.kept)
    return [what.split()[2] for what in whats if what.startswith("deleted from ")]


def standing_picture(report: RunReport) -> Iterator[Text | str]:
    """What a run found and did nothing about, policy by policy."""
    for one in report.policies:
        if _paused(one):
            yield f"{one.policy.name}: held: the policy's mode is paused"
        yield from (f"{action.policy}: waiting: {action.title}: {action.reason}" for action in one.guarded.waiting)
        troubles = (trouble for trouble in one.plan.troubles if trouble.condition == "Held")
        yield from (f"{one.policy.name}: held: {redact(trouble.message)}" for trouble in troubles)
        for line in _kept(one):
            word = "marked: " if line.rpartition(": ")[2].startswith("deleted from ") else ""
            yield from () if line.endswith("retained") else (f"{one.policy.name}: {word}{line}",)


def action_picture(record: Record) -> Iterator[Text]:
    """One action: a line that says what and why, and under it what would be written."""
    sign, colour = _SIGNS[record["action"]]
    held = record["state"] == "held"
    what = Text.assemble((f"  {sign} {record['action']} ", colour), f"{record['type']} ", (record["resource"], "bold"))
    what.append(f"  {record['reason']}", "dim")
    yield what
    if record["action"] == Verb.REPLACE.value:
        yield Text("      deletes the resource and what it holds; the create follows in a later run", "red")
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


def plan_summary(report: RunReport, errors: int = 0, *, stopped: bool = False) -> str:
    """The plan in one line."""
    records = [record for one in report.policies for record in actions(one)]
    counts = Counter(record["action"] if record["state"] == "allowed" else record["state"] for record in records)
    words = [f"{counts[verb.value]} to {verb.value}" for verb in Verb if counts[verb.value]]
    left = sum(one.plan.actual for one in report.orphans)
    orphaned = f" {left} orphaned: see setpoint orphans." if left else ""
    return _sentence([*words, *_standing(report.policies, errors, stopped=stopped)]) + orphaned


def run_summary(report: RunReport, errors: int, *, stopped: bool = False) -> str:
    """The run in one line."""
    counts = Counter(outcome.result.value for one in (*report.policies, *report.orphans) for outcome in one.outcomes)
    words = [f"{count} {word}" for word, count in sorted(counts.items())]
    return _sentence([*words, *_standing(report.policies, errors, stopped=stopped)])


def _standing(reports: Sequence[PolicyReport], errors: int, *, stopped: bool) -> Iterator[str]:
    """What is not done, and why that is no news: with any of it, "nothing to do" would be no true word."""
    troubles = Counter(trouble.condition for one in reports for trouble in one.plan.troubles)
    counts = {
        "held": sum(len(one.guarded.held) for one in reports) + troubles["Held"],
        "waiting": sum(len(one.guarded.waiting) for one in reports) + troubles["Progressing"],
        "paused": sum(map(_paused, reports)),
        "errors" if errors > 1 else "error": errors,
    }
    yield from (f"{count} {word}" for word, count in counts.items() if count)
    if stopped:
        yield "stopped"
    when = _marked(reports)
    if when:
        first = "" if len(set(when)) == 1 else "the first is "
        yield f"{len(when)} marked: {first}deleted from {min(when)} on"


def _sentence(words: Sequence[str]) -> str:
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
