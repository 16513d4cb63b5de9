"""What mistakes in the core were not noticed without: found by `python -m tests.mutants`, and held since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from handler.loop.fingerprint import fingerprint
from handler.loop.guardrails import Guarded, guard, settled, to_tell
from handler.loop.pairing import pair
from handler.loop.plan import plan
from policies.document import Policy
from policies.frozen import freeze
from policies.identity import HOLD_UNTIL, KEY, MARKED, POLICY, mark, tag_value
from policies.world import Observation, Resource, State
from strategies.period import spell
from tests.engine.given import (
    DELETE_AT_ONCE,
    INSTANCE,
    NOW,
    QUEUE,
    agents,
    decide,
    drifted,
    existing,
    planned,
    policy_of,
    queues,
    retagged,
    signals,
)
from tests.strategies.test_rotation import ITEMS, made, there
from tests.strategies.test_rotation import decide as rotate

FIVE = [f"q{number}" for number in range(5)]


def approved_by(policy: Policy, owned: Sequence[Resource], approved: Any = None, stop: str | None = None) -> Guarded:
    seen = Observation(tuple(owned), signals=signals(policy))
    decision = decide(policy, seen)
    return guard(policy, decision, plan(policy, (), decision, seen, NOW), seen, NOW, stop, approved)


def leaving(**more: Any) -> tuple[Policy, list[Resource]]:
    """Five queues, of which one is still wanted."""
    policy = policy_of(queues("q0", **DELETE_AT_ONCE, **more))
    return policy, [existing(policy, item) for item in FIVE]


def test_of_an_approved_plan_exactly_what_it_names_happens() -> None:
    policy, owned = leaving()
    held = approved_by(policy, owned).held
    chosen = frozenset(fingerprint(one.action) for one in held[:2])
    told = approved_by(policy, owned, chosen)
    assert frozenset(map(fingerprint, told.allowed)) == chosen
    assert [one.reason for one in told.held] == ["it is not in the approved plan"] * 2


@pytest.mark.parametrize("until", ["2027-01-01T00:00:00Z", "some day"])
def test_what_somebody_said_of_one_resource_is_final(until: str) -> None:
    policy, owned = leaving(guardrails={"maxDeletes": "100%"})
    tagged = [one.with_tags(freeze({**(one.tags or {}), HOLD_UNTIL: until})) for one in owned]
    told = approved_by(policy, tagged)
    assert [one.final for one in told.held] == [True] * 4


@pytest.mark.parametrize("rails", [{"protect": {"VisibilityTimeout": 30}}, {"deleteIf": {"VisibilityTimeout": 7}}])
def test_a_condition_on_deletes_is_final(rails: Any) -> None:
    policy, owned = leaving(guardrails={"maxDeletes": "100%", **rails})
    told = approved_by(policy, [drifted(one, VisibilityTimeout=30) for one in owned])
    assert [one.final for one in told.held] == [True] * 4


def test_a_stop_is_final() -> None:
    told = approved_by(*leaving(), stop="somebody said stop")
    assert [one.final for one in told.held] == [True] * 4


def test_a_limit_is_not_final() -> None:
    assert not any(one.final for one in approved_by(*leaving()).held)


def test_an_unknown_age_counts_only_where_the_service_was_asked() -> None:
    _, owned = leaving()
    ageless = Resource(owned[0].type, "read", properties=freeze({}))
    unread = Resource(owned[0].type, "unread")
    assert settled(Observation((ageless,)), NOW) == 1
    assert settled(Observation((unread,)), NOW) == 0


@pytest.mark.parametrize(("limit", "read"), [("60%", 5), ("100%", 0), (3, 0), (9, 0)])
def test_ages_are_asked_for_only_where_they_decide(limit: Any, read: int) -> None:
    policy = policy_of(queues("q0", "q1", **DELETE_AT_ONCE, guardrails={"maxDeletes": limit}))
    owned = [Resource(QUEUE, one.id, one.name, tags=one.tags) for one in (existing(policy, item) for item in FIVE)]
    seen = Observation(tuple(owned), signals=signals(policy))
    drawn = plan(policy, (), decide(policy, seen), seen, NOW)
    assert len(to_tell(policy, drawn, seen, NOW)) == read


def test_of_two_in_one_slot_the_older_stays_and_unknown_ages_are_young() -> None:
    policy = policy_of(agents(1))
    first, second = (existing(policy, 0, minutes=age, id=f"i-{age}") for age in (300, 200))
    nobody_knows = Resource(INSTANCE, "i-0", tags=first.tags, properties=first.properties)
    told = planned(policy, nobody_knows, second, first)
    assert {action.seen.id for action in told.actions if action.seen} == {"i-200", "i-0"}


@pytest.mark.parametrize(("state", "goes"), [(State.READY, True), (State.PENDING, False)])
def test_the_second_in_a_slot_goes_only_when_the_first_works(state: State, goes: bool) -> None:
    policy = policy_of(agents(1))
    stays = existing(policy, 0, minutes=300, id="i-stays", state=state)
    second = existing(policy, 0, minutes=200, id="i-second")
    told = planned(policy, stays, second)
    assert ("i-second" in {action.seen.id for action in told.actions if action.seen}) == goes


def test_what_is_not_wanted_and_could_not_be_read_is_waited_for() -> None:
    policy, owned = leaving()
    told = planned(policy, *owned, unread=frozenset({"orders-q1"}))
    assert [action.verb.value for action in told.actions if action.seen and action.seen.id == "orders-q1"] == ["wait"]


def test_it_is_told_from_when_on_it_is_deleted() -> None:
    policy = policy_of(queues("q0", removal="delete", grace="24h"))
    gone = existing(policy, "q1")
    marked = retagged(gone, marked=mark(policy.owner, gone.id, NOW - timedelta(hours=1)))
    assert planned(policy, existing(policy, "q0"), marked).kept == ("orders-q1: deleted from 2026-03-03T08:00:00Z on",)


def test_a_new_one_that_differs_in_what_only_a_create_sets_is_not_replaced_whatever_else_differs() -> None:
    """One difference that a create did not cure is enough: a replacement would be no different, for ever."""
    properties = {"FifoQueue": True, "VisibilityTimeout": 7}
    clause = queues("a", replace="deleteFirst", stem="x", properties=properties, **DELETE_AT_ONCE)
    clause["resource"]["properties"]["QueueName"] = "x-${item}.fifo"
    policy = policy_of(clause)
    fresh = drifted(existing(policy, "a"), FifoQueue=False, VisibilityTimeout=9)
    told = planned(policy, fresh)
    assert not told.actions
    assert [trouble.reason for trouble in told.troubles] == ["NotConverging"]


def test_a_slot_is_judged_by_the_best_that_lives_in_it() -> None:
    policy = policy_of(agents(1, strategy={"minLifetime": "0s"}))
    pending = existing(policy, 0, minutes=1, id="i-pending", state=State.PENDING)
    works = existing(policy, 0, minutes=120, id="i-works")
    younger = existing(policy, 1, minutes=60, id="i-younger")
    wanted = decide(policy, Observation((pending, works, younger))).desired
    assert [one.key for one in wanted] == ["0"]


def expiring() -> Policy:
    resource = {"type": QUEUE, "match": {"namePrefix": "sandbox-"}}
    strategy = {"type": "expire", "after": "10h", "grace": "2h"}
    return policy_of({"name": "old", "resource": resource, "strategy": strategy})


@pytest.mark.parametrize(
    ("age", "marked", "verbs"),
    [(9, None, []), (11, None, ["mark"]), (11, 1, []), (13, 3, ["delete"]), (9, 1, ["release"])],
)
def test_what_expires_is_marked_and_deleted_and_what_does_not_is_unmarked(age: int, marked: Any, verbs: Any) -> None:
    policy = expiring()
    tags = {} if marked is None else {MARKED: mark(policy.owner, "sandbox-a", NOW - timedelta(hours=marked))}
    born = NOW - timedelta(hours=age)
    one = Resource(QUEUE, "sandbox-a", "sandbox-a", tags=freeze(tags), properties=freeze({}), created=born)
    assert [action.verb.value for action in planned(policy, one).actions] == verbs


@pytest.mark.parametrize(("tags", "verb"), [({}, "update"), ({POLICY: "setpoint/others"}, None)])
def test_an_instance_with_our_token_is_ours_unless_its_tags_name_another(tags: Any, verb: Any) -> None:
    policy = policy_of(agents(1))
    (create,) = planned(policy).actions
    there_is = Resource(INSTANCE, "i-1", token=create.tokens[0], tags=freeze(tags), properties=freeze({}))
    told = planned(policy, occupied={create.tokens[0]: there_is})
    assert [action.verb.value for action in told.actions] == ([verb] if verb else [])
    assert bool(told.troubles) == (verb is None)


@pytest.mark.parametrize("month", range(1, 13))
def test_quarters_begin_in_january_april_july_and_october(month: int) -> None:
    assert spell(datetime(2026, month, 1, tzinfo=UTC), "%Y-q%q") == f"2026-q{1 + (month - 1) // 3}"


def test_what_cannot_be_told_apart_holds_a_rotation_too() -> None:
    """An item without its key may be anybody's: nothing is taken away."""
    built = made(items=ITEMS, name="${item.id}-${period}")
    assert rotate(built, "2026-03-02T09:00:00", there("month:2025-12/x", names="x-"), [{"id": "x"}, {"n": 7}]).hold
    assert rotate(built, "2026-03-02T09:00:00", there("month:2025-12/x", names="x-"), [{"id": "x"}]).hold is None


