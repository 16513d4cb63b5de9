"""Which small mistakes in the pure core would no fast test notice?

python -m tests.mutants [--every N] [MODULE …]    each mutant in a process of its own, forked after collection
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.mutations import Mutant, install, mutants

CORE = ["plan", "toward", "away", "pairing", "guardrails"]
SURVIVORS = "tests/mutants/test_survivors.py"
ENGINE = [SURVIVORS, "tests/engine/test_plan.py", "tests/engine/test_guardrails.py", "tests/engine/test_removal.py"]
TARGETS = {f"handler.loop.{name}": ENGINE for name in CORE} | {
    f"strategies.{path.stem}": [SURVIVORS, "tests/strategies"]
    for path in sorted(Path("strategies").glob("*.py"))
    if path.stem not in ("__init__", "registry")
}
SECONDS = 60
"""A mutant that makes the tests hang is noticed, too."""

Named = tuple[str, Mutant]


class Campaign:
    """A pytest plugin: collects once, and runs everything anew for each mutant in a forked process."""

    def __init__(self, chosen: Sequence[Named]) -> None:
        self.chosen = chosen
        self.tried = 0
        self.survivors: list[Named] = []

    def pytest_runtestloop(self, session: Any) -> bool:
        if not self._passes(session, lambda: True):
            raise pytest.UsageError("the tests fail without any mutant")
        for name, mutant in self.chosen:
            verdict = self._verdict(session, import_module(name), mutant)
            self.tried += verdict is not None
            if verdict:
                self.survivors.append((name, mutant))
                print(f"\n{name}:{mutant}", flush=True)
        return True

    def _verdict(self, session: Any, module: Any, mutant: Mutant) -> bool | None:
        """Whether it survives; None where it cannot be put in."""
        return self._passes(session, lambda: install(module, mutant))

    def _passes(self, session: Any, prepare: Callable[[], bool]) -> bool | None:
        """Whether all tests pass in a process that was prepared so; None where it could not be."""
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            session.config.pluginmanager.unregister(name="terminalreporter")
            signal.alarm(SECONDS)
            try:
                os._exit(_run(session) if prepare() else 2)
            except BaseException:  # noqa: BLE001 - whatever it is, the mutant was noticed
                os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return None if status == 2 else status == 0


def _run(session: Any) -> int:
    """0: nothing was noticed."""
    for place, item in enumerate(session.items):
        following = session.items[place + 1] if place + 1 < len(session.items) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return 1
    return 0


def main(words: Sequence[str]) -> int:
    every = int(words[words.index("--every") + 1]) if "--every" in words else 1
    named = [word for word in words if word in TARGETS] or list(TARGETS)
    begun, tried, survivors = time.monotonic(), 0, list[Named]()
    for tests in {tuple(TARGETS[name]): None for name in named}:
        found = [
            (name, mutant)
            for name in named
            if tuple(TARGETS[name]) == tests
            for mutant in list(mutants(Path(import_module(name).__file__ or "")))[::every]
        ]
        campaign = _against(tests, found)
        tried, survivors = tried + campaign.tried, survivors + campaign.survivors
    seconds = time.monotonic() - begun
    print(f"\n{tried} mutants, {len(survivors)} survived, {seconds:.0f} seconds")
    return 0


def _against(tests: Sequence[str], chosen: Sequence[Named]) -> Campaign:
    campaign = Campaign(chosen)
    quiet = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-o", "addopts=", "--no-header"]
    pytest.main([*quiet, *tests], plugins=[campaign])
    return campaign


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
