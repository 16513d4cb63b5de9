"""SSM parameters of plain text. DescribeParameters shows everything but values and tags, fifty to a page.

PutParameter without Overwrite is exclusive and takes tags, with it neither; it keeps nothing for sure that is left out,
so an update sends the whole parameter. A deleted name is unusable for 30 seconds. SecureStrings are refused: a policy
is no place for a secret. The service tells when a parameter was last written, not when it was created.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from infra.aws import Aws
from infra.kinds.kind import Kind
from policies.action import Change, Desired, Progress
from policies.diff import Difference
from policies.errors import AbsentError, RefusedError, WaitError
from policies.frozen import Json
from policies.properties import CreateOnly, Default, Name, Properties, Tag
from policies.world import Resource

_Key = Annotated[str, *Tag.model_fields["Key"].metadata]
_Value = Annotated[str, *Tag.model_fields["Value"].metadata]


class ParameterProperties(Properties):
    """`AWS::SSM::Parameter`. Defaults as in the service's PutParameter."""

    # A hierarchy begins with a slash (PutParameter); 1,011 characters are left of 2,048, less what the ARN takes.
    Name: Annotated[str, CreateOnly, Name(r"[A-Za-z0-9_.-]+|(/[A-Za-z0-9_.-]+)+", 900)]
    Type: Literal["String", "StringList"] | None = None
    Value: Annotated[str | None, Field(min_length=1, max_length=8192)] = None
    Description: Annotated[str | None, Field(max_length=1024), Default("")] = None
    AllowedPattern: Annotated[str | None, Field(max_length=1024), Default("")] = None
    DataType: Annotated[Literal["text", "aws:ec2:image"] | None, Default("text")] = None
    Tier: Annotated[Literal["Standard", "Advanced", "Intelligent-Tiering"] | None, Default("Standard")] = None
    Tags: Annotated[dict[_Key, _Value] | None, Field(max_length=50)] = None


_SHOWN = frozenset(ParameterProperties.model_fields) - {"Tags", "Value"}
_LEVELS = 15
_RAISABLE = ("Tier", "Standard")


