"""Bytes to policies: every mistake is told at once, each at its path, and each once."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.compose import vocabulary
from policies.document import PolicyDocument
from policies.errors import ParseError, Problem
from policies.parse import parse_document
from strategies.for_each import ForEach

WORDS = vocabulary("123456789012", "eu-west-1")
QUEUE, GROUP, INSTANCE = "AWS::SQS::Queue", "AWS::Logs::LogGroup", "AWS::EC2::Instance"


def parse(body: Any, name: str = "main") -> PolicyDocument:
    return parse_document(name, body if isinstance(body, bytes) else json.dumps(body).encode(), "g1", WORDS)


def problems(body: Any, name: str = "main") -> tuple[Problem, ...]:
    try:
        parse(body, name)
    except ParseError as error:
        return error.problems
    return ()


def policy(name: str, type_: str, properties: Any, strategy: Any, **more: Any) -> dict[str, Any]:
    resource = {"type": type_, "properties": properties, **more.pop("resource", {})}
    return {"name": name, "resource": resource, "strategy": strategy, **more}


def each(*values: Any) -> dict[str, Any]:
    return {"type": "forEach", "items": {"source": "list", "values": list(values)}}


RAILS = {"maxDeletes": "110%", "protect": {"Colour": 1}}
TWELVE: dict[str, Any] = {
    "version": 1,
    "orphan": "report",
    "policies": [
        policy("a", QUEUE, {"QueueName": "a-${item}", "VisibilityTimout": 5}, each("x"), mode="enforced"),
        policy("b", QUEUE, {"QueueName": "b-${itm}"}, each("x"), grace="5 minutes"),
        policy("c", "AWS::SQS::Que", {"QueueName": "c-${item}"}, {"type": "forEach", "items": {"source": "lst"}}),
        policy("d", GROUP, {"LogGroupName": "/d/${item}", "RetentionInDays": 31}, each("x"), adpot=True),
        policy("e", QUEUE, {"QueueName": "e-${item}"}, each("x"), guardrails=RAILS),
        policy("a", QUEUE, {"QueueName": "f-${item}"}, each("x")),
    ],
}  # fmt: skip
MISTAKES = {
    "$.orphan": "unknown key 'orphan'; did you mean 'orphans'?",
    "$.policies[0].mode": "found 'enforced'; allowed: 'enforce', 'observe' or 'paused'; did you mean 'enforce'?",
    "$.policies[0].resource.properties.VisibilityTimout": "did you mean 'VisibilityTimeout'?",
    "$.policies[1].grace": 'found "5 minutes"',
    "$.policies[1].resource.properties.QueueName": "unknown placeholder ${itm}; did you mean 'item'?",
    "$.policies[2].resource.type": "did you mean 'AWS::SQS::Queue'?",
    "$.policies[2].strategy.items.source": "did you mean 'list'?",
    "$.policies[3].adpot": "did you mean 'adopt'?",
    "$.policies[3].resource.properties.RetentionInDays": "found 31; allowed: 1, 3, 5, 7, 14, 30",
    "$.policies[4].guardrails.maxDeletes": "found '110%'; allowed: a whole number from 0",
    "$.policies[4].guardrails.protect.Colour": "'Colour' is no property or fact of AWS::SQS::Queue",
    "$.policies[5].name": "policy 'a' is already $.policies[0]; names are unique",
}


def test_twelve_mistakes_give_twelve_errors() -> None:
    found = problems(TWELVE)
    assert sorted(one.path for one in found) == sorted(MISTAKES)
    for one in found:
        assert MISTAKES[one.path] in one.message


@pytest.mark.parametrize("left_out", range(6))
def test_a_mistake_hides_no_other_policys_and_brings_none(left_out: int) -> None:
    """Without one policy the others' mistakes stay what they are."""
    kept = [one for place, one in enumerate(TWELVE["policies"]) if place != left_out]
    expected = {path for path in MISTAKES if not path.startswith(f"$.policies[{left_out}]")}
    if left_out == 0:
        expected.remove("$.policies[5].name")  # its namesake is gone
    assert {one.path for one in problems({**TWELVE, "policies": kept})} == {_moved(path, left_out) for path in expected}


