"""Fixtures that every folder of tests may use, and the sweep's numbers at the end."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

os.environ["MOTO_EC2_LOAD_DEFAULT_AMIS"] = "false"
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
for variable in ("AWS_ENDPOINT_URL", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CA_BUNDLE"):
    os.environ.pop(variable, None)  # whatever this machine is set up for, tests talk to their own AWS

from tests.world import World  # noqa: E402 - after the environment: moto reads it


@pytest.fixture
def world() -> Iterator[World]:
    """A deterministic AWS, empty, at 2026-03-02 09:00 UTC."""
    with World() as opened:
        yield opened


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What the sweep came to, in one line, whichever processes did the work."""
    reports = [one for ended in ("passed", "failed") for one in terminalreporter.stats.get(ended, ())]
    told = [value for report in reports for name, value in report.user_properties if name == "sweep"]
    if told:
        calls, points, broken = (sum(one[at] for one in told) for at in range(3))
        line = f"sweep: {len(told)} scenarios, {calls} calls, {points} fault points, {broken} violations"
        terminalreporter.write_line(line)
