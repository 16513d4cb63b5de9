"""Fixtures of the sweep."""

from collections.abc import Iterator

import pytest

from tests.world import World


@pytest.fixture
def world() -> Iterator[World]:
    """A world that holds only the dead-letter queue that the queues name."""
    with World() as opened:
        opened.outside.sqs.create_queue(QueueName="dead")
        yield opened
