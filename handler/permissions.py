"""The least IAM policy that a set of policies needs, from the calls that their kinds make."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from infra.kinds.registry import KINDS
from infra.session import UNKNOWN
from policies.document import Policy, PolicyDocument
from policies.identity import MARKED, POLICY
from policies.items import DynamodbTableItems, ResourceItems, S3ObjectItems, SsmParameterItems
from policies.numbers.metric import MetricQuery
from policies.strategy import Signal
from policies.world import Scope

Statement = dict[str, Any]
PASS_ROLE = "iam:PassRole"


def policy(
    documents: Iterable[PolicyDocument], places: Sequence[str], controller: str, role: str | None = None
) -> Statement:
    """The IAM policy of whoever runs these policies; with `role`, of that role, through which some of them act."""
    documents = tuple(documents)
    policies = [one for document in documents for one in document.policies]
    sweeping = {document.name for document in documents if document.orphans == "delete"}
    acting = [one for one in policies if one.scope.role == role]
    statements = [] if role else [*_documents(places), *_assume(roles(policies))]
    statements += _looks(acting) if acting else ()
    statements += _sources(acting)
    statements += _writes(acting, controller, sweeping)
    return {"Version": "2012-10-17", "Statement": statements}


def roles(policies: Iterable[Policy]) -> set[str]:
    return {one.scope.role for one in policies if one.scope.role is not None}


def _documents(places: Sequence[str]) -> Iterator[Statement]:
    """Reading the policies themselves, where they lie in S3."""
    for place in places:
        bucket, _, key = place.removeprefix("s3://").partition("/")
        if not place.startswith("s3://"):
            continue
        prefix = key if key.endswith((".json", "/")) or not key else f"{key}/"
        yield _allow({"s3:GetObject", "s3:GetObjectVersion"}, f"arn:aws:s3:::{bucket}/{prefix}{_star(prefix)}")
        if not key.endswith(".json"):
            yield _allow({"s3:ListBucket"}, f"arn:aws:s3:::{bucket}", {"StringLike": {"s3:prefix": f"{prefix}*"}})


def _star(prefix: str) -> str:
    return "" if prefix.endswith(".json") else "*"


def _assume(arns: set[str]) -> Iterator[Statement]:
    if arns:
        yield _allow({"sts:AssumeRole"}, sorted(arns))


def _looks(policies: Sequence[Policy]) -> Iterator[Statement]:
    """Survey and read of every kind used, and of the kinds whose resources are items."""
    types = {one.kind.type for one in policies}
    types |= {source.type for one in policies for source in _signals(one) if isinstance(source, ResourceItems)}
    looks = set().union(*(KINDS[word].iam.get(verb, ()) for word in types for verb in ("survey", "read")))
    metrics = any(isinstance(signal, MetricQuery) for one in policies for signal in _signals(one))
    looks |= {"cloudwatch:GetMetricData"} if metrics else set()
    yield _allow(looks | {"tag:GetResources"}, "*", _in(policies))


def _sources(policies: Sequence[Policy]) -> Iterator[Statement]:
    found = {(source.signal_key, one.scope): source for one in policies for source in _signals(one)}
    for (_, scope), source in found.items():
        if isinstance(source, SsmParameterItems):
            yield _allow({"ssm:GetParameter"}, _arn(scope, "ssm", f"parameter/{source.name.removeprefix('/')}"))
        elif isinstance(source, DynamodbTableItems):
            yield _allow({"dynamodb:Scan"}, _arn(scope, "dynamodb", f"table/{source.name}"))
        elif isinstance(source, S3ObjectItems):
            yield _allow({"s3:GetObject"}, f"arn:{_partition(scope)}:s3:::{source.bucket}/{source.key}")


def _signals(policy: Policy) -> tuple[Signal, ...]:
    return policy.strategy.signals() if policy.wanted else ()


def _writes(policies: Sequence[Policy], controller: str, sweeping: Collection[str]) -> Iterator[Statement]:
    """Creates and updates of the kinds used; deletes only where something may be deleted, and only of what is ours."""
    makes = [one for one in policies if one.match is None and one.wanted]
    owning = [one for one in policies if one.match is None]
    deletes = [one for one in owning if not one.retains or one.clause.replace or one.document in sweeping]
    writes = _actions(makes, "create") | _actions(policies, "update")
    if writes - {PASS_ROLE}:
        yield _allow(writes - {PASS_ROLE}, "*", _in(policies))
    if PASS_ROLE in writes:
        services = sorted(service for one in policies for service in KINDS[one.kind.type].passes_roles_to)
        yield _allow({PASS_ROLE}, "*", {"StringEquals": {"iam:PassedToService": list(dict.fromkeys(services))}})
    yield from _deletes(deletes, {"StringLike": {f"aws:ResourceTag/{POLICY}": f"{controller}/*"}})
    expiring = [one for one in policies if one.match is not None and one.strategy.claims_existence(owning=False)]
    nobodys = {"Null": {f"aws:ResourceTag/{POLICY}": "true"}}
    yield from _deletes(expiring, {"StringLike": {f"aws:ResourceTag/{MARKED}": "*"}, **nobodys})


def _deletes(policies: Sequence[Policy], tags: Statement) -> Iterator[Statement]:
    """Deletes on condition of a tag, wherever AWS can check one."""
    actions = _actions(policies, "delete")
    unchecked = {action for one in policies for action in KINDS[one.kind.type].deletes_without_tags}
    if actions - unchecked:
        yield _allow(actions - unchecked, "*", {**tags, **_in(policies)})
    if actions & unchecked:
        yield _allow(actions & unchecked, "*", _in(policies))


def _actions(policies: Iterable[Policy], verb: str) -> set[str]:
    return {action for one in policies for action in KINDS[one.kind.type].iam.get(verb, ())}


def _in(policies: Iterable[Policy]) -> Statement:
    return {"StringEquals": {"aws:RequestedRegion": sorted({one.scope.region for one in policies})}}


def _allow(actions: set[str], resource: str | list[str], condition: Statement | None = None) -> Statement:
    allowed = {"Effect": "Allow", "Action": sorted(actions), "Resource": resource}
    return {**allowed, "Condition": condition} if condition else allowed


def _arn(scope: Scope, service: str, resource: str) -> str:
    account = "*" if scope.account == UNKNOWN else scope.account
    return f"arn:{_partition(scope)}:{service}:{scope.region}:{account}:{resource}"


def _partition(scope: Scope) -> str:
    return {"cn": "aws-cn", "us-gov": "aws-us-gov"}.get(scope.region.rsplit("-", 2)[0], "aws")
