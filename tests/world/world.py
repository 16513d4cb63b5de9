"""The world fixture: a session over moto that is as strict as AWS, with a clock, a history and faults."""

import os
import pickle
import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any
from unittest.mock import patch

from moto.core.models import botocore_stubber
from moto.moto_api._internal import mock_random

from tests.world import index, inventory, paging, tag_rules, views
from tests.world.call import Answer, Call, Params, Refused, accepted, refused
from tests.world.clock import START, Clock
from tests.world.faults import Fault, next_page
from tests.world.hooks import Flight, Hooks, OutsideHooks
from tests.world.mishaps import Mishaps
from tests.world.sessions import Outside, WorldSession
from tests.world.trap import Scene, Trap
from tests.world.traps_autoscaling import GroupTraps
from tests.world.traps_cloudwatch import AlarmTraps
from tests.world.traps_dynamodb import TableTraps
from tests.world.traps_ec2 import InstanceTraps
from tests.world.traps_ecs import ServiceTraps
from tests.world.traps_elasticache import ReplicationGroupTraps
from tests.world.traps_kinesis import StreamTraps
from tests.world.traps_lambda import FunctionTraps
from tests.world.traps_logs import LogGroupTraps
from tests.world.traps_rds import DatabaseTraps
from tests.world.traps_s3 import BucketTraps
from tests.world.traps_sqs import QueueTraps
from tests.world.traps_ssm import ParameterTraps
from tests.world.traps_tagging import TagIndexTraps
from tests.world.views import LAGGING, Snapshot, Views

os.environ.setdefault("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")  # 34 ms for a first EC2 call instead of 552

Pick = Callable[[Call], bool]
REMEMBERED = frozenset({"DescribeInstances", "DescribeInstanceStatus"})
"""Reads whose answer stays the same until something is written or comes due."""


def _always(call: Call) -> bool:
    return True


