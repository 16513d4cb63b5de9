"""Which existing resources a policy with `match` works on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationInfo, ValidatorFunctionWrapHandler, WrapValidator, model_validator

from policies.conditions import Conditions, all_hold
from policies.frozen import nothing
from policies.grammar import Grammar, Some, mistake
from policies.identity import claimed_by
from policies.world import Resource


class Match(Grammar):
    """Resources that were not created by this policy; all that is said here must hold."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    names: Annotated[Some[str] | None, Field(description="Exact names or ids.")] = None
    name_prefix: Annotated[str | None, Field(description="How the name starts.")] = None
    tags: Annotated[Conditions, Field(description="Conditions by tag key.")] = Field(default_factory=nothing)
    where: Annotated[Conditions, Field(description="Conditions by dotted path of a property or fact.")] = Field(
        default_factory=nothing
    )
    owned: Annotated[bool, Field(description="Also resources that a Setpoint policy owns.")] = False

    @model_validator(mode="after")
    def _says_something(self) -> Match:
        if not self.model_fields_set:
            raise mistake('found {}; name what to match, for example {"namePrefix": ""} for every resource of the type')
        return self

    def selects(self, resource: Resource) -> bool | None:
        """Whether the resource is meant; None where it takes a read (of tags or properties) to tell."""
        if not self.owned and claimed_by(resource.tags) is not None:
            return False
        if self.names is not None and not {resource.name, resource.id} & set(self.names):
            return False
        if self.name_prefix is not None and not (resource.name or resource.id).startswith(self.name_prefix):
            return False
        tags = all_hold({f"tags.{key}": condition for key, condition in self.tags.items()}, resource)
        known = True if self.owned or resource.tags is not None else None
        return _all((known, tags, all_hold(self.where, resource)))


EVERYTHING = Match.model_validate({"namePrefix": "", "owned": True})
"""Every resource of the type, whoever owns it."""


def _one_or_more(value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """A single object is read as itself, so that its mistakes keep their paths."""
    return (Match.model_validate(value, context=info.context),) if isinstance(value, Mapping) else read(value)


_Listed = Some[Match]
Matches = Annotated[_Listed, WrapValidator(_one_or_more, json_schema_input_type=Match | _Listed)]
"""One match or a list of them: any of them."""


def selects(match: Iterable[Match], exceptions: Iterable[Match], resource: Resource) -> bool | None:
    """Whether any of `match` and none of `exceptions` selects the resource; None where it takes a read to tell."""
    wanted = _any(one.selects(resource) for one in match)
    if wanted is False:
        return False
    unwanted = _any(one.model_copy(update={"owned": True}).selects(resource) for one in exceptions)
    if unwanted:
        return False
    return None if unwanted is None else wanted


def _any(verdicts: Iterable[bool | None]) -> bool | None:
    seen = set(verdicts)
    return True if True in seen else None if None in seen else False


def _all(verdicts: Iterable[bool | None]) -> bool | None:
    seen = set(verdicts)
    return False if False in seen else None if None in seen else True
