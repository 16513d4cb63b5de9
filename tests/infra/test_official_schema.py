"""Every kind's model held against the official CloudFormation schema of its type, to the last nested property.

Each rule finds what is wrong; what is known to be wrong on purpose, or because the schema itself is, stands in `KNOWN`
with the reason, and an entry that is no longer found fails too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from pydantic import create_model

from infra.kinds.dynamodb_table import DynamodbTable
from infra.kinds.kind import Kind
from infra.kinds.registry import KINDS
from infra.kinds.sqs_queue import SqsQueue
from policies.properties import CreateOnly, Extension, JsonDocument, Name, Properties, WriteOnly
from tests.infra.official import (
    OFFICIAL,
    UNOFFICIAL,
    Coverage,
    Field,
    Schema,
    coverage,
    dotted,
    fields,
    official,
    official_paths,
    plain,
)

_ANOTHER_NAME = "no call changes it: another one is another index"
_OF_A_NODE = "DescribeCacheClusters shows it, with each of the group's nodes"
_NUMBER = "a number that CloudFormation writes as text: schedules and metrics move numbers"
_GLACIER = "refused: Glacier is GLACIER, which the service shows"
_NOT_SHOWN = "DescribeInstances does not show it"
_RARE = "refused: an interface that needs it can be made by itself, or by a launch template"

KNOWN: Mapping[str, Mapping[tuple[str, str], str]] = {
    "AWS::AutoScaling::AutoScalingGroup": {
        ("type", "Cooldown"): _NUMBER,
        ("type", "DesiredCapacity"): _NUMBER,
        ("type", "MaxSize"): _NUMBER,
        ("type", "MinSize"): _NUMBER,
    },
    "AWS::CloudWatch::Alarm": {
        ("coverage", "EvaluationWindow.SlidingWindow"): "an empty object that says what absence says",
        ("bounds", "Tags maxItems"): "ours are added; the service counts",
        ("bounds", "Tags.Value minLength"): "the schema is wrong: the service takes an empty value (TagResource)",
    },
    "AWS::DynamoDB::Table": {
        ("createOnly", "AttributeDefinitions.AttributeType"): "its own description: another type replaces the table",
        ("createOnly", "GlobalSecondaryIndexes.KeySchema"): _ANOTHER_NAME,
        ("createOnly", "GlobalSecondaryIndexes.Projection"): _ANOTHER_NAME,
        ("createOnly", "LocalSecondaryIndexes"): "the schema is wrong: UpdateTable knows no local index",
    },
    "AWS::EC2::Instance": {
        ("coverage", "BlockDeviceMappings.NoDevice"): "refused: takes a device of the image away",
        ("coverage", "BlockDeviceMappings.VirtualName"): "refused: instance store volumes come with the type",
        ("coverage", "NetworkInterfaces.AssociateCarrierIpAddress"): _RARE,
        ("coverage", "NetworkInterfaces.EnaSrdSpecification"): _RARE,
        ("coverage", "NetworkInterfaces.Ipv6Addresses"): "refused: two instances cannot have the same address",
        ("coverage", "NetworkInterfaces.NetworkInterfaceId"): "refused: two instances cannot have the same interface",
        ("coverage", "NetworkInterfaces.PrivateIpAddresses"): "refused: two instances cannot have the same address",
        ("createOnly", "CreditSpecification"): _NOT_SHOWN,
        ("createOnly", "InstanceInitiatedShutdownBehavior"): _NOT_SHOWN,
        ("writeOnly", "BlockDeviceMappings"): "DescribeInstances shows the volumes, not what they were made of",
        ("writeOnly", "CreditSpecification"): _NOT_SHOWN,
        ("writeOnly", "InstanceInitiatedShutdownBehavior"): _NOT_SHOWN,
        ("writeOnly", "LaunchTemplate"): "an instance shows the id and number of its template, not the words declared",
        ("writeOnly", "NetworkInterfaces"): "DescribeInstances shows the interfaces, not what they were made of",
        ("writeOnly", "UserData"): _NOT_SHOWN,
    },
    "AWS::Kinesis::Stream": {
        ("bounds", "Tags.Value maxLength"): "the schema is wrong: the service takes 256 (TagValue)",
    },
    "AWS::S3::Bucket": {
        ("values", "LifecycleConfiguration.Rules.NoncurrentVersionTransitions.StorageClass"): _GLACIER,
        ("values", "LifecycleConfiguration.Rules.Transitions.StorageClass"): _GLACIER,
        ("writeOnly", "LifecycleConfiguration.Rules.ExpiredObjectDeleteMarker"): "the service shows it",
    },
    "AWS::SSM::Parameter": {
        ("writeOnly", "AllowedPattern"): "DescribeParameters shows it",
        ("writeOnly", "Description"): "DescribeParameters shows it",
        ("writeOnly", "Tier"): "DescribeParameters shows it",
    },
    "AWS::RDS::DBCluster": {
        ("bounds", "Tags maxItems"): "ours are added; the service counts",
    },
    "AWS::RDS::DBInstance": {
        ("writeOnly", "SourceDBInstanceIdentifier"): "shown as ReadReplicaSourceDBInstanceIdentifier",
    },
    "AWS::ElastiCache::ReplicationGroup": {
        ("writeOnly", "CacheParameterGroupName"): _OF_A_NODE,
        ("writeOnly", "CacheSubnetGroupName"): _OF_A_NODE,
        ("writeOnly", "EngineVersion"): _OF_A_NODE,
        ("writeOnly", "KmsKeyId"): "DescribeReplicationGroups shows it",
        ("writeOnly", "NotificationTopicArn"): _OF_A_NODE,
        ("writeOnly", "NumNodeGroups"): "DescribeReplicationGroups shows them, one by one",
        ("writeOnly", "PreferredMaintenanceWindow"): _OF_A_NODE,
        ("writeOnly", "SecurityGroupIds"): _OF_A_NODE,
    },
    "AWS::Lambda::Function": {
        ("values", "Runtime"): "there are several new ones a year, and Lambda knows which",
        ("createOnly", "Architectures"): "UpdateFunctionCode changes it, together with the code that is built for it",
        ("writeOnly", "Code"): "all of it: the hash of what a policy declares is of whole properties",
    },
    "AWS::Logs::LogGroup": {
        ("createOnly", "LogGroupClass"): "the schema is wrong: CreateLogGroup says that it cannot be changed",
        ("values", "LogGroupClass"): "ESSENTIALS is in the service's model and not yet in the schema",
    },
}
"""Type to (rule, path) to the reason why the model differs from the schema."""


def missing(kind: Kind) -> Iterator[str]:
    """Official properties that are not supported, read_only or not_supported exactly once; and invented ones."""
    yield from _missing(kind, kind.properties, official(kind.type).document, "")
    known = frozenset(official_paths(official(kind.type), official(kind.type).document))
    yield from (kind.read_only | kind.not_supported) - known


def _missing(kind: Kind, model: type[Properties], schema: Schema, prefix: str) -> Iterator[str]:
    known = official(kind.type).properties(schema)
    for word in known:
        path = f"{prefix}{word}"
        places = (word in model.model_fields, path in kind.read_only, path in kind.not_supported)
        if sum(places) != 1:
            yield path
    for word, info in model.model_fields.items():
        if word not in known and Extension not in info.metadata and known:
            yield f"{prefix}{word}"
        inner = Field(word, *plain(info.annotation, ()), {}).model
        if inner and word in known:
            yield from _missing(kind, inner, known[word], f"{prefix}{word}.")


def wrong_types(kind: Kind) -> Iterator[str]:
    for field in fields(kind):
        legal = _legal_types(field)
        if field.types and not legal & field.types:
            yield field.path


def _legal_types(field: Field) -> frozenset[str]:
    """The official types that a model's annotation may stand for; every integer is a number."""
    annotation = field.annotation
    if field.has(JsonDocument):
        return frozenset({"object", "string"})
    if field.model and get_origin(annotation) is not list:
        return frozenset({"object"})
    if get_origin(annotation) is Literal:
        return frozenset().union(*(_scalar(type(value)) for value in get_args(annotation)))
    return _scalar(get_origin(annotation) or annotation)


