"""One process, measured by the kernel: wall from its start to its end, CPU in user and system mode, peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any

from bench.places import ROOT

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
        self._begun = time.monotonic()
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log
        )
        if pinned and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(self._process.pid, {min(os.sched_getaffinity(0))})
        self._timer = Timer(LONGEST, self._process.kill)
        self._timer.start()

    def ask(self) -> Mapping[str, Any]:
        """Have a process that runs on demand make one run, and tell of it."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        return self._told()

    def finish(self, proxy: Mapping[str, Any] | None = None) -> Run:
        """Wait for its end. `proxy`: what the proxy counted, if it is not to be asked afterwards."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        summary = self._told()
        _, status, used = os.wait4(self._process.pid, 0)
        wall = time.monotonic() - self._begun
        self._timer.cancel()
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self._log.close()
        peak = used.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
        return Run(wall, used.ru_utime + used.ru_stime, peak, self._process.returncode, proxy or {}, summary)

    def _told(self) -> Mapping[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(b"@"):
                return dict(json.loads(line[1:]))
            self._log.write(line)
        return {}
