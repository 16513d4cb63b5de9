"""JSON paths as people read them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.paths import json_path


@pytest.mark.parametrize(
    ("loc", "path"),
    [
        ((), "$"),
        (("policies", 0, "strategy", "items", "values", 3), "$.policies[0].strategy.items.values[3]"),
        (("a b",), "$['a b']"),
        (("$schema",), "$['$schema']"),
        (("dotted.path", "x"), "$['dotted.path'].x"),
        (("",), "$['']"),
        (("it's", "a\\b"), r"$['it\'s']['a\\b']"),
        (("line\nbreak",), r"$['line\nbreak']"),
        (("\ud800",), r"$['\ud800']"),
        (("Größe",), "$['Größe']"),
        (("0",), "$['0']"),
        (("k" * 100,), "$['" + "k" * 80 + "…']"),
    ],
)
def test_a_location_reads_as_a_json_path(loc: tuple[str | int, ...], path: str) -> None:
    assert json_path(loc) == path


@given(st.lists(st.text(alphabet=st.characters(), max_size=100) | st.integers(0, 10**6), max_size=8))
def test_any_location_can_be_printed_and_encoded(loc: list[Any]) -> None:
    path = json_path(loc)
    assert path.isprintable()
    assert path.encode()
