"""The JSON Schema accepts what parses, refuses structural mistakes, and has the form that editors complete."""

import copy
import json
import subprocess
import sys
from abc import ABC
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft7Validator
from pydantic import Field, PlainValidator

from infra.kinds.registry import KINDS
from policies.errors import ParseError
from policies.grammar import Grammar
from policies.kind import KindModel
from policies.parse import parse_document
from policies.properties import CreateOnly, Default, JsonDocument, Name, Properties
from policies.schema import json_schema
from policies.strategy import Strategy
from policies.vocabulary import Vocabulary
from strategies.registry import STRATEGIES

ROLE = "arn:aws:iam::123456789012:role/setpoint"
VOCABULARY = Vocabulary(STRATEGIES, KINDS, "123456789012", "eu-west-1", allowed_roles=frozenset({ROLE}))
SCHEMA = json_schema(VOCABULARY)
DEFINITIONS = SCHEMA["definitions"]


def errors(document: Any, schema: Any = SCHEMA) -> list[str]:
    return [error.message for error in Draft7Validator(schema).iter_errors(document)]


def document(*policies: Any, **more: Any) -> dict[str, Any]:
    return {"version": 1, **more, "policies": list(policies)}


def queue(**more: Any) -> dict[str, Any]:
    return {"type": "AWS::SQS::Queue", "properties": {"QueueName": "orders-${item.id}", **more}}


def policy(resource: Any, strategy: Any, **more: Any) -> dict[str, Any]:
    return {"name": "one", "resource": resource, "strategy": strategy, **more}


def listed(*values: Any, **more: Any) -> dict[str, Any]:
    return {"type": "forEach", "items": {"source": "list", "values": list(values), **more}}


TENANTS = {"type": "forEach", "items": {"source": "ssmParameter", "name": "/tenants", "key": "id"}}
GOOD = policy(queue(VisibilityTimeout=120), TENANTS)

# --- what the parser accepts, the schema accepts

PARSED = {
    "the example of the design": document(
        {
            "name": "tenant-queues",
            "description": "One queue per tenant in the tenants parameter.",
            "resource": queue(VisibilityTimeout=120, Tags=[{"Key": "team", "Value": "orders"}]),
            "strategy": TENANTS,
            "guardrails": {"maxDeletes": 3},
        },
        **{"$schema": "./setpoint.schema.json"},
    ),
    "every word of a policy": document(
        policy(
            queue(),
            TENANTS,
            mode="observe",
            ensure="absent",
            regions=["eu-west-1", "us-gov-east-1"],
            roleArn=ROLE,
            adopt=True,
            formerly=["old", "other/old"],
            replace="deleteFirst",
            removal="delete",
            grace="36h",
            driftCheck="5m",
            guardrails={
                "maxCreates": 1,
                "maxUpdates": 2,
                "maxDeletes": "10%",
                "protect": {"tags.keep": "yes", "ApproximateNumberOfMessages": {"above": 0}},
                "deleteIf": {"ApproximateNumberOfMessages": 0, "RedrivePolicy.maxReceiveCount": {"not": [1, 2]}},
            },
        ),
        orphans="delete",
    ),
    "placeholders for every type": document(
        policy(
            queue(
                VisibilityTimeout="${item.seconds}",
                FifoQueue="${item.fifo}",
                DeduplicationScope="${item.scope}",
                RedrivePolicy="${item.redrive}",
                RedriveAllowPolicy={"redrivePermission": "${item.who}", "sourceQueueArns": "${item.arns}"},
                Tags=[{"Key": "${item.key}", "Value": "of-${item.id}-${region}"}, "${item.tag}"],
            ),
            TENANTS,
        )
    ),
    "null resets": document(policy(queue(VisibilityTimeout=None, RedrivePolicy=None), TENANTS)),
    "initial": document(policy(queue() | {"initial": {"DelaySeconds": 5}}, TENANTS)),
    "no items": document(policy({"type": "AWS::SQS::Queue", "properties": {"QueueName": "only"}}, {"type": "forEach"})),
    "placeholders of the whole policy, anywhere": document(
        policy(
            queue(),
            {"type": "forEach", "items": {"source": "s3Object", "bucket": "${account}-${region}", "key": "${policy}"}},
            roleArn="arn:aws:iam::${account}:role/setpoint",
        )
    ),
    "rules for items": document(
        policy(queue(), listed({"id": "a"}, pattern="[a-z]+", maxLength=3, where={"id": ["a", "b"]}, key="id")),
        {**policy(queue(), listed({"id": "b"}, pattern={"id": "[b]"}, maxLength={"id": 3})), "name": "two"},
    ),
    "items from resources": document(
        policy(
            {"type": "AWS::SQS::Queue", "properties": {"QueueName": "${item.QueueName}-dead"}},
            {
                "type": "forEach",
                "items": {
                    "source": "resources",
                    "type": "AWS::SQS::Queue",
                    "match": {"namePrefix": "orders-"},
                    "except": [{"names": ["orders-a"]}, {"tags": {"dead": "true"}}],
                },
            },
        )
    ),
    "replicas": document(
        policy(
            {"type": "AWS::EC2::Instance", "properties": {"ImageId": "ami-1", "InstanceType": "t3.micro"}},
            {"type": "replicas", "count": 3, "minLifetime": "1h", "maxUnavailable": "10%"},
        )
    ),
    "enforce, one match": document(
        policy(
            {
                "type": "AWS::Logs::LogGroup",
                "properties": {"RetentionInDays": 30},
                "match": {"namePrefix": "/aws/", "where": {"RetentionInDays": None}, "owned": False},
                "except": {"names": ["/aws/keep"]},
            },
            {"type": "enforce"},
        )
    ),
    "enforce, several": document(
        policy(
            {
                "type": "AWS::Logs::LogGroup",
                "properties": {"RetentionInDays": 30},
                "match": [{"namePrefix": "/a/"}, {"tags": {"team": {"like": "sys-*"}}}],
            },
            {"type": "enforce"},
        )
    ),
}


