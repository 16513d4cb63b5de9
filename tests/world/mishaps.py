"""Which call meets which misfortune: faults, broken listings, and what happens in between."""

import threading
from collections.abc import Callable, Iterator

from tests.world import faults
from tests.world.call import Answer, Call, Params, refused
from tests.world.faults import Fault, FaultKind

BEFORE: tuple[FaultKind, ...] = ("crash_before", "throttled", "refused", "denied", "unavailable")
AFTER: tuple[FaultKind, ...] = ("crash_after", "lost")


class Mishaps:
    """Number the calls and strike them. Calls made inside an interlude have number 0 and are spared."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._interludes: dict[int, list[Callable[[], object]]] = {}
        self._awaited: list[tuple[str, Iterator[int], Callable[[], object]]] = []
        self._in_interlude = False
        self._broken_pages: list[tuple[str, object, Fault]] = []
        self._count = 0
        self._counting = threading.Lock()

    def next_number(self) -> int:
        with self._counting:
            self._count += not self._in_interlude
            return 0 if self._in_interlude else self._count

    def on_call(self, number: int, fn: Callable[[], object]) -> None:
        self._interludes.setdefault(number, []).append(fn)

    def meanwhile(self, operation: str, fn: Callable[[], object], number: int) -> None:
        self._awaited.append((operation, iter(range(number - 1, -1, -1)), fn))

    def _due(self, call: Call) -> list[Callable[[], object]]:
        if not call.number:
            return []
        due = self._interludes.pop(call.number, [])
        return due + [fn for operation, left, fn in self._awaited if operation == call.operation and next(left, 1) == 0]

    def interrupt(self, call: Call) -> None:
        """Run what was to happen just before this call."""
        for fn in self._due(call):
            self._in_interlude = True
            try:
                fn()
            except BaseException as error:
                call.outcome = type(error).__name__
                raise
            finally:
                self._in_interlude = False

    def before(self, call: Call) -> Answer | None:
        """End the call before it has any effect, if it is to be."""
        for name, token, fault in self._broken_pages:
            if call.name == name and token in call.params.values():
                self._broken_pages.remove((name, token, fault))
                _note(fault, call)
                return refused(faults.unavailable(call))
        striking = self._strike(call, BEFORE)
        return faults.fail_before(striking.kind, call) if striking else None

    def after(self, call: Call, answer: Params) -> None:
        """Lose the answer, if it is to be; break the next page of the listing, if there is one."""
        token = faults.next_page(answer)
        for fault in self.faults:
            if fault.kind == "partial_page" and call.number and token and fault.strikes(call):
                self._broken_pages.append((call.name, token, fault))
        if striking := self._strike(call, AFTER):
            faults.fail_after(striking.kind, call)

    def _strike(self, call: Call, kinds: tuple[FaultKind, ...]) -> Fault | None:
        with self._counting:
            striking = next((f for f in self.faults if call.number and f.kind in kinds and f.strikes(call)), None)
            if striking:
                _note(striking, call)
            return striking


def _note(fault: Fault, call: Call) -> None:
    fault.fired += 1
    call.fault = call.outcome = fault.kind
