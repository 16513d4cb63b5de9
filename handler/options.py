"""The options that every command takes, before its name or after it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

import typer

from handler.config import THREADS
from infra.transport import CONNECTIONS

CONNECTION, RULES = "Connection", "Rules of the deployment"


@dataclass(frozen=True, slots=True)
class Settings:
    """What was said in the shared options; None and empty: nothing was said."""

    profile: str | None = None
    region: str | None = None
    endpoint_url: str | None = None
    controller: str | None = None
    allow_role: tuple[str, ...] | None = None
    allow_type: tuple[str, ...] | None = None
    threads: int | None = None
    debug: bool = False

    def over(self, earlier: Settings) -> Settings:
        """These settings, and where they say nothing the earlier ones."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(earlier, **{name: value for name, value in said.items() if value})

    @property
    def owner(self) -> str:
        return self.controller or "setpoint"

    @property
    def roles(self) -> tuple[str, ...]:
        return self.allow_role or words(os.environ, "SETPOINT_ALLOWED_ROLES")

    @property
    def types(self) -> tuple[str, ...]:
        return self.allow_type or words(os.environ, "SETPOINT_ALLOWED_TYPES")


def words(environment: Mapping[str, str], name: str) -> tuple[str, ...]:
    """A list in a variable, parted by commas."""
    return tuple(word.strip() for word in environment.get(name, "").split(",") if word.strip())


def _declared(
    *,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="AWS profile. [AWS_PROFILE]", rich_help_panel=CONNECTION)
    ] = None,
    region: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Region that policies mean. [AWS_REGION]", rich_help_panel=CONNECTION),
    ] = None,
    endpoint_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Another AWS endpoint. [AWS_ENDPOINT_URL]", rich_help_panel=CONNECTION),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1, max=CONNECTIONS, help=f"AWS calls at a time: {THREADS}, or 1 in one order.", show_default=False
        ),
    ] = None,
    controller: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whose policies these are: setpoint.", rich_help_panel=RULES),
    ] = None,
    allow_role: Annotated[
        list[str] | None,
        typer.Option(metavar="ARN", help="Role that policies may use. [SETPOINT_ALLOWED_ROLES]", rich_help_panel=RULES),
    ] = None,
    allow_type: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE", help="Power-granting type that is allowed. [SETPOINT_ALLOWED_TYPES]", rich_help_panel=RULES
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an unexpected error.")] = False,
) -> None:
    """The declaration of `Settings` as options."""


NEEDLESS = ("profile", "region", "endpoint_url", "threads")
"""What only a command that calls AWS needs."""

SHARED = tuple(inspect.signature(_declared, eval_str=True).parameters.values())


def settings_of(given: dict[str, Any]) -> Settings:
    """Takes the shared options out of what typer hands over."""
    said: dict[str, Any] = {option.name: given.pop(option.name, None) for option in SHARED}
    said |= {name: tuple(value) for name, value in said.items() if isinstance(value, list)}
    return Settings(**{**said, "debug": bool(said["debug"])})


def sharing(body: Callable[..., Any], without: Collection[str] = ()) -> inspect.Signature:
    """The signature of a command: the context, its own parameters (without `settings`), the shared options."""
    shared = [one for one in SHARED if one.name not in without]
    own = [one for one in inspect.signature(body, eval_str=True).parameters.values() if one.name != "settings"]
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    return inspect.Signature([context, *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own), *shared])
