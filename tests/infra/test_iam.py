"""Every IAM action that a kind names exists, and looking never needs the right to write."""

from __future__ import annotations

from functools import cache

import pytest
from policy_sentry.querying.actions import get_actions_for_service, get_actions_with_access_level

from infra.kinds.registry import KINDS

VERBS = ("survey", "read", "create", "update", "delete")
WRITING = ("Write", "Tagging", "Permissions management")

EVERY = [(type_name, verb) for type_name in KINDS for verb in VERBS]


@cache
def actions(service: str) -> frozenset[str]:
    return frozenset(get_actions_for_service(service))


@cache
def writing(service: str) -> frozenset[str]:
    return frozenset(action for level in WRITING for action in get_actions_with_access_level(service, level))


@pytest.mark.parametrize(("type_name", "verb"), EVERY)
def test_every_action_exists(type_name: str, verb: str) -> None:
    wanted = KINDS[type_name].iam.get(verb, frozenset())
    assert {action for action in wanted if action not in actions(action.partition(":")[0])} == set()


@pytest.mark.parametrize("type_name", KINDS)
def test_every_verb_of_a_kind_has_its_actions(type_name: str) -> None:
    kind = KINDS[type_name]
    needed = set(VERBS) - ({"create"} if kind.match_only else set())
    assert {verb for verb, wanted in kind.iam.items() if wanted} >= needed
    assert set(kind.iam) <= set(VERBS)


@pytest.mark.parametrize(("type_name", "verb"), [(of, verb) for of, verb in EVERY if verb in ("survey", "read")])
def test_looking_needs_no_right_to_write(type_name: str, verb: str) -> None:
    wanted = KINDS[type_name].iam.get(verb, frozenset())
    assert {action for action in wanted if action in writing(action.partition(":")[0])} == set()


@pytest.mark.parametrize("word", sorted(KINDS))
def test_who_passes_a_role_says_to_whom(word: str) -> None:
    passes = any("iam:PassRole" in actions for actions in KINDS[word].iam.values())
    assert passes == bool(KINDS[word].passes_roles_to)