@pytest.mark.parametrize("name", PARSED)
def test_what_parses_is_valid(name: str) -> None:
    parse_document("doc", json.dumps(PARSED[name]).encode(), "1", VOCABULARY)
    assert errors(PARSED[name]) == []


# --- what is known and not built yet is completed, too

METRIC = {"namespace": "AWS/SQS", "name": "Age", "statistic": "p99", "period": "1m"}
WINDOW = {"days": ["mon", "fri"], "dates": ["2026-12-24"], "from": "22:00", "to": "24:00", "value": 3}
EDGE = {"for": "5m", "step": "20%", "cooldown": "10m"}
ROTATION = {"type": "rotation", "period": "month", "timezone": "UTC", "format": "%Y%m", "ahead": 1, "keep": "all"}
FUTURE = {
    "schedule": {"type": "schedule", "timezone": "UTC", "windows": [WINDOW], "otherwise": 1},
    "target by load": {"type": "target", "load": METRIC, "perUnit": 10.5, "min": 0, "max": 3, "maxStep": {"in": 1}},
    "target by loads": {"type": "target", "load": [METRIC, METRIC], "perUnit": 1, "min": 0, "max": 3},
    "target by average": {"type": "target", "average": METRIC, "of": 60, "min": 1, "max": 9, "tolerance": 0.2},
    "target by any": {"type": "target", "any": [{"load": METRIC, "perUnit": 1}], "min": 1, "max": 9},
    "band": {
        "type": "band",
        "metric": METRIC,
        "per": 1,
        "min": 1,
        "max": 9,
        "up": {"above": 80, **EDGE},
        "down": {"below": 20, **EDGE},
    },
    "literal": 3,
}


@pytest.mark.parametrize("name", FUTURE)
def test_numbers(name: str) -> None:
    matched = {"type": "AWS::DynamoDB::Table", "match": {"names": ["a"]}}
    scale = {"type": "scale", "property": "ProvisionedThroughput.ReadCapacityUnits", "to": FUTURE[name]}
    assert errors(document(policy(matched, scale))) == []
    if isinstance(scale["to"], dict):
        assert errors(document(policy(matched, scale | {"to": {**scale["to"], "unknown": 1}})))
    assert errors(document(policy(matched, scale | {"to": -1})))


