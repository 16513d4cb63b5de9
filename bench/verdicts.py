"""What Setpoint promises of its speed, held against what was measured: each a number and the most that it may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.cold_start import Start
from bench.race import Row
from bench.server.calls import is_read
from bench.server.rates import floor, is_rated

RESOURCES = 10_000
STATUS = "s3.PutObject"
STARTS = (("setpoint", "new process"), ("setpoint-warm", "second run"))
"""A function is new once in hours, and makes its second run every minute of them; peers start anew each time."""


@dataclass(frozen=True)
class Results:
    """All that was measured: rows, cold starts, and the stages of deciding alone."""

    rows: list[Row]
    starts: list[Start]
    stages: Mapping[str, Mapping[str, float]]

    def row(self, world: str, peer: str, setting: str = "http") -> Row | None:
        return next((one for one in self.rows if (one.world, one.peer, one.setting) == (world, peer, setting)), None)

    def start(self, name: str) -> Start | None:
        return next((one for one in self.starts if one.name == name), None)


@dataclass(frozen=True)
class Verdict:
    """One promise. `found` is None where it was not measured."""

    number: int
    promise: str
    most: float
    found: float | None
    how: str = ""

    @property
    def met(self) -> bool | None:
        return None if self.found is None else self.found <= self.most

    @property
    def word(self) -> str:
        return {True: "met", False: "not met", None: "not measured"}[self.met]


def judge(results: Results) -> list[Verdict]:
    """Every promise, in order."""
    judges = (_queues, _bulk, _tls, _rates, _converge, _cold, _growth, _quiet, _core)
    return [verdict for one in judges for verdict in one(results)]


def _queues(results: Results) -> Iterator[Verdict]:
    custodian, threads = results.row("queues", "custodian"), results.row("queues", "script-32")
    fewer = min((one for one in (custodian, threads) if one), key=lambda one: one.calls, default=None)
    for peer, word in STARTS:
        ours = results.row("queues", peer)
        yield _ratio(1, f"queues: calls, of the peer with the fewest ({word})", 0.22, ours, fewer, "calls")
        yield _ratio(1, f"queues: wall, of Cloud Custodian's ({word})", 0.07, ours, custodian, "wall")
        yield _ratio(1, f"queues: wall, of the script's with 32 threads ({word})", 0.5, ours, threads, "wall")
        yield _ratio(1, f"queues: CPU, of Cloud Custodian's ({word})", 0.35, ours, custodian, "cpu")


def _bulk(results: Results) -> Iterator[Verdict]:
    for world in ("alarms", "groups", "retention"):
        ours = results.row(world, "setpoint")
        more = None if ours is None else ours.calls - sum(ours.least.values())
        yield Verdict(2, f"{world}: calls above the least possible", 0, more, _against_least(ours))
        yield from _walls(results, world, 0.35)
    ours, custodian = results.row("tables", "setpoint"), results.row("tables", "custodian")
    yield _ratio(2, "tables: calls, of Cloud Custodian's", 0.25, ours, custodian, "calls")
    yield from _walls(results, "tables", 0.25)


def _walls(results: Results, world: str, most: float) -> Iterator[Verdict]:
    custodian = results.row(world, "custodian")
    for peer, word in STARTS:
        promise = f"{world}: wall, of Cloud Custodian's ({word})"
        yield _ratio(2, promise, most, results.row(world, peer), custodian, "wall")


def _tls(results: Results) -> Iterator[Verdict]:
    for world in dict.fromkeys(row.world for row in results.rows if row.setting == "https"):
        for setting, roots in (("https", "the full CA bundle"), ("roots", "AWS's roots")):
            for peer, word in STARTS:
                if secure := results.row(world, peer, setting):
                    promise = f"{world}: HTTPS with {roots}, of HTTP ({word})"
                    yield _ratio(3, promise, 1.15, secure, results.row(world, peer), "wall")


def _rates(results: Results) -> Iterator[Verdict]:
    """The floor is the start of the process and what the token buckets allow from then on, or the same run without
    rates where that takes longer. How long a start may take is promised elsewhere.
    """
    for row in results.rows:
        if row.peer == "setpoint" and row.setting == "rates":
            yield Verdict(4, f"{row.world}: throttled calls under the documented rates", 0, row.throttled)
            free = results.row(row.world, "setpoint")
            wanted = {name: count for name, count in row.least.items() if is_rated([name])} or row.by_operation
            unpaced = free.wall if free else 0.0
            least = max(row.paced_from + floor(wanted), unpaced)
            how = f"{row.wall:.2f} s; start {row.paced_from:.2f} s and token buckets {floor(wanted):.2f} s"
            how += f", without rates {unpaced:.2f} s; {_done(row)}"
            yield Verdict(4, f"{row.world}: wall under the rates, of the floor", 1.1, row.wall / least, how)


def _converge(results: Results) -> Iterator[Verdict]:
    ours = results.row("converge", "setpoint")
    more = None if ours is None else ours.calls - sum(ours.least.values())
    yield Verdict(5, "converge: calls above the script's and ownership's", 0, more, _against_least(ours))
    yield _ratio(
        5, "converge: wall, of the script's with one thread", 0.2, ours, results.row("converge", "script-1"), "wall"
    )


def _cold(results: Results) -> Iterator[Verdict]:
    ours, bare, naive, custodian = map(results.start, ("setpoint", "setpoint-bare", "naive", "custodian"))
    yield _sooner("to the first API call, of the naive list's", 0.8, ours, naive)
    yield _sooner("to the first API call, of Cloud Custodian's handler's", 0.9, ours, custodian)
    yield _sooner("with byte code, of without", 0.5, ours, bare)
    for world in dict.fromkeys(row.world for row in results.rows):
        ours, custodian = results.row(world, "setpoint"), results.row(world, "custodian")
        if ours and custodian:
            yield _ratio(6, f"{world}: peak memory, of Cloud Custodian's", 0.8, ours, custodian, "peak")


def _sooner(promise: str, most: float, ours: Start | None, theirs: Start | None) -> Verdict:
    if ours is None or theirs is None:
        return Verdict(6, f"cold start: {promise}", most, None)
    how = f"{ours.seconds:.3f} s of {theirs.seconds:.3f} s"
    return Verdict(6, f"cold start: {promise}", most, ours.seconds / theirs.seconds, how)


def _growth(results: Results) -> Iterator[Verdict]:
    for peer, word in (("setpoint-warm", "second run"), ("setpoint", "new process")):
        few, many = results.row("queues", peer), results.row("queues-10000", peer)
        if few is None or many is None:
            yield Verdict(7, f"CPU per resource at 10,000, of that at 1,000 ({word})", 1.1, None)
            continue
        each = [1000 * one.cpu / one.size for one in (many, few)]
        how = f"{each[0]:.3f} ms of {each[1]:.3f} ms"
        yield Verdict(7, f"CPU per resource at 10,000, of that at 1,000 ({word})", 1.1, each[0] / each[1], how)


def _quiet(results: Results) -> Iterator[Verdict]:
    for row in results.rows:
        if (
            not row.peer.startswith("setpoint")
            or row.setting != "http"
            or row.world in ("converge", "paced-alarms", "paced-retention")
        ):
            continue
        writes = {name: count for name, count in row.by_operation.items() if not is_read(name)}
        if row.peer == "setpoint":
            writes.pop(STATUS, None)  # a new process has written none yet
        words = "no write" if row.peer == "setpoint" else "no write and no status"
        yield Verdict(
            7, f"{row.world}: a run with nothing to do makes {words}", 0, sum(writes.values()), _listed(writes)
        )


def _core(results: Results) -> Iterator[Verdict]:
    if not results.stages:
        yield Verdict(8, "deciding alone: CPU milliseconds for 10,000 resources", 100, None)
    for strategy, stages in results.stages.items():
        taken = stages["decide"] + stages["plan"] + stages["guard"]
        how = ", ".join(f"{stage} {milliseconds:.0f}" for stage, milliseconds in stages.items())
        yield Verdict(
            8, f"{strategy}: CPU milliseconds of strategy, plan and guard for 10,000 resources", 100, taken, how
        )


def _ratio(number: int, promise: str, most: float, ours: Row | None, theirs: Row | None, of: str) -> Verdict:
    if ours is None or theirs is None:
        return Verdict(number, promise, most, None)
    mine, other = getattr(ours, of), getattr(theirs, of)
    unit = {"wall": " s", "cpu": " s", "peak": " MiB", "calls": ""}[of]
    digits = 0 if of in ("calls", "peak") else 2
    return Verdict(number, promise, most, mine / other, f"{mine:.{digits}f} of {other:.{digits}f}{unit}")


def _done(row: Row) -> str:
    """What a run changed, and what it left for the next."""
    told = row.summary.get("summary", {})
    return f"changed {sum(told.get(word, 0) for word in ('Created', 'Updated', 'Deleted'))} of {told.get('Drift', 0)}"


def _against_least(row: Row | None) -> str:
    if row is None:
        return ""
    names = sorted(row.by_operation.keys() | row.least.keys())
    other = {name: row.by_operation.get(name, 0) - row.least.get(name, 0) for name in names}
    return _listed({name: count for name, count in other.items() if count}, "+d")


def _listed(counts: Mapping[str, int], form: str = "d") -> str:
    return ", ".join(f"{name} {count:{form}}" for name, count in counts.items())
