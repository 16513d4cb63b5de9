"""Fixtures of the sweep, and what it says at the end."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.world import World


@pytest.fixture
def world() -> Iterator[World]:
    """A world that holds only the dead-letter queue that the queues name."""
    with World() as opened:
        opened.outside.sqs.create_queue(QueueName="dead")
        yield opened


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line with the numbers, whichever processes did the work."""
    reports = [one for ended in ("passed", "failed") for one in terminalreporter.stats.get(ended, ())]
    told = [value for report in reports for name, value in report.user_properties if name == "sweep"]
    if told:
        calls, points, broken = (sum(one[at] for one in told) for at in range(3))
        line = f"sweep: {len(told)} scenarios, {calls} calls, {points} fault points, {broken} violations"
        terminalreporter.write_line(line)
