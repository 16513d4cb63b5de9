"""Peers over one world, interleaved: a round runs every peer once in every setting, so that a slow minute hits all."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

from bench.measure import Client, Run
from bench.peers import CUSTODIAN_OUTPUT, Peer, environment
from bench.seeding import Seeding
from bench.server.stand import Stand
from bench.worlds import World

Setting = Literal["http", "https", "roots", "rates"]
"""Plain HTTP; TLS with the full CA bundle; TLS with AWS's roots alone, as the template deploys it; plain HTTP with
AWS's documented rates enforced."""


@dataclass(frozen=True)
class Row:
    """One peer in one world and setting: medians over the rounds, and what the proxy saw in one of them.

    `wall` and `cpu` are seconds, `peak` is MiB, `calls` the median of all rounds. `paced_from` is the seconds from the
    start of the process to its first call that has a rate.
    """

    world: str
    title: str
    size: int
    peer: str
    setting: Setting
    rounds: int
    wall: float
    wall_least: float
    wall_most: float
    cpu: float
    peak: float
    calls: float
    by_operation: Mapping[str, int]
    throttled: int
    late: int
    connections: int
    statuses: Sequence[int]
    least: Mapping[str, int]
    summary: Mapping[str, Any]
    paced_from: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Race:
    """Runs peers against one stand, and keeps their output in a folder."""

    def __init__(self, stand: Stand, folder: Path, pinned: bool) -> None:
        self._stand, self._folder, self._pinned = stand, folder, pinned
        self._seeding = Seeding(stand, folder / "seeding.log", pinned)

    def run(self, world: World, entries: Sequence[tuple[Peer, Setting]], rounds: int) -> list[Row]:
        """Every entry's medians over so many rounds, after one round that does not count."""
        self._seeding.make(world)
        runs: dict[tuple[Peer, Setting], list[Run]] = {entry: [] for entry in entries}
        for number in range(-1, rounds):
            for peer, setting in entries:
                if world.restored and number < 0:
                    continue  # every start is the first
                if world.restored:
                    self._seeding.make(world)
                run = self._once(world, peer, setting)
                if number >= 0:
                    runs[peer, setting].append(run)
        self._stand.rate(False)
        return [_row(world, peer, setting, found) for (peer, setting), found in runs.items()]

    def _once(self, world: World, peer: Peer, setting: Setting) -> Run:
        shutil.rmtree(CUSTODIAN_OUTPUT / "policies", ignore_errors=True)
        self._stand.rate(setting == "rates")
        address = self._stand.https if setting in ("https", "roots") else self._stand.http
        log = self._folder / f"{world.name}-{peer.name}.log"
        self._stand.reset()
        client = Client(peer.command(world), environment(self._stand, address, peer, setting), log, self._pinned)
        if not peer.warm:
            run = client.finish()
            return Run(run.wall, run.cpu, run.peak, run.status, self._stand.stats(), run.summary)
        client.ask()
        self._stand.reset()
        told = client.ask()
        proxy = self._stand.stats()
        run = client.finish()
        return Run(told["wall"], told["cpu"], run.peak, run.status, proxy, told)


def _row(world: World, peer: Peer, setting: Setting, runs: Sequence[Run]) -> Row:
    walls = [run.wall for run in runs]
    totals = [sum(run.calls.values()) for run in runs]
    return Row(
        world=world.name,
        title=world.title,
        size=world.size,
        peer=peer.name,
        setting=setting,
        rounds=len(runs),
        wall=round(median(walls), 4),
        wall_least=round(min(walls), 4),
        wall_most=round(max(walls), 4),
        cpu=round(median(run.cpu for run in runs), 4),
        peak=round(median(run.peak for run in runs), 1),
        calls=median(totals),
        by_operation=runs[totals.index(sorted(totals)[len(totals) // 2])].calls,
        throttled=max(sum(run.proxy.get("throttled", {}).values()) for run in runs),
        late=max(run.proxy.get("late", 0) for run in runs),
        connections=max(run.proxy.get("connections", 0) for run in runs),
        statuses=sorted({run.status for run in runs}),
        least=world.least,
        summary=runs[-1].summary,
        paced_from=round(median(run.proxy.get("paced_from", 0.0) for run in runs), 4),
    )
