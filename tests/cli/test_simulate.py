"""Simulate: history through the code of a run, open and closed loop, told, drawn, compared; and bad histories."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import boto3
import pytest

from handler.options import Settings
from handler.workbench import offline
from policies.numbers.metric import Series
from policies.parse import parse_document
from policies.world import Observation, Resource
from tests.docs.pages import ROOT

HISTORIES, POLICIES = ROOT / "examples" / "histories", ROOT / "examples" / "simulate"
WEB, QUEUE = HISTORIES / "web-day.csv", HISTORIES / "bursty-queue.csv"
CLOSED = ("--plant", "load", "--unit-capacity", 6)
METRIC = {"namespace": "AWS/ECS", "name": "CPUUtilization", "statistic": "Average", "period": "1m"}
BEGIN = datetime(2026, 3, 2, tzinfo=UTC)


def scaled(to: Any, name: str = "web") -> dict[str, Any]:
    resource = {"type": "AWS::ECS::Service", "match": {"names": ["web/shop"]}}
    return {
        "name": name,
        "resource": resource,
        "strategy": {"type": "scale", "property": "DesiredCount", "to": to},
    }


def target(**more: Any) -> dict[str, Any]:
    return {"type": "target", "average": METRIC, "of": 50, "min": 1, "max": 10, "scaleInAfter": "3m", **more}


def edge(**more: Any) -> dict[str, Any]:
    return {"for": "1m", "step": 1, "cooldown": "2m", **more}


BAND = {"type": "band", "metric": METRIC, "min": 1, "max": 9, "up": edge(above=70), "down": edge(below=30)}


@pytest.fixture
def history(tmp_path: Path) -> Callable[..., Path]:
    """A CSV with a value a minute."""

    def make(*values: float, name: str = "history.csv") -> Path:
        lines = (f"{(BEGIN + timedelta(minutes=place)).isoformat()},{value}" for place, value in enumerate(values))
        (tmp_path / name).write_text("time,value\n" + "\n".join(lines) + "\n")
        return tmp_path / name

    return make


@pytest.fixture
def simulated(setpoint, write) -> Callable[..., Any]:
    """The record of one replay; the first argument is a policy or a file."""

    def run(policy: Any, history: Path, *options: object) -> Any:
        place = policy if isinstance(policy, Path) else write("doc", policy) / "doc.json"
        result = setpoint("simulate", place, "--metrics", history, *options, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)["replays"][0]

    return run


def minutes(replay: Any) -> list[tuple[int, int, int]]:
    """Each change, as (minute, from, to)."""
    return [
        (int((datetime.fromisoformat(one["at"]) - BEGIN) / timedelta(minutes=1)), one["from"], one["to"])
        for one in replay["changes"]
    ]


@pytest.mark.parametrize(
    ("policy", "history", "options", "expected"),
    [
        ("web-band", WEB, CLOSED, (335.3, 31, 1)),
        ("web-target", WEB, CLOSED, (298.6167, 40, 3)),
        ("queue-band", QUEUE, (), (99.25, 70, 14)),
        ("queue-target", QUEUE, (), (88.6167, 103, 22)),
    ],
)
def test_the_shipped_histories_always_give_the_same(simulated, policy, history, options, expected) -> None:
    first, second = (simulated(POLICIES / f"{policy}.json", history, *options) for _ in range(2))
    assert first == second
    assert (first["resourceHours"], len(first["changes"]), first["reversals"]) == expected
    least, most = first["limits"]
    assert all(least <= one["to"] <= most for one in first["changes"])


@pytest.mark.parametrize(
    ("policy", "history", "options"),
    [
        ("web-band", WEB, CLOSED),
        ("web-band", WEB, ()),
        ("web-band", QUEUE, ()),
        ("web-band", QUEUE, CLOSED),
        ("queue-band", QUEUE, ()),
    ],
)
def test_a_band_never_reverses_twice_within_a_cooldown(simulated, policy, history, options) -> None:
    replay = simulated(POLICIES / f"{policy}.json", history, *options)
    number = next(iter(json.loads((POLICIES / f"{policy}.json").read_text())["policies"]))["strategy"]
    number = number.get("to") or number["count"]
    cooldown = {up: int(number[word]["cooldown"].rstrip("m")) for up, word in ((True, "up"), (False, "down"))}
    found = [(at, after > before) for at, before, after in minutes(replay)]
    assert found
    for up in (True, False):
        same = [at for at, direction in found if direction is up]
        assert all(later - earlier >= cooldown[up] for earlier, later in pairwise(same))


@pytest.mark.parametrize("policy", ["web-band", "web-target"])
def test_it_is_what_decide_says_at_each_minute(simulated, policy: str) -> None:
    (parsed,) = parse_document("doc", (POLICIES / f"{policy}.json").read_bytes(), "1", offline(Settings())).policies
    rows = [line.split(",") for line in WEB.read_text().splitlines()[1:]]
    points = [(datetime.fromisoformat(at), float(value)) for at, _, value in rows]
    (query,) = parsed.strategy.signals()
    size, expected = 20, []
    for minute in range(len(points)):
        now = BEGIN + timedelta(minutes=minute)
        known = tuple(one for one in points[max(0, minute - 100) : minute] if one[0] > now - query.window)
        service = Resource(parsed.kind.type, "web/shop", "web/shop", tags={}, properties={"DesiredCount": size})
        seen = Observation((service,), signals={query.signal_key: Series(known)})
        (desired,) = parsed.strategy.decide(parsed.blueprint, seen, now).desired
        wanted = desired.properties.get("DesiredCount", size)
        expected += [(minute, size, wanted)] if wanted != size else []
        size = wanted
    assert minutes(simulated(POLICIES / f"{policy}.json", WEB, "--start", 20)) == expected != []


def test_a_target_is_hpas_sequence(simulated, history) -> None:
    # value at minute n is known at tick n + 1; the highest recommendation of ticks n-3..n holds a scale-in
    replay = simulated(scaled(target()), history(50, 100, 100, 50, 25, 25, 25, 25, 25, 25, 25), "--start", 2)
    assert minutes(replay) == [
        (2, 2, 4),  # ceil(2 * 100 / 50)
        (3, 4, 8),  # the loop is open: still 100
        (8, 8, 4),  # 25 since tick 5, and what said more is three minutes old
        (9, 4, 2),
        (10, 2, 1),
    ]
    assert replay["reversals"] == 1
    assert replay["resourceHours"] == round((2 * 2 + 4 + 8 * 5 + 4 + 2 + 1) / 60, 4)


def test_a_closed_loop_settles_where_an_open_one_runs_away(simulated, history) -> None:
    past = history(*[400] * 60)
    opened = simulated(scaled(target()), past)
    closed = simulated(scaled(target()), past, "--plant", "load", "--unit-capacity", 1)
    assert (opened["loop"], opened["most"], opened["seconds"]["above"]) == ("open", 10, 3600)
    assert (closed["loop"], closed["most"]) == ("closed", 8)  # 400 / 8 is 50
    assert minutes(closed) == [(1, 1, 8)]
    assert closed["seconds"]["above"] == 60
    assert closed["settling"] == {"median": 60, "longest": 60}
    assert closed["overshoot"] == pytest.approx(400 / 55 - 1, abs=1e-6)


def test_a_band_is_measured(simulated, history) -> None:
    replay = simulated(scaled(BAND), history(*[50] * 10, *[105] * 4, *[50] * 10), "--start", 3)
    assert (replay["edges"], replay["watched"]) == ([30, 70], "CPUUtilization")
    assert (replay["seconds"]["above"], replay["overshoot"]) == (240, 0.5)
    assert [(before, after) for _, before, after in minutes(replay)] == [(3, 4), (4, 5)]


def test_what_the_number_divides_itself_does_not_feel_the_plant(simulated) -> None:
    options = ("--plant", "load", "--unit-capacity", 5)
    closed, opened = (simulated(POLICIES / "queue-band.json", QUEUE, *more) for more in (options, ()))
    assert closed == opened
    assert closed["loop"] == "open"


def test_guardrails_and_min_lifetime_hold_as_in_a_run(simulated, history) -> None:
    count = {**target(scaleInAfter="1m"), "min": 1}
    image = {"ImageId": "ami-12c6146b", "InstanceType": "t3.micro"}
    policy = {
        "name": "workers",
        "resource": {"type": "AWS::EC2::Instance", "properties": image},
        "strategy": {"type": "replicas", "count": count, "minLifetime": "10m"},
        "guardrails": {"maxDeletes": "100%"},
    }
    replay = simulated(policy, history(*[200] * 2, *[5] * 30))
    assert minutes(replay) == [(1, 1, 4), (2, 4, 10), (11, 10, 7), (12, 7, 1)]
    assert any("minLifetime" in one["message"] for one in replay["troubles"])


def test_what_is_kept_is_told(simulated, history) -> None:
    """Queues hold data: by default a number of them only grows."""
    count = {"type": "schedule", "timezone": "UTC", "otherwise": 1}
    count["windows"] = [{"from": "00:05", "to": "00:10", "value": 3}]
    clause = {
        "name": "workers",
        "resource": {"type": "AWS::SQS::Queue", "properties": {"QueueName": "work-${index}"}},
        "strategy": {"type": "replicas", "count": count},
    }
    kept = "kept: what is not wanted stays, since removal is retain"
    replay = simulated(clause, history(*[0] * 20))
    assert minutes(replay) == [(5, 1, 3)]
    assert [one["message"] for one in replay["troubles"]] == [kept]
    replay = simulated({**clause, "removal": "delete", "grace": "0s"}, history(*[0] * 20))
    assert kept not in [one["message"] for one in replay["troubles"]]
    assert minutes(replay)[1][1:] == (3, 2)


def test_a_schedule_needs_only_the_span(simulated, history) -> None:
    hours = {"type": "schedule", "timezone": "UTC", "otherwise": 1}
    hours["windows"] = [{"from": "00:05", "to": "00:10", "value": 3}]
    replay = simulated(scaled(hours), history(*[0] * 20))
    assert minutes(replay) == [(5, 1, 3), (10, 3, 1)]
    assert (replay["edges"], replay["watched"], replay["overshoot"]) == (None, None, 0)


def test_ticks_further_apart(simulated, history) -> None:
    replay = simulated(scaled(target()), history(*[100] * 30), "--every", "10m", "--start", 1)
    assert (minutes(replay), replay["ticks"]) == ([(10, 1, 2), (20, 2, 4)], 3)


def test_points_are_summed_up_in_the_period_of_the_metric(simulated, history) -> None:
    coarse = {**METRIC, "period": "5m"}
    for statistic, value in (("Average", 20), ("Sum", 100), ("Maximum", 60), ("Minimum", 10)):
        number = {
            **BAND,
            "metric": {**coarse, "statistic": statistic},
            "up": edge(above=1),
            "down": edge(below=0.5),
            "min": 9,
        }
        replay = simulated(scaled(number), history(10, 10, 10, 10, 60))
        assert replay["overshoot"] == 0  # at its limit
        number = {**number, "min": 1}
        assert simulated(scaled(number), history(10, 10, 10, 10, 60))["overshoot"] == value - 1


def test_two_policies_side_by_side(setpoint, write, history) -> None:
    folder = write("doc", scaled(target(), "one"), scaled(target(of=25), "two"))
    words = ("simulate", folder / "doc.json", "--policy", "one", "--compare", "two", "--metrics", history(*[100] * 5))
    told = json.loads(setpoint(*words, "--json").stdout)
    assert [(one["policy"], minutes(one)[0]) for one in told["replays"]] == [("one", (1, 1, 2)), ("two", (1, 1, 4))]
    shown = setpoint(*words).stdout
    assert "one and two: 2026-03-02 00:00 to 2026-03-02 00:05 UTC, 5 ticks of 1m, open loop" in shown
    assert "resource-hours" in shown
    assert "1 -> 4" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("suffix", ["svg", "html", "png"])
def test_it_is_drawn(setpoint, tmp_path, suffix: str) -> None:
    if suffix == "png":
        pytest.importorskip("PIL")
    out = tmp_path / f"day.{suffix}"
    words = ("--compare", POLICIES / "web-target.json", "--metrics", WEB, *CLOSED, "--out", out)
    result = setpoint("simulate", POLICIES / "web-band.json", *words)
    assert result.exit_code == 0, result.output
    if suffix == "png":
        assert out.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        return
    text = out.read_text()
    drawn = ElementTree.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])
    lines = drawn.findall("{http://www.w3.org/2000/svg}polyline")
    assert sum(len(line.attrib["points"].split()) > 300 for line in lines) == 4
    assert (suffix == "html") == ("<td>resource-hours</td>" in text)


def test_a_png_without_pillow_says_what_to_do(setpoint, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    result = setpoint("simulate", POLICIES / "web-band.json", "--metrics", WEB, "--out", tmp_path / "day.png")
    assert result.exit_code == 1
    assert "pip install 'setpoint[plot]'" in result.stderr


def test_formats_that_hold_the_same_give_the_same(simulated, history, tmp_path) -> None:
    values = [50, 100, 100, 50, 25, 25, 25]
    times = [BEGIN + timedelta(minutes=place) for place in range(len(values))]
    texts = {
        "epoch.csv": "\n".join(f"{at.timestamp():.0f},{value}" for at, value in zip(times, values, strict=True)),
        "ms.csv": "\n".join(f"{at.timestamp() * 1000:.0f},{value}" for at, value in zip(times, values, strict=True)),
        "named.csv": "when,other,CPUUtilization\n"
        + "\n".join(f"{at:%Y-%m-%d %H:%M},,{value}" for at, value in zip(times, values, strict=True)),
        "list.json": json.dumps([[at.isoformat(), value] for at, value in zip(times, values, strict=True)]),
        "newest-first.json": json.dumps(
            {
                "MetricDataResults": [
                    {
                        "Id": "q0",
                        "Label": "CPUUtilization",
                        "Timestamps": [at.isoformat() for at in reversed(times)],
                        "Values": values[::-1],
                    }
                ]
            }
        ),
    }
    expected = simulated(scaled(target()), history(*values))
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        assert simulated(scaled(target()), tmp_path / name) == expected, name


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("bad.csv", "time,value\n2026-03-02T00:00Z,1\nyesterday,2", "bad.csv:3: found the time 'yesterday'; allowed"),
        ("bad.csv", "2026-03-02T00:00Z,1\n2026-03-02T00:01Z,many", "bad.csv:2: found the value 'many'; allowed"),
        ("bad.csv", "2026-03-02T00:00Z,nan", "bad.csv:1: found the value 'nan'"),
        ("bad.csv", "2026-03-02T00:00Z,1\n2026-03-02T00:01Z,1,2", "bad.csv:2: found 3 cells; expected 2"),
        ("bad.csv", "2026-03-02T00:00Z,1\n2026-03-02T01:00+01:00,2", "bad.csv:2: the time 2026-03-02T00:00:00+00:00"),
        ("bad.csv", "20260302,1", "bad.csv:1: found the time '20260302'; allowed: 2000 to 2099"),
        ("bad.csv", "time,value\n", "bad.csv:1: there is no value in it"),
        ("bad.csv", "", "bad.csv:1: there is no value in it"),
        ("bad.csv", '2026-03-02T00:00Z,"1', "bad.csv:1: this is no CSV"),
        ("bad.json", "[[1772442000, 1],\n[1772442060, 2]", "bad.json:2: this is no JSON"),
        ("bad.json", '[[1772442000, 1], {"time": 1}]', "bad.json:$[1]: found an object; expected [time, value]"),
        ("bad.json", '{"Values": [1]}', "bad.json:$: expected a list of [time, value], or MetricDataResults"),
        (
            "bad.json",
            '{"MetricDataResults": [{"Id": "a", "Timestamps": [1772442000], "Values": []}]}',
            "bad.json:$.MetricDataResults[0]: found 1 Timestamps and 0 Values",
        ),
        ("bad.csv", "2026-03-02T00:00Z,1e300", "bad.csv:1: found the value '1e300'; allowed: what CloudWatch keeps"),
        (
            "bad.csv",
            "t,v\n2026-03-02T00:00Z,1\n2026-03-02T00:01Z,2\n2026-03-02T00:00Z,3\n2026-03-02T00:01Z,4",
            "bad.csv:5: the time 2026-03-02T00:01:00+00:00 comes twice; keep one",
        ),
        ("bad.csv", "time,one,two\n2026-03-02T00:00Z,1,2", "has one, two, and the policy asks for CPUUtilization"),
    ],
)
def test_bad_histories_are_told_by_line(setpoint, write, tmp_path, name: str, text: str, problem: str) -> None:
    (tmp_path / name).write_text(text)
    result = setpoint("simulate", write("doc", scaled(BAND)) / "doc.json", "--metrics", tmp_path / name)
    assert result.exit_code == 1
    assert problem in result.stderr
    assert "mistake of Setpoint" not in result.stderr


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "give one of: --metrics FILE, or --from-cloudwatch"),
        (("--metrics", WEB, "--plant", "tank"), "found --plant 'tank'; allowed: none, load"),
        (("--metrics", WEB, "--plant", "load"), "--plant load and --unit-capacity N go together"),
        (("--metrics", WEB, *CLOSED[:3], 0), "--unit-capacity is above 0"),
        (("--metrics", WEB, *CLOSED[:3], "1e-300"), "--unit-capacity is above 0, at least 1e-09"),
        (("--metrics", WEB, *CLOSED[:3], "inf"), "found --unit-capacity inf"),
        (("--metrics", WEB, "--every", "30s"), "found --every '30s'; allowed: whole minutes"),
        (("--metrics", WEB, "--out", "day.pdf"), "cannot draw day.pdf; allowed: a name that ends with"),
        (("--metrics", "nowhere.csv"), "cannot read nowhere.csv: No such file"),
        (("--metrics", WEB, "--compare", "no/such.json"), "found --compare 'no/such.json', and there is no such file"),
        (("--metrics", WEB, "--policy", "nobody"), "has no policy 'nobody' of type replicas or scale"),
    ],
)
def test_mistyped_options(setpoint, options, problem: str) -> None:
    result = setpoint("simulate", POLICIES / "web-band.json", *options)
    assert result.exit_code == 1
    assert problem in result.stderr


def test_which_of_several_policies_must_be_said(setpoint, write, history) -> None:
    folder = write("doc", scaled(target(), "one"), scaled(target(), "two"))
    result = setpoint("simulate", folder / "doc.json", "--metrics", history(1))
    assert (result.exit_code, "of type replicas or scale: one, two" in result.stderr) == (1, True)


def test_history_out_of_cloudwatch(setpoint, write, aws: boto3.Session) -> None:
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    watch = aws.client("cloudwatch")
    names = {"ClusterName": "web", "ServiceName": "shop"}
    dimensions: Any = [{"Name": name, "Value": value} for name, value in names.items()]
    for ago in range(1, 11):
        point: Any = {"MetricName": "CPUUtilization", "Timestamp": now - timedelta(minutes=ago), "Value": 90.0}
        watch.put_metric_data(Namespace="AWS/ECS", MetricData=[{**point, "Dimensions": dimensions}])
    metric = {**METRIC, "dimensions": {"ClusterName": "${match.Cluster}", "ServiceName": "${match.ServiceName}"}}
    folder = write("doc", scaled(target(average=metric)))
    words = ("simulate", folder / "doc.json", "--from-cloudwatch", "--last", "1h", "--json", "--threads", 1)
    result = setpoint(*words)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["history"], told["replays"][0]["ticks"]) == ("CloudWatch, the last 1h", 10)
    assert told["replays"][0]["most"] == 10