def _scalar(kind_of: Any) -> frozenset[str]:
    words = {
        str: {"string"},
        bool: {"boolean"},
        int: {"integer", "number"},
        float: {"number"},
        list: {"array"},
        dict: {"object"},
        Mapping: {"object"},
    }
    return frozenset(words.get(kind_of, ()))


def wrong_values(kind: Kind) -> Iterator[str]:
    """Where the schema lists the values, the model lists the same ones; fewer are a decision and need a reason."""
    for field in fields(kind):
        if allowed := field.schema.get("enum"):
            values = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
            if set(values) != set(allowed):
                yield field.path


BOUNDS = {
    "minimum": ("ge", max),
    "maximum": ("le", min),
    "minLength": ("min_length", max),
    "maxLength": ("max_length", min),
    "minItems": ("min_length", max),
    "maxItems": ("max_length", min),
}


def wide_bounds(kind: Kind) -> Iterator[str]:
    """No bound may be wider than the official one. Fixed values need none; a Name has its own."""
    for field in fields(kind):
        if get_origin(field.annotation) is not Literal:
            yield from (f"{field.path} {word}" for word in BOUNDS if word in field.schema and _is_wider(field, word))


def _is_wider(field: Field, word: str) -> bool:
    name, stricter = BOUNDS[word]
    official_bound = field.schema[word]
    bounds = [getattr(item, name) for item in field.metadata if getattr(item, name, None) is not None]
    for item in field.metadata:
        pattern = item.pattern if isinstance(item, Name) else getattr(item, "pattern", None)
        if name == "max_length" and isinstance(item, Name):
            bounds.append(item.longest)
        if name == "min_length" and pattern and not re.fullmatch(pattern, ""):
            bounds.append(1)
    if not bounds:
        return not (word in ("minLength", "minItems") and official_bound == 0)
    ours = stricter(bounds)
    return bool(stricter(ours, official_bound) != ours)


