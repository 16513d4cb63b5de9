"""What every run asks first, whatever its policies say: the policies themselves, and the index of owner tags at home.

Light on purpose: a cold function asks for both while everything else is still being imported, which takes as long
(`handler/ahead.py`). A warm one asks for the index while S3 tells whether the policies have changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from infra.aws import Aws, Calls, Session
from infra.session import UNKNOWN
from infra.store import Kept, Shelf, load
from infra.tag_index import Indexed, read_index
from policies.world import Scope

T = TypeVar("T")
Call = Callable[[], Any]

FRESH = 10.0
"""Seconds for which an answer is news. A run's own are kept as long."""

THREADS = 4
"""Enough for the index and for documents, one or many: the function's own pool is not there yet."""


class Opening:
    """The policies of one place (`s3://bucket/prefix/`) and the index beside it. Calls nothing until it is asked."""

    def __init__(self, session: Session, place: str) -> None:
        self.session, self.place, self.calls = session, place, Calls()
        self.aws = Aws(session, Scope(UNKNOWN, session.region_name or ""), on_call=self.calls)
        self._pool = ThreadPoolExecutor(THREADS)
        self._kept: Kept = {}
        self._begun: dict[Call, tuple[float, Future[Any]]] = {}

    def begin(self) -> None:
        """Ask for what was not asked for just now. What goes wrong is told when the answers are taken."""
        self.aws.client("s3")  # here: in a thread it would compete with the imports, and the call would come later
        late = [call for call in (self._load, self._index) if not self._is_news(call)]
        if any(not self._begun[call][1].done() for call in late if call in self._begun):
            # Frozen on its way: it must neither keep its threads from this run nor put what it brings in its place.
            self._pool, self._kept = ThreadPoolExecutor(THREADS), {}
        self._begun.update({call: (time.time(), self._pool.submit(call)) for call in late})

    def documents(self) -> Shelf:
        """Every document: as just begun to be fetched, else as they are now. Raises SenseError, as `load` does."""
        return self._taken(self._load)

    def owner_index(self) -> tuple[Indexed, ...]:
        """What carries an owner tag here: as just begun to be read, else as it is now. Raises as `read_index` does."""
        return self._taken(self._index)

    def _is_news(self, call: Call) -> bool:
        """By the clock on the wall: a function may have been frozen meanwhile, when all other clocks stand still."""
        return call in self._begun and 0 <= time.time() - self._begun[call][0] < FRESH

    def _taken(self, call: Callable[[], T]) -> T:
        """Each answer once."""
        news = self._is_news(call)
        future: Future[T] | None = self._begun.pop(call, (0.0, None))[1]
        return future.result() if future is not None and news else call()

    def _load(self) -> Shelf:
        return load((self.place,), lambda: self.aws, self._pool, self._kept)

    def _index(self) -> tuple[Indexed, ...]:
        return read_index(self.aws, None)
