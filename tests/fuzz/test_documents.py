"""Any bytes give a document or a list of mistakes, soon and in little room."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from handler.compose import vocabulary
from policies.estate import Estate, parse_estate
from policies.text import LIMIT

EXAMPLES = {path.stem: path.read_bytes() for path in sorted(Path("examples/policies").glob("*.json"))}
VOCABULARY = vocabulary("123456789012", "eu-west-1")
SECONDS = 5.0
"""Of the processor. A tick has 55 in all, and one broken document must not cost the others theirs."""

MEGABYTES = 128
often = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)
documents = st.sampled_from(sorted(EXAMPLES)).map(EXAMPLES.__getitem__)


def parsed(*bodies: bytes) -> Estate:
    """The estate of these documents, which must be one whatever they hold."""
    begun = time.process_time()
    estate = parse_estate([(f"d{place}", "1", body) for place, body in enumerate(bodies)], VOCABULARY, True)
    assert time.process_time() - begun < SECONDS
    for failure in estate.failures:
        assert failure.problems
        assert all(problem.path.startswith("$") and problem.message for problem in failure.problems)
    assert len(estate.documents) + len(estate.failures) == len(bodies)
    return estate


@often
@given(st.binary(max_size=400) | st.text(max_size=200).map(str.encode))
@example(b"\xff\xfe{}")
@example(b"\xef\xbb\xbf")
def test_any_bytes(body: bytes) -> None:
    parsed(body)


@often
@given(values)
def test_any_value(value: Any) -> None:
    parsed(json.dumps(value).encode())


@often
@given(documents, st.integers(0, 10_000), st.integers(0, 40), st.binary(max_size=20))
def test_a_document_with_a_piece_torn_out(body: bytes, start: int, length: int, patch: bytes) -> None:
    start %= len(body)
    parsed(body[:start] + patch + body[start + length :])


@often
@given(documents, st.randoms(use_true_random=False), values)
def test_a_document_with_another_value_somewhere(body: bytes, chance: Any, value: Any) -> None:
    document = json.loads(body)
    holder = document
    while True:
        places = list(holder) if isinstance(holder, dict) else range(len(holder))
        if not places:
            break
        place = chance.choice(list(places))
        if isinstance(holder[place], dict | list) and chance.random() < 0.8:
            holder = holder[place]
        else:
            holder[place] = value
            break
    parsed(json.dumps(document).encode())


@often
@given(st.lists(documents, min_size=1, max_size=4))
def test_documents_beside_their_copies(bodies: list[bytes]) -> None:
    parsed(*bodies)


def policies(count: int, name: str = "q{}-${{item}}", items: str = '["a"]') -> bytes:
    """Many policies, each of its own queues."""
    one = (
        '{{"name":"p{0}","resource":{{"type":"AWS::SQS::Queue","properties":{{"QueueName":"{1}"}}}},'
        '"strategy":{{"type":"forEach","items":{{"source":"list","values":{2}}}}}}}'
    )
    listed = ",".join(one.format(number, name.format(number), items) for number in range(count))
    return f'{{"version":1,"policies":[{listed}]}}'.encode()


WORST = {
    "brackets": b"[" * (LIMIT - 1),
    "braces": b'{"a":' * (LIMIT // 5 - 1),
    "one long string": b'"' + b"\\u0041" * (LIMIT // 6 - 2) + b'"',
    "quotes without an end": b'"\\' * (LIMIT // 2 - 1),
    "digits": b"9" * (LIMIT - 1),
    "minus signs": b"-" * (LIMIT - 1),
    "one key again and again": b"{" + b",".join([b'"a":1'] * (LIMIT // 7)) + b"}",
    "keys that nobody knows": json.dumps({"version": 1, **{f"k{number}": 1 for number in range(60_000)}}).encode(),
    "policies that are none": b'{"version":1,"policies":[' + b",".join([b"0"] * (LIMIT // 3)) + b"]}",
    "policies without a name": b'{"version":1,"policies":[' + b",".join([b"{}"] * (LIMIT // 8)) + b"]}",
    "a thousand policies": policies(1_000),
    "policies that all collide": policies(300, "q-${{item}}"),
    "items without end": policies(1, items=json.dumps([f"i{number}" for number in range(60_000)])),
    "one item again and again": policies(1, items=json.dumps(["a"] * 60_000)),
    "placeholders": policies(1, "${{" * 30_000),
    "too large": b" " * (LIMIT + 1),
    "nothing but spaces": b" " * LIMIT,
}


@contextmanager
def little_room() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MEGABYTES * 1024 * 1024
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", WORST)
def test_the_worst_megabyte_is_over_soon(name: str) -> None:
    parsed(WORST[name])


@pytest.mark.parametrize("name", ["brackets", "digits", "one key again and again", "policies without a name"])
def test_the_worst_megabyte_takes_little_room(name: str) -> None:
    with little_room():
        parse_estate([("d", "1", WORST[name])], VOCABULARY, True)