def wrong_create_only(kind: Kind) -> Iterator[str]:
    """What only a create can set is marked so, itself or what it is in. To mark more needs a reason."""
    schema = official(kind.type)
    locked, may = schema.paths("createOnlyProperties"), schema.paths("conditionalCreateOnlyProperties")
    marked = frozenset(field.path for field in fields(kind) if field.has(CreateOnly))
    yield from (field.path for field in fields(kind) if field.path in locked and not _within(field.path, marked))
    yield from (path for path in marked if not _within(path, locked | may))


def wrong_write_only(kind: Kind) -> Iterator[str]:
    """What the service never shows is marked so. To mark more, or to read it all the same, needs a reason."""
    hidden = official(kind.type).paths("writeOnlyProperties")
    marked = frozenset(field.path for field in fields(kind) if field.has(WriteOnly))
    yield from (field.path for field in fields(kind) if field.path in hidden and not _within(field.path, marked))
    yield from (path for path in marked if not _within(path, hidden))


def wrong_read_only(kind: Kind) -> Iterator[str]:
    """What only the service sets is read_only, unless it lies in something that is not supported at all."""
    expected = official(kind.type).paths("readOnlyProperties")
    expected = frozenset(path for path in expected if not _within(path, kind.not_supported))
    yield from expected ^ kind.read_only


def wrong_identifier(kind: Kind) -> Iterator[str]:
    """The identity is the official one, but for words that the service makes up (a URL, an ARN, an id)."""
    schema = official(kind.type)
    primary, made_up = schema.paths("primaryIdentifier"), schema.paths("readOnlyProperties")
    yield from primary - made_up - set(kind.identifiers)
    if not primary & made_up:
        yield from set(kind.identifiers) - primary
    for word in kind.identifiers:
        marks = kind.properties.model_fields[word].metadata
        if CreateOnly not in marks or not any(isinstance(mark, Name) for mark in marks):
            yield word


def wrong_tags(kind: Kind) -> Iterator[str]:
    """Tags are in the property that the schema says, and one create call can set them."""
    tagging = official(kind.type).document.get("tagging", {})
    place = tagging.get("tagProperty", "/properties/Tags") if tagging.get("taggable", True) else ""
    expected = dotted(place) or None
    if kind.tag_property != expected:
        yield str(kind.tag_property)
    if expected and not tagging.get("tagOnCreate", True):
        yield "tagOnCreate"


