"""Where documents come from: files, folders, prefixes. Complete, or an error."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from handler.loop.conductor import InlineExecutor
from infra.aws import Aws
from infra.store import Shelf, load
from policies.errors import DeniedError, SenseError, SetpointError
from policies.text import LIMIT
from policies.world import Scope
from tests.world import Fault, World, operation


def no_aws() -> Aws:
    raise AssertionError("local files need no AWS")


def local(*places: Path) -> Shelf:
    return load([str(place) for place in places], no_aws, InlineExecutor())


def stored(world: World, *places: str, threads: int = 0) -> Shelf:
    aws = Aws(world.session, Scope(world.account, world.region))
    executor: Any = ThreadPoolExecutor(threads) if threads else InlineExecutor()
    with executor:
        return load(places, lambda: aws, executor)


def write(folder: Path, **files: str) -> Path:
    for name, body in files.items():
        (folder / name.replace("_", ".")).write_text(body)
    return folder


def bucket(world: World, *keys: str, versioned: bool = False) -> None:
    s3 = world.outside.s3
    s3.create_bucket(Bucket="policies", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    if versioned:
        s3.put_bucket_versioning(Bucket="policies", VersioningConfiguration={"Status": "Enabled"})
    for key in keys:
        s3.put_object(Bucket="policies", Key=key, Body=key.encode())


def names(shelf: Shelf) -> list[str]:
    return [document.name for document in shelf.documents]


# --- files and folders ---------------------------------------------------------------------------------------------


def test_a_folder_is_all_of_its_documents(tmp_path: Path) -> None:
    shelf = local(write(tmp_path, b_json="B", a_json="A", notes_txt="no"))
    assert (names(shelf), shelf.full, shelf.stopped) == (["a", "b"], True, False)
    assert [document.body for document in shelf.documents] == [b"A", b"B"]


def test_a_file_is_not_all_there_is_and_stop_counts_beside_it(tmp_path: Path) -> None:
    write(tmp_path, a_json="A", STOP="")
    shelf = local(tmp_path / "a.json")
    assert (names(shelf), shelf.full, shelf.stopped) == (["a"], False, True)


def test_the_schema_beside_documents_is_none_of_them(tmp_path: Path) -> None:
    folder = write(tmp_path, a_json="A")
    (folder / "setpoint.schema.json").write_text("{}")
    assert names(local(folder)) == ["a"]


def test_a_folder_and_a_file_are_not_all_there_is(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    write(one, a_json="A")
    write(other, b_json="B")
    assert local(one, other).full
    assert not local(one, other / "b.json").full


def test_a_file_named_stop_stops(tmp_path: Path) -> None:
    assert local(write(tmp_path, a_json="A", STOP="")).stopped


def test_a_generation_is_the_hash_of_the_content(tmp_path: Path) -> None:
    (document,) = local(write(tmp_path, a_json="A")).documents
    assert document.generation == hashlib.sha256(b"A").hexdigest()[:12]


def test_of_a_huge_file_only_so_much_is_read_that_it_is_seen_to_be_too_large(tmp_path: Path) -> None:
    (document,) = local(write(tmp_path, a_json="x" * (LIMIT + 5000))).documents
    assert len(document.body) == LIMIT + 1


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("missing.json", "cannot read .*missing.json: No such file"),
        ("missing", "cannot read .*missing"),
        ("", "holds no policy document"),
    ],
)
def test_what_is_not_there_is_an_error(tmp_path: Path, place: str, words: str) -> None:
    with pytest.raises(SenseError, match=words):
        local(tmp_path / place)


def test_two_documents_of_one_name_are_an_error(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    with pytest.raises(
        SenseError, match=r"two documents are named a \(of .*one and .*other\); a document's name is its"
    ):
        local(write(one, a_json="A"), write(other, a_json="B"))


# --- S3 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["s3://policies/live/", "s3://policies/live"])
def test_a_prefix_is_all_documents_directly_under_it(world: World, place: str) -> None:
    bucket(world, "live/b.json", "live/a.json", "live/notes.txt", "live/deep/c.json", "other.json", "live2/d.json")
    shelf = stored(world, place)
    assert (names(shelf), shelf.full, shelf.stopped) == (["a", "b"], True, False)
    assert [document.body for document in shelf.documents] == [b"live/a.json", b"live/b.json"]


def test_a_whole_bucket(world: World) -> None:
    bucket(world, "a.json", "live/b.json", "STOP")
    shelf = stored(world, "s3://policies")
    assert (names(shelf), shelf.stopped) == (["a"], True)


def test_a_key_is_not_all_there_is_and_stop_counts_beside_it(world: World) -> None:
    bucket(world, "live/a.json", "live/b.json", "live/STOP")
    shelf = stored(world, "s3://policies/live/a.json")
    assert (names(shelf), shelf.full, shelf.stopped) == (["a"], False, True)


@pytest.mark.parametrize(
    ("key", "stops"), [("live/STOP", True), ("STOP", False), ("live/deep/STOP", False), ("live/STOPPED", False)]
)
def test_which_object_stops(world: World, key: str, stops: bool) -> None:
    bucket(world, "live/a.json", key)
    assert stored(world, "s3://policies/live/").stopped == stops


def test_every_page_of_the_listing_counts(world: World) -> None:
    bucket(world, *(f"live/d{number:02}.json" for number in range(25)), "live/STOP")
    world.page_size = 4
    for threads in (0, 4):
        shelf = stored(world, "s3://policies/live/", threads=threads)
        assert names(shelf) == [f"d{number:02}" for number in range(25)]
        assert shelf.stopped


def test_a_generation_is_the_version_or_else_the_etag(world: World) -> None:
    bucket(world, "live/a.json", versioned=True)
    (document,) = stored(world, "s3://policies/live/").documents
    versions = world.outside.s3.list_object_versions(Bucket="policies")["Versions"]
    assert document.generation == versions[0]["VersionId"]


def test_without_versions_it_is_the_etag(world: World) -> None:
    bucket(world, "live/a.json")
    (document,) = stored(world, "s3://policies/live/").documents
    assert document.generation == hashlib.md5(b"live/a.json").hexdigest()


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("s3://policies/empty/", "s3://policies/empty/ holds no policy document"),
        ("s3://policies/live/missing.json", "missing.json|NoSuchKey"),
        ("s3://nowhere/live/", "the bucket 'nowhere' does not exist"),
    ],
)
def test_what_is_not_there_in_s3_is_an_error(world: World, place: str, words: str) -> None:
    bucket(world, "live/a.json")
    with pytest.raises(SetpointError, match=words):
        stored(world, place)


@pytest.mark.parametrize("kind", ["denied", "unavailable", "refused", "throttled"])
def test_a_document_that_cannot_be_read_is_not_one_that_was_removed(world: World, kind: Any) -> None:
    bucket(world, "live/a.json", "live/b.json")
    world.inject(Fault(at=lambda call: call.params.get("Key") == "live/b.json", kind=kind))
    with pytest.raises(SetpointError):
        stored(world, "s3://policies/live/")


@pytest.mark.parametrize(("call", "action"), [("ListObjectsV2", "s3:ListBucket"), ("GetObject", "s3:GetObject")])
def test_denied_names_the_missing_action(world: World, call: str, action: str) -> None:
    bucket(world, "live/a.json")
    world.inject(Fault(at=operation("s3", call), kind="denied"))
    with pytest.raises(DeniedError) as raised:
        stored(world, "s3://policies/live/")
    assert raised.value.action == action


def test_a_listing_that_breaks_off_is_not_a_short_one(world: World) -> None:
    bucket(world, *(f"live/d{number}.json" for number in range(6)))
    world.page_size = 2
    world.inject(Fault(at=operation("s3", "ListObjectsV2"), kind="partial_page"))
    with pytest.raises(SenseError):
        stored(world, "s3://policies/live/")


def test_places_of_both_sorts_go_together(world: World, tmp_path: Path) -> None:
    bucket(world, "live/a.json")
    shelf = stored(world, "s3://policies/live/", str(write(tmp_path, b_json="B")))
    assert (names(shelf), shelf.full) == (["a", "b"], True)


def test_the_schema_under_a_prefix_is_no_document(world: World) -> None:
    bucket(world, "policies/a.json", "policies/setpoint.schema.json")
    assert names(stored(world, "s3://policies/policies/")) == ["a"]


@pytest.mark.parametrize("operation_", ["ListObjectsV2", "GetObject"])
@pytest.mark.parametrize("key", ["policies/", "policies/a.json"])
def test_what_may_not_be_read_is_named(world: World, key: str, operation_: str) -> None:
    bucket(world, "policies/a.json")
    world.inject(Fault(at=operation("s3", operation_), kind="denied", times=None))
    with pytest.raises(
        DeniedError, match=rf"\(s3://policies/{key if operation_ == 'ListObjectsV2' else 'policies/a.json'}\)"
    ):
        stored(world, f"s3://policies/{key}")
