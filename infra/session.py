"""How Setpoint comes to AWS: a session as the AWS CLI would make it, and whose account that is.

It is botocore's own: boto3 would add its transfer manager to every cold start, and nothing here transfers files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Lock
from typing import Any

import botocore.session
from botocore.exceptions import BotoCoreError, NoRegionError, ProfileNotFound
from botocore.httpsession import get_cert_path

from infra.aws import Aws, Session
from infra.refusals import translated
from infra.transport import Transport, whole
from policies.errors import SenseError
from policies.world import Scope

UNKNOWN = "000000000000"
"""Stands for the account where nobody needs to know it."""


class SdkSession:
    """Makes one client at a time: a session is not thread-safe, its clients are. All share one transport."""

    def __init__(self, profile: str | None = None, region: str | None = None) -> None:
        sdk: Any = botocore.session.Session(profile=profile)
        sdk.get_scoped_config()  # raises where the profile is not there; later it would be in a client
        if region is not None:
            sdk.set_config_variable("region", region)
        bundle = sdk.get_config_variable("ca_bundle") or os.environ.get("REQUESTS_CA_BUNDLE") or get_cert_path(True)
        sdk.register("before-send", Transport(str(bundle)).send)
        sdk.register("before-parse", whole)
        self._session, self._lock = sdk, Lock()

    @property
    def region_name(self) -> str | None:
        """The region that was asked for, or the profile's."""
        region: str | None = self._session.get_config_variable("region")
        return region

    def client(self, service: str, **options: Any) -> Any:
        """A client with the options of botocore's `create_client`. Raises SenseError where they cannot be used."""
        try:
            with self._lock:
                return self._session.create_client(service, **options)
        except NoRegionError:
            raise
        except (BotoCoreError, ValueError) as error:
            raise SenseError(f"the AWS configuration cannot be used for {service}: {error}") from error


def connect(profile: str | None = None, region: str | None = None) -> SdkSession:
    """The session that these options and the usual AWS_* variables mean. Calls nothing.

    Raises SenseError where the profile does not exist or no region is given anywhere.
    """
    try:
        session = SdkSession(profile, region or region_of(os.environ))
        named = session.region_name
    except ProfileNotFound as error:
        known = ", ".join(sorted(botocore.session.Session().available_profiles)) if profile else ""
        found = f"; found in ~/.aws: {known}" if known else "; see ~/.aws/config"
        raise SenseError(f"{error}: name another one with --profile or AWS_PROFILE{found}") from error
    except BotoCoreError as error:
        raise SenseError(f"the AWS configuration cannot be read: {error}") from error
    if not named:
        raise SenseError("no AWS region: found none in --region, AWS_REGION or the profile; say --region eu-central-1")
    return session


def region_of(environment: Mapping[str, str]) -> str | None:
    """The region that the environment names."""
    return environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or None


def whoami(session: Session, endpoint_url: str | None = None) -> str:
    """The account of the session's credentials. Raises SenseError without credentials, or without an answer."""
    if endpoint_url is not None and not endpoint_url.startswith(("http://", "https://")):
        raise SenseError(f"found --endpoint-url {endpoint_url!r}; allowed: an http:// or https:// address")
    aws = Aws(session, Scope(UNKNOWN, session.region_name or ""), endpoint_url=endpoint_url, writable=False)
    with translated():
        return str(aws.client("sts").get_caller_identity()["Account"])
