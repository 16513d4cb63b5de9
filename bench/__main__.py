"""`make bench`: Setpoint beside what one would take instead, in one run on the same worlds."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import cold_start, core
from bench.mixed import known_kinds, mixed
from bench.peers import CUSTODIAN, ONE_THREAD, PEERS, SETPOINT, THREADS, WARM, Peer
from bench.places import ENVIRONMENTS, ROOT
from bench.race import Race, Row, Setting
from bench.report import machine, page, table, versions
from bench.server.stand import Emulator, Stand
from bench.verdicts import Results, judge
from bench.worlds import World, alarms, converge, groups, paced_alarms, queues, retention, tables

PAGE = ROOT / "docs" / "performance.md"
Entry = tuple[Peer, Setting]

PLAIN: Sequence[Entry] = [(peer, "http") for peer in PEERS]
TLS: Sequence[Entry] = [
    *((SETPOINT, "https"), (WARM, "https"), (THREADS, "https")),
    *((SETPOINT, "roots"), (WARM, "roots")),
]
RATED: Sequence[Entry] = [(SETPOINT, "rates"), (WARM, "rates"), (ONE_THREAD, "rates"), (THREADS, "rates")]
ONCE: Sequence[Entry] = [(peer, "http") for peer in (SETPOINT, CUSTODIAN, ONE_THREAD, THREADS)]
GROWING: Sequence[Entry] = [(peer, "http") for peer in (SETPOINT, WARM, THREADS)]


@dataclass(frozen=True)
class Heat:
    """A world and who runs over it, on which emulator."""

    world: World
    entries: Sequence[Entry]
    emulator: Emulator = "moto"


def heats(quick: bool) -> Iterator[Heat]:
    """Everything that is measured; quickly: a tenth of it."""
    share = 10 if quick else 1
    yield Heat(queues(1000 // share), [*PLAIN, *TLS])
    yield Heat(alarms(1000 // share), [*PLAIN, *TLS, *RATED])
    yield Heat(tables(200 // share), [*PLAIN, *TLS])
    yield Heat(groups(1000 // share), [*PLAIN, *TLS, *RATED])
    yield Heat(retention(1000 // share), PLAIN)
    yield Heat(mixed(600 // share, known_kinds()), [*PLAIN, (SETPOINT, "https"), (SETPOINT, "rates")])
    paced = [(SETPOINT, "http"), (SETPOINT, "rates"), (ONE_THREAD, "rates"), (THREADS, "rates")]
    yield Heat(paced_alarms(12 if quick else 60), paced)
    yield Heat(retention(100, 12 if quick else 60), [*paced, (CUSTODIAN, "rates")])
    yield Heat(queues(100, "queues-100"), GROWING)
    if not quick:
        yield Heat(queues(10_000, "queues-10000"), GROWING)
    yield Heat(converge(100 // share, 50 // share, 50 // share), [*ONCE, (SETPOINT, "https")], "ministack")


def main() -> None:
    given = _arguments()
    begun = time.monotonic()
    folder = ENVIRONMENTS / "output"
    folder.mkdir(exist_ok=True)
    chosen = [heat for heat in heats(given.quick) if not given.worlds or heat.world.name in given.worlds.split(",")]
    rows: list[Row] = []
    for emulator in dict.fromkeys(heat.emulator for heat in chosen):
        with Stand(emulator, given.latency, given.pin) as stand:
            race = Race(stand, folder, given.pin)
            for heat in (heat for heat in chosen if heat.emulator == emulator):
                rows += (found := race.run(heat.world, heat.entries, given.rounds))
                print(table(found), flush=True)
    starts = [] if given.worlds and "cold" not in given.worlds else cold_start.measure(given.rounds)
    stages = {} if given.worlds and "core" not in given.worlds else core.measure()
    results = Results(rows, starts, stages)
    verdicts = judge(results)
    about = {**machine(), **versions(), "rounds": str(given.rounds), "took": f"{time.monotonic() - begun:.0f} s"}
    text = page(
        results,
        verdicts,
        about,
        known_kinds(),
        command="make bench-quick" if given.quick else "make bench",
        quick=given.quick,
    )
    print(text[text.index("## What it must show") :])
    if not given.worlds or given.write:
        Path(given.write or PAGE).write_text(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="worlds of a tenth, one round: to see that it works")
    parser.add_argument("--rounds", type=int, help="rounds that count: 3, quickly 1")
    parser.add_argument("--worlds", help="only these, with commas: queues,alarms,cold,core,…; writes no page")
    parser.add_argument("--write", help="another place for the page")
    parser.add_argument("--latency", type=float, default=20, help="milliseconds")
    parser.add_argument("--no-pin", dest="pin", action="store_false", help="do not give servers and clients a CPU each")
    given = parser.parse_args()
    given.rounds = given.rounds or (1 if given.quick else 3)
    return given


if __name__ == "__main__":
    main()
