"""How the command line comes to AWS: a session as the AWS CLI would make it, and whose account that is."""

from __future__ import annotations

import os
from collections.abc import Mapping

import boto3
from botocore.exceptions import BotoCoreError, ProfileNotFound

from infra.aws import Aws
from infra.refusals import translated
from policies.errors import SenseError
from policies.world import Scope

UNKNOWN = "000000000000"
"""Stands for the account where nobody needs to know it."""


def connect(profile: str | None = None, region: str | None = None) -> boto3.Session:
    """The session that these options and the usual AWS_* variables mean. Calls nothing.

    Raises SenseError where the profile does not exist or no region is given anywhere.
    """
    try:
        session = boto3.Session(profile_name=profile, region_name=region or region_of(os.environ))
        named = session.region_name
    except ProfileNotFound as error:
        known = ", ".join(sorted(boto3.session.Session().available_profiles)) if profile else ""
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


def whoami(session: boto3.Session, endpoint_url: str | None = None) -> str:
    """The account of the session's credentials. Raises SenseError without credentials, or without an answer."""
    if endpoint_url is not None and not endpoint_url.startswith(("http://", "https://")):
        raise SenseError(f"found --endpoint-url {endpoint_url!r}; allowed: an http:// or https:// address")
    aws = Aws(session, Scope(UNKNOWN, session.region_name or ""), endpoint_url=endpoint_url, writable=False)
    with translated():
        return str(aws.client("sts").get_caller_identity()["Account"])
