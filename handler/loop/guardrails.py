"""What of a plan may happen now, and what is held, with the reason. Pure, and on for every policy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from handler.loop.fingerprint import fingerprint
from policies.action import Action, Held, Plan, Verb
from policies.amount import Amount
from policies.conditions import all_hold
from policies.document import Policy
from policies.identity import HOLD_UNTIL, parse_moment
from policies.strategy import Decision, Pace
from policies.world import Observation, Resource, State

SETTLED = timedelta(hours=1)
"""Younger resources do not count in what a share of deletes is a share of: a burst must not raise its own limit."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A plan after the guard."""

    allowed: tuple[Action, ...]
    held: tuple[Held, ...]
    waiting: tuple[Action, ...]


Rule = Callable[[Sequence[Action]], Iterator[Held]]


def guard(
    policy: Policy,
    decision: Decision,
    plan: Plan,
    seen: Observation,
    now: datetime,
    stop: str | None,
    approved: frozenset[str] | None = None,
) -> Guarded:
    """Split a plan into what may happen now and what is held. `stop` is why nothing may, where that is so.

    `approved` are the fingerprints of an approved plan: all else is held, and of limits only those that no approval
    lifts are looked at.
    """
    waiting = tuple(action for action in plan.actions if not action.verb.writes)
    allowed: Sequence[Action] = [action for action in plan.actions if action.verb.writes]
    held: list[Held] = []
    limits = _limits(policy, decision, seen, now) if approved is None else _approval(approved)
    for rule in chain(_locks(policy, now, stop), limits):
        refused = list(rule(allowed))
        names = {id(one.action) for one in refused}
        held += refused
        allowed = [action for action in allowed if id(action) not in names]
    return Guarded(tuple(allowed), tuple(held), waiting)


def _locks(policy: Policy, now: datetime, stop: str | None) -> Iterator[Rule]:
    """What holds everything, then what holds one resource: somebody's word, which no approved plan lifts."""
    yield lambda actions: _everything(actions, stop or _mode(policy))
    yield lambda actions: _hold_until(actions, now)
    yield lambda actions: _conditions(actions, policy)


def _approval(approved: frozenset[str]) -> Iterator[Rule]:
    yield lambda actions: (
        Held(action, "it is not in the approved plan") for action in actions if fingerprint(action) not in approved
    )


def _limits(policy: Policy, decision: Decision, seen: Observation, now: datetime) -> Iterator[Rule]:
    """What limits the run: numbers, and the pace of disruptions."""
    rails = policy.guardrails
    if decision.pace is None:
        yield lambda actions: _all_or_nothing(actions, policy, seen, now)
    else:
        pace = decision.pace
        yield lambda actions: _too_young(actions, pace, now)
        yield lambda actions: _disruptions(actions, pace)
        limit = _share(rails.max_deletes, settled(seen, now))
        yield lambda actions: _first(actions, _DESTROYING, limit, "maxDeletes")
    yield lambda actions: _first(actions, _CREATING, rails.max_creates, "maxCreates")
    yield lambda actions: _first(actions, _UPDATING, rails.max_updates, "maxUpdates")


_DESTROYING = frozenset({Verb.DELETE, Verb.REPLACE})
_CREATING = frozenset({Verb.CREATE})
_UPDATING = frozenset({Verb.UPDATE, Verb.ADOPT, Verb.RELEASE, Verb.MARK})


def _mode(policy: Policy) -> str | None:
    if policy.gone and policy.clause.mode != "enforce":
        return "its policy is gone, and orphans are only reported"
    return None if policy.clause.mode == "enforce" else f"the policy's mode is {policy.clause.mode}"


def _everything(actions: Sequence[Action], reason: str | None) -> Iterator[Held]:
    return (Held(action, reason, final=True) for action in actions if reason)


def _hold_until(actions: Sequence[Action], now: datetime) -> Iterator[Held]:
    """A person's word on one resource: `setpoint:hold-until=<RFC 3339 time>`."""
    for action in actions:
        text = ((action.seen and action.seen.tags) or {}).get(HOLD_UNTIL)
        until = parse_moment(text) if text is not None else None
        if text is not None and until is None:
            message = f"its tag {HOLD_UNTIL} is {text!r}, which is no RFC 3339 time; mend or remove the tag"
            yield Held(action, message, final=True)
        elif until is not None and until > now:
            yield Held(action, f"its tag {HOLD_UNTIL} says {text}", final=True)


