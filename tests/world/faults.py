"""What can go wrong with a call: crashes, lost answers, refusals.

An error answered here has outlived the SDK's retries: it is injected at `before-call`, above botocore's retry loop,
so the caller sees what it would see after the last attempt, and no test waits for a backoff.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from botocore.exceptions import ConnectionClosedError, EndpointConnectionError

from tests.world.call import Answer, Call, Params, Refused, refused

FaultKind = Literal[
    "crash_before", "crash_after", "lost", "throttled", "refused", "denied", "unavailable", "partial_page"
]
KINDS: tuple[FaultKind, ...] = (
    "crash_before", "crash_after", "lost", "throttled", "refused", "denied", "unavailable", "partial_page"
)  # fmt: skip
TOKENS = (
    "NextToken", "nextToken", "PaginationToken", "NextMarker", "NextContinuationToken", "LastEvaluatedTableName",
    "LastEvaluatedKey",
)  # fmt: skip
"""Where the services in use put the token of the next page in an answer."""


class Crash(BaseException):
    """The process dies here. A BaseException, so that nothing but the test catches it (only true on one thread)."""


@dataclass
class Fault:
    """Strike call number `at`, or the calls that `at` picks, `times` times (None: always).

    crash_before  the process dies before the call has any effect
    crash_after   it dies after the effect, before the answer arrives
    lost          the effect happens, the caller gets ConnectionClosedError
    throttled     the service's throttling code
    refused       EndpointConnectionError: no connection, no effect
    denied        the service's access-denied code, with IAM's message
    unavailable   503
    partial_page  the call succeeds; if it says there is another page, fetching that page fails with a 503
    """

    at: int | Callable[[Call], bool]
    kind: FaultKind
    times: int | None = 1
    fired: int = 0

    def strikes(self, call: Call) -> bool:
        if self.times is not None and self.fired >= self.times:
            return False
        return call.number == self.at if isinstance(self.at, int) else self.at(call)


def operation(service: str, name: str) -> Callable[[Call], bool]:
    """Pick every call of one operation: `Fault(at=operation("sqs", "CreateQueue"), kind="denied", times=None)`."""
    return lambda call: (call.service, call.operation) == (service, name)


def fail_before(kind: FaultKind, call: Call) -> Answer | None:
    """End the call before it is sent, if this kind of fault does; None lets it through."""
    match kind:
        case "crash_before":
            raise Crash(call.name)
        case "refused":
            raise EndpointConnectionError(endpoint_url=_endpoint(call))
        case "throttled" | "denied" | "unavailable":
            return refused(_refusal(kind, call))
    return None


def fail_after(kind: FaultKind, call: Call) -> None:
    """End the call after its effect, if this kind of fault does."""
    if kind == "crash_after":
        raise Crash(call.name)
    if kind == "lost":
        raise ConnectionClosedError(endpoint_url=_endpoint(call))


def next_page(answer: Params) -> object:
    """The token of the page after this answer; None if it is the last."""
    return next((answer[key] for key in TOKENS if answer.get(key)), None)


def unavailable(call: Call) -> Refused:
    """A 503 as that service words it."""
    code = "Unavailable" if call.service == "ec2" else "ServiceUnavailable"
    return Refused(code, "Service is unable to handle request.", 503)


def _refusal(kind: FaultKind, call: Call) -> Refused:
    if kind == "throttled":
        return _throttled(call)
    return _denied(call) if kind == "denied" else unavailable(call)


def _throttled(call: Call) -> Refused:
    code = {"ec2": "RequestLimitExceeded", "cloudwatch": "Throttling", "s3": "SlowDown"}
    status = {"ec2": 503, "s3": 503}
    return Refused(code.get(call.service, "ThrottlingException"), "Rate exceeded", status.get(call.service, 400))


def _denied(call: Call) -> Refused:
    """IAM's wording, of which a reader wants the action: 'User: … is not authorized to perform: sqs:CreateQueue …'."""
    prefix = {"resourcegroupstaggingapi": "tag"}.get(call.service, call.service)
    action = f"{prefix}:{_ACTIONS.get(call.operation, call.operation)}"
    message = (
        f"User: arn:aws:sts::{call.account}:assumed-role/setpoint/run is not authorized to perform: {action} "
        f"on resource: {_resource(call)} because no identity-based policy allows the {action} action"
    )
    if call.service == "ec2":
        message = f"You are not authorized to perform this operation. {message}"
        return Refused("UnauthorizedOperation", message, 403)
    query = call.service in ("sqs", "cloudwatch", "sts", "s3")
    return Refused("AccessDenied" if query else "AccessDeniedException", message, 403 if query else 400)


_ACTIONS = {"ListObjectsV2": "ListBucket", "ListObjectVersions": "ListBucketVersions", "HeadObject": "GetObject"}
_NAMES = ("QueueName", "QueueUrl", "AlarmName", "TableName", "logGroupName", "ResourceArn", "resourceArn", "Bucket")


def _resource(call: Call) -> str:
    named = next((str(call.params[key]) for key in _NAMES if key in call.params), "*")
    if named == "*" or named.startswith("arn:"):
        return named
    name = named.rsplit("/", 1)[-1] if call.service == "sqs" else named
    kinds = {"cloudwatch": f"alarm:{name}", "dynamodb": f"table/{name}", "logs": f"log-group:{name}:*"}
    return f"arn:aws:{call.service}:{call.region}:{call.account}:{kinds.get(call.service, name)}"


def _endpoint(call: Call) -> str:
    return f"https://{call.service}.{call.region}.amazonaws.com/"
