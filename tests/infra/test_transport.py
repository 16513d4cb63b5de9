"""TLS over one context: what is trusted, what errors are called, and what is left to botocore."""

from __future__ import annotations

import json
import socket
import ssl
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from botocore.awsrequest import AWSRequest
from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ReadTimeoutError,
    SSLError,
)
from botocore.httpsession import get_cert_path

from bench.server.authority import issue, trusting
from infra import transport
from infra.session import SdkSession
from infra.transport import Transport


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """That a client went away is what is tested."""


class TlsServer:
    """Answers what its path says, and counts the connections that were made to it."""

    def __init__(self, folder: Path) -> None:
        self.connections, self.requests = 0, list[tuple[str, bytes]]()
        certificate, key = issue(folder)
        self.bundle = str(trusting(folder, Path(str(get_cert_path(True)))))
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                outer.connections += 1
                super().setup()

            def do_POST(self) -> None:
                outer.answer(self)

            do_GET = do_PUT = do_POST

            def log_message(self, *_: object) -> None:
                """Silent."""

        self._server = _Quiet(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port
        self.url = f"https://127.0.0.1:{self.port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, to: BaseHTTPRequestHandler) -> None:
        self.requests.append((to.path, to.rfile.read(int(to.headers.get("Content-Length", 0)))))
        if to.path == "/closed":
            to.connection.shutdown(socket.SHUT_RDWR)
            return
        if to.path == "/slow":
            time.sleep(0.5)
        body = json.dumps({"QueueUrls": ["https://q/1"]}).encode()
        to.send_response(404 if to.path == "/missing" else 200)
        to.send_header("Content-Length", str(len(body)))
        to.send_header("X-Told", to.headers.get("X-Asked", ""))
        to.end_headers()
        to.wfile.write(body[:5] if to.path == "/broken" else body)
        to.close_connection = to.path == "/broken"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsServer]:
    server = TlsServer(tmp_path_factory.mktemp("tls"))
    yield server
    server.stop()


@pytest.fixture
def server(tls: TlsServer, monkeypatch: pytest.MonkeyPatch) -> TlsServer:
    monkeypatch.delitem(sys.modules, "moto", raising=False)  # beside it nothing is sent
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    tls.connections = 0
    tls.requests.clear()
    return tls


def request(url: str, body: bytes = b"", method: str = "POST", **headers: str) -> Any:
    return AWSRequest(method=method, url=url, data=body, headers=headers).prepare()


def test_it_sends_what_was_signed_and_answers_as_botocore_does(server: TlsServer) -> None:
    answer = Transport(server.bundle).send(request(f"{server.url}/a%20b?x=1&y=%2F", b"body", **{"X-Asked": "so"}))
    assert answer is not None
    assert server.requests == [("/a%20b?x=1&y=%2F", b"body")]
    assert (answer.status_code, answer.headers["x-told"]) == (200, "so")
    assert json.loads(answer.content) == {"QueueUrls": ["https://q/1"]}


def test_a_path_that_is_empty_is_the_root(server: TlsServer) -> None:
    Transport(server.bundle).send(request(f"{server.url}?list-type=2", method="GET"))
    assert server.requests == [("/?list-type=2", b"")]


def test_an_error_status_is_an_answer(server: TlsServer) -> None:
    answer = Transport(server.bundle).send(request(f"{server.url}/missing"))
    assert answer is not None
    assert answer.status_code == 404


def test_a_stream_is_read_by_whoever_asked_for_it(server: TlsServer) -> None:
    asked = request(server.url)
    asked.stream_output = True
    answer = Transport(server.bundle).send(asked)
    assert answer is not None
    assert answer.raw.read(4) == b'{"Qu'


def test_many_connections_read_the_bundle_once(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    load = ssl.SSLContext.load_verify_locations
    monkeypatch.setattr(
        ssl.SSLContext,
        "load_verify_locations",
        lambda self, cafile=None, **more: read.append(str(cafile)) or load(self, cafile, **more),
    )
    wire = Transport(server.bundle)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(wire.send, [request(f"{server.url}/slow") for _ in range(4)]))
    assert server.connections == 4
    assert read == [server.bundle]


