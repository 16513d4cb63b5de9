"""What the commands work with: a controller wired to the account that the options mean, or the documents alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from handler.compose import Setpoint, vocabulary
from handler.loop.conductor import InlineExecutor
from handler.options import Settings
from infra.aws import THREADS, Aws
from infra.cloud import AwsCloud
from infra.kinds.registry import KINDS
from infra.session import UNKNOWN, connect, region_of, whoami
from infra.store import STOP, Shelf, load
from policies.errors import SetpointError
from policies.estate import Estate, parse_estate
from policies.identity import parse_moment
from policies.vocabulary import Vocabulary
from policies.world import Scope


class WrongOptionError(SetpointError):
    """What was typed cannot be meant; the message says what can."""


@contextmanager
def opened(settings: Settings, places: Sequence[str], *, writable: bool) -> Iterator[Setpoint]:
    """A controller over these places. Raises SenseError where there is no way to AWS."""
    session = connect(settings.profile, settings.region)
    account = whoami(session, settings.endpoint_url)
    words = vocabulary(account, str(session.region_name), settings.owner, settings.roles, settings.types)
    cloud = AwsCloud(session, KINDS, endpoint_url=settings.endpoint_url, writable=writable)
    with pool(settings.threads) as executor:
        yield Setpoint(cloud, words, executor, tuple(places))


def pool(threads: int | None) -> Executor:
    """Where AWS calls are made; with one thread always in the same order."""
    return InlineExecutor() if threads == 1 else ThreadPoolExecutor(threads or THREADS)


def parsed(settings: Settings, places: Sequence[str], account: str | None = None) -> tuple[Shelf, Estate]:
    """The documents alone: nothing but `s3://` places makes a call."""
    words, shelf = offline(settings, account), shelved(settings, places)
    return shelf, parse_estate(((one.name, one.generation, one.body) for one in shelf.documents), words, shelf.full)


def shelved(settings: Settings, places: Sequence[str]) -> Shelf:
    """The documents at the places, unread."""

    def aws() -> Aws:
        session = connect(settings.profile, settings.region)
        home = Scope(UNKNOWN, str(session.region_name))
        return Aws(session, home, endpoint_url=settings.endpoint_url, writable=False)

    return load(places, aws, InlineExecutor())


def offline(settings: Settings, account: str | None = None) -> Vocabulary:
    """The vocabulary of a parser that need not know where it runs."""
    region = settings.region or region_of(os.environ) or "us-east-1"
    return vocabulary(account or UNKNOWN, region, settings.owner, settings.roles, settings.types)


def stop_of(shelf: Shelf) -> str | None:
    """Why nothing may be written, where an object says so."""
    return f"a {STOP} object lies beside the policies; remove it to go on" if shelf.stopped else None


def moment(text: str | None) -> datetime:
    """The time that `--at` says; without it, now."""
    if text is None:
        return datetime.now(UTC)
    found = parse_moment(text)
    if found is None:
        raise WrongOptionError(f"found --at {text!r}; allowed: an RFC 3339 time such as 2026-03-02T09:00:00Z")
    return found


def origin(places: Sequence[str], document: str) -> str:
    """Where a document was found, as a path or address that can be opened."""
    name = f"{document}.json"
    for place in places:
        if place.endswith(f"/{name}") or place == name:
            return place
        if place.startswith("s3://") and not place.endswith(".json"):
            return f"{place.rstrip('/')}/{name}"
        if (Path(place) / name).is_file():
            return str(Path(place) / name)
        if Path(place).name.removesuffix(".json") == document:
            return place
    return document
