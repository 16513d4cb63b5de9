"""Scopes are made once, and none waits for another's role."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

from infra.cloud import AwsCloud
from infra.kinds.registry import KINDS
from policies.world import Scope

HOME = Scope("123456789012", "eu-west-1")
AWAY = Scope("210987654321", "eu-west-1", "arn:aws:iam::210987654321:role/setpoint")


class SlowSts:
    """A session whose STS answers when it is let."""

    region_name = "eu-west-1"

    def __init__(self) -> None:
        self.asked, self.let, self.times = Event(), Event(), 0

    @property
    def client(self) -> Callable[..., Any]:
        return lambda *_, **__: self

    def assume_role(self, **_: Any) -> Any:
        self.times += 1
        self.asked.set()
        assert self.let.wait(10)
        keys = {"AccessKeyId": "a", "SecretAccessKey": "b", "SessionToken": "c"}
        return {"Credentials": {**keys, "Expiration": datetime.now(UTC) + timedelta(hours=1)}}


def test_a_role_that_is_slow_to_come_holds_up_nobody_else() -> None:
    session = SlowSts()
    cloud = AwsCloud(session, KINDS)
    with ThreadPoolExecutor(3) as pool:
        roles = [pool.submit(cloud.aws, AWAY) for _ in range(2)]
        assert session.asked.wait(10)
        home = pool.submit(cloud.aws, HOME).result(timeout=5)
        assert not any(role.done() for role in roles)
        session.let.set()
        first, second = (role.result(timeout=5) for role in roles)
    assert first is second
    assert session.times == 1, "those who want the same role share it"
    assert home is cloud.aws(HOME)
