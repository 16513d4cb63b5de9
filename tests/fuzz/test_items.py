"""Item sources: whatever stands in them, the run goes on, and what is owned stays."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policies.errors import SetpointError
from tests.fuzz.test_documents import values
from tests.sweep.hands import from_parameter, put_items
from tests.sweep.harness import tick
from tests.sweep.scenarios import QUEUE, TAGS, of, policy
from tests.world import World

often = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
OWNED = {"tenant-t0", "tenant-t1", "tenant-t2"}


def started() -> tuple[World, Any]:
    """A world in which three tenants are served, for an hour already."""
    world = World()
    world.__enter__()
    put_items(world, '["t0", "t1", "t2"]')
    documents = of(from_parameter())
    tick(world, documents)
    tick(world, documents, minutes=61)
    assert set(world.resources()[QUEUE]) == OWNED
    return world, documents


@often
@given(st.text(min_size=1, max_size=300) | values.map(json.dumps))
def test_any_text_in_a_parameter(text: str) -> None:
    world, documents = started()
    try:
        put_items(world, text)
        report = tick(world, documents)
        assert report is not None
        (one,) = report.policies
        assert one.error is None or isinstance(one.error, SetpointError), repr(one.error)
        gone = OWNED - set(world.resources()[QUEUE])
        assert len(gone) <= 1 or isinstance(json.loads(text), list), "what is no list deletes nothing"
    finally:
        world.__exit__(None, None, None)


@often
@given(st.binary(max_size=300) | values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_in_an_object(body: bytes) -> None:
    source = {"source": "s3Object", "bucket": "items", "key": "list.json"}
    properties = {"QueueName": "tenant-${item}", "Tags": TAGS}
    documents = of(policy("tenants", QUEUE, properties, {"type": "forEach", "items": source}))
    with World() as world:
        place = {"LocationConstraint": "eu-west-1"}
        world.outside.s3.create_bucket(Bucket="items", CreateBucketConfiguration=place)
        world.outside.s3.put_object(Bucket="items", Key="list.json", Body=body)
        report = tick(world, documents)
        assert report is not None
        (one,) = report.policies
        assert one.error is None or isinstance(one.error, SetpointError), repr(one.error)