def _conditions(actions: Sequence[Action], policy: Policy) -> Iterator[Held]:
    """`protect` and `deleteIf`, as far as they can be told now; the act asks once more at the moment of deletion."""
    rails = policy.guardrails
    for action in actions:
        if action.verb.destroys and action.seen:
            if rails.protect and all_hold(rails.protect, action.seen):
                yield Held(action, "guardrails.protect holds for it", final=True)
            elif rails.delete_if and all_hold(rails.delete_if, action.seen) is False:
                yield Held(action, "guardrails.deleteIf does not hold for it", final=True)


def _all_or_nothing(actions: Sequence[Action], policy: Policy, seen: Observation, now: datetime) -> Iterator[Held]:
    """More deletes than allowed are the mark of a broken source or a mistaken edit: then none happens."""
    wanted = [action for action in actions if action.verb.destroys]
    rails = policy.guardrails
    limit = _share(rails.max_deletes, settled(seen, now))
    if len(wanted) > limit:
        share = f" ({rails.max_deletes} of the settled)" if rails.max_deletes.percent else ""
        reason = f"{len(wanted)} deletes are wanted and maxDeletes allows {limit}{share}, so none happens"
        advice = "; apply an approved plan, or raise guardrails.maxDeletes"
        if policy.gone:
            advice = "; `setpoint orphans --delete` deletes them all the same"
        yield from (Held(action, reason + advice) for action in wanted)


def settled(seen: Observation, now: datetime) -> int:
    """How many resources are old enough to count: those of unknown age only where their service tells no age."""
    return sum(one.alive and _is_settled(one, now) for one in seen.owned)


def _is_settled(one: Resource, now: datetime) -> bool:
    return one.properties is not None if one.created is None else now - one.created >= SETTLED


def to_tell(policy: Policy, plan: Plan, seen: Observation, now: datetime) -> tuple[Resource, ...]:
    """The resources that must be read before the guard can judge the plan; none where it can."""
    rails = policy.guardrails
    doomed = [action.seen for action in plan.actions if action.verb.destroys and action.seen is not None]
    unclear = [one for one in doomed if None in (all_hold(rails.protect, one), all_hold(rails.delete_if, one))]
    return tuple({one.id: one for one in (*unclear, *_ages(policy, plan, seen, now))}.values())


def _ages(policy: Policy, plan: Plan, seen: Observation, now: datetime) -> tuple[Resource, ...]:
    """The resources whose unknown age decides whether too many deletes are wanted; none where it does not matter."""
    unknown = tuple(one for one in seen.owned if one.alive and one.created is None and one.properties is None)
    limit, wanted = policy.guardrails.max_deletes, sum(action.verb.destroys for action in plan.actions)
    known = settled(seen, now)
    matters = limit.percent and _share(limit, known) < wanted <= _share(limit, known + len(unknown))
    return unknown if matters else ()


def _share(limit: Amount, total: int) -> int:
    """At least one may go, unless the policy says 0; `"100%"` are the words that allow everything."""
    if limit.percent and limit.number == 100:
        return sys.maxsize
    return max(limit.of(total), 1) if limit.percent and limit.number else limit.of(total)


def _too_young(actions: Sequence[Action], pace: Pace, now: datetime) -> Iterator[Held]:
    """Working resources live for `minLifetime` at least, whatever the numbers say: no churn."""
    for action in actions:
        if action.verb.destroys and action.seen and action.seen.state is State.READY and action.seen.created:
            age = now - action.seen.created
            if age < pace.minimum_age:
                yield Held(action, f"it is {_minutes(age)} old; minLifetime is {_minutes(pace.minimum_age)}")


def _disruptions(actions: Sequence[Action], pace: Pace) -> Iterator[Held]:
    """How many working, wanted resources may be away at a time (`maxUnavailable`)."""
    left = pace.disruptions
    for action in actions:
        surge = action.verb is Verb.CREATE and action.seen is not None
        if surge or (action.verb is Verb.REPLACE and action.seen and action.seen.state is State.READY):
            left -= 1
            if left < 0:
                yield Held(action, f"maxUnavailable allows {pace.disruptions} more to be away now; the rest follows")


def _first(actions: Sequence[Action], verbs: frozenset[Verb], limit: int, word: str) -> Iterator[Held]:
    chosen = [action for action in actions if action.verb in verbs]
    return (Held(action, f"{word} allows {limit} in one run; the rest follows") for action in chosen[limit:])


def _minutes(span: timedelta) -> str:
    return f"{int(span.total_seconds() // 60)} minutes"
