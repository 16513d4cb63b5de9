"""The test stand: an emulator and the proxy in front of it, on free ports of the loopback, while it is open."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, Self
from urllib.error import URLError
from urllib.request import Request, urlopen

import botocore

from bench.places import ARTIFACT, ENVIRONMENTS, ROOT, clean_environment, python_of
from bench.server.authority import issue, trusting

Emulator = Literal["moto", "ministack"]
ACCOUNT, REGION = "123456789012", "us-east-1"
READY_SECONDS = 60


class Stand(AbstractContextManager["Stand"]):
    """An AWS that answers after `latency_ms`; `direct` is the emulator itself, for setting up."""

    def __init__(self, emulator: Emulator, latency_ms: float, pinned: bool) -> None:
        self._emulator, self._latency_ms, self._pinned = emulator, latency_ms, pinned
        self._folder = tempfile.TemporaryDirectory(prefix="setpoint-bench-")
        self._processes: list[subprocess.Popen[bytes]] = []
        upstream, plain, tls = _free_ports(3)
        self.direct, self.http, self.https = (
            f"http://127.0.0.1:{upstream}",
            f"http://127.0.0.1:{plain}",
            f"https://127.0.0.1:{tls}",
        )
        folder = Path(self._folder.name)
        certificate, key = issue(folder)
        self.bundle = trusting(folder, Path(botocore.__path__[0], "cacert.pem"))
        self.roots = trusting(folder, ARTIFACT / "amazon-roots.pem")
        self._commands = (
            self._emulator_command(upstream),
            [
                *(python_of("emulator"), "-m", "bench.server.proxy", "--upstream", self.direct),
                *("--port", str(plain), "--tls-port", str(tls), "--latency-ms", str(latency_ms)),
                *("--certificate", str(certificate), "--key", str(key)),
            ],
        )

    def __enter__(self) -> Self:
        try:
            for command, address in zip(self._commands, (self.direct, self.http + "/__stats"), strict=True):
                self._start(command)
                self._await(address)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait()
        self._folder.cleanup()

    def stats(self) -> dict[str, Any]:
        """What the proxy has counted since the last reset."""
        return _fetch(f"{self.http}/__stats")

    def reset(self) -> None:
        """Count from nothing, with full token buckets."""
        _fetch(f"{self.http}/__reset", b"")

    def flush(self) -> None:
        """Forget every kept reply."""
        _fetch(f"{self.http}/__flush", b"")

    def rate(self, on: bool) -> None:
        """Enforce AWS's documented rates, or none."""
        _fetch(f"{self.http}/__rates?on={int(on)}", b"")

    def empty(self) -> None:
        """An account with nothing in it."""
        path = "/moto-api/reset" if self._emulator == "moto" else "/_ministack/reset"
        _fetch(f"{self.direct}{path}", b"")
        self.flush()

    def _start(self, command: list[str]) -> None:
        with Path(self._folder.name, f"{len(self._processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=self._environment(), stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        self._processes.append(process)
        cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        if self._pinned and len(cpus) > 1:
            os.sched_setaffinity(self._processes[-1].pid, {cpus[-1]})

    def _await(self, address: str) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                urlopen(address, timeout=5).close()
            except URLError as error:
                if hasattr(error, "code"):
                    return  # it answers, and that is all that is asked
                if self._processes[-1].poll() is not None or time.monotonic() > deadline:
                    log = Path(self._folder.name, f"{len(self._processes) - 1}.log").read_text()
                    raise RuntimeError(f"the server at {address} does not come up:\n{log[-2000:]}") from error
                time.sleep(0.1)
            else:
                return

    def _emulator_command(self, port: int) -> list[str]:
        if self._emulator == "moto":
            return [python_of("emulator"), "bench/server/emulator.py", "-p", str(port)]
        return [str(ENVIRONMENTS / "ministack" / "bin" / "ministack")]

    def _environment(self) -> Mapping[str, str]:
        ministack = {
            "HOME": self._folder.name,
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": self.direct.rpartition(":")[2],
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            "MINISTACK_ACCOUNT_ID": ACCOUNT,
        }
        return {**clean_environment(), "MOTO_EC2_LOAD_DEFAULT_AMIS": "false", **ministack}


def _fetch(url: str, data: bytes | None = None) -> dict[str, Any]:
    with urlopen(Request(url, data=data, method="GET" if data is None else "POST"), timeout=60) as answer:
        body = answer.read()
    return dict(json.loads(body)) if body.startswith(b"{") else {}


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
