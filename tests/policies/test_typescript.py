"""The TypeScript types: every definition once, and unions that narrow by `type` and `source`."""

import re

import pytest

from infra.kinds.registry import KINDS
from policies.schema import json_schema
from policies.typescript import typescript
from policies.vocabulary import Vocabulary
from strategies.registry import STRATEGIES

VOCABULARY = Vocabulary(STRATEGIES, KINDS, "123456789012", "eu-west-1")
TEXT = typescript(VOCABULARY)
DECLARED = re.findall(r"^export (?:interface|type) (\w+)", TEXT, re.MULTILINE)


def body(name: str) -> str:
    found = re.search(rf"^export (?:interface {name} \{{.*?^\}}|type {name} = .*?;)$", TEXT, re.MULTILINE | re.DOTALL)
    assert found, name
    return found.group()


def union(name: str) -> set[str]:
    return set(body(name).split(" = ")[1].rstrip(";").split(" | "))


def test_every_definition_is_declared_once() -> None:
    assert len(set(DECLARED)) == len(DECLARED) == len(json_schema(VOCABULARY)["definitions"]) + 1
    assert DECLARED[0] == "PolicyDocument"


def test_every_type_that_is_used_is_declared() -> None:
    code = re.sub(r"/\*\*.*?\*/|\"[^\"\n]*\"|`[^`]*`|//.*", "", TEXT, flags=re.DOTALL)
    used = set(re.findall(r"\b[A-Z]\w+(?![\w?:])", re.sub(r"readonly [\w$]+\??:", "", code)))
    assert used - {"ReadonlyArray"} <= set(DECLARED)


@pytest.mark.parametrize(
    ("name", "where", "words"),
    [
        ("Strategy", "type", set(STRATEGIES)),
        ("ResourceClause", "type", set(KINDS)),
        ("ItemSource", "source", {"list", "ssmParameter", "dynamodbTable", "s3Object", "resources"}),
    ],
)
def test_unions_narrow_by_a_literal(name: str, where: str, words: set[str]) -> None:
    found = {re.search(rf'readonly {where}: "(.+?)";', body(member))[1] for member in union(name)}  # type: ignore[index]
    assert found == words


def test_a_number_is_also_a_literal() -> None:
    assert "readonly to: number | Number;" in body("Scale")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("PolicyDocument", "readonly version: 1;"),
        ("PolicyDocument", "readonly $schema?: string | null;"),
        ("PolicyDocument", "readonly policies: ReadonlyArray<PolicyClause>;"),
        ("PolicyClause", 'readonly mode?: "enforce" | "observe" | "paused";'),
        ("PolicyClause", "readonly roleArn?: string | null;"),
        ("Resource_AWS_SQS_Queue", "readonly properties?: AWS_SQS_Queue;"),
        ("AWS_SQS_Queue", "readonly VisibilityTimeout?: number | null | Placeholder;"),
        ("AWS_SQS_Queue", 'readonly DeduplicationScope?: "queue" | "messageGroup" | null | PlaceholderText;'),
        ("AWS_SQS_Queue", "readonly RedrivePolicy?: AWS_SQS_Queue_Redrive | null | Placeholder;"),
        ("AWS_SQS_Queue", "readonly Tags?: ReadonlyArray<AWS_SQS_Queue_Tag | Placeholder> | null | Placeholder;"),
        ("Conditions_AWS_SQS_Queue", "readonly [key: string]: Condition | undefined;"),
        ("Placeholder", r"= `\${${string}}`;"),
        ("PlaceholderText", r"= `${string}\${${string}}${string}`;"),
    ],
)
def test_shapes(name: str, line: str) -> None:
    assert line in body(name)


def test_descriptions_are_comments() -> None:
    assert re.search(r"/\*\* .*80 characters.* \*/\n  readonly QueueName\?: string;", TEXT)
    assert TEXT.count("/**") == TEXT.count("*/")


def test_the_text_is_stable() -> None:
    assert typescript(VOCABULARY) == TEXT
