"""The least IAM policy knows of metrics and of what is deleted by age."""

from typing import Any

from handler.permissions import policy
from tests.engine.given import QUEUE, document, parse

METRIC = {"namespace": "Shop", "name": "Backlog", "statistic": "Maximum", "period": "1m"}
TARGET = {"type": "target", "load": METRIC, "perUnit": 10, "min": 1, "max": 5}


def statements(strategy: Any, resource: Any) -> list[dict[str, Any]]:
    estate = parse({"main": document({"name": "p", "resource": {"type": QUEUE, **resource}, "strategy": strategy})})
    found: list[dict[str, Any]] = policy(estate.documents, (), "setpoint")["Statement"]
    return found


def test_a_number_that_follows_a_metric_may_read_it() -> None:
    workers = {"properties": {"QueueName": "w-${index}"}}
    moving = statements({"type": "replicas", "count": TARGET}, workers)
    fixed = statements({"type": "replicas", "count": 3}, workers)
    assert any("cloudwatch:GetMetricData" in one["Action"] for one in moving)
    assert not any("cloudwatch:GetMetricData" in one["Action"] for one in fixed)


def test_what_expires_may_be_deleted_once_it_is_marked() -> None:
    matched = {"match": {"namePrefix": "tmp-"}}
    (deleting,) = (
        one
        for one in statements({"type": "expire", "after": "14d", "grace": "1d"}, matched)
        if "sqs:DeleteQueue" in one["Action"]
    )
    assert deleting["Condition"]["StringLike"] == {"aws:ResourceTag/setpoint:marked": "*"}
    enforced = statements({"type": "enforce"}, {**matched, "properties": {"DelaySeconds": 1}})
    assert not any("sqs:DeleteQueue" in one["Action"] for one in enforced)
