"""Cold starts: from the event to the first API call, in the official runtime client behind the official emulator.

Lambda's file system is read-only, so without byte code every start compiles anew: `PYTHONDONTWRITEBYTECODE` stands for
that, and only there. What each start imports is in `clients/cold/`.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Event, Thread
from urllib.request import Request, urlopen

from bench.peers import CONFIGURATION, CREDENTIALS
from bench.places import ARTIFACT, CLIENTS, SAM, clean_environment, libraries_of, python_of
from bench.server.stand import REGION

MACHINE = {"x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "")
RUNTIME_CLIENT = ("awslambdaric", "runtime_client*.so", "simplejson", "snapshot_restore_py*")
LONGEST = 60


@dataclass(frozen=True)
class Start:
    """One way to start: seconds from the event to the first API call, MiB at the peak; medians."""

    name: str
    title: str
    seconds: float
    peak: float
    rounds: int


@dataclass(frozen=True)
class Candidate:
    """A handler, and where its code is: later folders come later on Python's path."""

    name: str
    title: str
    handler: str
    path: tuple[Path, ...]
    byte_code: bool = True


def available() -> bool:
    """Whether the runtime emulator is here: it comes with SAM, for Linux."""
    return platform.system() == "Linux" and _emulator() is not None


def measure(rounds: int) -> list[Start]:
    """Every candidate's medians, interleaved, after one round that does not count; nothing without the emulator."""
    if not available():
        return []
    with tempfile.TemporaryDirectory(prefix="setpoint-cold-") as place:
        folder = Path(place)
        bare, client = _without_byte_code(ARTIFACT, folder / "bare"), _runtime_client(folder / "client")
        found: dict[Candidate, list[tuple[float, float]]] = {one: [] for one in _candidates(bare)}
        with _FirstCall() as first:
            for number in range(-1, max(rounds, 3)):
                for candidate, starts in found.items():
                    start = _start(candidate, client, first)
                    if number >= 0:
                        starts.append(start)
    return [
        Start(
            one.name,
            one.title,
            round(median(seconds for seconds, _ in starts), 3),
            round(median(peak for _, peak in starts), 1),
            len(starts),
        )
        for one, starts in found.items()
    ]


def _candidates(bare: Path) -> Iterator[Candidate]:
    cold = CLIENTS / "cold"
    yield Candidate("setpoint", "Setpoint's artifact", "handler.app.handler", (ARTIFACT,))
    yield Candidate("setpoint-bare", "Setpoint's artifact without byte code", "handler.app.handler", (bare,), False)
    yield Candidate("naive", "the naive list", "naive.handler", (cold, libraries_of("sdk")))
    yield Candidate("custodian", "Cloud Custodian's handler", "custodian.handler", (cold, libraries_of("custodian")))


def _start(candidate: Candidate, client: Path, first: _FirstCall) -> tuple[float, float]:
    """Seconds to the first call, and the peak memory of the runtime's process in MiB."""
    events, api = _free_port(), _free_port()
    environment = {
        **{name: value for name, value in clean_environment().items() if name in ("PATH", "HOME", "LANG")},
        **CREDENTIALS,
        **CONFIGURATION,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": first.address,
        "AWS_LAMBDA_FUNCTION_NAME": "setpoint",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
        "AWS_LAMBDA_FUNCTION_TIMEOUT": "55",
        "LAMBDA_TASK_ROOT": str(candidate.path[0]),
        "PYTHONPATH": os.pathsep.join(map(str, [*candidate.path, client])),
        **({} if candidate.byte_code else {"PYTHONDONTWRITEBYTECODE": "1"}),
    }
    # Both addresses are always given: without them the emulator may listen on all interfaces.
    command = [
        *(str(_emulator()), "--runtime-interface-emulator-address", f"127.0.0.1:{events}"),
        *("--runtime-api-address", f"127.0.0.1:{api}"),
        *(python_of("sdk"), "-S", "-m", "awslambdaric", candidate.handler),
    ]
    emulator = subprocess.Popen(
        command, cwd=candidate.path[0], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _await(events)
        first.expect()
        begun = time.monotonic()
        Thread(target=_invoke, args=(events,), daemon=True).start()
        seconds = first.when() - begun
        time.sleep(0.2)  # the peak of a start, not of a whole run
        return seconds, _peak(emulator.pid)
    finally:
        for pid in [*_children(emulator.pid), emulator.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        emulator.wait()


class _FirstCall(contextlib.AbstractContextManager["_FirstCall"]):
    """An AWS that knows nothing, and tells when it was first asked."""

    def __enter__(self) -> _FirstCall:
        self._asked, self._when = Event(), 0.0
        outer = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._note()
                self.send_error(403)

            do_POST = do_PUT = do_GET

            def log_message(self, *_: object) -> None:
                """Silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def expect(self) -> None:
        self._asked.clear()

    def when(self) -> float:
        if not self._asked.wait(LONGEST):
            raise RuntimeError("a cold start made no API call")
        return self._when

    def _note(self) -> None:
        if not self._asked.is_set():
            self._when = time.monotonic()
            self._asked.set()


def _emulator() -> Path | None:
    return next(SAM.glob(f"lib/python3.*/site-packages/samcli/local/rapid/aws-lambda-rie-{MACHINE}"), None)


def _runtime_client(folder: Path) -> Path:
    """A folder with the runtime client and nothing else."""
    folder.mkdir()
    libraries = libraries_of("emulator")
    for found in (path for pattern in RUNTIME_CLIENT for path in libraries.glob(pattern)):
        (folder / found.name).symlink_to(found)
    return folder


def _without_byte_code(artifact: Path, target: Path) -> Path:
    shutil.copytree(artifact, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    return target


def _invoke(port: int) -> None:
    address = f"http://127.0.0.1:{port}/2015-03-31/functions/function/invocations"
    with contextlib.suppress(OSError):
        urlopen(Request(address, data=json.dumps({}).encode()), timeout=LONGEST).close()


def _peak(pid: int) -> float:
    """The largest peak of this process' children, which are the runtime."""
    peaks = [0.0]
    for child in _children(pid):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{child}/status").read_text().splitlines()
            peaks += [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")]
    return max(peaks)


def _children(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                child = int(stat.parent.name)
                found += [child, *_children(child)]
    return found


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _await(port: int) -> None:
    deadline = time.monotonic() + LONGEST
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
