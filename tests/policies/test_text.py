"""Bytes to JSON: what is refused, what is said, and that nothing takes long."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policies.text import DEPTH, LIMIT, MOST_PROBLEMS, TextError, read_json


def refusal(body: bytes) -> TextError:
    with pytest.raises(TextError) as caught:
        read_json(body)
    return caught.value


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"version": 1, "policies": []}', {"version": 1, "policies": []}),
        (b"\xef\xbb\xbf{}", {}),
        (b"[1, -2.5, 1e3, true, false, null]", [1, -2.5, 1000.0, True, False, None]),
        (b'"\\ud83d\\ude00"', "😀"),
        (b'{"a": [{"b": {}}], "c": {"a": 1}}', {"a": [{"b": {}}], "c": {"a": 1}}),
        (b'"' + b"[" * 100 + b'"', "[" * 100),
        (b'"\\"' + b"[" * 100 + b'"', '"' + "[" * 100),
        (b"[" * DEPTH + b"]" * DEPTH, json.loads("[" * DEPTH + "]" * DEPTH)),
        (b"1" * 308, int("1" * 308)),
        (b" " * (LIMIT - 1) + b"1", 1),
    ],
)
def test_json_becomes_plain_values(body: bytes, value: Any) -> None:
    assert read_json(body) == value


@pytest.mark.parametrize(
    ("body", "message", "line", "column"),
    [
        (b"", "the document is empty", None, None),
        (b" \n\t", "the document is empty", None, None),
        (b"\xef\xbb\xbf", "the document is empty", None, None),
        (b" " * (LIMIT + 1), "the document has more than 1048576 bytes", None, None),
        (b'{"a":\n "\xff"}', "not UTF-8: found byte 0xff", 2, 3),
        ("{}".encode("utf-16"), "not UTF-8: found byte 0xff", 1, 1),
        (b'{"a": 1,\n  "b" 2}', "not JSON: expecting ':' delimiter", 2, 7),
        (b'{"a": 1,}', "not JSON: expecting property name", 1, None),
        (b"{'a': 1}", "not JSON: expecting property name", 1, 2),
        (b"{} {}", "not JSON: extra data", 1, 4),
        (b'{"a": "x', "not JSON: unterminated string", 1, 7),
        (b'"a\tb"', "not JSON: invalid control character", 1, 3),
        (b"nul", "not JSON: expecting value", 1, 1),
        (b"[" * 65 + b"]" * 65, "nests deeper than 64 levels", 1, 65),
        (b'\n{"a":' * 10**5, "nests deeper than 64 levels", 66, 1),
    ],
)
def test_broken_text_is_named_with_its_place(body: bytes, message: str, line: int | None, column: int | None) -> None:
    error = refusal(body)
    assert message in error.message
    assert error.line == line
    assert column is None or error.column == column
    assert error.json_path is None
    assert error.problems == (("$", error.message),)


@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        (b'{"a": 1, "b": 2, "a": 3}', "$.a", "this key is written 2 times"),
        (b'{"a": [{"b": 1, "b": 1, "b": 1}]}', "$.a[0].b", "this key is written 3 times"),
        (b'{"a b": {"x": 1, "\\u0078": 2}}', "$['a b'].x", "this key is written 2 times"),
        (b"NaN", "$", "found NaN"),
        (b'{"a": Infinity}', "$.a", "found Infinity"),
        (b"[0, -Infinity]", "$[1]", "found -Infinity"),
        (b"[1e999]", "$[0]", "found 1e999; allowed: numbers up to about 1.8e308"),
        (b"[-1.5e400]", "$[0]", "found -1.5e400"),
        (b"[" + b"7" * 5000 + b"]", "$[0]", "found 77777777777777777777… (5000 characters)"),
        (b"[" + b"9" * 309 + b"]", "$[0]", "(309 characters); allowed: numbers up to about 1.8e308"),
        (b'["\\ud800x"]', "$[0]", "found \\ud800, half of a surrogate pair"),
        (b'{"\\udc00": 1}', "$['\\udc00']", "found \\udc00, half of a surrogate pair"),
    ],
)
def test_what_json_leaves_open_is_refused_with_its_path(body: bytes, path: str, message: str) -> None:
    error = refusal(body)
    assert error.json_path == path
    assert [problem[0] for problem in error.problems] == [path]
    assert message in error.message
    str(error).encode()


def test_all_mistakes_are_told_at_once_even_inside_values_that_lose() -> None:
    error = refusal(b'{"a": {"x": 1, "x": NaN}, "a": [1e999, "\\ud800"], "b": {"y": 1, "y": 2}}')
    assert [path for path, _ in error.problems] == ["$.a", "$.a.x", "$.a.x", "$.a[0]", "$.a[1]", "$.b.y"]


def test_a_flood_of_mistakes_is_counted_and_cut() -> None:
    error = refusal(b"[" + b"NaN," * 200_000 + b"NaN]")
    assert len(error.problems) == MOST_PROBLEMS + 1
    assert error.problems[-1] == ("$", "and 199901 more mistakes like these")


def _fill(opening: bytes, repeated: bytes, closing: bytes) -> bytes:
    return opening + repeated * ((LIMIT - len(opening) - len(closing)) // len(repeated)) + closing


@pytest.mark.parametrize(
    "body",
    [
        _fill(b"", b"[", b""),
        _fill(b"", b'{"a":', b""),
        _fill(b'"', b"a", b'"'),
        _fill(b'"', b"\\n", b'"'),
        _fill(b'"', b'\\"', b""),
        _fill(b"", b"7", b""),
        _fill(b"1.", b"7", b""),
        _fill(b"", b"7", b"e9"),
        _fill(b"0.", b"0", b"1e999999"),
        _fill(b"{", b'"a":1,', b'"a":1}'),
        _fill(b"[", b"{},", b"1]"),
        _fill(b"[" + b'{"' + b"k" * 500_000 + b'":[', b'{"a":1,"a":2},', b"1]}]"),
    ],
    ids=range(12),
)
def test_the_worst_megabyte_is_read_or_refused_in_few_words(body: bytes) -> None:
    try:
        read_json(body)
    except TextError as error:
        assert len(str(error)) < 100_000  # and the run as a whole has a time limit


@given(st.binary(max_size=200) | st.text(alphabet='{}[]",:\\u0d8019.eE+-NaInfity \n').map(str.encode))
@example(b"\xef\xbb\xbf\xff")
def test_any_bytes_are_a_value_or_a_text_error(body: bytes) -> None:
    try:
        value = read_json(body)
    except TextError as error:
        assert error.problems
        assert error.problems[0][1] == error.message
        str(error).encode()
    else:
        assert json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(_JSON, st.booleans())
@settings(max_examples=60)
def test_every_good_value_survives(value: Any, ascii_only: bool) -> None:
    assert read_json(json.dumps(value, ensure_ascii=ascii_only).encode()) == value
