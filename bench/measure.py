"""One process, measured by the kernel: wall from its start to its end, CPU in user and system mode, peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.places import CLIENTS, ROOT

LONGEST = 420
"""Seconds after which a client is ended."""


@dataclass(frozen=True)
class Run:
    """What one run took: seconds, MiB, and what the proxy saw of it."""

    wall: float
    cpu: float
    peak: float
    status: int
    proxy: Mapping[str, Any] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)

    @property
    def calls(self) -> Mapping[str, int]:
        return self.proxy.get("calls", {})


class Client:
    """A process on the first CPU, with its lines on stdout that begin with @ read as JSON."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path, pinned: bool) -> None:
        self._log = log.open("ab")
        cpu = min(os.sched_getaffinity(0)) if pinned and hasattr(os, "sched_getaffinity") else -1
        launcher = [sys.executable, "-S", "-I", str(CLIENTS / "launch.py"), str(cpu), str(LONGEST), *command]
        self._process = subprocess.Popen(
            launcher, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log
        )

    def ask(self) -> Mapping[str, Any]:
        """Have a process that runs on demand make one run, and tell of it."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        return next(self._told(), {})

    def finish(self) -> Run:
        """Wait for its end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        told = list(self._told())
        self._process.wait()
        self._log.close()
        used = told.pop()
        summary = told[-1] if told else {}
        return Run(used["wall"], used["cpu"], used["peak"], used["status"], summary=summary)

    def _told(self) -> Iterator[Mapping[str, Any]]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(b"@"):
                yield json.loads(line[1:])
            else:
                self._log.write(line)
