"""Ten thousand resources without AWS: what the strategies, the plan and the guard take, in milliseconds of CPU.

`pytest bench/test_core_speed.py` holds them to the limit; run by itself it prints every stage as JSON.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from handler.compose import vocabulary
from handler.loop.guardrails import guard
from handler.loop.observe import observe, reads
from handler.loop.plan import plan
from policies.document import Policy
from policies.drift import own
from policies.parse import parse_document
from policies.world import Observation, Resource

COUNT = 10_000
LIMIT = 100
REPEATS = 5
NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)
QUEUE = {"VisibilityTimeout": 45, "MessageRetentionPeriod": 86_400, "Tags": [{"Key": "team", "Value": "orders"}]}
EACH = {"type": "forEach", "items": {"source": "ssmParameter", "name": "/tenants"}}
CLAUSES: Mapping[str, Mapping[str, Any]] = {
    "forEach": {
        "resource": {"type": "AWS::SQS::Queue", "properties": {"QueueName": "orders-${item}", **QUEUE}},
        "strategy": EACH,
    },
    "replicas": {
        "resource": {"type": "AWS::SQS::Queue", "properties": {"QueueName": "orders-${index}", **QUEUE}},
        "strategy": {"type": "replicas", "count": COUNT},
    },
    "enforce": {
        "resource": {
            "type": "AWS::Logs::LogGroup",
            "match": {"namePrefix": "/orders/"},
            "properties": {"RetentionInDays": 30},
        },
        "strategy": {"type": "enforce"},
    },
}


class Core:
    """One policy over a census of ten thousand resources that are as it wants them."""

    def __init__(self, strategy: str) -> None:
        self.policy = _policy(CLAUSES[strategy])
        self._signals = {one.signal_key: _items() for one in self.policy.strategy.signals()}
        self._census = list(_groups() if self.policy.match else _owned(self.policy, self._signals))

    def stages(self) -> dict[str, float]:
        """CPU milliseconds of each stage of one pass, in which nothing is found to do."""
        policy, taken = self.policy, {}
        seen = _timed(taken, "observe", lambda: observe(policy, (), self._census, self._signals))
        decision = _timed(taken, "decide", lambda: policy.strategy.decide(policy.blueprint, seen, NOW))
        _timed(taken, "reads", lambda: tuple(reads(policy, decision, seen, self._census, NOW)))
        planned = _timed(taken, "plan", lambda: plan(policy, (), decision, seen, NOW))
        guarded = _timed(taken, "guard", lambda: guard(policy, decision, planned, seen, NOW, None))
        assert not guarded.allowed, "a world that is as wanted needs no action"
        return taken


def least(strategy: str) -> dict[str, float]:
    """The least of several passes, stage by stage."""
    core = Core(strategy)
    passes = [core.stages() for _ in range(REPEATS)]
    return {stage: min(one[stage] for one in passes) for stage in passes[0]}


def decided(stages: Mapping[str, float]) -> float:
    """Plan, guard and strategy."""
    return stages["decide"] + stages["plan"] + stages["guard"]


def test_for_each_decides_within_the_limit() -> None:
    assert decided(least("forEach")) < LIMIT


def test_replicas_decides_within_the_limit() -> None:
    assert decided(least("replicas")) < LIMIT


def test_enforce_decides_within_the_limit() -> None:
    assert decided(least("enforce")) < LIMIT


def _timed(taken: dict[str, float], stage: str, call: Callable[[], Any]) -> Any:
    begun = time.process_time()
    result = call()
    taken[stage] = round(1000 * (time.process_time() - begun), 1)
    return result


def _policy(clause: Mapping[str, Any]) -> Policy:
    body = json.dumps({"version": 1, "policies": [{"name": "orders", **clause}]}).encode()
    return parse_document("main", body, "1", vocabulary("123456789012", "us-east-1")).policies[0]


def _items() -> tuple[str, ...]:
    return tuple(f"t{at}" for at in range(COUNT))


def _owned(policy: Policy, signals: Mapping[str, Any]) -> Iterator[Resource]:
    """What the policy wants, as the census shows it: named and tagged, not read deeply."""
    for want in policy.strategy.decide(policy.blueprint, Observation(signals=signals), NOW).desired:
        tags = dict(own(policy.kind, want, policy.owner, "main").tags)
        yield Resource(policy.kind.type, want.name or "", want.name, tags=tags, created=NOW - timedelta(days=1))


def _groups() -> Iterator[Resource]:
    for item in _items():
        name = f"/orders/{item}"
        facts = {"CreateTime": "2026-01-02T09:00:00+00:00", "LogGroupName": name}
        properties = {"LogGroupName": name, "RetentionInDays": 30}
        yield Resource("AWS::Logs::LogGroup", name, name, tags={}, properties=properties, facts=facts)


if __name__ == "__main__":
    print(json.dumps({strategy: least(strategy) for strategy in CLAUSES}))
