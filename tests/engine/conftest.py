"""A deployed function in a world: its environment, its bucket, and what it writes."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from handler import function
from infra import session
from tests.world import World

BUCKET = "setpoint-bucket"
ENVIRONMENT = {
    "SETPOINT_BUCKET": BUCKET,
    "SETPOINT_MODE": "enforce",
    "SETPOINT_ACCOUNT": "123456789012",
    "AWS_REGION": "eu-west-1",
    "SETPOINT_THREADS": "4",
}


class Deployment:
    """A warm function in a world, the documents in its bucket, and what it writes."""

    def __init__(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        self.world, self.capsys, self.logs = world, capsys, io.StringIO()
        self.s3 = world.outside.s3
        self.s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})

    def put(self, name: str, body: Any) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.s3.put_object(Bucket=BUCKET, Key=f"policies/{name}", Body=raw)

    def tick(self, remaining: int = 55_000) -> Any:
        self.world.tick_started()
        try:
            return function.deployed().tick(self.world.now, lambda: remaining < function.SPARE_MILLISECONDS)
        finally:
            self.world.advance(minutes=1)

    def read(self, name: str) -> Any:
        return json.loads(self.s3.get_object(Bucket=BUCKET, Key=f"status/{name}.json")["Body"].read())

    def written(self) -> list[str]:
        return [call.params["Key"] for call in self.world.calls(operation="PutObject")]

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.logs.getvalue().splitlines()]

    def metrics(self) -> dict[str, Any]:
        found = [json.loads(line) for line in self.capsys.readouterr().out.splitlines() if '"_aws"' in line]
        return found[-1] if found else {}


@pytest.fixture
def deployed(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Deployment]:
    for name in (*ENVIRONMENT, "SETPOINT_EVENT_BUS", "SETPOINT_PREFIX", "SETPOINT_STATUS_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(session, "SdkSession", lambda *_: world.session)
    made = Deployment(world, capsys)
    stream = function.logger.registered_handler.stream
    function.logger.registered_handler.setStream(made.logs)
    function.deployed.cache_clear()
    yield made
    function.deployed.cache_clear()
    function.logger.registered_handler.setStream(stream)
