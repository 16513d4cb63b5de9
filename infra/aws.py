"""One account and region of AWS: lazy clients over one session, with or without the right to write.

Clients are made when first needed, and once: the first costs 87 ms, and they are thread-safe. Retries are the SDK's
own standard mode (three attempts); time-outs are shorter than a tick.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from threading import Lock
from typing import Any, Protocol

from botocore.config import Config

from infra.pace import Pacer
from infra.transport import CONNECT_SECONDS, CONNECTIONS, READ_SECONDS
from policies.errors import RefusedError, SenseError
from policies.world import Scope

_READS = re.compile(r"(Get|List|Describe|Head|BatchGet|Scan|Query|AssumeRole)")


@dataclass(frozen=True, slots=True)
class Credentials:
    """The temporary keys of a role."""

    key: str = field(repr=False)
    secret: str = field(repr=False)
    token: str = field(repr=False)
    expires: datetime


class Session(Protocol):
    """Makes clients: `infra.session.SdkSession`, or boto3's own."""

    @property
    def region_name(self) -> str | None: ...

    @property
    def client(self) -> Callable[..., Any]: ...


class Calls:
    """Counts API calls, of all threads: `next` of a counter is one step that no other thread comes between."""

    def __init__(self) -> None:
        self._made, self._taken = count(), 0

    def __call__(self) -> None:
        next(self._made)

    def taken(self) -> int:
        """How many since this was last asked."""
        made = next(self._made)
        new, self._taken = made - self._taken, made + 1
        return new


class Aws:
    """The clients of one scope. `writable=False` gives clients that refuse every call that is not a read."""

    def __init__(
        self,
        session: Session,
        scope: Scope,
        *,
        endpoint_url: str | None = None,
        writable: bool = True,
        credentials: Credentials | None = None,
        on_call: Callable[[], None] | None = None,
        pacer: Pacer | None = None,
    ) -> None:
        self.scope = scope
        self._session = session
        self._endpoint_url = endpoint_url
        self._writable = writable
        self._credentials = credentials
        self._on_call = on_call
        self._pacer = pacer
        self._clients: dict[str, Any] = {}
        self._lock = Lock()

    @property
    def region(self) -> str:
        return self.scope.region

    @property
    def account(self) -> str:
        return self.scope.account

    def expires_within(self, span: timedelta) -> bool:
        """Whether the role's credentials end so soon that new ones are due; never where there is no role."""
        return self._credentials is not None and self._credentials.expires - datetime.now(UTC) < span

    def client(self, service: str) -> Any:
        """The client of a service; every thread gets the same one."""
        with self._lock:
            if service not in self._clients:
                self._clients[service] = self._make(service)
            return self._clients[service]

    def pages(self, service: str, operation: str, field: str, **arguments: Any) -> Iterator[Any]:
        """The items of every page of a list call, one by one. Complete, or it raises."""
        for page in self.client(service).get_paginator(operation).paginate(**arguments):
            yield from page.get(field) or ()

    def body(self, bucket: str, key: str, most: int) -> tuple[bytes, Any]:
        """An object of S3, or its first `most` bytes, and what else was answered. Complete, or it raises."""
        answer = self.client("s3").get_object(Bucket=bucket, Key=key)
        body = answer["Body"].read(most)
        if len(body) < min(answer["ContentLength"], most):
            raise SenseError(f"s3://{bucket}/{key} broke off after {len(body)} bytes; the next run asks again")
        return body, answer

    def _make(self, service: str) -> Any:
        keys = self._credentials
        client = self._session.client(
            service,
            region_name=self.scope.region,
            endpoint_url=self._endpoint_url,
            aws_access_key_id=keys and keys.key,
            aws_secret_access_key=keys and keys.secret,
            aws_session_token=keys and keys.token,
            config=Config(
                retries={"mode": "standard", "total_max_attempts": 3},
                connect_timeout=CONNECT_SECONDS,
                read_timeout=READ_SECONDS,
                max_pool_connections=CONNECTIONS,
                user_agent_extra="setpoint",
            ),
        )
        if not self._writable:
            client.meta.events.register("before-parameter-build", _refuse_writes)
        if self._pacer is not None:
            client.meta.events.register("before-call", _in_turn(self._pacer))
        if self._on_call is not None:
            on_call = self._on_call
            client.meta.events.register("request-created", lambda **_: on_call())
        return client


def _in_turn(pacer: Pacer) -> Callable[..., None]:
    def wait(model: Any, **_: Any) -> None:
        pacer.take(model.service_model.service_name, model.name)

    return wait


def _refuse_writes(model: Any, **_: Any) -> None:
    """`plan` holds clients that cannot write, whatever the code above them does."""
    if not _READS.match(model.name):
        raise RefusedError(f"{model.service_model.service_name}:{model.name} would write, and this run only looks")