@pytest.mark.parametrize(
    "strategy",
    [
        ROTATION,
        ROTATION | {"keep": 3, "items": TENANTS["items"], "overrides": {"past": {"DelaySeconds": 1}}},
        {"type": "expire", "after": "14d", "grace": "2d", "meanwhile": {"DelaySeconds": 1}},
        {"type": "expire", "after": {"tag": "until"}, "grace": "0s"},
        {"type": "enforce", "set": FUTURE["schedule"] | {"windows": [WINDOW | {"value": {}}], "otherwise": {"a": 1}}},
    ],
)
def test_strategies_to_come(strategy: Any) -> None:
    assert errors(document(policy(queue(), strategy))) == []
    assert errors(document(policy(queue(), strategy | {"unknown": 1})))


def test_not_yet_supported_is_said_where_the_type_is_chosen() -> None:
    notes = dict(zip(*(DEFINITIONS["Strategy"]["properties"]["type"][word] for word in CHOICE), strict=True))
    for word, strategy in STRATEGIES.items():
        assert notes[word].startswith("Not yet supported.") is not strategy.supported


CHOICE = ("enum", "enumDescriptions")

# --- structural mistakes are underlined


def without(word: str) -> dict[str, Any]:
    return {key: value for key, value in GOOD.items() if key != word}