class World:
    """One AWS account whose time, randomness and misfortune belong to the test.

    The same seed and the same calls give the same history, ids included. One world is open at a time (moto is global);
    opening one costs well under 1 ms. `sqs`, `ec2`, `cloudwatch` and `dynamodb` are the traps and their settings.
    """

    def __init__(
        self, seed: int = 0, region: str = "eu-west-1", account: str = "123456789012", start: datetime = START
    ) -> None:
        self.seed, self.region, self.account = seed, region, account
        self.tick = 0
        self.process: object = None
        """What the code under test has in memory from one run to the next; for the test to say."""
        self.history: list[Call] = []
        self.mishaps = Mishaps()
        self.page_size: int | None = None
        self.shuffle = False
        self.index_lag = 0
        self.lock = threading.RLock()
        self.views = Views()
        self.sqs, self.ec2, self.cloudwatch, self.dynamodb = QueueTraps(), InstanceTraps(), AlarmTraps(), TableTraps()
        self.kinesis, self.s3, self.ssm = StreamTraps(), BucketTraps(), ParameterTraps()
        self.autoscaling, self.ecs, self.rds = GroupTraps(), ServiceTraps(), DatabaseTraps()
        self.functions, self.elasticache = FunctionTraps(), ReplicationGroupTraps()
        self.traps: dict[str, Trap] = {
            trap.service: trap
            for trap in (
                self.sqs,
                self.ec2,
                self.cloudwatch,
                self.dynamodb,
                self.kinesis,
                self.s3,
                self.ssm,
                self.autoscaling,
                self.ecs,
                self.functions,
                self.elasticache,
                self.rds,
                LogGroupTraps(),
                TagIndexTraps(),
            )
        }
        self.session, self.outside = _session(region, HOOKS), Outside(_session(region, OUTSIDE), account)
        self._answers: dict[str, tuple[int, bytes]] = {}
        self.watchers: list[Callable[[Call], None]] = []
        self._clock = Clock(start)
        self._lag = 0
        self._lags: Pick = _always
        self._open = ExitStack()

    # --- the test's side -------------------------------------------------------------------------------------------

    def __enter__(self) -> "World":
        if HOOKS.world is not None:
            raise RuntimeError("another World is open; moto's data is global, so there can be one")
        mock_random.seed(self.seed)
        views.reset()
        self._open.enter_context(patch.object(botocore_stubber, "enabled", True))  # mock_aws, less 4 ms
        self._open.enter_context(index.completed())
        self._open.enter_context(self._clock)
        HOOKS.world = OUTSIDE.world = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        HOOKS.world = OUTSIDE.world = None
        for session in _SESSIONS.values():
            session.forget_handlers()
        views.reset()
        self._open.close()

    @property
    def now(self) -> datetime:
        return self._clock.now

    def advance(self, by: timedelta | None = None, **units: float) -> None:
        """Let time pass: `advance(minutes=1)` or `advance(timedelta(...))`. Nothing else moves the clock."""
        with self.lock:
            self.settle()  # what was done by hand happened before the time that passes now
            self._clock.advance(by if by is not None else timedelta(**units))
            self.settle()

    def tick_started(self) -> None:
        """Begin a sensing round: transitions come due, and stale reads get a new past. Call it before each run."""
        with self.lock:
            self.tick += 1
            self.settle()
            self.views.take(self.tick, self.now, self.traps)

    def inject(self, *faults: Fault) -> None:
        """Add faults; each strikes as often as its `times` says."""
        self.mishaps.faults.extend(faults)

    def on_call(self, number: int, fn: Callable[[], object]) -> None:
        """Run `fn` just before call `number` is sent: trip a deadline, change something, run the engine a second time.

        Calls made meanwhile, by whatever thread, are recorded with number 0; they neither count nor fault.
        """
        self.mishaps.on_call(number, fn)

    def meanwhile(self, operation: str, fn: Callable[[], object], number: int = 1) -> None:
        """The same, just before the next call of an operation, or the `number`-th from now."""
        self.mishaps.meanwhile(operation, fn, number)

    def watch(self, fn: Callable[[Call], None]) -> None:
        """Let `fn` look at the world after every write, before its answer arrives or is lost. It must not raise."""
        self.watchers.append(fn)

    def stale(self, lag: int, only: Pick = _always) -> None:
        """Let reads picked by `only` (default: all) answer what was true at the start of the tick `lag` ticks ago.

        Before there have been that many ticks they see the first tick's start. Only the services in `views.LAGGING`
        and the tag index lag. 0 ends it.
        """
        self._lag, self._lags = lag, only

    def calls(
        self, mutating: bool | None = None, service: str | None = None, operation: str | None = None
    ) -> list[Call]:
        """Return the recorded calls, filtered."""
        return [
            call
            for call in self.history
            if mutating in (None, call.mutating)
            and service in (None, call.service)
            and operation in (None, call.operation)
        ]

    def resources(self, region: str | None = None) -> dict[str, Any]:
        """Return everything that exists, in a form that is equal for equal worlds; see `inventory`."""
        with self.lock:
            self.settle()
            return inventory.take(self.outside, self.dynamodb, self.kinesis, region or self.region, self.account)

    # --- the hooks' side -------------------------------------------------------------------------------------------

    def record(self, service: str, operation: str, params: Params, region: str, account: str) -> Call:
        with self.lock:
            call = Call(self.mishaps.next_number(), service, operation, params, region, account, self.tick)
            self.history.append(call)
            return call

    def begin(self, flight: Flight) -> Answer | None:
        """Decide how a call starts: interrupted, failed, answered by a trap, or (None) sent to moto."""
        call = flight.call
        self.mishaps.interrupt(call)
        if answer := self.mishaps.before(call):
            flight.answered = True
            return answer
        flight.held.enter_context(self.lock)
        try:
            return self._decide(flight)
        except BaseException:
            flight.held.close()
            raise

    def end(self, flight: Flight, status: int, answer: Params) -> None:
        """Correct moto's answer, record the outcome, and lose the answer if a fault says so."""
        call = flight.call
        try:
            if status < 300 and not flight.answered:
                self._trap_of(flight).after(call, answer, self._scene(flight.past))
                self._remember(flight, answer)
            call.outcome = "ok" if status < 300 else str(answer.get("Error", {}).get("Code", status))
            call.notes["more"] = next_page(answer) is not None
            if call.mutating:
                self.views.touch(call.service)
                for watch in self.watchers:
                    watch(call)
        finally:
            flight.held.close()
        if status < 300 and self.shuffle:
            paging.shuffle(call, answer, self.seed)
        if call.fault is None:
            self.mishaps.after(call, answer)

    def settle(self) -> None:
        """Let every trap catch up with the clock, the tick, and what was done by hand."""
        for service, trap in self.traps.items():
            if trap.settle(self._scene(None)):
                self.views.touch(service)

    def _decide(self, flight: Flight) -> Answer | None:
        self.settle()
        flight.past = self._past(flight.call)
        if flight.past is not None:
            flight.held.enter_context(views.swapped_in(flight.past))
        try:
            if flight.call.mutating:
                tag_rules.check(flight.call)
            answer = self._trap_of(flight).before(flight.call, self._scene(flight.past))
        except Refused as no:
            flight.answered = True
            return refused(no)
        answer = self._same_again(flight) if answer is None else answer
        flight.answered = answer is not None
        return None if answer is None else accepted(answer)

    def _remember(self, flight: Flight, answer: Params) -> None:
        """Instances are described by a kilobyte each, which moto writes and botocore reads for 17 ms."""
        if flight.past is None and flight.call.operation in REMEMBERED:
            self._answers[_key(flight.call)] = self.views.version, pickle.dumps(answer)

    def _same_again(self, flight: Flight) -> Params | None:
        """The answer of before, while nothing has changed since."""
        version, answer = self._answers.get(_key(flight.call), (-1, b"")) if flight.past is None else (-1, b"")
        return dict(pickle.loads(answer)) if version == self.views.version else None

    def _past(self, call: Call) -> Snapshot | None:
        """Choose the snapshot that a read sees; None is the present."""
        is_index = call.service == "resourcegroupstaggingapi"
        if call.mutating or not (is_index or call.service in LAGGING):
            return None
        lag = max(self._lag if self._lag and self._lags(call) else 0, self.index_lag if is_index else 0)
        return self.views.at(self.tick - lag) if lag else None

    def _trap_of(self, flight: Flight) -> Trap:
        service = flight.call.service
        past = flight.past.services.get(service) if flight.past else None
        return (past.trap if past else None) or self.traps.get(service) or Trap()

    def _scene(self, past: Snapshot | None) -> Scene:
        return Scene(past.now, past.tick, self.outside) if past else Scene(self.now, self.tick, self.outside)


def _key(call: Call) -> str:
    return repr((call.operation, call.notes["sent"], call.region, call.account))


HOOKS, OUTSIDE = Hooks(), OutsideHooks()
_SESSIONS: dict[tuple[str, type], WorldSession] = {}


def _session(region: str, hooks: Hooks | OutsideHooks) -> WorldSession:
    """Return the process's one session of a region that these hooks listen to."""
    key = (region, type(hooks))
    if key not in _SESSIONS:
        _SESSIONS[key] = WorldSession(region)
        hooks.register(_SESSIONS[key])
    return _SESSIONS[key]
