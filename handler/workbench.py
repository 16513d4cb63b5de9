"""What the commands work with: a controller wired to the account that the options mean, or the documents alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from handler.compose import Setpoint, vocabulary
from handler.config import THREADS
from handler.loop.conductor import InlineExecutor
from handler.options import Settings
from handler.terminal import say
from infra.aws import Aws
from infra.cloud import AwsCloud
from infra.kinds.registry import KINDS
from infra.session import UNKNOWN, connect, region_of, whoami
from infra.store import STOP, Shelf, load
from policies.action import Outcome
from policies.errors import SetpointError
from policies.estate import Estate, parse_estate
from policies.identity import parse_moment
from policies.vocabulary import Vocabulary
from policies.world import Scope


class WrongOptionError(SetpointError):
    """What was typed cannot be meant; the message says what can."""


Hear = Callable[[Outcome], object]


class _Heard(AwsCloud):
    """Tells of every action at once, while the run still waits for others."""

    hear: Hear

    def tell(self, outcome: Outcome) -> None:
        self.hear(outcome)


@contextmanager
def opened(
    settings: Settings, places: Sequence[str], *, writable: bool, hear: Hear = lambda _: None
) -> Iterator[Setpoint]:
    """A controller over these places. Raises SenseError where there is no way to AWS."""
    _check(places)
    session = connect(settings.profile, settings.region)
    account = whoami(session, settings.endpoint_url)
    words = _words(settings, account, str(session.region_name))
    emulated = settings.endpoint_url or os.environ.get("AWS_ENDPOINT_URL")
    cloud = _Heard(session, KINDS, endpoint_url=settings.endpoint_url, writable=writable, paced=not emulated)
    cloud.hear = hear
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
    _check(places)

    def aws() -> Aws:
        session = connect(settings.profile, settings.region)
        home = Scope(UNKNOWN, str(session.region_name))
        return Aws(session, home, endpoint_url=settings.endpoint_url, writable=False)

    return load(places, aws, InlineExecutor())


def offline(settings: Settings, account: str | None = None) -> Vocabulary:
    """The vocabulary of a parser that need not know where it runs."""
    region = settings.region or region_of(os.environ) or "us-east-1"
    return _words(settings, account or UNKNOWN, region)


_CONTROLLER = re.compile(r"[A-Za-z0-9._-]{1,64}")


def _words(settings: Settings, account: str, region: str) -> Vocabulary:
    """Raises WrongOptionError for a name that is none; a type that nobody knows is worth a word."""
    if not _CONTROLLER.fullmatch(settings.owner):
        raise WrongOptionError(f"found --controller {settings.owner!r}; allowed: up to 64 letters, digits and . _ -")
    words = vocabulary(account, region, settings.owner, settings.roles, settings.types)
    for unknown in sorted(words.allowed_types - words.kinds.keys()):
        say(f"warning: --allow-type {unknown} is no type that Setpoint knows, and allows nothing")
    return words


def _check(places: Sequence[str]) -> None:
    """Slips of the pen that would otherwise be taken for the name of a file."""
    for place in places:
        if not place.strip():
            raise WrongOptionError("found an empty text for a place of policies; '.' means the folder you are in")
        if re.match(r"s3:(?!//)", place, re.IGNORECASE):
            meant = re.sub(r"^s3:/*", "s3://", place, flags=re.IGNORECASE)
            raise WrongOptionError(f"found {place!r}; did you mean {meant!r}?")
        if re.search(r"[*?\[]", place) and not Path(place).exists():
            folder = re.split(r"[*?\[]", place)[0].rpartition("/")[0] or "."
            advice = (
                f"name the folder {folder!r}, which means every *.json in it, or let the shell expand it: no quotes"
            )
            raise WrongOptionError(f"found {place!r}, and there is no such file; {advice}")


WHY_STOPPED = f"a {STOP} object lies beside the policies; remove it to go on"


def stop_of(shelf: Shelf) -> str | None:
    """Why nothing may be written, where an object says so."""
    return WHY_STOPPED if shelf.stopped else None


def moment(text: str | None) -> datetime:
    """The time that `--at` says; without it, now."""
    if text is None:
        return datetime.now(UTC)
    found = parse_moment(text)
    if found is None and _without_offset(text):
        raise WrongOptionError(
            f"found --at {text!r}, whose offset is missing; allowed: {text}Z for UTC, or {text}+02:00"
        )
    if found is None:
        raise WrongOptionError(f"found --at {text!r}; allowed: an RFC 3339 time such as 2026-03-02T09:00:00Z")
    return found


def _without_offset(text: str) -> bool:
    try:
        return "T" in text.upper() and datetime.fromisoformat(text).tzinfo is None
    except ValueError:
        return False


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
