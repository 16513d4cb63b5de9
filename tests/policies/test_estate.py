"""All documents of a run: each parses on its own, and what they say together is proven to go together."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest

from policies.estate import Estate, parse_estate
from policies.identity import Owner
from policies.kind import KindModel
from policies.properties import Name, Properties
from policies.vocabulary import Vocabulary
from strategies.for_each import ForEach


class QueueProperties(Properties):
    QueueName: Annotated[str, Name("[a-z-]+", 80)]


class Queue(KindModel):
    type = "AWS::SQS::Queue"
    properties = QueueProperties
    identifier = "QueueName"


class Topic(Queue):
    type = "AWS::SNS::Topic"


VOCABULARY = Vocabulary(
    {"forEach": ForEach}, {Queue.type: Queue(), Topic.type: Topic()}, "123456789012", "eu-west-1", controller="main"
)


def policy(name: str, queue: str | None = None, kind: str = Queue.type, **more: Any) -> dict[str, Any]:
    resource = {"type": kind, "properties": {"QueueName": queue or name}}
    return {"name": name, "resource": resource, "strategy": {"type": "forEach"}, **more}


def estate(full: bool = True, **documents: Any) -> Estate:
    """Each document is a list of policies, or the text of a broken one."""
    bodies = [
        (name, f"{name}-1", (said if isinstance(said, str) else json.dumps({"version": 1, "policies": said})).encode())
        for name, said in documents.items()
    ]
    return parse_estate(bodies, VOCABULARY, full)


def former_owners(found: Estate, name: str) -> list[str]:
    return [str(owner) for one in found.policies if one.name == name for owner in found.former_owners(one)]


def test_policies_come_in_the_order_of_documents_once_per_region() -> None:
    found = estate(x=[policy("b", regions=["eu-west-1", "eu-north-1"]), policy("a")], y=[policy("c")])
    assert [(one.name, one.scope.region) for one in found.policies] == [
        ("b", "eu-west-1"),
        ("b", "eu-north-1"),
        ("a", "eu-west-1"),
        ("c", "eu-west-1"),
    ]
    assert [(document.name, document.generation) for document in found.documents] == [("x", "x-1"), ("y", "y-1")]
    assert found.live_names == {"a", "b", "c"}
    assert found.conflicts == {}


def test_a_document_that_does_not_parse_stops_no_other() -> None:
    found = estate(x="{", y=[policy("a")], z='{"version": 2}')
    assert [failure.source for failure in found.failures] == ["x", "z"]
    assert [one.name for one in found.policies] == ["a"]


@pytest.mark.parametrize(
    ("full", "documents", "complete"),
    [
        (True, {"x": [policy("a")]}, True),
        (True, {}, True),
        (False, {"x": [policy("a")]}, False),
        (True, {"x": [policy("a")], "y": "{"}, False),
    ],
)
def test_complete_is_a_full_prefix_of_which_every_document_parsed(
    full: bool, documents: dict[str, Any], complete: bool
) -> None:
    assert estate(full, **documents).complete is complete


def test_documents_are_proven_disjoint_from_each_other() -> None:
    found = estate(x=[policy("a", "shared"), policy("b")], y=[policy("c", "shared")])
    assert found.conflicts.keys() == {"a", "c"}
    assert "(document 'x', $.policies[0])" in found.conflicts["a"][0]
    assert "(document 'y', $.policies[0])" in found.conflicts["a"][0]
    assert "'shared'" in found.conflicts["a"][0]


def test_one_name_in_two_documents_stops_both() -> None:
    found = estate(x=[policy("a", "one")], y=[policy("b"), policy("a", "two")])
    assert found.conflicts == {
        "a": (
            "policy 'a' (document 'y', $.policies[1]) is also in document 'x' ($.policies[0]): names are unique over"
            " all documents of a controller; rename one; neither acts until then",
        )
    }


def test_one_name_in_several_regions_is_one_policy() -> None:
    assert estate(x=[policy("a", regions=["eu-west-1", "eu-north-1"], formerly=["old"])]).conflicts == {}


def test_formerly_takes_over_from_whom_no_policy_is_any_more() -> None:
    found = estate(x=[policy("a", formerly=["old", "b", "other/b"])], y=[policy("b")])
    assert former_owners(found, "a") == ["main/old", "other/b"]
    assert found.policies[0].formerly == (Owner("main", "old"), Owner("main", "b"), Owner("other", "b"))


@pytest.mark.parametrize(("full", "broken"), [(False, {}), (True, {"y": "{"})])
def test_formerly_waits_while_it_is_not_known_who_is_there(full: bool, broken: dict[str, str]) -> None:
    assert former_owners(estate(full, x=[policy("a", formerly=["old"])], **broken), "a") == []


def test_two_heirs_of_one_policy_stop_both() -> None:
    found = estate(x=[policy("a", formerly=["old"])], y=[policy("b", formerly=["main/old"]), policy("c")])
    assert found.conflicts.keys() == {"a", "b"}
    assert found.conflicts["a"] == found.conflicts["b"]
    assert found.conflicts["a"][0].startswith(
        "policy 'a' (document 'x', $.policies[0]) and policy 'b' (document 'y', $.policies[0]) were both formerly"
        " 'main/old': only one can take over what it owned"
    )


@pytest.mark.parametrize("other", [{"regions": ["eu-north-1"]}, {"kind": Topic.type}])
def test_heirs_of_different_regions_or_types_share_out_what_was_there(other: dict[str, Any]) -> None:
    assert estate(x=[policy("a", formerly=["old"]), policy("b", formerly=["old"], **other)]).conflicts == {}