def _within(path: str, words: frozenset[str]) -> bool:
    parts = path.split(".")
    return any(".".join(parts[: place + 1]) in words for place in range(len(parts)))


RULES: Mapping[str, Callable[[Kind], Iterator[str]]] = {
    "coverage": missing,
    "type": wrong_types,
    "values": wrong_values,
    "bounds": wide_bounds,
    "createOnly": wrong_create_only,
    "writeOnly": wrong_write_only,
    "readOnly": wrong_read_only,
    "identifier": wrong_identifier,
    "tags": wrong_tags,
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("type_name", OFFICIAL)
def test_the_model_is_the_official_one(type_name: str, rule: str) -> None:
    known = {path for known_rule, path in KNOWN.get(type_name, {}) if known_rule == rule}
    assert sorted(set(RULES[rule](KINDS[type_name]))) == sorted(known)


WRONG: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("coverage", "Velocity"): {"fields": {"Velocity": int | None}},
    ("coverage", "QueueUrl"): {"read_only": frozenset({"Arn"})},
    ("coverage", "DelaySeconds"): {"not_supported": frozenset({"DelaySeconds"})},
    ("coverage", "Speed"): {"not_supported": frozenset({"Speed"})},
    ("type", "KmsMasterKeyId"): {"fields": {"KmsMasterKeyId": int | None}},
    ("type", "FifoQueue"): {"fields": {"FifoQueue": Annotated[str | None, CreateOnly]}},
    ("values", "BillingMode"): {"of": DynamodbTable, "fields": {"BillingMode": str | None}},
    ("values", "TableClass"): {"of": DynamodbTable, "fields": {"TableClass": Literal["STANDARD"] | None}},
    ("bounds", "OnDemandThroughput.MaxReadRequestUnits minimum"): {
        "of": DynamodbTable,
        "fields": {
            "OnDemandThroughput": create_model("Wide", __base__=Properties, MaxReadRequestUnits=(int, 0)) | None
        },
    },
    ("createOnly", "FifoQueue"): {"fields": {"FifoQueue": bool | None}},
    ("createOnly", "DelaySeconds"): {"fields": {"DelaySeconds": Annotated[int | None, CreateOnly]}},
    ("writeOnly", "DelaySeconds"): {"fields": {"DelaySeconds": Annotated[int | None, WriteOnly]}},
    ("readOnly", "Arn"): {"read_only": frozenset({"QueueUrl"})},
    ("identifier", "TableName"): {"of": DynamodbTable, "identifier": "BillingMode"},
    ("tags", "Labels"): {"tag_property": "Labels"},
}
"""What each rule must find, and a change of a kind that makes it true."""


@pytest.mark.parametrize(("finding", "wrong"), WRONG.items(), ids=" ".join)
def test_the_rules_find_what_is_wrong(finding: tuple[str, str], wrong: Mapping[str, Any]) -> None:
    rule, path = finding
    of: type[Kind] = wrong.get("of", SqsQueue)
    changed = {word: (annotation, None) for word, annotation in wrong.get("fields", {}).items()}
    model = create_model("Wrong", __base__=of.properties, **changed)  # type: ignore[call-overload]
    said = {word: value for word, value in wrong.items() if word not in ("of", "fields")}
    kind: Kind = type("Wrong", (of,), {"properties": model, **said})()
    assert path in set(RULES[rule](kind))


def test_what_is_known_is_of_kinds_and_rules_that_there_are() -> None:
    assert set(KNOWN) <= set(OFFICIAL)
    assert {rule for differences in KNOWN.values() for rule, _ in differences} <= set(RULES)


@pytest.mark.parametrize("type_name", sorted(UNOFFICIAL))
def test_what_is_said_to_be_unofficial_is(type_name: str) -> None:
    with pytest.raises(Exception, match=type_name):
        official(type_name)


@pytest.mark.parametrize("row", coverage(), ids=lambda row: row.type)
def test_coverage(row: Coverage, record_property: Callable[[str, object], None]) -> None:
    """Shown by `pytest -rA` and in the JUnit report."""
    record_property(row.type, str(row))
    print(row)
    assert 0 < row.supported <= row.writable
