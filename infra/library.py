"""The policy documents of one place in S3, and all that it takes to come to them.

Light on purpose: a cold function fetches its policies while everything else is still being imported, which takes as
long (`handler/ahead.py`).
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor

from infra.aws import Aws, Calls, Session
from infra.session import UNKNOWN
from infra.store import Kept, Shelf, load
from policies.world import Scope

FRESH = 10.0
"""Seconds for which documents that were fetched ahead are news. A run's own last as long."""

THREADS = 4
"""Enough for one document and for many: the function's own pool is not there yet."""


class Library:
    """One place (`s3://bucket/prefix/`), with a client of its own. Calls nothing until it is asked."""

    def __init__(self, session: Session, place: str) -> None:
        self.session, self.place, self.calls = session, place, Calls()
        self.aws = Aws(session, Scope(UNKNOWN, session.region_name or ""), on_call=self.calls)
        self._pool = ThreadPoolExecutor(THREADS)
        self._kept: Kept = {}
        self._begun: tuple[float, Future[Shelf]] | None = None

    def begin(self) -> None:
        """Fetch the documents in the background. What goes wrong is told when they are loaded."""
        self.aws.client("s3")  # here: in a thread it would compete with the imports, and the call would come later
        self._begun = (time.time(), self._pool.submit(self._load))

    def load(self) -> Shelf:
        """Every document: as just begun to be fetched if that went well, else as they are now.

        By the clock on the wall: a function may have been frozen in between, and then the other clocks stood still.
        """
        begun, self._begun = self._begun, None
        if begun is not None and 0 <= time.time() - begun[0] < FRESH and begun[1].exception() is None:
            return begun[1].result()
        return self._load()

    def _load(self) -> Shelf:
        return load((self.place,), lambda: self.aws, self._pool, self._kept)
