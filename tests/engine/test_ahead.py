"""What a cold function asks ahead of its first run: used once, while it is news, or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from threading import Barrier, Event
from typing import Any

import pytest

from handler import ahead, function
from handler.ahead import place_of
from infra import opening
from infra.aws import Aws
from infra.opening import FRESH, Opening
from policies.errors import DeniedError
from tests.engine.conftest import BUCKET, ENVIRONMENT, Deployment
from tests.engine.given import document, queues
from tests.world import Fault, World, operation

PLACE = place_of(BUCKET, "policies/")
DOCUMENT = document(queues("a"))


class Clock:
    """What the wall clock shows to an opening."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(opening, "time", clock)
    return clock


@pytest.fixture
def begun(deployed: Deployment, clock: Clock) -> Iterator[Opening]:
    deployed.put("one.json", DOCUMENT)
    opened = Opening(deployed.world.session, PLACE)
    opened.begin()
    yield opened


def lists(world: World) -> int:
    return len(world.calls(operation="ListObjectsV2"))


def test_the_first_run_takes_what_was_fetched_and_the_next_asks_again(deployed: Deployment, begun: Opening) -> None:
    cold = function.deployed(begun)
    assert cold.setpoint.load()[0].documents[0].name == "one"
    assert lists(deployed.world) == 1
    deployed.put("two.json", {**DOCUMENT, "policies": []})
    assert [one.name for one in cold.setpoint.load()[0].documents] == ["one", "two"]
    assert lists(deployed.world) == 2


@pytest.mark.parametrize("seconds", [FRESH, 3_600, -1])
def test_what_is_no_news_is_fetched_anew(deployed: Deployment, begun: Opening, clock: Clock, seconds: float) -> None:
    deployed.put("STOP", b"")
    clock.now += seconds
    assert begun.documents().stopped


@pytest.mark.parametrize(
    ("service", "asked", "error"),
    [
        ("s3", "ListObjectsV2", DeniedError),
        ("s3", "GetObject", DeniedError),
        ("resourcegroupstaggingapi", "GetResources", ExceptionGroup),
    ],
)
def test_what_fails_ahead_is_told_by_the_run_and_asked_again_by_the_next(
    deployed: Deployment, service: str, asked: str, error: type[Exception]
) -> None:
    """The SDK has tried three times by then; no loop of ours doubles that."""
    deployed.put("one.json", DOCUMENT)
    deployed.world.inject(Fault(at=operation(service, asked), kind="denied", times=1))
    with pytest.raises(error):
        deployed.tick()
    assert len(deployed.world.calls(operation=asked)) == 1
    assert deployed.tick()["Created"] == 1


def test_what_was_frozen_on_its_way_holds_up_no_later_run(
    deployed: Deployment, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(opening.THREADS):
        deployed.put(f"{number}.json", {"version": 1, "policies": []})
    answered, given_up, thawed = Aws.body, list[bool](), Event()
    all_frozen = Barrier(opening.THREADS, timeout=10)  # those that fetch, while one waits for them; and this thread

    def frozen(*asked: Any) -> tuple[bytes, Any]:
        answer = answered(*asked)
        all_frozen.wait()
        given_up.append(not thawed.wait(3))
        return answer

    opened = Opening(deployed.world.session, PLACE)
    with monkeypatch.context() as patched:
        patched.setattr(Aws, "body", frozen)
        opened.begin()
        all_frozen.wait()
    clock.now += 60
    opened.begin()
    assert len(opened.documents().documents) == opening.THREADS
    thawed.set()
    assert given_up == [], "the run did not wait for them"


def test_the_calls_that_were_made_ahead_are_counted(deployed: Deployment, begun: Opening) -> None:
    cold = function.deployed(begun)
    summary = cold.tick(deployed.world.now, lambda: False)
    assert summary["ApiCalls"] == len(deployed.world.calls())
    assert summary["Created"] == 1


def test_a_cold_function_begins_at_once(deployed: Deployment) -> None:
    deployed.put("one.json", DOCUMENT)
    begun = ahead.begin(ENVIRONMENT)
    assert begun is not None
    assert begun.documents().documents[0].name == "one"
    assert lists(deployed.world) == 1


def test_the_index_that_was_read_ahead_is_the_one_of_the_run(deployed: Deployment, begun: Opening) -> None:
    cold = function.deployed(begun)
    cold.tick(deployed.world.now, lambda: False)
    assert len(deployed.world.calls(operation="GetResources")) == 1
    deployed.world.advance(minutes=1)
    cold.tick(deployed.world.now, lambda: False)
    assert len(deployed.world.calls(operation="GetResources")) == 2, "of another run"


def test_an_answer_is_not_kept_for_a_later_run(deployed: Deployment, begun: Opening, clock: Clock) -> None:
    begun.documents()
    clock.now += 60
    begun.begin()
    begun.owner_index()
    assert len(deployed.world.calls(operation="GetResources")) == 2


def test_another_place_than_the_configured_one_does_not_count(deployed: Deployment, clock: Clock) -> None:
    deployed.put("one.json", DOCUMENT)
    elsewhere = Opening(deployed.world.session, place_of(BUCKET, "elsewhere/"))
    assert len(function.deployed(elsewhere).setpoint.load()[0].documents) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"SETPOINT_BUCKET": ""},
        {"AWS_LAMBDA_INITIALIZATION_TYPE": "provisioned-concurrency"},
        {"AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start"},
    ],
    ids=str,
)
def test_nothing_is_fetched_ahead_where_no_run_follows_at_once(deployed: Deployment, change: dict[str, str]) -> None:
    assert ahead.begin({**ENVIRONMENT, **change}) is None
    assert not deployed.world.calls(operation="ListObjectsV2")


def test_it_is_light() -> None:
    """Whatever is imported before the first call makes every cold start later."""
    code = "import handler.ahead, json, sys; print(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"pydantic", "aws_lambda_powertools", "policies.grammar", "policies.parse", "infra.kinds.kind", "boto3"}
    assert not heavy & set(json.loads(answer.stdout))
