"""Calls that wait for one documented rate take few threads, and the policies that make them take turns."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from handler.loop.conductor import InlineExecutor, Pipeline, Task, conduct
from handler.loop.lanes import ROOMY, WIDTH, Roomy
from handler.loop.reconcile import Moment
from handler.loop.run import run as run_loop
from infra.cloud import AwsCloud
from infra.kinds.registry import KINDS
from policies.world import Scope
from tests.engine.given import DELETE_AT_ONCE, VOCABULARY, document, parse, queues, run, settle
from tests.world import Fault, World


def asking(tasks: Sequence[Task]) -> Pipeline[list[Any]]:
    futures = yield tasks
    return [future.result() for future in futures]


def test_a_full_lane_leaves_the_pool_to_the_others() -> None:
    others_done = threading.Event()
    at_once, most, lock = 0, 0, threading.Lock()

    def slow() -> None:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        assert others_done.wait(10), "nobody else came to a thread"
        with lock:
            at_once -= 1

    with ThreadPoolExecutor(WIDTH + 1) as pool:
        found = conduct(
            [
                asking([Task(slow, lane="slow") for _ in range(4 * WIDTH)]),
                asking([Task(lambda: None) for _ in range(50)] + [Task(others_done.set)]),
            ],
            pool,
        )
    assert not [one for one in found if isinstance(one, Exception)]
    assert most <= WIDTH


def test_creates_take_turns_with_the_other_writes_of_their_policy() -> None:
    made, all_are_in = list[str](), threading.Event()

    def write(word: str) -> None:
        assert all_are_in.wait(10)
        made.append(word)

    def policy() -> Pipeline[None]:
        yield [Task(partial(write, "update"), lane="rate", awaited=False) for _ in range(40)]
        creates = [Task(partial(write, "create"), lane="rate", turn="create") for _ in range(4)]
        yield [*creates, Task(all_are_in.set)]

    with ThreadPoolExecutor(WIDTH + 1) as pool:
        conduct([policy()], pool)
    assert made[: 3 * WIDTH + 4].count("create") == 4


def test_what_nobody_needs_any_more_is_dropped_in_a_lane_too() -> None:
    """A pipeline has begun something in a lane, and ends before it has its turn."""
    done, going = list[int](), threading.Event()

    def unneeded() -> Pipeline[None]:
        yield [Task(partial(done.append, number), lane="rate", awaited=False) for number in range(WIDTH)]

    with ThreadPoolExecutor(WIDTH) as pool:
        for _ in range(WIDTH):
            pool.submit(going.wait, 10)
        conduct([unneeded()], pool)
        going.set()
    assert done == []


def test_pipelines_take_turns_in_a_lane() -> None:
    order: list[str] = []
    all_queued = threading.Event()
    waiting = [Task(lambda: all_queued.wait(10), lane="rate") for _ in range(WIDTH)]
    large, small = ([Task(partial(order.append, who), lane="rate") for _ in range(50)] for who in ("large", "small"))
    with ThreadPoolExecutor(WIDTH + 1) as pool:
        conduct([asking(waiting + large), asking(small[:10]), asking([Task(all_queued.set)])], pool)
    assert order.count("large") == 50
    assert max(place for place, who in enumerate(order) if who == "small") < 20 + 2 * WIDTH


def test_many_lanes_do_not_shut_out_what_has_none() -> None:
    done: list[str] = []
    all_queued = threading.Event()

    def slow() -> None:
        assert all_queued.wait(10)
        done.append("lane")

    def begin() -> Pipeline[list[Any]]:
        all_queued.set()
        return (yield from asking([]))

    lanes = [asking([Task(slow, lane=number) for _ in range(50)]) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        conduct([*lanes, asking([Task(partial(done.append, "none"))]), begin()], pool)
    assert done.count("lane") == 200
    assert done.index("none") < 40


def test_crashes_leave_the_rest_of_the_lane_alone() -> None:
    class Crash(BaseException):
        pass

    def crash() -> None:
        raise Crash

    def surviving(tasks: Sequence[Task]) -> Pipeline[list[Any]]:
        futures = yield tasks
        return [future.exception() for future in futures]

    tasks = [Task(crash, lane="rate") for _ in range(2 * WIDTH)] + [Task(lambda: 7, lane="rate") for _ in range(9)]
    with ThreadPoolExecutor(2) as pool:
        (found,) = conduct([surviving(tasks)], pool)
    assert isinstance(found, list)
    assert [type(one) for one in found] == [Crash] * (2 * WIDTH) + [type(None)] * 9


def test_what_goes_wrong_in_a_lane_is_the_task_s_own() -> None:
    def fail() -> None:
        raise ValueError("no")

    with ThreadPoolExecutor(2) as pool:
        for executor in (pool, InlineExecutor()):
            good = asking([Task(lambda: 7, lane="rate") for _ in range(2_000)])
            bad, fine = conduct([asking([Task(fail, lane="rate")]), good], executor)
            assert isinstance(bad, ValueError)
            assert fine == [7] * 2_000


def test_a_crash_in_a_lane_is_a_crash() -> None:
    class Crash(BaseException):
        pass

    def crash() -> None:
        raise Crash

    with pytest.raises(Crash):
        conduct([asking([Task(crash, lane="rate")])], InlineExecutor())


@pytest.mark.parametrize(
    ("type_", "reading", "acting"),
    [
        ("AWS::CloudWatch::Alarm", "cloudwatch", "cloudwatch"),
        ("AWS::Logs::LogGroup", "logs", "logs"),
        ("AWS::ECS::Service", "ecs", "ecs"),
        ("AWS::DynamoDB::Table", None, "dynamodb"),
        ("AWS::EC2::Instance", "ec2", "ec2"),
        ("AWS::AutoScaling::AutoScalingGroup", None, None),  # that its caller may run instances is asked by AWS
        ("AWS::SQS::Queue", None, None),
    ],
)
def test_kinds_whose_calls_have_rates_share_their_service_s_lane(
    world: World, type_: str, reading: str | None, acting: str | None
) -> None:
    scope = Scope(world.account, world.region)
    cloud = AwsCloud(world.session, KINDS, paced=True)
    for service, acts in ((reading, False), (acting, True)):
        expected = (service, scope.account, scope.region) if service else None
        assert cloud.lane(type_, scope, acting=acts) == expected
        assert AwsCloud(world.session, KINDS).lane(type_, scope, acting=acts) is None


def test_a_roomy_lane_lets_pass_whoever_comes_later() -> None:
    order: list[str] = []
    begun = threading.Event()

    def work() -> None:
        begun.set()
        order.append("work")

    def hasty() -> Pipeline[None]:
        yield [Task(lambda: begun.wait(10))]
        for _ in range(3):
            yield [Task(partial(order.append, "hasty"))]

    plenty = [Task(work, lane=Roomy("acts")) for _ in range(20 * ROOMY)]
    with ThreadPoolExecutor(ROOMY + 2) as pool:
        conduct([asking(plenty), hasty()], pool)
    assert order.count("work") == len(plenty)
    assert order[-1] == "work", "the hasty one did not wait for all of the others"


def test_creates_grow_batch_by_batch_while_the_rest_goes_on(world: World) -> None:
    """Updates and deletes fill the pool; a create that fails still ends the creates, and only them."""
    old = {"main": document(queues(*map(str, range(30)), guardrails={"maxCreates": 99}, **DELETE_AT_ONCE))}
    settle(world, old, minutes=3)
    items = [*map(str, range(28)), *(f"new-{number}" for number in range(40))]
    more = {"maxCreates": 99, "maxDeletes": 99, "maxUpdates": 99}
    wanted = queues(*items, properties={"VisibilityTimeout": 61}, guardrails=more, **DELETE_AT_ONCE)
    world.inject(Fault(at=lambda call: call.params.get("QueueName") == "orders-new-5", kind="denied", times=None))
    with ThreadPoolExecutor(8) as pool:
        told = run(world, {"main": document(wanted)}, executor=pool)
    found = world.resources()["AWS::SQS::Queue"]
    assert sum(one["VisibilityTimeout"] == "61" for name, one in found.items() if "new" not in name) == 28
    assert {"orders-28", "orders-29"}.isdisjoint(found)
    made = {name for name in found if "new" in name}
    assert made == {f"orders-new-{number}" for number in (0, 1, 2, 3, 4, 6)}, "1, 2, 4, and one of these failed"
    results = [one.result.value for one in told.of("queues").outcomes]
    assert (results.count("failed"), results.count("unvisited")) == (1, 40 - 7)


def test_what_was_done_while_creates_go_on_is_announced_meanwhile(world: World) -> None:
    """A run may die on its way, and its log should have what it did."""
    settle(world, {"main": document(queues("a", "b", **DELETE_AT_ONCE))})
    wanted = {"main": document(queues("b", *map(str, range(7)), **DELETE_AT_ONCE))}
    announced: list[str] = []
    moment = Moment(world.now, announce=lambda outcome: announced.append(outcome.action.verb.value))
    run_loop(parse(wanted), VOCABULARY, AwsCloud(world.session, KINDS), InlineExecutor(), moment)
    assert announced == ["create", "delete", *["create"] * 6]
