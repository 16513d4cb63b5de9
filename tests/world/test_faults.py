"""Each kind of fault: what the caller gets, and whether the call had its effect."""

import time

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError, EndpointConnectionError

from tests.world import Crash, Fault, FaultKind, World, operation


@pytest.mark.parametrize(
    ("kind", "raises", "outcome", "has_effect"),
    [
        ("crash_before", Crash, "crash_before", False),
        ("crash_after", Crash, "crash_after", True),
        ("lost", ConnectionClosedError, "lost", True),
        ("refused", EndpointConnectionError, "refused", False),
        ("throttled", ClientError, "ThrottlingException", False),
        ("denied", ClientError, "AccessDenied", False),
        ("unavailable", ClientError, "ServiceUnavailable", False),
    ],
)
def test_a_fault_strikes_once(
    world: World, kind: FaultKind, raises: type[BaseException], outcome: str, has_effect: bool
) -> None:
    sqs = world.session.client("sqs")
    fault = Fault(at=1, kind=kind)
    world.inject(fault)
    with pytest.raises(raises):
        sqs.create_queue(QueueName="a")
    assert (world.history[0].outcome, world.history[0].fault, fault.fired) == (outcome, kind, 1)
    assert ("AWS::SQS::Queue" in world.resources()) is has_effect
    sqs.create_queue(QueueName="a")
    assert list(world.resources()["AWS::SQS::Queue"]) == ["a"]


def test_faults_do_not_wait_for_the_sdks_retries(world: World) -> None:
    world.inject(Fault(at=lambda call: True, kind="unavailable", times=None))
    started = time.perf_counter()
    for _ in range(10):
        with pytest.raises(ClientError):
            world.session.client("logs").describe_log_groups()
    assert time.perf_counter() - started < 1
    assert len(world.history) == 10


@pytest.mark.parametrize(
    ("service", "call", "code", "action"),
    [
        ("sqs", lambda c: c.create_queue(QueueName="a"), "AccessDenied", "sqs:CreateQueue"),
        ("ec2", lambda c: c.describe_instances(), "UnauthorizedOperation", "ec2:DescribeInstances"),
        ("logs", lambda c: c.create_log_group(logGroupName="a"), "AccessDeniedException", "logs:CreateLogGroup"),
        ("resourcegroupstaggingapi", lambda c: c.get_resources(), "AccessDeniedException", "tag:GetResources"),
        ("s3", lambda c: c.list_objects_v2(Bucket="b"), "AccessDenied", "s3:ListBucket"),
    ],
)
def test_denied_names_the_action_as_iam_does(world: World, service: str, call: object, code: str, action: str) -> None:
    world.inject(Fault(at=1, kind="denied"))
    with pytest.raises(ClientError) as caught:
        call(world.session.client(service))  # type: ignore[operator]
    error = caught.value.response["Error"]
    assert error["Code"] == code
    assert f"is not authorized to perform: {action} on resource: " in error["Message"]


def test_a_predicate_picks_calls(world: World) -> None:
    sqs = world.session.client("sqs")
    world.inject(Fault(at=operation("sqs", "CreateQueue"), kind="denied", times=None))
    sqs.list_queues()
    for name in "ab":
        with pytest.raises(ClientError):
            sqs.create_queue(QueueName=name)


def test_a_listing_breaks_at_its_second_page(world: World) -> None:
    for name in ("a", "b", "c"):
        world.outside.logs.create_log_group(logGroupName=name)
    logs = world.session.client("logs")
    world.page_size, fault = 2, Fault(at=1, kind="partial_page")
    world.inject(fault)
    pages = iter(logs.get_paginator("describe_log_groups").paginate())
    assert len(next(pages)["logGroups"]) == 2
    assert fault.fired == 0
    with pytest.raises(ClientError, match="ServiceUnavailable"):
        next(pages)
    assert fault.fired == 1
    assert len(logs.get_paginator("describe_log_groups").paginate().build_full_result()["logGroups"]) == 3


def test_a_lost_answer_of_a_refused_call_changes_nothing(world: World) -> None:
    sqs = world.session.client("sqs")
    world.inject(Fault(at=1, kind="lost"))
    with pytest.raises(ConnectionClosedError):
        sqs.delete_queue(QueueUrl="https://sqs.eu-west-1.amazonaws.com/123456789012/none")
    assert world.history[0].outcome == "lost"


def test_calls_go_on_after_a_crash_on_another_thread(world: World) -> None:
    """No lock stays held by a call that died."""
    from concurrent.futures import ThreadPoolExecutor

    sqs = world.session.client("sqs")
    for number, kind in enumerate(("crash_before", "crash_after", "lost"), start=1):
        world.inject(Fault(at=number, kind=kind))  # type: ignore[arg-type]
        with pytest.raises((Crash, ConnectionClosedError)):
            sqs.list_queues()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(sqs.list_queues).result(timeout=5)
