"""The grammar of a policy document, and the frozen policies that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from policies.amount import Amount, AmountField
from policies.blueprint import Blueprint
from policies.conditions import Conditions
from policies.duration import Duration
from policies.frozen import nothing
from policies.grammar import Dispatch, Grammar, Some, brief, mistake
from policies.identity import Owner
from policies.kind import KindModel
from policies.match import Match, Matches
from policies.names import NamePattern
from policies.naming import name_pattern
from policies.strategy import Strategy
from policies.world import Scope

NAME = r"^[a-z0-9-]{1,64}$"
Region = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]$")]
MOST_REGIONS = 50
OLD_NAME = r"^([A-Za-z0-9._-]{1,64}/)?[a-z0-9-]{1,64}$"


def _few_regions(regions: tuple[str, ...]) -> tuple[str, ...]:
    if len(regions) > MOST_REGIONS:
        raise mistake(f"found {len(regions)} regions; at most {MOST_REGIONS} are allowed")
    return regions


def _whole_number(value: Any) -> Any:
    if type(value) in (bool, float):
        raise mistake(f"found {brief(value)}; allowed: 1")
    return value


class Guardrails(Grammar):
    """Limits of one run. Over a limit means held, until an approved plan is applied or the limit is raised."""

    max_creates: Annotated[int, Field(ge=0)] = 100
    max_updates: Annotated[int, Field(ge=0)] = 100
    max_deletes: Annotated[
        AmountField, Field(description="A number, or a share of what is owned or matched and older than an hour.")
    ] = Amount(10, percent=True)
    protect: Annotated[Conditions, Field(description="Resources for which all of this holds are never deleted.")] = (
        Field(default_factory=nothing)
    )
    delete_if: Annotated[Conditions, Field(description="Must hold at the moment of deletion.")] = Field(
        default_factory=nothing
    )


class ResourceClause(Grammar):
    """The type, and the properties in CloudFormation's words."""

    type: str
    properties: Annotated[Mapping[str, Any], Field(description="What the resource is kept at.")] = Field(
        default_factory=nothing
    )
    initial: Annotated[Mapping[str, Any], Field(description="Applied at creation, never compared.")] = Field(
        default_factory=nothing
    )
    match: Matches | None = None
    except_: Annotated[Matches | None, Field(alias="except")] = None


STRATEGY = Dispatch("type", "strategy", lambda context: context["strategies"])


class PolicyClause(Grammar):
    """One policy as it stands in the document."""

    name: Annotated[str, Field(pattern=NAME, description="Unique over all documents; owned resources carry it.")]
    description: Annotated[str | None, Field(max_length=2000, description="For people.")] = None
    mode: Annotated[
        Literal["enforce", "observe", "paused"],
        Field(description="enforce acts; observe only says what it would do; paused is not even looked at."),
    ] = "enforce"
    ensure: Annotated[
        Literal["present", "absent"], Field(description="absent: everything that the policy owns should go.")
    ] = "present"
    regions: Annotated[
        Annotated[Some[Region], AfterValidator(_few_regions)] | None,
        Field(description="Where it acts; left out: the deployment's region."),
    ] = None
    role_arn: Annotated[
        str | None,
        Field(
            pattern=r"^arn:aws[a-z-]*:iam::[0-9]{12}:role/[\w+=,.@/-]+$",
            description="The role to act through, from the deployment's list; its account is where the policy acts.",
        ),
    ] = None
    adopt: Annotated[bool, Field(description="Take over a resource under our name that nobody owns.")] = False
    formerly: Annotated[
        tuple[Annotated[str, Field(pattern=OLD_NAME)], ...],
        Field(strict=False, description="Old names (or controller/name) whose resources this policy takes over."),
    ] = ()
    replace: Annotated[
        Literal["deleteFirst", "createFirst"] | None,
        Field(description="Allow what only a new resource can have; left out: the policy is Degraded and says so."),
    ] = None
    removal: Annotated[
        Literal["retain", "delete"] | None,
        Field(description="What becomes of a resource that is not wanted any more; kinds that hold data retain it."),
    ] = None
    grace: Annotated[
        Duration | None,
        Field(description="How long something marked for deletion stays; 24h for kinds that hold data."),
    ] = None
    drift_check: Annotated[
        Duration, Field(description="Every resource is read deeply once in this time, to find what others changed.")
    ] = timedelta(minutes=5)
    resource: Annotated[ResourceClause, Field(description="The type, and how resources of it should be.")]
    strategy: Annotated[Strategy, PlainValidator(STRATEGY)]
    guardrails: Guardrails = Field(default_factory=Guardrails)


class DocumentClause(Grammar):
    """The document itself; its policies are read one by one."""

    schema_: Annotated[str | None, Field(alias="$schema")] = None
    version: Annotated[Literal[1], BeforeValidator(_whole_number)]
    orphans: Literal["report", "delete"] = "report"
    policies: Annotated[list[Any], Field(strict=False)]


@dataclass(frozen=True)
class Policy:
    """One policy in one account and region: parsed, proven legal, never to be checked again."""

    document: str
    path: str
    owner: Owner
    scope: Scope
    clause: PolicyClause
    blueprint: Blueprint
    formerly: tuple[Owner, ...] = ()
    gone: bool = False
    """A stand-in for a policy that no document has any more: what it left behind is an orphan."""

    @property
    def name(self) -> str:
        return self.clause.name

    @property
    def origin(self) -> str:
        """The value of `setpoint:document`: where the policy stood, and whether its own word was to retain."""
        return f"{self.document}:retain" if self.clause.removal == "retain" else self.document

    @property
    def kind(self) -> KindModel:
        return self.blueprint.kind

    @property
    def strategy(self) -> Strategy:
        return self.clause.strategy

    @property
    def guardrails(self) -> Guardrails:
        return self.clause.guardrails

    @property
    def match(self) -> tuple[Match, ...] | None:
        return self.clause.resource.match

    @property
    def exceptions(self) -> tuple[Match, ...]:
        return self.clause.resource.except_ or ()

    @property
    def words(self) -> frozenset[str] | None:
        """The properties and facts that it ever compares; None: any of them, of what is matched."""
        if self.match is not None:
            return None
        asked = (*self.guardrails.protect, *self.guardrails.delete_if, *self.strategy.extra_leaves())
        declared = (*self.blueprint.properties, *self.blueprint.initial)
        return frozenset((*declared, *(word.partition(".")[0] for word in asked)))

    @cached_property
    def names(self) -> NamePattern | None:
        """The names that it could give; None where it creates nothing or nothing has a name."""
        if self.match is not None or not self.kind.named or not self.blueprint.properties:
            return None
        return name_pattern(self.blueprint, self.strategy)

    @property
    def wanted(self) -> bool:
        return self.clause.ensure == "present"

    @property
    def retains(self) -> bool:
        """Kinds that hold data are kept unless the policy says delete; the others are deleted."""
        return (self.clause.removal or ("retain" if self.kind.holds_data else "delete")) == "retain"

    @property
    def grace(self) -> timedelta:
        """How long something marked for deletion stays."""
        if self.clause.grace is not None:
            return self.clause.grace
        return timedelta(hours=24) if self.kind.holds_data else timedelta()


@dataclass(frozen=True)
class PolicyDocument:
    """One document that parsed. `generation` is its S3 version, or the hash of a local file."""

    name: str
    generation: str
    orphans: str
    policies: tuple[Policy, ...]