MISTAKES: dict[str, Any] = {
    "no version": {"policies": []},
    "another version": {"version": 2, "policies": []},
    "unknown word in the document": document(GOOD, polices=[]),
    "no name": document(without("name")),
    "no resource": document(without("resource")),
    "no strategy": document(without("strategy")),
    "illegal name": document(GOOD | {"name": "Orders"}),
    "unknown word in a policy": document(GOOD | {"guardrail": {}}),
    "unknown mode": document(GOOD | {"mode": "dry"}),
    "a number as duration": document(GOOD | {"grace": 300}),
    "words as duration": document(GOOD | {"driftCheck": "5 minutes"}),
    "a share without sign": document(GOOD | {"guardrails": {"maxDeletes": "10"}}),
    "unknown guardrail": document(GOOD | {"guardrails": {"maxDelete": 1}}),
    "unknown path in a guardrail": document(GOOD | {"guardrails": {"deleteIf": {"Messages": 0}}}),
    "no type": document(policy({"properties": {"QueueName": "a"}}, TENANTS)),
    "unknown type": document(policy({"type": "AWS::SQS::Quue"}, TENANTS)),
    "unknown word in the resource": document(policy(queue() | {"props": {}}, TENANTS)),
    "unknown property": document(policy(queue(VisibiltyTimeout=1), TENANTS)),
    "a property of another kind": document(policy(queue(RetentionInDays=1), TENANTS)),
    "a fact as property": document(policy(queue(CreateTime="now"), TENANTS)),
    "unknown initial property": document(policy(queue() | {"initial": {"Delay": 1}}, TENANTS)),
    "no name property": document(policy({"type": "AWS::SQS::Queue", "properties": {"DelaySeconds": 1}}, TENANTS)),
    "no properties": document(policy({"type": "AWS::SQS::Queue"}, TENANTS)),
    "text for a number": document(policy(queue(VisibilityTimeout="120"), TENANTS)),
    "text around a placeholder for a number": document(policy(queue(VisibilityTimeout="1${item.x}"), TENANTS)),
    "number out of range": document(policy(queue(VisibilityTimeout=43_201), TENANTS)),
    "text for a switch": document(policy(queue(FifoQueue="true"), TENANTS)),
    "unknown choice": document(policy(queue(DeduplicationScope="all"), TENANTS)),
    "unknown inner property": document(policy(queue(RedrivePolicy={"maxReceives": 1}), TENANTS)),
    "inner property missing": document(policy(queue(RedrivePolicy={"maxReceiveCount": 1}), TENANTS)),
    "tags as a mapping": document(policy(queue(Tags={"team": "orders"}), TENANTS)),
    "a tag without value": document(policy(queue(Tags=[{"Key": "a"}]), TENANTS)),
    "no strategy type": document(policy(queue(), {"items": TENANTS["items"]})),
    "unknown strategy": document(policy(queue(), {"type": "foreach"})),
    "a word of another strategy": document(policy(queue(), TENANTS | {"count": 3})),
    "no source": document(policy(queue(), {"type": "forEach", "items": {"values": []}})),
    "unknown source": document(policy(queue(), {"type": "forEach", "items": {"source": "ssm", "name": "/a"}})),
    "a word of another source": document(policy(queue(), listed("a", bucket="b"))),
    "a source without its place": document(policy(queue(), {"type": "forEach", "items": {"source": "s3Object"}})),
    "unknown type of resources": document(
        policy(queue(), {"type": "forEach", "items": {"source": "resources", "type": "AWS::SQS::Q"}})
    ),
    "an empty match": document(policy(queue() | {"match": {}}, {"type": "enforce"})),
    "no match in the list": document(policy(queue() | {"match": []}, {"type": "enforce"})),
    "unknown word in a match": document(policy(queue() | {"match": {"prefix": "a"}}, {"type": "enforce"})),
    "unknown path in where": document(policy(queue() | {"match": [{"where": {"Age": 1}}]}, {"type": "enforce"})),
    "unknown operator": document(policy(queue() | {"match": {"tags": {"a": {"over": 1}}}}, {"type": "enforce"})),
    "two operators": document(
        policy(queue() | {"match": {"tags": {"a": {"above": 1, "below": 2}}}}, {"type": "enforce"})
    ),
    "count as text": document(policy(queue(), {"type": "replicas", "count": "3"})),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_invalid(name: str) -> None:
    with pytest.raises(ParseError):
        parse_document("doc", json.dumps(MISTAKES[name]).encode(), "1", VOCABULARY)
    assert errors(MISTAKES[name])


def test_the_pattern_of_these_mistakes_is_legal_without_them() -> None:
    assert errors(document(GOOD)) == []


# --- nothing is left out


def described(schema: Any) -> Iterator[dict[str, Any]]:
    """Every closed object anywhere in the schema."""
    if isinstance(schema, dict):
        if schema.get("additionalProperties") is False and "properties" in schema:
            yield schema
        for value in schema.values():
            yield from described(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from described(value)


def grammars(model: type[Grammar] = Grammar) -> Iterator[type[Grammar]]:
    for inner in model.__subclasses__():
        generic = inner.__pydantic_generic_metadata__["parameters"]
        ours = inner.__module__.startswith(("policies.", "strategies."))
        if ours and ABC not in inner.__bases__ and not generic and not inner.__name__.startswith("_"):
            yield inner
        yield from grammars(inner)


@pytest.mark.parametrize("model", sorted(grammars(), key=str), ids=lambda model: model.__name__)
def test_every_field_of_the_language_is_described(model: type[Grammar]) -> None:
    words = {info.alias or name for name, info in model.model_fields.items()}
    assert words in [set(found["properties"]) for found in described(SCHEMA)]


@pytest.mark.parametrize("word", KINDS)
def test_every_property_of_a_kind_is_described(word: str) -> None:
    kind = KINDS[word]
    assert set(DEFINITIONS[word]["properties"]) == set(kind.properties.model_fields)
    assert set(DEFINITIONS[f"Conditions.{word}"]["properties"]) == kind.words


def test_every_reference_leads_somewhere() -> None:
    found = [part.split('"')[0] for part in json.dumps(SCHEMA).split('"$ref": "')[1:]]
    assert {target.removeprefix("#/definitions/") for target in found} <= set(DEFINITIONS)
    Draft7Validator.check_schema(SCHEMA)


# --- the form that editors complete: the word by `enum`, its fields by `if`/`then`

DISPATCHED = {
    "Strategy": ("type", set(STRATEGIES)),
    "ResourceClause": ("type", set(KINDS)),
    "ItemSource": ("source", {"list", "ssmParameter", "dynamodbTable", "s3Object", "resources"}),
    "Number": ("type", {"schedule", "target", "band"}),
}


@pytest.mark.parametrize("name", DISPATCHED)
def test_dispatched_objects_are_enum_and_if_then(name: str) -> None:
    where, words = DISPATCHED[name]
    schema = DEFINITIONS[name]
    assert set(schema["properties"]) == {where}
    assert schema["required"] == [where]
    assert "additionalProperties" not in schema
    choice = schema["properties"][where]
    assert set(choice["enum"]) == words
    assert len(choice["enumDescriptions"]) == len(choice["enum"])
    assert all(choice["enumDescriptions"])
    for word, branch in zip(choice["enum"], schema["allOf"], strict=True):
        assert branch["if"] == {"required": [where], "properties": {where: {"const": word}}}
        closed = DEFINITIONS[branch["then"]["$ref"].removeprefix("#/definitions/")]
        assert closed["additionalProperties"] is False
        assert closed["properties"][where]["const"] == word


def test_no_one_of() -> None:
    assert '"oneOf"' not in json.dumps(SCHEMA)


def test_nothing_stands_beside_a_reference() -> None:
    def beside(schema: Any) -> Iterator[Any]:
        if isinstance(schema, dict):
            if isinstance(schema.get("$ref"), str) and len(schema) > 1:
                yield schema
            for value in schema.values():
                yield from beside(value)
        elif isinstance(schema, list):
            for value in schema:
                yield from beside(value)

    assert list(beside(SCHEMA)) == []


def test_hover_tells_what_properties_are() -> None:
    fields = DEFINITIONS["AWS::SQS::Queue"]["properties"]
    assert "80 characters" in fields["QueueName"]["description"]
    assert "Create-only" in fields["FifoQueue"]["description"]
    assert fields["VisibilityTimeout"]["default"] == 30
    assert "pattern" not in fields["QueueName"]
    assert all(DEFINITIONS[name].get("description") for name in KINDS)


def test_defaults_are_spelled_as_in_the_language() -> None:
    policies = DEFINITIONS["PolicyClause"]["properties"]
    assert policies["driftCheck"]["default"] == "5m"
    assert DEFINITIONS["Guardrails"]["properties"]["maxDeletes"]["default"] == "10%"
    assert "default" not in policies["grace"]


# --- third parties


class RetryPolicy(Properties):
    """How often."""

    attempts: Annotated[int, Default(3)] = 3


class ThingProperties(Properties):
    """`Acme::Thing`."""

    ThingName: Annotated[str, CreateOnly, Name("[a-z]+", 10)]
    Retry: RetryPolicy | None = None
    Document: Annotated[dict[str, Any] | None, JsonDocument] = None


class Thing(KindModel):
    """Things of Acme."""

    type = "Acme::Thing"
    properties = ThingProperties
    identifier = "ThingName"
    facts = frozenset({"Weight"})


class Odd(Strategy):
    """Every second one."""

    type: Literal["odd"]
    start: Annotated[int, Field(description="The first.")] = 1
    strange: Annotated[Any, PlainValidator(str)] = None

    def decide(self, *_: Any) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("properties", "strategy", "legal"),
    [
        ({"ThingName": "a", "Retry": {"attempts": "${item.n}"}, "Document": {"a": ["b"]}}, {}, True),
        ({"ThingName": "a", "Document": "${item.d}"}, {"start": 3, "strange": {"any": 1}}, True),
        ({"ThingName": "a", "Retry": {"attempt": 1}}, {}, False),
        ({"Retry": {}}, {}, False),
        ({"ThingName": "a"}, {"start": "3"}, False),
        ({"ThingName": "a"}, {"end": 3}, False),
    ],
)
def test_plug_ins_are_described_like_ours(properties: Any, strategy: Any, legal: bool) -> None:
    schema = json_schema(Vocabulary({"odd": Odd}, {"Acme::Thing": Thing()}, "123456789012", "eu-west-1"))
    resource = {"type": "Acme::Thing", "properties": properties}
    made = document(policy(resource, {"type": "odd", **strategy}, guardrails={"deleteIf": {"Weight": 0}}))
    assert (errors(made, schema) == []) is legal
    assert errors(document(GOOD), schema)


# --- one text


def test_the_order_is_stable() -> None:
    program = (
        "import json;from tests.policies.test_schema import SCHEMA;from hashlib import sha256;"
        "print(sha256(json.dumps(SCHEMA).encode()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True, text=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_making_it_twice_shares_nothing() -> None:
    before = copy.deepcopy(SCHEMA)
    json_schema(VOCABULARY)["definitions"].clear()
    assert json_schema(VOCABULARY) == before == SCHEMA
