"""Every scenario there is. A file `scenarios*.py` beside this one with a function `scenarios` is found by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from tests.sweep.harness import parse
from tests.sweep.scenarios import Scenario

FILES = sorted(path.stem for path in Path(__file__).parent.glob("scenarios*.py"))
SCENARIOS: Mapping[str, Scenario] = {
    scenario.name: scenario for file in FILES for scenario in import_module(f"tests.sweep.{file}").scenarios()
}


@cache
def pairs(name: str) -> frozenset[tuple[str, str]]:
    """The pairs of strategy and kind that a scenario is about."""
    return frozenset(_pairs(SCENARIOS[name]))


def _pairs(scenario: Scenario) -> Iterator[tuple[str, str]]:
    for documents in (scenario.before, scenario.documents):
        for policy in parse(documents or {}).policies:
            yield policy.strategy.type, policy.kind.type
