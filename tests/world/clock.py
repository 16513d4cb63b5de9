"""The world's clock: it moves when a test says so, and moto's timestamps follow it."""

import datetime as real
from types import TracebackType
from typing import Any
from unittest.mock import patch

START = real.datetime(2026, 3, 2, 9, 0, tzinfo=real.UTC)  # a Monday, far from any change of DST


class Clock:
    """Stand still until told to advance; while open, `moto.core.utils` reads this clock.

    moto takes nearly all its time from `utcnow` and `unix_time` of that module, so replacing the `datetime`
    module *it* sees is enough. botocore keeps the real clock: signing and retries are untouched.
    """

    def __init__(self, start: real.datetime = START) -> None:
        self.now = start
        self._patch = patch("moto.core.utils.datetime", _FrozenModule(self))

    def advance(self, by: real.timedelta) -> None:
        if by < real.timedelta(0):
            raise ValueError(f"time does not go back: {by}")
        self.now += by

    def __enter__(self) -> "Clock":
        self._patch.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._patch.stop()


class _FrozenModule:
    """The datetime module, except that `datetime.now` and `utcnow` answer the clock's time."""

    def __init__(self, clock: Clock) -> None:
        class FrozenDatetime(real.datetime):
            @classmethod
            def now(cls, tz: real.tzinfo | None = None) -> real.datetime:  # type: ignore[override]
                return clock.now.astimezone(tz) if tz else clock.now.astimezone().replace(tzinfo=None)

            @classmethod
            def utcnow(cls) -> real.datetime:  # type: ignore[override]
                return clock.now.replace(tzinfo=None)

        self.datetime = FrozenDatetime

    def __getattr__(self, name: str) -> Any:
        return getattr(real, name)
