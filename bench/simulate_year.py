"""A year of minutes through one policy: 525,600 ticks in one pass, its time and its memory.

    python -m bench.simulate_year            every policy of examples/simulate/
    python -m bench.simulate_year web-band   one

Each runs in a process of its own, on a year of load that it makes up: days, weeks, noise and a spike now and then.
"""

from __future__ import annotations

import math
import random
import resource
import sys
import time
from array import array
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from handler.options import Settings
from handler.simulation.choice import chosen
from handler.simulation.history import History
from handler.simulation.reading import read_history
from handler.simulation.replay import Replay, Setup, replay

EXAMPLES = Path(__file__).parents[1] / "examples" / "simulate"
MINUTES = 365 * 24 * 60
LONGEST = 60.0
"""Seconds of a processor that one policy may take."""


def write_year(path: Path, seed: int = 1) -> None:
    """A year of load: 1,000 to 9,000 a minute, less at weekends, and a spike about once a day."""
    draw, start = random.Random(seed), int(datetime(2025, 1, 1, tzinfo=UTC).timestamp())
    spike = 0.0
    with path.open("w") as file:
        file.write("time,load\n")
        for minute in range(MINUTES):
            day = 0.5 - 0.5 * math.cos((minute / 1440 - 0.17) * 2 * math.pi)
            week = 0.6 if minute // 1440 % 7 in (3, 4) else 1.0
            spike = 6000.0 if draw.random() < 1 / 1440 else spike * 0.9
            load = (1000 + 7000 * day * week + spike) * draw.uniform(0.95, 1.05)
            moment = datetime.fromtimestamp(start + minute * 60, UTC)
            file.write(f"{moment:%Y-%m-%dT%H:%M:%SZ},{load:.0f}\n")


def run(name: str, year: Path) -> tuple[float, float, float, float, int, int]:
    """Seconds to read, to replay, and of the processor for that; MiB at the peak beyond the start, ticks, changes."""
    policy = chosen(Settings(), str(EXAMPLES / f"{name}.json"), None)
    before, begun = _peak(), time.perf_counter()
    history = read_history(year)
    read, worked = time.perf_counter(), time.process_time()
    capacity = 6.0 if name.startswith("web") else None
    made: Replay = replay(policy, history if capacity else _backlog(history), Setup(capacity=capacity))
    done = time.perf_counter()
    used = time.process_time() - worked
    return read - begun, done - read, used, _peak() - before, made.score.ticks, made.score.change_count


def _backlog(history: History) -> History:
    """The load as a queue that holds a third of it."""
    (column,) = history.columns.values()
    scaled = array("d", (value / 3 for value in column.values))
    return History(history.source, {"backlog": type(column)(column.times, scaled)})


def _peak() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 1024 ** (2 if sys.platform == "darwin" else 1)


def main() -> int:
    names = sys.argv[1:] or sorted(path.stem for path in EXAMPLES.glob("*.json"))
    slow = False
    with TemporaryDirectory() as folder:
        year = Path(folder) / "year.csv"
        write_year(year)
        print(
            f"{'policy':<14}{'read s':>8}{'replay s':>10}{'cpu s':>8}{'us/tick':>9}{'MiB':>7}{'ticks':>9}{'changes':>9}"
        )
        for name in names:
            with get_context("spawn").Pool(1) as pool:
                read, took, used, memory, ticks, changes = pool.apply(run, (name, year))
            slow |= used > LONGEST
            row = f"{took:>10.1f}{used:>8.1f}{used / ticks * 1e6:>9.0f}{memory:>7.0f}{ticks:>9}{changes:>9}"
            print(f"{name:<14}{read:>8.1f}{row}{'  too slow' if used > LONGEST else ''}", flush=True)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
