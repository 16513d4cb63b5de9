"""What every service trap promises: the rule of one service that moto is too lenient about."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import moto.backends

from tests.world.call import Call, Params

if TYPE_CHECKING:
    from tests.world.sessions import Outside

Place = tuple[str, str]
"""Account and region."""


@dataclass(frozen=True)
class Scene:
    """The time at which a trap looks at the world, and clients that see it as it is."""

    now: datetime
    tick: int
    outside: "Outside"


class Trap:
    """Rules of one service. State is plain attributes: a stale view keeps a copy of the trap beside moto's data."""

    service: str

    def settle(self, scene: Scene) -> bool:
        """Let time pass: finish transitions that are due, notice what was done by hand. True if anything changed."""
        return False

    def before(self, call: Call, scene: Scene) -> Params | None:
        """Raise Refused, or answer in the service's place, or return None to let moto answer."""
        return None

    def after(self, call: Call, answer: Params, scene: Scene) -> None:
        """Correct moto's data and its (successful) answer in place."""


def backend(call: Call) -> Any:
    """moto's data for the service, account and region of this call."""
    return moto.backends.get_backend(call.service)[call.account][call.region]  # type: ignore[call-overload]


def backends(service: str) -> Iterator[tuple[Place, Any]]:
    """moto's data of every account and region in which the service was used."""
    for account, region, found in list(moto.backends.get_backend(service).iter_backends()):  # type: ignore[call-overload]
        yield (account, region), found
