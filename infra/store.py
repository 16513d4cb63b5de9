"""Where policy documents come from: files, folders, or a prefix in S3."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from infra.aws import Aws
from infra.refusals import told_of, translated
from policies.errors import SenseError
from policies.text import LIMIT

STOP = "STOP"
"""An object (or file) of this name under the policy prefix turns every run into `observe`."""


SCHEMA = ".schema.json"
"""What ends like this lies beside documents to be named by their `$schema`, and is none itself."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One document as it is stored: its name without `.json`, its version, its bytes."""

    name: str
    generation: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Shelf:
    """Everything that was found. `full` says that whole prefixes or folders were read, not picked files."""

    documents: tuple[Stored, ...]
    stopped: bool
    full: bool


Kept = dict[str, tuple[str, Stored]]
"""What a warm function fetched before: by place, the listing's word for that very version, and the document."""


def load(places: Sequence[str], aws: Callable[[], Aws], executor: Executor, kept: Kept | None = None) -> Shelf:
    """Every document at the places: local files and folders, `s3://bucket/prefix/` or `s3://bucket/key.json`.

    Complete, or it raises: a document that cannot be read is not a document that was removed. What is `kept` and was
    not written since is not fetched again.
    """
    kept = {} if kept is None else kept
    shelves = [
        _s3(place, aws(), executor, kept) if place.startswith("s3://") else _local(Path(place)) for place in places
    ]
    documents = [document for shelf in shelves for document in shelf.documents]
    where: dict[str, list[str]] = {}
    for place, shelf in zip(places, shelves, strict=True):
        for document in shelf.documents:
            where.setdefault(document.name, []).append(place)
    twice = [f"{name} (of {' and '.join(found)})" for name, found in sorted(where.items()) if len(found) > 1]
    if twice:
        raise SenseError(
            f"two documents are named {', '.join(twice)}; a document's name is its file name without .json"
        )
    return Shelf(tuple(documents), any(shelf.stopped for shelf in shelves), all(shelf.full for shelf in shelves))


def _local(place: Path) -> Shelf:
    if place.is_dir():
        files = sorted(path for path in place.glob("*.json") if not path.name.endswith(SCHEMA))
        if not files:
            raise SenseError(f"{place} holds no policy document: there is no *.json in it")
        return Shelf(tuple(map(_file, files)), (place / STOP).exists(), full=True)
    return Shelf((_file(place),), (place.parent / STOP).exists(), full=False)


def _file(path: Path) -> Stored:
    try:
        with path.open("rb") as file:
            body = file.read(LIMIT + 1)
    except OSError as error:
        raise SenseError(f"cannot read {path}: {error.strerror or error}") from error
    return Stored(path.name.removesuffix(".json"), hashlib.sha256(body).hexdigest()[:12], body)


def _s3(place: str, aws: Aws, executor: Executor, kept: Kept) -> Shelf:
    bucket, _, key = place.removeprefix("s3://").partition("/")
    if key.endswith(".json"):
        return _one_object(aws, bucket, key)
    prefix = key if not key or key.endswith("/") else f"{key}/"
    with translated(), told_of(f"s3://{bucket}/{prefix}"):
        listed = aws.pages("s3", "list_objects_v2", "Contents", Bucket=bucket, Prefix=prefix)
        try:
            versions = {found["Key"]: f"{found['ETag']} {found['LastModified'].isoformat()}" for found in listed}
        except aws.client("s3").exceptions.NoSuchBucket:
            raise SenseError(f"the bucket {bucket!r} does not exist; create it, or mend the name") from None
    wanted = list(_documents(list(versions), prefix))
    if not wanted:
        raise SenseError(f"s3://{bucket}/{prefix} holds no policy document: there is no *.json directly under it")
    futures = {}
    for name in wanted:
        key = f"{prefix}{name}.json"
        if kept.get(f"{bucket}/{key}", ("", None))[0] != versions[key]:
            futures[key] = executor.submit(_fetch, aws, bucket, key, name)
    for key, future in futures.items():
        kept[f"{bucket}/{key}"] = (versions[key], future.result())
    documents = tuple(kept[f"{bucket}/{prefix}{name}.json"][1] for name in wanted)
    return Shelf(documents, f"{prefix}{STOP}" in versions, full=True)


def _one_object(aws: Aws, bucket: str, key: str) -> Shelf:
    """A single document; STOP beside it counts all the same (listed: HeadObject needs the right to list anyway)."""
    folder, slash, name = key.rpartition("/")
    stop = f"{folder}{slash}{STOP}"
    with translated(), told_of(f"s3://{bucket}/{key}"):
        found = [one["Key"] for one in aws.pages("s3", "list_objects_v2", "Contents", Bucket=bucket, Prefix=stop)]
    return Shelf((_fetch(aws, bucket, key, name.removesuffix(".json")),), stop in found, full=False)


def _documents(keys: Sequence[str], prefix: str) -> Iterator[str]:
    """The names of the documents directly under the prefix, in order."""
    for key in sorted(keys):
        name = key.removeprefix(prefix)
        if name.endswith(".json") and not name.endswith(SCHEMA) and "/" not in name:
            yield name.removesuffix(".json")


def _fetch(aws: Aws, bucket: str, key: str, name: str) -> Stored:
    with translated(), told_of(f"s3://{bucket}/{key}"):
        body, answer = aws.body(bucket, key, LIMIT + 1)
    version = answer.get("VersionId")
    return Stored(name, version if version not in (None, "null") else answer["ETag"].strip('"'), body)
