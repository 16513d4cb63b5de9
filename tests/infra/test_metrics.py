"""Reading metrics: as few calls as the API allows, an answer or a failure for each query, and never half an answer."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from handler.loop.metrics import split
from infra.aws import Aws
from infra.metrics import read_metrics
from policies.errors import DeniedError
from policies.numbers.metric import Answer, Failed, Metric, MetricQuery, Series
from policies.world import Scope
from tests.world import Fault, World
from tests.world.call import Call

MINUTE = timedelta(minutes=1)


def query(name: str, window: timedelta = 10 * MINUTE, period: str = "1m", **dimensions: str) -> MetricQuery:
    words = {"namespace": "Shop", "name": name, "dimensions": dimensions, "statistic": "Sum", "period": period}
    return MetricQuery(Metric.model_validate(words), window)


def put(world: World, name: str, ago: int, value: float, **dimensions: str) -> None:
    """One point, so many minutes ago."""
    data = {
        "MetricName": name,
        "Timestamp": world.now.replace(second=0) - ago * MINUTE,
        "Value": value,
        "Dimensions": [{"Name": word, "Value": text} for word, text in dimensions.items()],
    }
    world.outside.cloudwatch.put_metric_data(Namespace="Shop", MetricData=[data])


def read(world: World, *queries: MetricQuery) -> Mapping[str, Answer]:
    aws = Aws(world.session, Scope("123456789012", "eu-west-1"))
    return read_metrics(aws, queries, world.now)


def points(world: World, answer: Answer) -> dict[int, float]:
    """By minutes ago."""
    assert isinstance(answer, Series)
    return {int((world.now - at) / MINUTE): value for at, value in answer.points}


def asked(world: World) -> list[Call]:
    return world.calls(operation="GetMetricData")


def test_each_query_gets_its_points_the_oldest_first(world: World) -> None:
    for ago, value in ((1, 5), (3, 7), (30, 9)):
        put(world, "Orders", ago, value, Tenant="a")
    put(world, "Orders", 2, 99, Tenant="b")
    one, other, none = query("Orders", Tenant="a"), query("Orders", 60 * MINUTE, Tenant="b"), query("Nothing")
    found = read(world, one, other, none)
    assert points(world, found[one.signal_key]) == {3: 7, 1: 5}
    assert points(world, found[other.signal_key]) == {2: 99}
    assert found[none.signal_key] == Series()
    assert len(asked(world)) == 1


def test_the_span_is_the_longest_and_starts_at_a_multiple_of_the_periods(world: World) -> None:
    world.advance(seconds=80)
    read(world, query("A", 7 * MINUTE), query("B", 18 * MINUTE, "5m"))
    (call,) = asked(world)
    assert (call.params["StartTime"].minute, call.params["StartTime"].second) == (40, 0)
    assert call.params["EndTime"] == world.now


def test_what_cannot_be_done_for_anyone_is_raised(world: World) -> None:
    world.inject(Fault(at=lambda call: call.operation == "GetMetricData", kind="denied", times=None))
    with pytest.raises(DeniedError, match="cloudwatch:GetMetricData"):
        read(world, query("A"))


def answers(world: World, monkeypatch: pytest.MonkeyPatch, *pages: Any) -> None:
    """Let the service answer these pages of results."""
    monkeypatch.setattr(Aws, "pages", lambda *_, **__: (result for page in pages for result in page))


def result(status: str, values: Any = (), **more: Any) -> dict[str, Any]:
    return {
        "Id": "q0",
        "StatusCode": status,
        "Timestamps": [at for at, _ in values],
        "Values": [v for _, v in values],
        **more,
    }


@pytest.mark.parametrize("status", ["InternalError", "Forbidden", "PartialData"])
def test_less_than_complete_is_a_failure(world: World, monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    some = [(world.now - MINUTE, 3.0)]
    answers(world, monkeypatch, [result(status, some, Messages=[{"Code": "x", "Value": "try later"}])])
    (found,) = read(world, query("A")).values()
    assert found == Failed(f"CloudWatch says {status}: try later")


def test_partial_data_on_a_page_goes_on_with_the_next(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = [(world.now - 2 * MINUTE, 3.0)], [(world.now - MINUTE, 4.0)]
    answers(world, monkeypatch, [result("PartialData", one)], [result("Complete", two)])
    (found,) = read(world, query("A")).values()
    assert points(world, found) == {2: 3.0, 1: 4.0}


def test_a_query_without_a_result_has_failed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(world, monkeypatch, [])
    (found,) = read(world, query("A")).values()
    assert isinstance(found, Failed)


def test_one_that_the_service_refuses_fails_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from policies.errors import RefusedError

    calls = []

    def pages(self: Aws, *_: Any, MetricDataQueries: Any, **__: Any) -> Any:
        calls.append(len(MetricDataQueries))
        names = [one["MetricStat"]["Metric"]["MetricName"] for one in MetricDataQueries]
        if "bad" in names:
            raise RefusedError("ValidationError: the statistic is not supported")
        return iter({**result("Complete"), "Id": one["Id"]} for one in MetricDataQueries)

    monkeypatch.setattr(Aws, "pages", pages)
    queries = [query(f"good-{number}") for number in range(7)]
    found = read(world, *queries[:3], query("bad"), *queries[3:])
    assert [type(found[one.signal_key]) for one in queries] == [Series] * 7
    assert isinstance(found[query("bad").signal_key], Failed)
    assert calls == [8, 4, 2, 2, 1, 1, 4]


def test_batches_hold_five_hundred_and_fine_points_go_apart_from_long_spans() -> None:
    many = [query(f"m{number}") for number in range(1_001)]
    assert [len(batch) for batch in split(many)] == [500, 500, 1]
    fine, near, far = query("fine", period="10s"), query("near", 60 * MINUTE), query("far", 24 * 60 * MINUTE)
    assert [len(batch) for batch in split([fine, near])] == [2]
    assert [{one.metric.name for one in batch} for batch in split([near, fine, far])] == [{"fine"}, {"near", "far"}]
