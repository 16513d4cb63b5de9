"""Sessions and clients, made once per process: making a client costs 10 to 100 ms, a call under one."""

import copy
import threading
from typing import Any

import boto3
from botocore.config import Config
from botocore.hooks import EventAliaser

KEY, SECRET = "AKIASETPOINTWORLD000", "secret"


class WorldSession(boto3.Session):
    """A boto3 session that hands out the same client for the same arguments, in every world of the process.

    Handlers that the code under test registers on the session or on a client last until the world closes
    (`forget_handlers`), so that worlds cannot see each other.
    """

    def __init__(self, region: str) -> None:
        super().__init__(aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name=region)
        self._clients: dict[str, Any] = {}
        self._pristine: dict[EventAliaser, Any] = {}
        self._making = threading.Lock()

    def client(self, service_name: str, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        key = repr((service_name, args, sorted((name, _plain(value)) for name, value in kwargs.items())))
        with self._making:
            if key not in self._clients:
                client = super().client(service_name, *args, **kwargs)  # type: ignore[call-overload]
                self._clients[key] = client
                self.keep_handlers(client.meta.events)
            return self._clients[key]

    def keep_handlers(self, events: Any) -> None:
        """Take the handlers registered by now as the ones that every world starts with."""
        assert isinstance(events, EventAliaser)
        pristine = copy.copy(events._emitter)
        self._pristine[events] = pristine, events._emitter._lookup_cache

    def forget_handlers(self) -> None:
        """Put back the handlers kept. botocore renews its lookup cache at each registration."""
        for events, (_, cache) in list(self._pristine.items()):
            if events._emitter._lookup_cache is not cache:
                self._restore(events)

    def _restore(self, events: EventAliaser) -> None:
        pristine, _ = self._pristine[events]
        vars(events._emitter).update(vars(copy.copy(pristine)), _lookup_cache={})
        self._pristine[events] = pristine, events._emitter._lookup_cache


class Outside:
    """Plain clients: no faults, no traps, no history. For a test's set-up, and for what people change by hand.

    `world.outside.sqs.delete_queue(...)`, or `world.outside.client("sqs", region, account)`.
    """

    def __init__(self, session: WorldSession, account: str) -> None:
        self._session, self._account = session, account

    def client(self, service: str, region: str | None = None, account: str | None = None) -> Any:
        account = account or self._account
        region = region or self._session.region_name
        return self._session.client(service, region_name=region, config=_tagged(account))

    def __getattr__(self, service: str) -> Any:
        if service.startswith("_"):
            raise AttributeError(service)
        return self.client(service)


def _tagged(account: str) -> Config:
    """Carry the account in the client's own configuration, where the hooks find it."""
    return Config(user_agent_appid=f"account-{account}", retries={"total_max_attempts": 1, "mode": "standard"})


def account_of(config: Config) -> str | None:
    appid = config.user_agent_appid or ""
    return appid.removeprefix("account-") if appid.startswith("account-") else None


def _plain(value: Any) -> Any:
    return sorted(vars(value).items(), key=lambda item: item[0]) if isinstance(value, Config) else value
