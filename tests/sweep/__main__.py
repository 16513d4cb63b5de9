"""The long sweep: every scenario, every call, every way, every weather, and pairs of faults.

python -m tests.sweep [SCENARIO …]    about a quarter of an hour on two cores; exit code 1 if anything did not hold
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

import tests.conftest  # noqa: F401 - the environment, before moto reads it
from tests.sweep.campaign import AGAIN, SCENARIOS, Violation, many, reference, violations

Row = tuple[str, int, int, float, Sequence[Violation]]
WIDTHS = (24, 7, 13, 11, 9)


def sweep(name: str) -> Row:
    """One scenario's line of the table, and what did not hold."""
    begun = time.process_time()
    points = many(name)
    found = violations(name, points, AGAIN)
    return name, len(reference(name).calls), len(points), time.process_time() - begun, [*found]


def main(names: Sequence[str]) -> int:
    unknown = set(names) - SCENARIOS.keys()
    if unknown:
        print(f"no such scenario: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    begun, rows = time.monotonic(), []
    print(_line("scenario", "calls", "fault points", "violations", "seconds"))
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for done in as_completed([pool.submit(sweep, name) for name in names or SCENARIOS]):
            name, calls, points, seconds, found = row = done.result()
            rows.append(row)
            print(_line(name, calls, points, len(found), f"{seconds:.0f}"), flush=True)
            for one in found[:3]:
                print(f"    {one}"[:2000], flush=True)
    broken = sum(len(row[4]) for row in rows)
    print(_line(f"{len(rows)} scenarios", sum(row[1] for row in rows), sum(row[2] for row in rows), broken, ""))
    print(f"{(time.monotonic() - begun) / 60:.0f} minutes, {sum(row[3] for row in rows):.0f} seconds of processor time")
    return 1 if broken else 0


def _line(*cells: object) -> str:
    first, *rest = (str(cell) for cell in cells)
    return first.ljust(WIDTHS[0]) + "".join(cell.rjust(width) for cell, width in zip(rest, WIDTHS[1:], strict=True))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
