"""The stage of the demo: an AWS inside this process, a clock that runs faster than life, and people who meddle."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

from moto import mock_aws

from handler.compose import Setpoint, vocabulary
from handler.loop.conductor import InlineExecutor
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport
from handler.records import Record, errors
from infra.cloud import AwsCloud
from infra.kinds.registry import KINDS
from infra.session import connect, whoami
from policies.action import Outcome

BUCKET, PREFIX, REGION = "setpoint-demo", "policies/", "eu-central-1"
FOLDER = Path(__file__).parent / "demo_policies"
DOCUMENTS = ("tenants", "alarms", "logs", "ledger")


@contextmanager
def embedded_aws() -> Iterator[Any]:
    """A session of an empty AWS that lives as long as this; nothing of the user's own AWS settings is seen."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "MOTO_"))}
    ours |= {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    ours |= {"AWS_EC2_METADATA_DISABLED": "true", "MOTO_EC2_LOAD_DEFAULT_AMIS": "false"}
    with patch.dict(os.environ, ours, clear=True), mock_aws():
        yield connect(region=REGION)


@dataclass(frozen=True)
class Run:
    """What came of a run, as far as the story tells it."""

    report: RunReport
    errors: tuple[Record, ...]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        return tuple(outcome for one in self.report.policies for outcome in one.outcomes)

    @property
    def done(self) -> list[str]:
        """`create orders-acme`, in alphabetical order."""
        return sorted(
            f"{one.action.verb.value} {one.action.title}" for one in self.outcomes if one.result.value == "done"
        )

    @property
    def unfinished(self) -> list[str]:
        """What was tried and is not done."""
        late = (one for one in self.outcomes if one.result.value != "done")
        return [f"{one.action.verb.value} {one.action.title} {one.result.value}: {one.message}" for one in late]


@dataclass
class Stage:
    """The very controller that the Lambda function runs, over a bucket of policies."""

    session: Any
    now: datetime = field(default_factory=lambda: datetime.now(UTC).replace(second=0, microsecond=0))

    def __post_init__(self) -> None:
        self.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        self.client("s3").put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})

    def client(self, service: str) -> Any:
        """How people come to AWS, past the controller."""
        return self.session.client(service)

    @cached_property
    def controller(self) -> Setpoint:
        return self._setpoint(writable=True)

    @cached_property
    def onlooker(self) -> Setpoint:
        return self._setpoint(writable=False)

    def _setpoint(self, *, writable: bool) -> Setpoint:
        cloud = AwsCloud(self.session, KINDS, writable=writable)
        words = vocabulary(whoami(self.session), REGION)
        return Setpoint(cloud, words, InlineExecutor(), (f"s3://{BUCKET}/{PREFIX}",))

    def publish(self, document: str, text: str) -> None:
        self.client("s3").put_object(Bucket=BUCKET, Key=f"{PREFIX}{document}.json", Body=text.encode())

    def set_tenants(self, tenants: Sequence[str]) -> None:
        value = json.dumps([{"id": tenant} for tenant in tenants])
        self.client("ssm").put_parameter(Name="/tenants", Value=value, Type="String", Overwrite=True)

    def plan(self) -> RunReport:
        _, estate = self.onlooker.load()
        return self.onlooker.run(estate, Moment(self.now, dry=True, thorough=True))

    def run(self, after: timedelta = timedelta(minutes=1)) -> Run:
        """The run of the next minute, or of a later one."""
        self.now += after
        _, estate = self.controller.load()
        report = self.controller.run(estate, Moment(self.now))
        return Run(report, tuple(errors(estate, report, lambda name: f"s3://{BUCKET}/{PREFIX}{name}.json")))


def policy_text(document: str) -> str:
    return (FOLDER / f"{document}.json").read_text(encoding="utf-8")
