"""What the tests of every kind need: an empty AWS, its clients, and a record of the calls made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from infra.aws import Aws
from policies.world import Scope


@pytest.fixture
def session() -> Iterator[boto3.Session]:
    with mock_aws():
        yield boto3.Session(region_name="eu-west-1")


@pytest.fixture
def recorded(session: boto3.Session) -> set[str]:
    """Every `service:Operation` that was called."""
    called: set[str] = set()

    def record(model: Any, **_: Any) -> None:
        called.add(f"{model.service_model.service_name}:{model.name}")

    session.events.register("before-parameter-build", record)
    return called


@pytest.fixture
def aws(session: boto3.Session, recorded: set[str]) -> Aws:
    return Aws(session, Scope("123456789012", "eu-west-1"))
