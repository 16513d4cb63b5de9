"""What a run says of itself: per document and policy, in the Kubernetes form, without secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handler.loop.status import CONDITIONS, SHOWN, statuses
from tests.engine.given import DELETE_AT_ONCE, Told, agents, document, groups, queues, run, settle
from tests.world import Fault, World, operation

SECRET = "tr0ub4dor-and-3"


def one(clause: dict[str, Any]) -> dict[str, Any]:
    return {"main": document(clause)}


def written(told: Told) -> dict[str, Any]:
    """The status documents as they are stored."""
    return json.loads(json.dumps(statuses(told.estate, told.report.policies, told.now)))  # type: ignore[no-any-return]


def test_done_means_observed_done(world: World) -> None:
    first = run(world, one(queues("a")))
    assert first.true("queues") == {"Progressing"}
    assert "verifiedAt" not in first.status("queues")
    world.advance(minutes=1)
    second = run(world, one(queues("a")))
    assert second.true("queues") == {"Ready"}
    assert second.status("queues")["verifiedAt"] == "2026-03-02T09:01:00Z"


def test_the_form_of_a_status(world: World) -> None:
    told = settle(world, {"main": document(queues("a", "b"), agents(1)), "second": document(groups("x"))}, minutes=2)
    found = written(told)
    assert found.keys() == {"main", "second"}
    assert {word: found["main"][word] for word in ("document", "version", "observedGeneration")} == {
        "document": "main",
        "version": 1,
        "observedGeneration": "g1",
    }
    (first, second) = found["main"]["policies"]
    assert (first["name"], second["name"]) == ("queues", "agents")
    assert [condition["type"] for condition in first["conditions"]] == list(CONDITIONS)
    assert all(condition.keys() == {"type", "status", "reason", "message"} for condition in first["conditions"])
    assert (first["desired"], first["actual"], first["ready"]) == (2, 2, 2)


@pytest.mark.parametrize(
    ("before", "after", "fault", "conditions", "words"),
    [
        (queues("a"), queues("a"), None, {"Ready"}, ""),
        (queues("a"), queues("a", "b"), None, {"Progressing"}, ""),
        (queues("a"), queues("a", mode="observe"), None, {"Ready"}, ""),
        (
            queues("a"),
            queues("a", "b", mode="observe"),
            None,
            {"Held"},
            "create orders-b: the policy's mode is observe",
        ),
        (queues("a"), queues("a", mode="paused"), None, {"Held"}, "the policy's mode is paused"),
        (queues(*"abc"), queues("a", **DELETE_AT_ONCE), None, {"Held"}, "2 deletes are wanted and maxDeletes allows 1"),
        (queues("a"), queues("a", "b"), "denied", {"Degraded"}, "not allowed to call sqs:CreateQueue"),
        (queues("a"), queues("a", "b"), "throttled", {"Progressing"}, "Rate exceeded"),
        (queues("a"), queues("a", "b"), "lost", {"Degraded"}, "Whether a write happened is for the next run to see"),
    ],
)
def test_which_conditions_are_true(
    world: World, before: Any, after: Any, fault: Any, conditions: set[str], words: str
) -> None:
    settle(world, one(before))
    if fault:
        world.inject(Fault(at=operation("sqs", "CreateQueue"), kind=fault))
    told = run(world, one(after))
    assert told.true("queues") == conditions
    assert words in " ".join(condition["message"] for condition in told.status("queues")["conditions"])


def test_a_foreign_queue_is_a_conflict(world: World) -> None:
    world.outside.sqs.create_queue(QueueName="orders-a")
    assert run(world, one(queues("a"))).true("queues") == {"Conflict"}


def test_held_actions_and_the_last_ones_are_listed_with_their_reasons(world: World) -> None:
    settle(world, one(queues("a", "b")))
    status = run(world, one(queues("a", "c", **DELETE_AT_ONCE, guardrails={"maxDeletes": 0}))).status("queues")
    assert [(entry["action"], entry["resource"], entry["result"]) for entry in status["lastActions"]] == [
        ("create", "orders-c", "done")
    ]
    (held,) = status["held"]
    assert (held["action"], held["resource"], held["region"]) == ("delete", "orders-b", "eu-west-1")
    assert "maxDeletes allows 0" in held["reason"]


def test_a_document_that_does_not_parse_says_where_and_why(world: World) -> None:
    told = run(world, {"main": document(queues("a")), "broken": b'{"version": 2, "policies": []}'})
    found = written(told)["broken"]
    assert found["policies"] == []
    assert [error["path"] for error in found["errors"]] == ["$.version"]
    assert told.run_status["failed"] == ["broken"]
    assert told.run_status["documents"] == ["main"]


def test_one_policy_in_two_regions_is_one_status_that_names_the_region(world: World) -> None:
    told = run(world, one(queues("a", regions=["eu-west-1", "eu-central-1"])))
    status = told.status("queues")
    assert (status["desired"], len(status["lastActions"])) == (2, 2)
    assert {entry["region"] for entry in status["lastActions"]} == {"eu-west-1", "eu-central-1"}
    assert "eu-central-1: create orders-a" in told.message("queues", "Progressing")


def test_a_status_stays_readable_however_much_happens(world: World) -> None:
    items = [f"q{number}" for number in range(SHOWN + 30)]
    status = run(world, one(queues(*items, guardrails={"maxCreates": 200}))).status("queues")
    assert len(status["lastActions"]) == SHOWN
    progressing = next(each for each in status["conditions"] if each["type"] == "Progressing")
    assert progressing["message"].endswith("(and 30 more)")


def test_equal_runs_give_equal_statuses(world: World) -> None:
    documents = {"main": document(queues("a"), groups("b"))}
    settle(world, documents, minutes=3)
    first, second = run(world, documents), run(world, documents)
    assert written(first) == written(second)


@pytest.mark.parametrize(
    "items",
    [
        [{"id": "no spaces", "password": SECRET}],
        [{"id": "no spaces", "apiToken": SECRET}],
        [{"id": "no spaces", "url": f"https://ops:{SECRET}@wiki/"}],
    ],
    ids=["password", "token", "url"],
)
def test_a_secret_of_an_item_is_never_told(world: World, items: Any) -> None:
    world.outside.ssm.put_parameter(Name="/tenants", Type="String", Value=json.dumps(items))
    clause = queues(name="queues")
    clause["resource"]["properties"]["QueueName"] = "orders-${item.id}"
    clause["strategy"] = {"type": "forEach", "items": {"source": "ssmParameter", "name": "/tenants"}}
    told = run(world, one(clause))
    assert "no spaces" in told.message("queues", "Degraded")
    assert SECRET not in json.dumps(written(told))


def test_a_secret_in_a_tag_is_never_told(world: World) -> None:
    settle(world, one(queues("a", "b")))
    url = world.outside.sqs.get_queue_url(QueueName="orders-b")["QueueUrl"]
    world.outside.sqs.tag_queue(QueueUrl=url, Tags={"setpoint:hold-until": f"https://ops:{SECRET}@wiki/"})
    told = run(world, one(queues("a", **DELETE_AT_ONCE)))
    assert told.true("queues") == {"Held"}
    assert SECRET not in json.dumps(written(told))
