"""Reads recorded metrics from CSV and JSON files.

A CSV has a time and one or more values a line, and may have a header with their names; an empty cell is a gap. JSON is
a list of [time, value], or what `aws cloudwatch get-metric-data` prints. A time is ISO 8601 (UTC where it names no
offset) or seconds or milliseconds since the epoch, and is the start of what was measured, as in CloudWatch.
"""

from __future__ import annotations

import csv
import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

from handler.simulation.history import Column, History
from policies.errors import ParseError, Problem, SenseError
from policies.grammar import brief

_MOST = 10
"""Mistakes that are told of one file."""

_LARGEST = 2.0**360
_EARLIEST, _LATEST = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (2000, 2100))


def read_history(path: Path) -> History:
    """The columns of a file. Raises ParseError with what is wrong, line by line, SenseError where it cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            read = _read_json if path.suffix.lower() == ".json" else _read_csv
            columns = read(str(path), file)
    except OSError as error:
        raise SenseError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise SenseError(f"cannot read {path}: it is no UTF-8 text") from error
    return History(str(path), columns)


def moment_of(value: Any) -> int:
    """Seconds since the epoch; ValueError says what is wrong with it."""
    try:
        seconds = float(value)
        seconds = seconds / 1000 if seconds >= _LATEST else seconds
    except (TypeError, ValueError):
        seconds = _iso(value)
    if not _EARLIEST <= seconds < _LATEST:
        raise ValueError(f"found the time {brief(value)}; allowed: 2000 to 2099, as ISO 8601 or seconds since 1970")
    return int(seconds)


def _iso(value: Any) -> float:
    try:
        found = datetime.fromisoformat(str(value).strip())
    except ValueError:
        raise ValueError(f"found the time {brief(value)}; allowed: 2026-03-02T09:00:00Z, or 1772442000") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def value_of(value: Any) -> float:
    """A number; ValueError says what is wrong with it."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = float("nan")
    if not isfinite(found) or isinstance(value, bool):
        raise ValueError(f"found the value {brief(value)}; allowed: a number, or nothing for a gap")
    if abs(found) > _LARGEST:
        raise ValueError(f"found the value {brief(value)}; allowed: what CloudWatch keeps, from -2^360 to 2^360")
    return found


@dataclass
class _Draft:
    """Columns in the making, and what is wrong."""

    source: str
    columns: dict[str, tuple[array[int], array[float], list[tuple[int, str]]]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def add(self, name: str, place: str, time: Any, value: Any) -> None:
        times, values, late = self.columns.setdefault(name, (array("q"), array("d"), []))
        try:
            moment, number = moment_of(time), value_of(value)
        except ValueError as error:
            self.wrong(place, str(error))
            return
        if late or (times and moment <= times[-1]):
            late.append((len(times), place))
        times.append(moment)
        values.append(number)

    def wrong(self, place: str, message: str) -> None:
        self.problems.append(Problem(place, message))
        if len(self.problems) == _MOST:
            raise ParseError(self.source, self.problems)

    def done(self) -> Mapping[str, Column]:
        found = {name: self._sorted(name) for name, (times, _, _) in self.columns.items() if times}
        if not found and not self.problems:
            self.wrong("1", "there is no value in it; write a time and a value a line: 2026-03-02T09:00:00Z,42")
        if self.problems:
            raise ParseError(self.source, self.problems)
        return found

    def _sorted(self, name: str) -> Column:
        times, values, late = self.columns[name]
        if not late:
            return Column(times, values)
        order, places = sorted(range(len(times)), key=times.__getitem__), dict(late)
        for earlier, later in pairwise(order):
            if times[earlier] == times[later]:
                when = datetime.fromtimestamp(times[later], UTC).isoformat()
                self.wrong(
                    places.get(max(earlier, later), places.get(min(earlier, later), "")),
                    f"the time {when} comes twice; keep one",
                )
        return Column(array("q", (times[one] for one in order)), array("d", (values[one] for one in order)))


def _read_csv(source: str, lines: Iterable[str]) -> Mapping[str, Column]:
    draft, names = _Draft(source), None
    rows = csv.reader(lines, strict=True)
    try:
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            if names is None:
                names, is_header = _names(row)
                if is_header:
                    continue
            place = str(rows.line_num)
            if len(row) != len(names) + 1:
                draft.wrong(
                    place, f"found {len(row)} cells; expected {len(names) + 1}, with commas: a time, {', '.join(names)}"
                )
                continue
            for name, cell in zip(names, row[1:], strict=True):
                if cell.strip():
                    draft.add(name, place, row[0], cell)
    except csv.Error as error:
        draft.wrong(str(rows.line_num), f"this is no CSV: {error}")
    return draft.done()


def _names(row: Sequence[str]) -> tuple[list[str], bool]:
    """What the columns after the first are called, and whether this row says so."""
    try:
        moment_of(row[0])
    except ValueError:
        if len(row) > 1 and not any(_is_number(cell) for cell in row[1:]):
            return [cell.strip() for cell in row[1:]], True
    return ["value", *(f"value{place}" for place in range(2, len(row)))], False


def _is_number(cell: str) -> bool:
    try:
        value_of(cell)
    except ValueError:
        return False
    return True


def _read_json(source: str, file: Any) -> Mapping[str, Column]:
    draft = _Draft(source)
    try:
        found = json.load(file)
    except json.JSONDecodeError as error:
        raise ParseError(source, [Problem(str(error.lineno), f"this is no JSON: {error.msg}")]) from None
    for name, place, time, value in _points(found, draft):
        draft.add(name, place, time, value)
    return draft.done()


def _points(found: Any, draft: _Draft) -> Iterator[tuple[str, str, Any, Any]]:
    if isinstance(found, Mapping) and isinstance(found.get("MetricDataResults"), list):
        for place, result in enumerate(found["MetricDataResults"]):
            times, values = result.get("Timestamps", ()), result.get("Values", ())
            where = f"$.MetricDataResults[{place}]"
            if len(times) != len(values):
                draft.wrong(where, f"found {len(times)} Timestamps and {len(values)} Values; expected as many")
            for index, pair in enumerate(zip(times, values, strict=False)):
                yield str(result.get("Label") or result.get("Id")), f"{where}.Values[{index}]", *pair
    elif isinstance(found, list):
        for place, point in enumerate(found):
            if isinstance(point, list) and len(point) == 2:
                yield "value", f"$[{place}]", *point
            else:
                draft.wrong(f"$[{place}]", f"found {brief(point)}; expected [time, value]")
    else:
        draft.wrong("$", "expected a list of [time, value], or MetricDataResults as get-metric-data prints them")