def test_connections_are_kept(server: TlsServer) -> None:
    wire = Transport(server.bundle)
    for _ in range(3):
        wire.send(request(server.url))
    assert server.connections == 1


def test_a_server_that_nobody_vouches_for_is_refused(server: TlsServer) -> None:
    with pytest.raises(SSLError, match="certificate verify failed"):
        Transport(str(get_cert_path(True))).send(request(server.url))
    assert server.requests == []


def test_a_certificate_of_another_host_is_refused(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    found = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *more, **named: found("127.0.0.1", *more, **named))
    with pytest.raises(SSLError, match=r"sqs\.example\.com"):
        Transport(server.bundle).send(request(f"https://sqs.example.com:{server.port}/"))
    assert server.requests == []


def test_a_bundle_that_is_not_there_is_an_error_of_tls(server: TlsServer, tmp_path: Path) -> None:
    with pytest.raises(SSLError, match="No such file"):
        Transport(str(tmp_path / "none.pem")).send(request(server.url))


@pytest.mark.parametrize("path", ["closed", "broken"])
def test_a_connection_that_breaks_may_be_tried_again(server: TlsServer, path: str) -> None:
    with pytest.raises(ConnectionClosedError):
        Transport(server.bundle).send(request(f"{server.url}/{path}"))


def test_an_answer_that_does_not_come_times_out(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "READ_SECONDS", 0.1)
    with pytest.raises(ReadTimeoutError):
        Transport(server.bundle).send(request(f"{server.url}/slow"))


def test_nobody_listens(server: TlsServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(EndpointConnectionError):
        Transport(server.bundle).send(request(f"https://127.0.0.1:{port}/"))


def test_a_host_that_does_not_accept_times_out(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "CONNECT_SECONDS", 0.1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        with pytest.raises((ConnectTimeoutError, ReadTimeoutError)):
            Transport(server.bundle).send(request(f"https://127.0.0.1:{silent.getsockname()[1]}/"))


@pytest.mark.parametrize(
    ("url", "environment", "modules"),
    [
        ("http://127.0.0.1:1/", {}, ()),
        ("https://127.0.0.1:1/", {"HTTPS_PROXY": "http://proxy:3128"}, ()),
        ("https://127.0.0.1:1/", {}, ("moto",)),
    ],
    ids=["no TLS", "a proxy", "moto"],
)
def test_what_is_left_to_botocore(
    server: TlsServer,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    environment: dict[str, str],
    modules: tuple[str, ...],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for name in modules:
        monkeypatch.setitem(sys.modules, name, sys)
    assert Transport(server.bundle).send(request(url)) is None


def test_hosts_without_a_proxy_are_no_proxy(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "localhost")
    assert Transport(server.bundle).send(request(server.url)) is not None


def test_what_nobody_foresaw_is_an_error_of_botocore(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "AWSResponse", lambda *_: 1 / 0)
    with pytest.raises(HTTPClientError):
        Transport(server.bundle).send(request(server.url))


@pytest.mark.parametrize("variable", ["AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"])
@pytest.mark.parametrize("trusted", [True, False])
def test_the_clients_of_a_session_use_it_with_the_bundle_of_the_configuration(
    server: TlsServer, monkeypatch: pytest.MonkeyPatch, trusted: bool, variable: str
) -> None:
    for name in ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, server.bundle if trusted else str(get_cert_path(True)))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    session = SdkSession(region="eu-west-1")
    clients = [session.client("sqs", endpoint_url=server.url) for _ in range(2)]
    if not trusted:
        with pytest.raises(SSLError):
            clients[0].list_queues()
        return
    assert [one.list_queues()["QueueUrls"] for one in clients] == [["https://q/1"]] * 2
    assert server.connections == 1  # botocore's own would be one for each client
