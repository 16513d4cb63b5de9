"""Durations: what may be written, what it means, and what is said about the rest."""

import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from policies.duration import LONGEST, Duration, parse_duration, render


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0s", timedelta()),
        ("90s", timedelta(seconds=90)),
        ("5m", timedelta(minutes=5)),
        ("36h", timedelta(hours=36)),
        ("14d", timedelta(days=14)),
        ("007m", timedelta(minutes=7)),
        ("3650d", LONGEST),
    ],
)
def test_a_whole_number_and_a_unit(text: str, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "m",
        "5 min",
        "5 m",
        "-5m",
        "+5m",
        "1.5h",
        "5M",
        "5m ",
        "5m\n",
        "\u0665m",
        "1h30m",
        "5w",
        "9" * 5000 + "s",
    ],
)
def test_anything_else_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(ValueError, match="allowed: a whole number followed by s, m, h or d") as refusal:
        parse_duration(text)
    assert len(str(refusal.value)) < 200


def test_the_message_quotes_what_was_found() -> None:
    with pytest.raises(ValueError, match=re.escape('found "5 min"; allowed: a whole number')):
        parse_duration("5 min")


@pytest.mark.parametrize("text", ["3651d", "999999999d", "315360001s"])
def test_ten_years_are_the_longest(text: str) -> None:
    with pytest.raises(ValueError, match="allowed: at most 3650d"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(), "0s"),
        (timedelta(seconds=90), "90s"),
        (timedelta(seconds=300), "5m"),
        (timedelta(hours=36), "36h"),
        (timedelta(hours=48), "2d"),
        (timedelta(seconds=61, microseconds=5), "61s"),
    ],
)
def test_rendering_takes_the_largest_unit_that_fits(duration: timedelta, text: str) -> None:
    assert render(duration) == text


@given(st.integers(0, int(LONGEST.total_seconds())))
def test_what_is_rendered_reads_back(seconds: int) -> None:
    assert parse_duration(render(timedelta(seconds=seconds))) == timedelta(seconds=seconds)


@given(st.text())
def test_any_text_is_a_duration_or_a_value_error(text: str) -> None:
    try:
        assert timedelta() <= parse_duration(text) <= LONGEST
    except ValueError as refusal:
        assert "allowed" in str(refusal)


class Grace(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)
    grace: Duration


def test_a_field_reads_text_and_writes_text() -> None:
    assert Grace.model_validate_json('{"grace": "5m"}').grace == timedelta(minutes=5)
    assert Grace(grace=timedelta(minutes=5)).model_dump(mode="json") == {"grace": "5m"}


@pytest.mark.parametrize("value", [5, 5.0, True, None, ["5m"], timedelta(days=-1), timedelta(days=4000)])
def test_a_field_takes_nothing_but_durations(value: Any) -> None:
    with pytest.raises(ValidationError, match="allowed"):
        Grace.model_validate({"grace": value})


def test_a_bare_number_is_told_how_to_become_a_duration() -> None:
    with pytest.raises(ValidationError, match=r'found 5; .* write "5s" for seconds'):
        Grace.model_validate({"grace": 5})


def test_the_schema_tells_editors_the_form() -> None:
    schema = TypeAdapter(Duration).json_schema()
    assert schema["type"] == "string"
    assert re.search(schema["pattern"], "36h")
    assert not re.search(schema["pattern"], "5 min")
