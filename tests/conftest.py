"""Fixtures that every folder of tests may use."""

import os
from collections.abc import Iterator

import pytest

os.environ["MOTO_EC2_LOAD_DEFAULT_AMIS"] = "false"
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
for variable in ("AWS_ENDPOINT_URL", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CA_BUNDLE"):
    os.environ.pop(variable, None)  # whatever this machine is set up for, tests talk to their own AWS

from tests.world import World  # noqa: E402 - after the environment: moto reads it


@pytest.fixture
def world() -> Iterator[World]:
    """A deterministic AWS, empty, at 2026-03-02 09:00 UTC."""
    with World() as opened:
        yield opened
