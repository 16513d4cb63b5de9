"""A world put aside, to be begun with again and again: cheaper than to live through its beginning each time."""

import copy
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from moto.core.base_backend import BackendDict
from moto.moto_api._internal import mock_random

from tests.world.call import Call
from tests.world.trap import Place
from tests.world.views import Snapshot

if TYPE_CHECKING:
    from tests.world.world import World


@dataclass(frozen=True)
class Saved:
    """Everything of a world that passes on to the next call."""

    places: dict[BackendDict, dict[Place, Any]]
    traps: dict[str, dict[str, Any]]
    snapshots: list[Snapshot]
    history: list[Call]
    now: datetime
    tick: int
    count: int
    chance: Any


def save(world: "World") -> Saved | None:
    """Put the world aside; None where moto's data cannot be copied (SSM, and files of S3)."""
    backends = list(BackendDict._instances)
    if any(found.service_name in ("s3", "ssm") for found in backends):
        return None
    places = {found: {(account, region): data for account, region, data in found.iter_backends()} for found in backends}
    traps = {name: vars(trap) for name, trap in world.traps.items()}
    places, traps = copy.deepcopy((list(places.values()), traps))
    return Saved(
        dict(zip(backends, places, strict=True)),
        traps,
        list(world.views._snapshots),
        list(world.history),
        world.now,
        world.tick,
        world.mishaps._count,
        mock_random.getstate(),
    )


def restore(world: "World", saved: Saved) -> None:
    """Make a world that was just opened what the saved one was, history included."""
    contents, traps = copy.deepcopy((list(saved.places.values()), saved.traps))
    for found, places in zip(saved.places, contents, strict=True):
        if found not in BackendDict._instances:
            BackendDict._instances.append(found)
        for (account, region), data in places.items():
            found[account][region] = data
    for name, attributes in traps.items():
        vars(world.traps[name]).update(attributes)
    world.views._snapshots, world.history = list(saved.snapshots), list(saved.history)
    world._clock.now, world.tick, world.mishaps._count = saved.now, saved.tick, saved.count
    mock_random.setstate(saved.chance)
