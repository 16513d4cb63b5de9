"""Lambda on this machine: the official emulator (it comes with SAM) around the official runtime client."""

import json
import os
import platform
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self
from urllib.request import Request, urlopen

from tests.deploy.conftest import ARCHITECTURE, Sam

CLIENT = ("awslambdaric", "runtime_client*.so", "simplejson", "snapshot_restore_py*")


class Runtime(AbstractContextManager["Runtime"]):
    """One execution environment. It sees the artifact, the runtime client and nothing else of this machine."""

    def __init__(self, sam: Sam, artifact: Path, folder: Path, variables: Mapping[str, str]) -> None:
        libraries = Path(sam.query("import awslambdaric; print(awslambdaric.__path__[0])")).parent
        client = folder / "client"
        client.mkdir()
        for found in (path for pattern in CLIENT for path in libraries.glob(pattern)):
            (client / found.name).symlink_to(found)
        # Both addresses are always given: without them the emulator may listen on all interfaces.
        self._address, api = (f"127.0.0.1:{_free_port()}" for _ in range(2))
        self._output = (folder / "output.txt").open("w+")
        self._process = subprocess.Popen(
            [
                libraries / f"samcli/local/rapid/aws-lambda-rie-{ARCHITECTURE}",
                *("--runtime-interface-emulator-address", self._address, "--runtime-api-address", api),
                # -S: without the site-packages of the interpreter's venv.
                *(sam.python, "-S", "-m", "awslambdaric", "handler.app.handler"),
            ],
            cwd=artifact,
            env={
                "PATH": os.defpath,
                "PYTHONPATH": f"{artifact}:{client}",
                "LAMBDA_TASK_ROOT": str(artifact),
                "AWS_LAMBDA_FUNCTION_NAME": "setpoint",
                "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
                "AWS_LAMBDA_FUNCTION_TIMEOUT": "55",
                **variables,
            },
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def invoke(self, event: bytes) -> Any:
        """What the function returned, or Lambda's error (`errorType`, `errorMessage`)."""
        _wait_for(self._address)
        url = f"http://{self._address}/2015-03-31/functions/function/invocations"
        with urlopen(Request(url, data=event), timeout=60) as answer:
            return json.loads(answer.read() or b"null")

    def output(self) -> str:
        """The log so far."""
        self._output.flush()
        return Path(self._output.name).read_text()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._output.close()


def available() -> bool:
    return platform.system() == "Linux" and bool(ARCHITECTURE)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def _wait_for(address: str, seconds: float = 10) -> None:
    host, port = address.split(":")
    deadline = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection((host, int(port))).close()
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
