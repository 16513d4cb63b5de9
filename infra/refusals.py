"""What AWS answers, in our words: the one border where its error codes become our error tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
)

from policies.errors import (
    AbsentError,
    DeniedError,
    ExistsError,
    RefusedError,
    SenseError,
    SetpointError,
    ThrottledError,
    WaitError,
)

if TYPE_CHECKING:
    from infra.kinds.kind import Kind  # and with it the language, which a cold start needs later than S3

THROTTLED = frozenset(
    {
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "RequestThrottled",
        "RequestThrottledException",
        "RequestLimitExceeded",
        "TooManyRequestsException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "BandwidthLimitExceeded",
        "SlowDown",
        "EC2ThrottledException",
    }
)
"""As in botocore's standard retry mode (`botocore.retries.standard.ThrottledRetryableChecker`)."""

DENIED = frozenset(
    {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError", "NotAuthorized", "403"}
)
BAD_CREDENTIALS = frozenset(
    {
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "UnrecognizedClientException",
        "InvalidAccessKeyId",
        "SignatureDoesNotMatch",
        "AuthFailure",
        "RequestExpired",
    }
)

_OTHER_ACTIONS = {
    "GetResources": "tag:GetResources",
    "GetParameter": "ssm:GetParameter",
    "Scan": "dynamodb:Scan",
    "GetObject": "s3:GetObject",
    "ListObjectsV2": "s3:ListBucket",
    "PutObject": "s3:PutObject",
    "PutEvents": "events:PutEvents",
    "AssumeRole": "sts:AssumeRole",
    "GetMetricData": "cloudwatch:GetMetricData",
}
"""The IAM action of calls that no kind makes."""

LONGEST = 500
"""Characters of a service's message that are told."""

_VALUE = re.compile(r"value: .*?(?=, type:|, valid|$)", re.MULTILINE)
_PERFORM = re.compile(r"perform: ([a-z0-9-]+:[A-Za-z]+)")


@contextmanager
def translated(kind: Kind | None = None) -> Iterator[None]:
    """Everything botocore raises inside comes out as one of our errors."""
    try:
        yield
    except ClientError as error:
        raise translate(error, kind) from error
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise SenseError(
            f"no AWS credentials: {_line(error)}. Set AWS_PROFILE or AWS_ACCESS_KEY_ID, or use --profile"
        ) from error
    except NoRegionError as error:
        raise SenseError("no AWS region: set AWS_REGION, or use --region") from error
    except ParamValidationError as error:
        raise RefusedError(f"the SDK refuses the request: {_VALUE.sub('value: (not shown)', str(error))}") from error
    except BotoCoreError as error:
        raise SenseError(
            f"no answer from AWS: {_line(error)}. Whether a write happened is for the next run to see"
        ) from error


def translate(error: ClientError, kind: Kind | None = None) -> SetpointError:
    """One error of a service as one of ours; what is not listed is a refusal (4xx) or a failure (5xx)."""
    answer = error.response.get("Error", {})
    code, message = (_line(answer.get(word, "")) for word in ("Code", "Message"))
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400)
    said = f"{error.operation_name}: {code}: {message}"
    if kind is not None:
        for codes, ours in (
            (kind.absent_codes, AbsentError),
            (kind.exists_codes, ExistsError),
            (kind.wait_codes, WaitError),
        ):
            if code in codes:
                return ours(said)
    if code in THROTTLED:
        return ThrottledError(said)
    if code in DENIED:
        return DeniedError(_action(error.operation_name, message, kind), message or code)
    if code in BAD_CREDENTIALS:
        hint = "renew the login, or name other credentials with --profile or AWS_PROFILE"
        return SenseError(f"the AWS credentials are not valid ({code}: {message}); {hint}")
    return SenseError(said) if status >= 500 else RefusedError(said)


def _line(text: object) -> str:
    """One line, and not a whole page: what stands between us and AWS may answer in HTML."""
    line = " ".join(str(text).split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


@contextmanager
def told_of(what: str) -> Iterator[None]:
    """What S3 says of an object or bucket, with its name: its own messages leave that out."""
    try:
        yield
    except ClientError as error:
        told = error.response.setdefault("Error", {})
        told["Message"] = f"{told.get('Message', '')} ({what})".strip()
        raise


def concerns_all(error: Exception) -> bool:
    """Whether an error of a call for several says nothing of any one of them: another call would end the same."""
    if isinstance(error, SenseError):
        return code_of(error) in {None, *BAD_CREDENTIALS}
    return isinstance(error, ThrottledError)


def code_of(error: BaseException | None) -> str | None:
    """The service's own code behind one of our errors."""
    cause = error.__cause__ if error is not None else None
    return cause.response.get("Error", {}).get("Code") if isinstance(cause, ClientError) else None


def _action(operation: str, message: str, kind: Kind | None) -> str:
    told = _PERFORM.search(message)
    if told:
        return told.group(1)
    listed = [action for actions in (kind.iam.values() if kind else ()) for action in actions]
    return next(
        (action for action in listed if action.endswith(f":{operation}")), _OTHER_ACTIONS.get(operation, operation)
    )
