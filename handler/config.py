"""The function's configuration: environment variables, read once into a frozen model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from handler.ahead import DEFAULT_PREFIX
from infra.transport import CONNECTIONS
from policies.errors import ParseError, Problem
from policies.problems import explain

PREFIX = "SETPOINT_"

THREADS = 24
"""AWS calls at a time. With 20 ms a call more gain nothing: they are a thousand calls a second, and botocore makes six
hundred on a core."""


def _words(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]


class Config(BaseModel):
    """Everything that a deployment decides."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bucket: Annotated[str, Field(min_length=3, max_length=63, pattern=r"^[a-z0-9][a-z0-9.-]+$")]
    prefix: Annotated[str, Field(pattern=r"^([^/].*/)?$")] = DEFAULT_PREFIX
    status_prefix: Annotated[str, Field(pattern=r"^([^/].*/)$")] = "status/"
    controller: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")] = "setpoint"
    mode: Literal["observe", "enforce"] = "observe"
    account: Annotated[str, Field(pattern=r"^\d{12}$")]
    region: Annotated[str, Field(min_length=1)]
    allowed_roles: Words = ()
    allowed_types: Words = ()
    threads: Annotated[int, Field(ge=1, le=CONNECTIONS)] = THREADS
    event_bus: str = ""
    pace: bool = True


def read_config(environment: Mapping[str, str] = os.environ) -> Config:
    """The configuration, or one ParseError that names every variable that is wrong and what it must be."""
    known = {name: environment.get(PREFIX + name.upper()) for name in Config.model_fields}
    known["region"] = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    try:
        config = Config.model_validate({name: value for name, value in known.items() if value is not None})
    except ValidationError as error:
        raise ParseError("environment", [_problem(line) for line in error.errors(include_url=False)]) from None
    if config.status_prefix.startswith(config.prefix) or config.prefix.startswith(config.status_prefix):
        message = f"found {config.status_prefix!r}; it and SETPOINT_PREFIX ({config.prefix!r}) must lie apart"
        raise ParseError("environment", [Problem(PREFIX + "STATUS_PREFIX", message)])
    return config


def _problem(line: Any) -> Problem:
    name = str(line["loc"][0])
    variable = "AWS_REGION" if name == "region" else PREFIX + name.upper()
    return Problem(variable, "it is not set" if line["type"] == "missing" else explain(line, ()))
