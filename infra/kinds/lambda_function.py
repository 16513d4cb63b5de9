"""Lambda functions. GetFunction shows all that is compared, tags included; ListFunctions only gives the names.

An update of the configuration or of the code takes a while, in which Lambda takes no other one, and no tags: an update
is one of them, the next run makes the next. Code is never shown, so whether new code was written cannot be read: a tag
`setpoint:code` is written before it, with a hash of what the code is to be and the moment of the last change before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infra.aws import Aws
from infra.kinds.kind import Kind
from infra.kinds.lambda_function_properties import (
    ELSEWHERE,
    NOT_SUPPORTED,
    FunctionProperties,
    configuration,
    creation,
    parse,
    problems,
)
from policies.action import Change, Desired, Progress
from policies.errors import ExistsError, SenseError, WaitError
from policies.frozen import Json, canonical_text, freeze, merge, thaw
from policies.world import Resource, State

CODE = "setpoint:code"
"""What code was to be written, and when the function had been changed last before that."""

_CONCURRENCY = "ReservedConcurrentExecutions"
_STATES = {
    "Pending": State.PENDING,
    "Deactivating": State.PENDING,
    "Failed": State.UNHEALTHY,
    "Deleting": State.DELETING,
}
_UPDATES = {"InProgress": State.PENDING, "Failed": State.UNHEALTHY}
_FACTS = ("CodeSha256", "CodeSize", "LastModified", "LastUpdateStatus", "State")


class LambdaFunction(Kind):
    """`AWS::Lambda::Function`. Its code is written when the policy names another object, version or image."""

    type = "AWS::Lambda::Function"
    properties = FunctionProperties
    identifier = "FunctionName"
    facts = frozenset(_FACTS)
    read_only = frozenset(
        {"Arn", "SnapStartResponse", "SnapStartResponse.ApplyOn", "SnapStartResponse.OptimizationStatus"}
    )
    not_supported = NOT_SUPPORTED
    index = "lambda:function"
    absent_codes = frozenset({"ResourceNotFoundException"})
    # Of create, ResourceConflictException says that the name is taken: see there.
    wait_codes = frozenset({"ResourceConflictException", "ResourceNotReadyException"})
    passes_roles_to = frozenset({"lambda.amazonaws.com"})
    iam = {
        "survey": frozenset({"lambda:ListFunctions"}),
        "read": frozenset({"lambda:GetFunction", "lambda:ListTags"}),
        "create": frozenset(
            {
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcs",
                "iam:PassRole",
                "lambda:CreateFunction",
                "lambda:GetLayerVersion",
                "lambda:TagResource",
                "s3:GetObject",
            }
        ),
        "update": frozenset(
            {
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcs",
                "iam:PassRole",
                "lambda:DeleteFunctionConcurrency",
                "lambda:GetLayerVersion",
                "lambda:PutFunctionConcurrency",
                "lambda:TagResource",
                "lambda:UntagResource",
                "lambda:UpdateFunctionCode",
                "lambda:UpdateFunctionConfiguration",
                "s3:GetObject",
            }
        ),
        "delete": frozenset({"lambda:DeleteFunction"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        return next(problems(properties), None)

    def single_call(self, desired: Mapping[str, Json]) -> bool:
        return desired.get(_CONCURRENCY) is None

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        for function in aws.pages("lambda", "list_functions", "Functions", PaginationConfig={"PageSize": 50}):
            name = function["FunctionName"]
            if name.startswith(tuple(prefixes)):
                yield Resource(type=self.type, id=name, name=name, handle=name, arn=function["FunctionArn"])

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        answer = aws.client("lambda").get_function(FunctionName=seen.id)
        if seen.tags is None and "TagsError" in answer:
            raise SenseError(f"the tags of {seen.id} cannot be read: {answer['TagsError'].get('Message', '')}")
        found = answer["Configuration"]
        return Resource(
            type=self.type,
            id=seen.id,
            name=seen.id,
            handle=seen.id,
            arn=found["FunctionArn"],
            tags=answer.get("Tags", {}) if seen.tags is None else seen.tags,
            properties=freeze(parse(answer)),
            facts={word: found[word] for word in _FACTS if word in found},
            state=_state(found),
        )

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        client, declared = aws.client("lambda"), merge(desired.initial, desired.properties)
        try:
            client.create_function(**creation(declared), Tags=dict(desired.tags))
        except client.exceptions.ResourceConflictException as error:
            raise ExistsError(str(error)) from error
        except client.exceptions.InvalidParameterValueException as error:
            raise _late_role(error) from error
        return Progress.COMPLETE if self.single_call(declared) else Progress.PARTIAL

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        client, wanted, code = aws.client("lambda"), change.properties, change.properties.get("Code")
        if _CONCURRENCY in wanted:
            _reserve(client, seen.id, wanted[_CONCURRENCY])
        begun, done = _written(seen, code)
        if wanted.keys() - set(ELSEWHERE) and not (begun and not done):
            try:
                client.update_function_configuration(FunctionName=seen.id, **configuration(wanted))
            except client.exceptions.InvalidParameterValueException as error:
                raise _late_role(error) from error
            return Progress.PARTIAL
        if code and not done:
            client.tag_resource(Resource=seen.arn, Tags={CODE: f"{_digest(code)}/{seen.facts['LastModified']}"})
            given = {word: value for word, value in code.items() if value is not None}
            client.update_function_code(FunctionName=seen.id, **thaw(given))
            return Progress.PARTIAL
        if change.tags:
            client.tag_resource(Resource=seen.arn, Tags=dict(change.tags))
        if change.untag:
            client.untag_resource(Resource=seen.arn, TagKeys=sorted(change.untag))
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        aws.client("lambda").delete_function(FunctionName=seen.id)


def _state(found: Mapping[str, Any]) -> State:
    state = _STATES.get(found.get("State", ""))
    return state or _UPDATES.get(found.get("LastUpdateStatus", "")) or State.READY


def _reserve(client: Any, name: str, number: int | None) -> None:
    """Nought is a number: it stops the function. Null is no reservation."""
    if number is None:
        client.delete_function_concurrency(FunctionName=name)
    else:
        client.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=number)


def _written(seen: Resource, code: Mapping[str, Json] | None) -> tuple[bool, bool]:
    """Whether writing this very code was begun, and whether it was done: the function was changed since then."""
    if not code:
        return False, False
    digest, _, before = (seen.tags or {}).get(CODE, "").partition("/")
    begun = digest == _digest(code)
    return begun, begun and before != seen.facts["LastModified"]


def _digest(code: Mapping[str, Json]) -> str:
    return hashlib.sha256(canonical_text(code).encode()).hexdigest()[:32]


def _late_role(error: Exception) -> Exception:
    """A role that was made just now cannot be assumed for some seconds."""
    return WaitError(str(error)) if "cannot be assumed by Lambda" in str(error) else error
