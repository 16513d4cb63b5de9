"""Asks what every run asks first, as soon as a cold function can: importing the rest takes as long as the answers.

`handler/app.py` begins with it. It imports little: neither pydantic nor the language.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from infra.opening import Opening
from infra.session import connect
from policies.errors import SetpointError

BUCKET, PREFIX, DEFAULT_PREFIX = "SETPOINT_BUCKET", "SETPOINT_PREFIX", "policies/"


def place_of(bucket: str, prefix: str) -> str:
    """Where a function's policies are."""
    return f"s3://{bucket}/{prefix}"


def begin(environment: Mapping[str, str]) -> Opening | None:
    """The opening of a function that is about to run, with its answers on their way.

    None where nothing runs at once (a function kept warm for later, a snapshot), or where the configuration does not
    tell: `handler/config.py` says then what is wrong.
    """
    bucket = environment.get(BUCKET)
    if not bucket or environment.get("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand") != "on-demand":
        return None
    with suppress(SetpointError):
        opening = Opening(connect(), place_of(bucket, environment.get(PREFIX, DEFAULT_PREFIX)))
        opening.begin()
        return opening
    return None
