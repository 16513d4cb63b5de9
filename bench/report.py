"""What was measured, as tables for the terminal and as a page for the documentation."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.mixed import left_out
from bench.peers import PEERS
from bench.places import ROOT, libraries_of
from bench.race import Row
from bench.verdicts import Results, Verdict

TITLES = {peer.name: peer.title for peer in PEERS}
SETTINGS = {"http": "HTTP", "https": "HTTPS", "roots": "HTTPS, AWS's roots", "rates": "HTTP, rates"}
VERSIONED = {
    "sdk": ("boto3", "pydantic", "aws-lambda-powertools"),
    "emulator": ("moto",),
    "ministack": ("ministack",),
    "custodian": ("c7n", "boto3"),
}
HEAD = ("who", "over", "wall s", "CPU s", "calls", "peak MiB", "throttled", "wall of", "CPU of", "calls of")

COMPARED = """\
What is compared with what:

- **Setpoint, new process** is the built artifact's handler in a process of its own, from its start to its end: policies
  read from S3, guardrails on, statuses written. **Second run of a process** is the next tick of a warm function. Deep
  reads are spread over `driftCheck` (5 minutes), so a run reads a fifth of what lists do not show; the peers have no
  such notion and read everything each time. Which fifth is decided by hash, so the number varies with the minute.
- **Cloud Custodian** runs its nearest policies, with its cache off (for the mixed world in memory). It cannot create,
  nor set VisibilityTimeout, nor put an alarm. It proves no ownership and writes no status.
- **The boto3 script** is a careful one: one session, a client per service, bulk calls, tags from one index. It takes
  what has its name for its own. In the mixed world it only looks.
- In *queues*, *alarms*, *tables*, *groups* and *mixed* Setpoint's policies own everything (Setpoint made it). In
  *retention* the log groups are others', and `enforce` keeps their retention: the job that Cloud Custodian does.
- All use the same interpreter; boto3 is the one of the lock file (Cloud Custodian pins its own). All packages have byte
  code that is never checked. Each client has one CPU, the servers another.
- Every reply comes 20 ms after its request. Replies to reads are kept by the proxy, so the emulator is not what is
  measured; writes are the emulator's own. HTTPS is with botocore's full CA bundle and one more authority;
  *AWS's roots* is with the six roots that the artifact ships, which is how the template deploys it.
- *Least* is the number of calls that no design avoids: pages of the lists and of the tag index, a fifth of the deep
  reads, two for the policies, two for the statuses, and before each write the look by which ownership is proven.