class SsmParameter(Kind):
    """`AWS::SSM::Parameter`, String and StringList."""

    type = "AWS::SSM::Parameter"
    properties = ParameterProperties
    identifier = "Name"
    facts = frozenset({"LastModifiedDate", "Version"})
    read_only = frozenset({"Arn"})
    not_supported = frozenset({"Policies"})
    holds_data = True
    index = "ssm:parameter"
    absent_codes = frozenset({"ParameterNotFound", "InvalidResourceId"})
    exists_codes = frozenset({"ParameterAlreadyExists"})
    wait_codes = frozenset({"TooManyUpdates"})
    together = {"delete": 10}
    """As many as DeleteParameters takes."""
    iam = {
        "survey": frozenset({"ssm:DescribeParameters"}),
        "read": frozenset({"ssm:DescribeParameters", "ssm:GetParameter", "ssm:ListTagsForResource"}),
        "create": frozenset({"ssm:AddTagsToResource", "ssm:PutParameter"}),
        "update": frozenset({"ssm:AddTagsToResource", "ssm:PutParameter", "ssm:RemoveTagsFromResource"}),
        "delete": frozenset({"ssm:DeleteParameters"}),
    }

    def check(self, properties: Mapping[str, Json]) -> str | None:
        name = str(properties["Name"])
        if missing := [word for word in ("Type", "Value") if properties.get(word) is None]:
            return f"a parameter needs a {' and a '.join(missing)}"
        if name.lower().lstrip("/").startswith(("aws", "ssm")):
            return "Name must not start with aws or ssm"
        if name.count("/") > _LEVELS:
            return f"Name has {name.count('/')} levels; at most {_LEVELS} are allowed"
        if properties.get("Tier") == "Intelligent-Tiering":
            return "Tier: say Standard or Advanced; the service shows what it made of Intelligent-Tiering"
        return None

    def locked(self, differences: Iterable[Difference], actual: Resource) -> tuple[str, ...]:
        """An advanced parameter never becomes a standard one again (PutParameter)."""
        differences = tuple(differences)
        advanced = (actual.properties or {}).get("Tier") == "Advanced"
        down = tuple(str(one) for one in differences if advanced and one.path == ("Tier",))
        return super().locked(differences, actual) + down

    def name_of_arn(self, arn: str) -> str:
        """`parameter/a/b` is `/a/b`; `parameter/a` may be `a` or `/a`, which have one ARN and so one id."""
        name = super().name_of_arn(arn)
        return f"/{name}" if "/" in name else name

    def locate(self, aws: Aws, name: str) -> Resource:
        return Resource(type=self.type, id=_id(name), name=name, handle=name)

    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        for prefix in prefixes:
            arguments = {"ParameterFilters": [_filter("BeginsWith", prefix)]} if prefix.strip("/") else {}
            for parameter in _describe(aws, **arguments):
                yield self.locate(aws, parameter["Name"])

    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        ssm, name = aws.client("ssm"), seen.handle or seen.id
        parameter = ssm.get_parameter(Name=name)["Parameter"]
        described = next(_describe(aws, ParameterFilters=[_filter("Equals", name)]), None)
        if described is None:
            raise WaitError(f"{name} is not described yet, its tier and description are unknown")
        tags = _tags(aws, name) if seen.tags is None else seen.tags
        properties = {word: described[word] for word in _SHOWN & described.keys() if described[word]}
        if parameter["Type"] != "SecureString":  # which is shown encrypted, and is none of ours
            properties["Value"] = parameter["Value"]
        facts = {"LastModifiedDate": parameter["LastModifiedDate"].isoformat(), "Version": parameter["Version"]}
        return Resource(
            type=self.type,
            id=_id(name),
            name=name,
            handle=name,
            arn=parameter["ARN"],
            tags=tags,
            properties=properties,
            facts=facts,
        )

    def prove(self, aws: Aws, seen: Resource) -> Resource | None:
        return seen.with_tags(_tags(aws, seen.handle)) if seen.handle else super().prove(aws, seen)

    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        declared = {**desired.initial, **desired.properties}
        told = {word: value for word, value in declared.items() if value is not None}
        aws.client("ssm").put_parameter(**told, Tags=_tag_list(desired.tags))
        return Progress.COMPLETE

    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        ssm, place = aws.client("ssm"), {"ResourceType": "Parameter", "ResourceId": seen.handle}
        if change.properties:
            ssm.put_parameter(Overwrite=True, **_whole(seen.properties or {}, change.properties))
        if change.tags:
            ssm.add_tags_to_resource(**place, Tags=_tag_list(change.tags))
        if change.untag:
            ssm.remove_tags_from_resource(**place, TagKeys=sorted(change.untag))
        return Progress.COMPLETE

    def delete(self, aws: Aws, seen: Resource) -> None:
        if self.delete_all(aws, [seen]):
            raise AbsentError(f"{seen.name} is not there")

    def delete_all(self, aws: Aws, seen: Sequence[Resource]) -> frozenset[str]:
        answer = aws.client("ssm").delete_parameters(Names=[one.handle for one in seen])
        return frozenset(map(_id, answer["InvalidParameters"]))


def _tags(aws: Aws, name: str) -> dict[str, str]:
    told = aws.client("ssm").list_tags_for_resource(ResourceType="Parameter", ResourceId=name)["TagList"]
    return {tag["Key"]: tag["Value"] for tag in told}


def _id(name: str) -> str:
    return name if name.count("/") > 1 else name.removeprefix("/")


def _filter(option: str, name: str) -> Mapping[str, Any]:
    return {"Key": "Name", "Option": option, "Values": [name]}


def _describe(aws: Aws, **arguments: Any) -> Iterator[Mapping[str, Any]]:
    return aws.pages("ssm", "describe_parameters", "Parameters", PaginationConfig={"PageSize": 50}, **arguments)


def _tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def _whole(found: Mapping[str, Json], change: Mapping[str, Json]) -> dict[str, Json]:
    """The whole parameter as it shall be. A standard tier is left to the service, which may have to raise it."""
    if found["Type"] == "SecureString":
        raise RefusedError(f"{found['Name']} is a SecureString: to write it would take its secret")
    shape = SsmParameter().shape
    defaults = {word: shape.inner(word).default for word in ("Description", "AllowedPattern", "DataType")}
    told = {word: value for word, value in change.items() if value is not None}
    kept = {word: value for word, value in found.items() if word not in change and (word, value) != _RAISABLE}
    return {**defaults, **kept, **told}
