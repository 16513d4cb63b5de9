"""The command line against moto: the account, the documents, and what was printed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws
from typer.testing import CliRunner, Result

from handler.cli import app

Cli = Callable[..., Result]
QUEUE = {"type": "AWS::SQS::Queue", "properties": {"QueueName": "orders-${item}", "VisibilityTimeout": 120}}


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No account, no region, no files of whoever runs the tests."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "SETPOINT_"))]:
        monkeypatch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[boto3.Session]:
    """An empty account and its credentials."""
    with mock_aws():
        monkeypatch.setenv("AWS_REGION", "eu-central-1")
        yield boto3.Session(region_name="eu-central-1")


@pytest.fixture
def setpoint() -> Cli:
    """Type a command; one thread keeps everything in order."""

    def run(*words: object, **variables: str) -> Result:
        result = CliRunner().invoke(app, [str(word) for word in words], env=variables)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a document into the folder of policies; returns the folder."""
    folder = tmp_path / "policies"
    folder.mkdir()

    def document(name: str, *policies: Any, **more: Any) -> Path:
        (folder / f"{name}.json").write_text(json.dumps({"version": 1, **more, "policies": list(policies)}))
        return folder

    return document


def queues(name: str = "tenant-queues", *items: str, **more: Any) -> dict[str, Any]:
    """A policy of queues, one per item."""
    strategy = {"type": "forEach", "items": {"source": "list", "values": list(items), "allowEmpty": True}}
    return {"name": name, "resource": QUEUE, "strategy": strategy, **more}


def names(session: boto3.Session) -> list[str]:
    return sorted(url.rpartition("/")[2] for url in session.client("sqs").list_queues().get("QueueUrls", []))