def _moved(path: str, left_out: int) -> str:
    for place in range(left_out + 1, 6):
        if path.startswith(f"$.policies[{place}]"):
            return path.replace(f"$.policies[{place}]", f"$.policies[{place - 1}]")
    return path


def fine(**more: Any) -> dict[str, Any]:
    return policy("p", QUEUE, {"QueueName": "q-${item}"}, each("x"), **more)


def of(*policies: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": 1, "policies": list(policies), **more}


@pytest.mark.parametrize("name", ["main", "a", "team-7", "x" * 64])
def test_legal_names_of_documents(name: str) -> None:
    assert parse(of(fine()), name).name == name


@pytest.mark.parametrize("name", ["", "Main", "a_b", "a.b", "x" * 65, "ä"])
def test_illegal_names_of_documents(name: str) -> None:
    assert [one.path for one in problems(of(fine()), name)] == ["$"]


@pytest.mark.parametrize(
    ("clause", "path", "words"),
    [
        (policy("p", QUEUE, {}, each("x")), "resource.properties", "'QueueName' is required: it names the resource"),
        (
            policy("p", QUEUE, {"QueueName": "q-${item}"}, {"type": "replicas", "count": 2}),
            "resource.properties.QueueName",
            "replicas knows",
        ),
        (
            policy("p", QUEUE, {"QueueName": "q-${index}"}, {"type": "replicas", "count": "2"}),
            "strategy.count",
            "found '2'",
        ),
        (
            policy("p", QUEUE, {"QueueName": "q-${index}"}, {"type": "replicas", "count": -1}),
            "strategy.count",
            "found -1",
        ),
        (
            policy("p", QUEUE, {"QueueName": "q-${index}"}, {"type": "replicas", "count": True}),
            "strategy.count",
            "found true",
        ),
        (policy("p", QUEUE, {"DelaySeconds": 1}, {"type": "enforce"}), "resource", "say which ones with 'match'"),
        (
            policy("p", QUEUE, {"DelaySeconds": 1}, {"type": "enforce"}, resource={"match": {}}),
            "resource.match",
            "name what to match",
        ),
        (
            policy("p", QUEUE, {"DelaySeconds": 1}, {"type": "enforce"}, resource={"match": {"namePrefx": "a"}}),
            "resource.match.namePrefx",
            "did you mean 'namePrefix'?",
        ),
        (
            policy("p", QUEUE, {"FifoQueue": True}, {"type": "enforce"}, resource={"match": {"names": ["a"]}}),
            "resource.properties.FifoQueue",
            "create-only",
        ),
        (
            policy(
                "p",
                QUEUE,
                {"DelaySeconds": 1},
                {"type": "enforce"},
                resource={"match": {"names": ["a"]}},
                ensure="absent",
            ),
            "ensure",
            "would delete what others made",
        ),
        (
            policy(
                "p", QUEUE, {"DelaySeconds": 1}, {"type": "enforce"}, resource={"match": {"names": ["a"]}}, adopt=True
            ),
            "adopt",
            "not for 'match'",
        ),
        (fine(replace="createFirst"), "replace", "which two cannot have at once; allowed: 'deleteFirst'"),
        (
            fine(resource={"initial": {"QueueName": "x"}}),
            "resource.initial.QueueName",
            "stands in 'properties' too; keep one",
        ),
        (fine(regions=[]), "regions", "found an empty list; allowed: at least one"),
        (fine(regions=["europe"]), "regions[0]", "found 'europe'"),
        (fine(formerly=["Not Legal"]), "formerly[0]", "found 'Not Legal'"),
        (fine(driftCheck=5), "driftCheck", 'write "5s" for seconds'),
        (
            fine(guardrails={"deleteIf": {"CreateTime": {"older": 3}}}),
            "guardrails.deleteIf.CreateTime",
            "a condition object has exactly one of",
        ),
        (fine(description=7), "description", "found 7; allowed: a text"),
        (fine(adopt="true"), "adopt", "found 'true'; allowed: true or false"),
        (
            policy("p", QUEUE, {"QueueName": "q-${item}", "Tags": [{"Key": "setpoint:id", "Value": "x"}]}, each("x")),
            "resource.properties.Tags[0].Key",
            "reserved",
        ),
    ],
)
def test_one_mistake_gives_one_error_at_its_path(clause: dict[str, Any], path: str, words: str) -> None:
    found = problems(of(clause))
    assert [one.path for one in found] == [f"$.policies[0].{path}"], found
    assert words in found[0].message


class Later(ForEach):
    """Its grammar is known, its behaviour is not built yet."""

    supported: ClassVar[bool] = False

    type: Literal["later"]  # type: ignore[assignment]


def test_what_is_not_yet_supported_is_refused_by_name() -> None:
    words = replace(WORDS, strategies={"later": Later})
    clause = policy("p", QUEUE, {"QueueName": "q"}, {"type": "later"})
    with pytest.raises(ParseError) as raised:
        parse_document("main", json.dumps(of(clause)).encode(), "g1", words)
    assert [str(one) for one in raised.value.problems] == [
        "$.policies[0].strategy.type: strategy 'later' is not yet supported"
    ]


def test_account_region_and_policy_are_filled_in_everywhere() -> None:
    properties = {"QueueName": "${policy}-${account}-${region}-${item}", "Tags": [{"Key": "at", "Value": "${region}"}]}
    clause = policy("p", QUEUE, properties, each("x"), regions=["eu-west-1", "eu-central-1"])
    first, second = parse(of(clause)).policies
    assert first.blueprint.render("x", item="x").name == "p-123456789012-eu-west-1-x"
    assert second.blueprint.render("x", item="x").tags == {"at": "eu-central-1"}
    assert (second.scope.region, second.scope.account) == ("eu-central-1", "123456789012")


def test_an_escaped_placeholder_stays_a_text() -> None:
    clause = policy("p", QUEUE, {"QueueName": "q-${item}", "Tags": [{"Key": "k", "Value": "x"}]}, each("x"))
    body = json.dumps(of(clause)).replace('"Value": "x"', '"Value": "$${region}"').encode()
    (problem,) = problems(body)  # `${region}` as a text is no legal tag value; that it is one is what is told
    assert problem.path == "$.policies[0].resource.properties.Tags[0].Value"
    assert "'${region}'" in problem.message


def test_what_was_parsed_cannot_change() -> None:
    (one,) = parse(of(fine(guardrails={"protect": {"tags.a": "b"}}))).policies
    with pytest.raises(TypeError):
        one.blueprint.properties["QueueName"] = "other"
    with pytest.raises(TypeError):
        one.guardrails.protect["tags.a"] = "c"  # type: ignore[index]
    with pytest.raises(Exception, match="frozen"):
        one.clause.name = "other"


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from(["", "x", "forEach", "${item}", "1h", QUEUE, "list"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [*fine(), "type", "properties", "items", "source", "values", "match", "QueueName", "protect"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from([*fine(), "guardrails", "regions", "formerly", "mode", "roleArn"]), _json)
def test_whatever_stands_there_parsing_ends_in_a_document_or_in_problems(word: str, value: Any) -> None:
    found = problems(of({**fine(), word: value}))
    assert all(one.path.startswith("$") and one.message for one in found)
    assert len(set(found)) == len(found)


@given(st.binary(max_size=80))
def test_whatever_the_bytes_are(body: bytes) -> None:
    assert all(one.path.startswith("$") for one in problems(body))
