"""Regular expressions: ours cannot blow up, and those of policies are automata of bounded size."""

from __future__ import annotations

import pkgutil
import re
import time
from collections.abc import Iterator
from importlib import import_module

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import handler
import infra
import policies
import strategies
from policies.item_pattern import MAX_LENGTH, compile_pattern

LONG = 20_000
SECONDS = 1.0
PUMPS = [*"aA0 -./:\\\"'${}%=", "${", "a.", "a-", "a=", "ab1-"]
PUMPS += ["token=", "://", "://a:", "eyJaaaaaaaaa", "-----BEGIN PRIVATE KEY-----", "bearer ", "\\\\", '\\"', "\n", "é"]


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Every compiled expression of the product, by where it stands."""
    for package in (policies, strategies, infra, handler):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = import_module(found.name)
            for name, value in vars(module).items():
                if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                    yield f"{found.name}.{name}", value


PATTERNS = dict(patterns())


@pytest.mark.parametrize("place", PATTERNS)
def test_no_expression_of_ours_blows_up(place: str) -> None:
    pattern = PATTERNS[place]
    for pump in PUMPS:
        text = pump * (LONG // len(pump)) + "\x00"
        begun = time.process_time()
        pattern.fullmatch(text)
        for _ in pattern.finditer(text):
            pass
        assert time.process_time() - begun < SECONDS, f"{place} on {pump!r}"


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.text(alphabet="ab01.\\dw-[]()|?*+^${}", max_size=MAX_LENGTH))
def test_any_pattern_is_an_automaton_or_a_mistake(text: str) -> None:
    begun = time.process_time()
    try:
        compile_pattern(text)
    except ValueError as error:
        assert str(error)
    assert time.process_time() - begun < SECONDS


@pytest.mark.parametrize(
    "text", ["a?" * 250, "(a|b)*" * 80, "(" * 31 + "a" + ")*" * 31, "(a*b*)*" * 60, "a|" * 250 + "a"]
)
def test_the_worst_patterns_are_over_soon(text: str) -> None:
    test_any_pattern_is_an_automaton_or_a_mistake.hypothesis.inner_test(text)  # type: ignore[attr-defined]
