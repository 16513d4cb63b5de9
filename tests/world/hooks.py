"""The layer itself: botocore's documented events of a session, routed to the world that is open.

`provide-client-params` sees what the caller passed and may shrink the page size; `before-call` records and faults, and
holds the world's lock until `after-call` or `after-call-error`, so that one call at a time is decided and has its
effect. moto answers in between, in its own `before-send` handler.
"""

from contextlib import ExitStack
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from botocore.awsrequest import AWSResponse
from moto.iam.models import get_account_id_from

from tests.world import sessions
from tests.world.call import Answer, Call, is_mutating
from tests.world.paging import limited

if TYPE_CHECKING:
    from tests.world.sessions import WorldSession
    from tests.world.world import World

FLIGHT = "setpoint-world-flight"


class Flight:
    """A call between its two events."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.held = ExitStack()
        self.answered = False
        self.past: Any = None


class Hooks:
    """Route one session's events to the open world. Registered once, whatever the number of worlds."""

    def __init__(self) -> None:
        self.world: World | None = None

    def register(self, session: "WorldSession") -> None:
        session.events.register_first("provide-client-params.*.*", self._note)  # type: ignore[arg-type]
        session.events.register_last("before-call.*.*", self._before)  # type: ignore[arg-type]
        session.events.register_first("after-call.*.*", self._after)
        session.events.register_first("after-call-error.*.*", self._failed)
        session.keep_handlers(session.events)

    def _open(self) -> "World":
        if self.world is None:
            raise RuntimeError("this client belongs to a World that is closed: use the session inside `with World()`")
        return self.world

    def _note(self, params: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> dict[str, Any]:
        service = model.service_model.service_name
        sent = limited(f"{service}:{model.name}", params, self._open().page_size)
        context[FLIGHT] = deepcopy(params), sent
        return sent

    def _before(
        self, model: Any, params: dict[str, Any], request_signer: Any, context: dict[str, Any], **_: Any
    ) -> Answer | None:
        world = self._open()
        account = _account(world, params, request_signer)
        asked, sent = context[FLIGHT]
        call = world.record(model.service_model.service_name, model.name, asked, context["client_region"], account)
        call.notes["sent"] = sent
        flight = context[FLIGHT] = Flight(call)
        return world.begin(flight)

    def _after(self, http_response: AWSResponse, parsed: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        flight = context[FLIGHT]
        if isinstance(flight, Flight):  # not if the code under test answered the call itself, in a handler of its own
            self._open().end(flight, http_response.status_code, parsed)

    def _failed(self, exception: Exception, context: dict[str, Any], **_: Any) -> None:
        flight = context[FLIGHT]
        flight.call.outcome = type(exception).__name__
        flight.held.close()


class OutsideHooks:
    """Let the world notice what is done from outside: one call at a time, time passed, copies outdated."""

    def __init__(self) -> None:
        self.world: World | None = None

    def register(self, session: "WorldSession") -> None:
        session.events.register_last("before-call.*.*", self._before)
        session.events.register_first("after-call.*.*", self._after)
        session.events.register_first("after-call-error.*.*", self._failed)
        session.keep_handlers(session.events)

    def _before(self, model: Any, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        if self.world is None:
            raise RuntimeError("world.outside belongs to a World that is closed")
        account = sessions.account_of(context["client_config"])
        if account:
            params["headers"]["x-moto-account-id"] = account
        self.world.lock.acquire()
        if is_mutating(model.service_model.service_name, model.name):
            self.world.settle()

    def _after(self, model: Any, **_: Any) -> None:
        assert self.world is not None
        service = model.service_model.service_name
        if is_mutating(service, model.name):
            self.world.views.touch(service)
        self.world.lock.release()

    def _failed(self, **_: Any) -> None:
        assert self.world is not None
        self.world.lock.release()


def _account(world: "World", params: dict[str, Any], request_signer: Any) -> str:
    """The world's account for its own credentials; for those of an assumed role, the role's."""
    key = request_signer._credentials.access_key if request_signer._credentials else sessions.KEY
    if key == sessions.KEY:
        params["headers"]["x-moto-account-id"] = world.account
        return world.account
    return str(get_account_id_from(key))
