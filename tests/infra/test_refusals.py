"""The one border where AWS's error codes become our error tree."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
    ReadTimeoutError,
)
from botocore.retries.standard import ThrottledRetryableChecker

from infra.kinds.kind import Kind
from infra.kinds.registry import KINDS
from infra.refusals import THROTTLED, code_of, translate, translated
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

QUEUE, TABLE, INSTANCE = "AWS::SQS::Queue", "AWS::DynamoDB::Table", "AWS::EC2::Instance"


def answer(code: str, operation: str = "CreateQueue", message: str = "said so", status: int = 400) -> ClientError:
    body: Any = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(body, operation)


def kind(word: str | None) -> Kind | None:
    return KINDS[word] if word else None


@pytest.mark.parametrize(
    ("code", "status", "of", "ours"),
    [
        ("ThrottlingException", 400, None, ThrottledError),
        ("Throttling", 400, QUEUE, ThrottledError),
        ("RequestLimitExceeded", 503, INSTANCE, ThrottledError),
        ("SlowDown", 503, None, ThrottledError),
        ("ProvisionedThroughputExceededException", 400, TABLE, ThrottledError),
        ("AccessDenied", 403, QUEUE, DeniedError),
        ("AccessDeniedException", 400, TABLE, DeniedError),
        ("UnauthorizedOperation", 403, INSTANCE, DeniedError),
        ("ExpiredToken", 403, None, SenseError),
        ("InvalidClientTokenId", 403, None, SenseError),
        ("SignatureDoesNotMatch", 403, None, SenseError),
        ("UnrecognizedClientException", 400, None, SenseError),
        # the kind's own
        ("AWS.SimpleQueueService.NonExistentQueue", 400, QUEUE, AbsentError),
        ("QueueDoesNotExist", 400, QUEUE, AbsentError),
        ("QueueNameExists", 400, QUEUE, ExistsError),
        ("AWS.SimpleQueueService.QueueDeletedRecently", 400, QUEUE, WaitError),
        ("ResourceNotFoundException", 400, TABLE, AbsentError),
        ("ResourceInUseException", 400, TABLE, SetpointError),
        ("InvalidInstanceID.NotFound", 400, INSTANCE, AbsentError),
        ("InsufficientInstanceCapacity", 500, INSTANCE, WaitError),
        ("QueueDoesNotExist", 400, TABLE, RefusedError),  # what one kind waits for is a refusal of another
        # what nobody listed: the caller's fault, or the service's
        ("InvalidAttributeValue", 400, QUEUE, RefusedError),
        ("ValidationException", 400, None, RefusedError),
        ("InternalError", 500, QUEUE, SenseError),
        ("ServiceUnavailable", 503, None, SenseError),
        ("", 400, None, RefusedError),
    ],
)
def test_which_of_our_errors_a_code_is(code: str, status: int, of: str | None, ours: type[SetpointError]) -> None:
    found = translate(answer(code, status=status), kind(of))
    assert isinstance(found, ours)
    assert ours is SetpointError or type(found) is ours


def test_an_error_says_the_call_the_code_and_the_services_words() -> None:
    assert str(translate(answer("InvalidAttributeValue"))) == "CreateQueue: InvalidAttributeValue: said so"
    assert "InternalError" in str(translate(answer("InternalError", status=500)))


def test_every_code_that_botocore_takes_for_throttling_is_ours_too() -> None:
    assert set(ThrottledRetryableChecker._THROTTLED_ERROR_CODES) <= THROTTLED | {
        "TransactionInProgressException",  # of transactions, which are never written here
        "LimitExceededException",
    }


IAM = "User: arn:aws:sts::1:assumed-role/x is not authorized to perform: {} on resource: * because no policy allows it"


@pytest.mark.parametrize(
    ("operation", "message", "of", "action"),
    [
        # IAM's own word where there is one
        ("CreateQueue", IAM.format("sqs:CreateQueue"), QUEUE, "sqs:CreateQueue"),
        ("ListObjectsV2", IAM.format("s3:ListBucket"), None, "s3:ListBucket"),
        ("CreateQueue", IAM.format("kms:Decrypt"), QUEUE, "kms:Decrypt"),
        # else the action of the call, as the kind lists it
        ("CreateQueue", "Access Denied", QUEUE, "sqs:CreateQueue"),
        ("RunInstances", "You are not authorized to perform this operation.", INSTANCE, "ec2:RunInstances"),
        ("DescribeTable", "", TABLE, "dynamodb:DescribeTable"),
        # else that of the calls which no kind makes
        ("GetResources", "", None, "tag:GetResources"),
        ("GetParameter", "", None, "ssm:GetParameter"),
        ("Scan", "", None, "dynamodb:Scan"),
        ("GetObject", "Access Denied", None, "s3:GetObject"),
        ("ListObjectsV2", "Access Denied", None, "s3:ListBucket"),
        ("PutObject", "Access Denied", None, "s3:PutObject"),
        ("PutEvents", "", None, "events:PutEvents"),
        ("AssumeRole", "", None, "sts:AssumeRole"),
        ("GetMetricData", "", None, "cloudwatch:GetMetricData"),
        # else the call itself
        ("DoSomething", "", None, "DoSomething"),
    ],
)
def test_denied_names_the_missing_action(operation: str, message: str, of: str | None, action: str) -> None:
    found = translate(answer("AccessDenied", operation, message, 403), kind(of))
    assert isinstance(found, DeniedError)
    assert found.action == action
    assert str(found).startswith(f"not allowed to call {action}: ")


@pytest.mark.parametrize(
    ("error", "ours", "words"),
    [
        (NoCredentialsError(), SenseError, "Set AWS_PROFILE or AWS_ACCESS_KEY_ID, or use --profile"),
        (PartialCredentialsError(provider="env", cred_var="x"), SenseError, "no AWS credentials"),
        (NoRegionError(), SenseError, "set AWS_REGION, or use --region"),
        (ParamValidationError(report="Missing x"), RefusedError, "the SDK refuses the request"),
        (ConnectionClosedError(endpoint_url="https://x"), SenseError, "Whether a write happened is for the next run"),
        (ReadTimeoutError(endpoint_url="https://x"), SenseError, "no answer from AWS"),
        (ConnectTimeoutError(endpoint_url="https://x"), SenseError, "no answer from AWS"),
        (EndpointConnectionError(endpoint_url="https://x"), SenseError, "no answer from AWS"),
        (BotoCoreError(), SenseError, "no answer from AWS"),
        (answer("AccessDenied"), DeniedError, "sqs:CreateQueue"),
    ],
)
def test_whatever_botocore_raises_comes_out_as_ours(error: Exception, ours: type[Exception], words: str) -> None:
    with pytest.raises(ours, match=words) as raised, translated(KINDS[QUEUE]):
        raise error
    assert raised.value.__cause__ is error


@pytest.mark.parametrize("error", [ValueError("ours"), KeyError("x"), WaitError("already ours")])
def test_what_is_not_botocores_passes(error: Exception) -> None:
    with pytest.raises(type(error)) as raised, translated():
        raise error
    assert raised.value is error


def test_the_code_behind_one_of_our_errors() -> None:
    with pytest.raises(SetpointError) as raised, translated():
        raise answer("IdempotentInstanceTerminated", "RunInstances")
    assert code_of(raised.value) == "IdempotentInstanceTerminated"
    assert code_of(WaitError("x")) is None
    assert code_of(None) is None


@pytest.mark.parametrize("word", sorted(KINDS))
def test_no_kind_means_two_things_by_one_code(word: str) -> None:
    one = KINDS[word]
    groups = [one.absent_codes, one.exists_codes, one.wait_codes, one.spent_token_codes, THROTTLED]
    assert sum(map(len, groups)) == len(frozenset().union(*groups))