- Factors are of the first row in the same world and setting that is not Setpoint's.
"""


def table(rows: Sequence[Row]) -> str:
    """The rows of one world as a Markdown table."""
    title = f"### {rows[0].world}: {rows[0].title}\n"
    least = sum(rows[0].least.values())
    head = [
        title,
        f"Least calls: {least}.\n" if least else "",
        _line(HEAD),
        _line(["---"] * 2 + ["--:"] * (len(HEAD) - 2)),
    ]
    return "\n".join([*head, *(_line(_cells(row, _base(row, rows))) for row in rows), ""])


def page(
    results: Results,
    verdicts: Sequence[Verdict],
    about: Mapping[str, str],
    kinds: Sequence[str],
    *,
    command: str,
    quick: bool,
) -> str:
    """The whole page."""
    worlds = dict.fromkeys(row.world for row in results.rows)
    return "\n".join(
        [
            "# Performance\n",
            f"Made by `{command}`; do not edit. Medians over {about['rounds']} round(s), all peers interleaved.\n",
            *(
                ["**A quick run over small worlds, on a machine with other work: it shows that the bench works.**\n"]
                if quick
                else []
            ),
            *_about(about),
            "## Worlds\n",
            *(table([row for row in results.rows if row.world == world]) for world in worlds),
            *_operations(results),
            *_cold(results),
            *_core(results),
            *_verdicts(verdicts),
            "## How it was measured\n",
            COMPARED,
            *_left_out(kinds),
        ]
    )


def machine() -> dict[str, str]:
    """Where it ran, and when."""
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "machine": f"{os.cpu_count()} CPUs ({_processor()}), {platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """What was measured, by version."""
    found = {"Python": platform.python_version(), "Setpoint": _commit()}
    for environment, packages in VERSIONED.items():
        for package in packages:
            shown = f"{package} ({environment})" if environment == "custodian" and package == "boto3" else package
            found[shown] = _version(environment, package)
    return found


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def _version(environment: str, package: str) -> str:
    wanted = package.replace("-", "_")
    names = (folder.name.removesuffix(".dist-info") for folder in libraries_of(environment).glob("*.dist-info"))
    return next((name.rpartition("-")[2] for name in names if name.rpartition("-")[0] == wanted), "?")


def _about(about: Mapping[str, str]) -> Iterator[str]:
    yield _line(["what", "which"])
    yield _line(["---", "---"])
    for word, value in about.items():
        yield _line([word, value])
    yield ""


def _cells(row: Row, base: Row | None) -> Iterator[str]:
    name = TITLES[row.peer] + ("" if row.statuses == [0] else f" (exit status {row.statuses})")
    yield from (name, SETTINGS[row.setting], f"{row.wall:.2f}", f"{row.cpu:.2f}", f"{row.calls:.0f}")
    yield from (f"{row.peak:.0f}", str(row.throttled))
    for of in ("wall", "cpu", "calls"):
        yield "" if base is None or base is row else f"{getattr(row, of) / getattr(base, of):.2f}"


def _base(row: Row, rows: Sequence[Row]) -> Row | None:
    """What a row is compared with."""
    others = (one for one in rows if one.setting == row.setting and not one.peer.startswith("setpoint"))
    return next(others, None)


def _operations(results: Results) -> Iterator[str]:
    yield "## Calls by operation\n"
    yield "Of Setpoint in a new process, over HTTP, beside the least possible.\n"
    yield _line(["world", "operation", "calls", "least"])
    yield _line(["---", "---", "--:", "--:"])
    for row in results.rows:
        if (row.peer, row.setting) == ("setpoint", "http"):
            for name in sorted({*row.by_operation, *row.least}):
                yield _line([row.world, name, str(row.by_operation.get(name, 0)), str(row.least.get(name, "")) or "-"])
    yield ""


def _cold(results: Results) -> Iterator[str]:
    if results.starts:
        yield "## Cold start\n"
        yield "From the event to the first API call, in the official runtime client; peak memory of that process.\n"
        yield _line(["what", "s", "peak MiB"])
        yield _line(["---", "--:", "--:"])
        for start in results.starts:
            yield _line([start.title, f"{start.seconds:.3f}", f"{start.peak:.0f}"])
        yield ""


def _core(results: Results) -> Iterator[str]:
    if results.stages:
        names = list(next(iter(results.stages.values())))
        yield "## Deciding alone\n"
        yield "CPU milliseconds for 10,000 resources that are as they should be; the least of five passes.\n"
        yield _line(["strategy", *names])
        yield _line(["---", *["--:"] * len(names)])
        for strategy, stages in results.stages.items():
            yield _line([strategy, *(f"{stages[name]:.0f}" for name in names)])
        yield ""


def _verdicts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield "## What it must show\n"
    counted = [sum(one.word == word for one in verdicts) for word in ("met", "not met", "not measured")]
    yield "{} met, {} not met, {} not measured.\n".format(*counted)
    yield _line(["", "promise", "at most", "found", "", "how"])
    yield _line(["--:", "---", "--:", "--:", "---", "---"])
    for one in verdicts:
        found = "" if one.found is None else f"{one.found:.2f}".removesuffix(".00")
        word = one.word if one.met is not False else "**not met**"
        yield _line([str(one.number), one.promise, f"{one.most:g}", found, word, one.how])
    yield "\nThat none of it weakens a guarantee is shown by the sweeps of `make test`, which run the same code.\n"


def _left_out(kinds: Sequence[str]) -> Iterator[str]:
    yield "Not in the mixed world:\n"
    for kind, reason in left_out(kinds).items():
        yield f"- `{kind}`: {reason}"
    yield ""


def _line(cells: Sequence[str] | Iterator[str]) -> str:
    return "| " + " | ".join(cells) + " |"
