"""moto behind a real socket that fails as AWS does: refusals in the services' own envelopes, and broken connections."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import BytesIO
from threading import Lock, Thread
from typing import Any, Literal
from urllib.parse import parse_qs

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from tests.world import views
from tests.world.call import READS

Kind = Literal["throttled", "unavailable", "denied", "lost", "reset", "broken"]
CODES = {
    "throttled": ("ThrottlingException", 400),
    "unavailable": ("ServiceUnavailable", 503),
    "denied": ("AccessDeniedException", 400),
}


@dataclass
class Rule:
    """Strike request number `at`, counted over everything that arrives, and the next ones, `times` times in all.

    throttled, unavailable, denied   the service's refusal
    reset   the connection ends before anything has happened
    lost    everything has happened, and then the connection ends
    broken  everything has happened, and the connection ends in the middle of the answer
    """

    kind: Kind
    at: int
    times: int = 1
    fired: int = 0


class UnreliableServer:
    """One moto, one port on loopback, and what is wrong with it. `operations` is all that arrived, retries too."""

    def __init__(self) -> None:
        self.operations: list[str] = []
        self.rule: Rule | None = None
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._lock = Lock()
        self._server = make_server("127.0.0.1", 0, self._serve, threaded=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        views.reset()

    def _serve(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = BytesIO(body)
        with self._lock:  # one request at a time has its effect
            self.operations.append(_operation(environ, body))
            kind = self._strike(len(self.operations))
            if kind in CODES:
                return _refuse(*CODES[kind], environ, start_response)
            if kind == "reset":
                return _hang_up(environ)
            answer = list(self._moto(environ, start_response))
            if kind == "broken":
                return _break_off(b"".join(answer), environ)
            return _hang_up(environ) if kind == "lost" else answer

    def _strike(self, number: int) -> str:
        rule = self.rule
        if rule is None or number < rule.at or rule.fired >= rule.times:
            return ""
        rule.fired += 1
        return rule.kind


def is_write(operation: str) -> bool:
    return not operation.startswith(READS)


def _operation(environ: dict[str, Any], body: bytes) -> str:
    target = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
    return target or parse_qs(body.decode(errors="replace")).get("Action", ["Get"])[0]


def _refuse(code: str, status: int, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """An error of the JSON protocols, which are all that is asked for here."""
    action = f"sqs:{_operation(environ, b'')}"
    body = json.dumps({"__type": code, "message": f"User: me is not authorized to perform: {action} because of a test"})
    start_response(f"{status} Refused", [("Content-Type", environ.get("CONTENT_TYPE", "application/x-amz-json-1.0"))])
    return [body.encode()]


def _hang_up(environ: dict[str, Any]) -> Iterable[bytes]:
    """End the connection without an answer; what the server would still write goes nowhere."""
    environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    raise ConnectionAbortedError("the connection is gone, as it should be")


def _break_off(answer: bytes, environ: dict[str, Any]) -> Iterable[bytes]:
    """Half of an answer."""
    yield answer[: len(answer) // 2]
    yield from _hang_up(environ)
