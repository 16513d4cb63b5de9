"""A connection that ends in the middle of an answer: what came is not all there is, and nothing follows from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from handler.loop.conductor import InlineExecutor
from infra.aws import Aws
from infra.session import SdkSession
from infra.sources import read_items
from infra.store import Kept, load
from policies.errors import SenseError
from policies.items import DynamodbTableItems, S3ObjectItems
from policies.world import Scope

HOME = Scope("111111111111", "eu-west-1")
ITEMS = b'[{"id": "a"}, {"id": "b"}]'
LISTED = b"""<ListBucketResult><Contents><Key>one.json</Key><ETag>"1"</ETag>
<LastModified>2026-01-01T00:00:00Z</LastModified></Contents></ListBucketResult>"""


class Script:
    """Answers in order; of one that breaks off so many bytes come."""

    def __init__(self) -> None:
        self.answers: list[tuple[bytes, int | None]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body, most = outer.answers.pop(0)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("ETag", '"1"')
                self.end_headers()
                self.wfile.write(body[:most])

            do_GET = do_POST

            def log_message(self, *_: object) -> None:
                """Silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def add(self, body: bytes, most: int | None = None) -> None:
        self.answers.append((body, most))

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def script() -> Iterator[Script]:
    running = Script()
    yield running
    running.stop()


@pytest.fixture
def aws(script: Script, monkeypatch: pytest.MonkeyPatch) -> Aws:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    return Aws(SdkSession(region=HOME.region), HOME, endpoint_url=script.url)


def rows(*names: str, more: bool = False) -> bytes:
    page: dict[str, Any] = {"Items": [{"id": {"S": name}} for name in names], "Count": len(names)}
    return json.dumps({**page, **({"LastEvaluatedKey": {"id": {"S": names[-1]}}} if more else {})}).encode()


@pytest.mark.parametrize("most", [0, 1, 29, -1], ids=lambda most: f"{most} bytes")
def test_a_page_of_a_table(script: Script, aws: Aws, most: int) -> None:
    script.add(rows("a", more=True))
    script.add(rows("b"), most)
    with pytest.raises(SenseError):
        read_items(aws, DynamodbTableItems(source="dynamodbTable", name="tenants"))


def test_a_page_that_is_whole(script: Script, aws: Aws) -> None:
    script.add(rows("a", more=True))
    script.add(rows("b"))
    found = read_items(aws, DynamodbTableItems(source="dynamodbTable", name="tenants"))
    assert [one["id"] for one in found] == ["a", "b"]


@pytest.mark.parametrize("most", [0, 13, -1], ids=lambda most: f"{most} bytes")
def test_an_object_with_items(script: Script, aws: Aws, most: int) -> None:
    script.add(ITEMS, most)
    with pytest.raises(SenseError):
        read_items(aws, S3ObjectItems(source="s3Object", bucket="lists", key="tenants.json"))


def test_a_document_is_fetched_again(script: Script, aws: Aws) -> None:
    """What came in part is not kept: the listing says that it has not changed since."""
    body, kept = b'{"version": 1, "policies": []}', Kept()
    for most in (10, None):
        script.add(LISTED)
        script.add(body, most)
    with pytest.raises(SenseError, match=r"s3://documents/one\.json"):
        load(["s3://documents/"], lambda: aws, InlineExecutor(), kept)
    assert load(["s3://documents/"], lambda: aws, InlineExecutor(), kept).documents[0].body == body