def test_what_only_a_create_sets_is_asked_of_the_present_and_not_of_the_past() -> None:
    table = {
        "TableName": "t-${period}",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    rotation = {"type": "rotation", "period": "month", "timezone": "UTC", "format": "%Y-%m", "ahead": 0, "keep": "all"}
    clause = {"name": "t", "resource": {"type": "AWS::DynamoDB::Table", "properties": table}, "strategy": rotation}
    policy = policy_of(clause)
    owned = [
        Resource("AWS::DynamoDB::Table", name, name, tags=freeze({KEY: tag_value(f"month:{name[2:]}")}))
        for name in ("t-2026-02", "t-2026-03")
    ]
    wanted = {one.key: "KeySchema" in one.properties for one in decide(policy, Observation(tuple(owned))).desired}
    assert wanted == {"month:2026-02": False, "month:2026-03": True}


def test_what_was_adopted_is_not_replaced() -> None:
    """It would be a delete, and what was adopted is never deleted."""
    clause = queues("a", replace="deleteFirst", stem="x", properties={"FifoQueue": True}, **DELETE_AT_ONCE)
    clause["resource"]["properties"]["QueueName"] = "x-${item}.fifo"
    policy = policy_of(clause)
    other = retagged(drifted(existing(policy, "a"), FifoQueue=False), spec="v1:another", adopted="true")
    told = planned(policy, other)
    assert not told.actions
    assert {trouble.condition for trouble in told.troubles} == {"Degraded"}


SOFTENED = {"type": "expire", "after": "10h", "grace": "2h", "meanwhile": {"VisibilityTimeout": 1}}


@pytest.mark.parametrize(
    ("marked", "verbs"), [(60, ["update"]), (119, ["update"]), (120, ["delete"]), (121, ["delete"])], ids=str
)
def test_meanwhile_counts_until_the_very_moment_at_which_the_grace_is_over(marked: int, verbs: list[str]) -> None:
    policy = policy_of(
        {"name": "old", "resource": {"type": QUEUE, "match": {"namePrefix": "s-"}}, "strategy": SOFTENED}
    )
    tags = {MARKED: mark(policy.owner, "s-a", NOW - timedelta(minutes=marked))}
    properties = freeze({"VisibilityTimeout": 30})
    one = Resource(QUEUE, "s-a", "s-a", tags=freeze(tags), properties=properties, created=NOW - timedelta(hours=20))
    told = planned(policy, one)
    assert [action.verb.value for action in told.actions] == verbs
    until = "2026-03-02T10:00:00Z" if marked == 60 else "2026-03-02T09:01:00Z"
    assert list(told.kept) == ([f"s-a: deleted from {until} on"] if verbs == ["update"] else [])


def test_what_leaves_is_told_by_its_key() -> None:
    policy, owned = leaving()
    assert [action.key for action in planned(policy, *owned).actions] == FIVE[1:]


def test_an_instance_whose_slot_is_full_goes_and_one_that_nobody_spoke_of_stays() -> None:
    """A strategy that names what should go is believed, but for the second in a slot."""
    policy = policy_of(agents(1, strategy={"minLifetime": "0s"}))
    first, second, other = (existing(policy, 0, id="i-1"), existing(policy, 0, id="i-2"), existing(policy, 1, id="i-3"))
    seen = Observation((first, second, other))
    decision = replace(decide(policy, seen), removals=())
    told = plan(policy, (), decision, seen, NOW)
    assert [(action.verb.value, action.seen and action.seen.id) for action in told.actions] == [("delete", "i-2")]


def test_create_first_makes_the_new_one_beside_the_old_one() -> None:
    policy = policy_of(agents(1, image="ami-2", replace="createFirst"))
    old = existing(policy_of(agents(1)), 0, id="i-old")
    (action,) = planned(policy, old).actions
    assert (action.verb.value, action.seen) == ("create", old)
    assert action.desired is not None
    assert action.desired.properties["ImageId"] == "ami-2"


def test_one_that_was_born_as_declared_and_is_not_finished_is_no_reason_for_another() -> None:
    """The service gave it another image than its create call said: a new one would get that, too."""
    policy = policy_of(agents(1, replace="createFirst"))
    odd = retagged(drifted(existing(policy, 0, id="i-odd"), ImageId="ami-9"), spec="pending")
    told = planned(policy, odd)
    assert not told.actions
    assert [trouble.reason for trouble in told.troubles] == ["NotConverging"]


def test_what_is_remembered_of_a_key_counts_for_the_very_same_resource_only() -> None:
    """A rotation wants another resource of the same name once its period has come."""
    policy = policy_of(queues("q0", properties={"VisibilityTimeout": 30}))
    one = existing(policy, "q0")
    seen = Observation((one,), signals=signals(policy))
    before = decide(policy, seen)
    assert not plan(policy, (), before, seen, NOW).actions
    (want,) = before.desired
    other = replace(want, properties=freeze({**want.properties, "VisibilityTimeout": 60}), spec="")
    (action,) = plan(policy, (), replace(before, desired=(other,)), seen, NOW).actions
    assert action.change.properties == {"VisibilityTimeout": 60}
    assert "setpoint:spec" in action.change.tags


def test_ready_counts_what_works() -> None:
    policy = policy_of(queues("q0", "q1", "q2"))
    pending = replace(existing(policy, "q1"), state=State.PENDING)
    assert planned(policy, existing(policy, "q0"), pending, existing(policy, "q2")).ready == 2


def test_what_is_protected_is_not_deleted_and_still_kept_as_declared() -> None:
    rails = {"protect": {"VisibilityTimeout": 30}}
    policy = policy_of(queues("q0", properties={"VisibilityTimeout": 45}, guardrails=rails))
    told = approved_by(policy, [drifted(existing(policy, "q0"), VisibilityTimeout=30)])
    assert [action.verb.value for action in told.allowed] == ["update"]


def test_an_instance_keeps_the_mark_of_its_birth_when_only_what_creates_say_has_changed() -> None:
    clause = agents(1)
    later = {**clause, "resource": {**clause["resource"], "initial": {"EbsOptimized": True}}}
    assert not planned(policy_of(later), existing(policy_of(clause), 0)).actions


def test_of_two_in_a_slot_the_one_that_is_going_is_not_meant() -> None:
    policy = policy_of(agents(1))
    going = existing(policy, 0, minutes=300, id="i-going", state=State.DELETING)
    stays = retagged(existing(policy, 0, id="i-stays"), spec="v1:old")
    seen = Observation((going, stays))
    assert pair(policy, decide(policy, seen), seen) == {0: stays}


def test_a_slot_works_where_any_in_it_does() -> None:
    policy = policy_of(agents(1))
    both = existing(policy, 0, id="i-1"), existing(policy, 0, id="i-2", state=State.PENDING)
    pace = decide(policy, Observation(both)).pace
    assert pace is not None
    assert pace.disruptions == 1


def test_an_age_is_told_in_whole_minutes() -> None:
    policy = policy_of(agents(0, strategy={"minLifetime": "2h"}))
    held = approved_by(policy, [existing(policy_of(agents(1)), 0, minutes=119)]).held
    assert [one.reason for one in held] == ["it is 119 minutes old; minLifetime is 120 minutes"]
