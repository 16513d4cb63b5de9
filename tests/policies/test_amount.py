"""Counts and shares."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from policies.amount import Amount, AmountField, parse_amount


class Clause(BaseModel):
    """Something with an amount in it."""

    most: AmountField


@pytest.mark.parametrize(
    ("value", "total", "amount"),
    [
        (0, 100, 0),
        (3, 100, 3),
        (3, 1, 3),
        ("0%", 100, 0),
        ("10%", 100, 10),
        ("10%", 109, 10),
        ("10%", 9, 1),  # never from something to nothing
        ("10%", 0, 1),
        ("50%", 3, 1),
        ("100%", 7, 7),
    ],
)
def test_an_amount_of_a_total(value: Any, total: int, amount: int) -> None:
    assert parse_amount(value).of(total) == amount


@pytest.mark.parametrize("value", [-1, 1.0, True, None, "10", "101%", "-1%", "1.5%", "10 %", "%", "", "٣%", [], {}])
def test_what_is_no_amount(value: Any) -> None:
    with pytest.raises(ValidationError, match='allowed: a whole number from 0, or "0%" to "100%"'):
        Clause.model_validate({"most": value})


@given(st.integers(0, 10**6) | st.integers(0, 100).map(lambda share: f"{share}%"))
def test_an_amount_reads_back_as_it_is_written(value: Any) -> None:
    amount = parse_amount(value)
    assert str(amount) == str(value)
    assert parse_amount(amount) is amount


@given(st.integers(1, 100), st.integers(0, 10**6))
def test_a_share_is_at_least_one_and_at_most_the_whole(share: int, total: int) -> None:
    assert 1 <= Amount(share, percent=True).of(total) <= max(total, 1)
