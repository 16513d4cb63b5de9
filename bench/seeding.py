"""Makes a world before anything is measured: Setpoint itself creates what its policies own, without the latency."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import boto3

from bench.measure import Client
from bench.mixed import custodian, found
from bench.peers import BUCKET, CREDENTIALS, CUSTODIAN_OUTPUT, environment, setpoint
from bench.server.stand import REGION, Stand
from bench.worlds import TAGS, World, document

SESSION = {**{name.lower(): value for name, value in CREDENTIALS.items()}, "region_name": REGION}


class Seeding:
    """Makes worlds on one stand."""

    def __init__(self, stand: Stand, log: Path, pinned: bool) -> None:
        self._stand, self._log, self._pinned = stand, log, pinned
        self.client = cache(self._client)

    def make(self, world: World) -> None:
        """The world as it is before the first run, and nothing else."""
        self._stand.empty()
        self.client("s3").create_bucket(Bucket=BUCKET)
        if world.job == "mixed":
            found(self.client)
            CUSTODIAN_OUTPUT.mkdir(exist_ok=True)
            (CUSTODIAN_OUTPUT / "mixed.yml").write_text(json.dumps(custodian(world)))
        self._make_others(*world.others)
        self._run(world.before, self._stand.direct)
        if not world.restored:
            self._run(world.policies, self._stand.http)  # the proxy has seen every read once
        self._put(document(world.policies))

    def _run(self, policies: Sequence[Any], address: str) -> None:
        if not policies:
            return
        self._put(document(policies, setting_up=True))
        client = Client(
            setpoint("--until-quiet", "--seconds", "600"), environment(self._stand, address), self._log, self._pinned
        )
        run = client.finish()
        if run.status:
            raise RuntimeError(f"the world could not be made: {run.summary}; see {self._log}")

    def _put(self, body: Any) -> None:
        """Through the proxy, so that it forgets what it kept of the old one."""
        s3 = self.client("s3", self._stand.http)
        s3.put_object(Bucket=BUCKET, Key="policies/main.json", Body=json.dumps(body).encode())

    def _make_others(self, count: int, astray: int) -> None:
        logs = self.client("logs")

        def make(at: int) -> None:
            name = f"/lab-lg/{at:04d}"
            logs.create_log_group(logGroupName=name, tags=TAGS)
            logs.put_retention_policy(logGroupName=name, retentionInDays=7 if at < astray else 30)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(make, range(count)))

    def _client(self, service: str, address: str | None = None) -> Any:
        session: Any = boto3.Session(**SESSION)
        return session.client(service, endpoint_url=address or self._stand.direct)
