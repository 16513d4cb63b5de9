"""What the tag index shows at AWS and moto's does not: Kinesis streams and EventBridge rules."""

from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

from moto.core import resource_tagging
from moto.core.base_backend import BackendDict
from moto.core.resource_tagging import TaggableResourcesMixin, TaggedResource


class Unindexed(TaggableResourcesMixin):
    """One service's resources, in the form in which moto's index takes them."""

    SERVICE_NAMESPACE = "world"

    def __init__(self, found: Iterator[TaggedResource]) -> None:
        self._found = found

    def iter_tagged_resources(self) -> Iterator[TaggedResource]:
        return self._found

    def owns_arn(self, arn: str) -> bool:
        return False


def _streams(kinesis: Any) -> Iterator[TaggedResource]:
    for stream in kinesis.streams.values():
        yield TaggedResource(stream.arn, stream.tags, "kinesis:stream")


def _rules(events: Any) -> Iterator[TaggedResource]:
    for bus in events.event_buses.values():
        for rule in bus.rules.values():
            yield TaggedResource(rule.arn, events.tagger.get_tag_dict_for_resource(rule.arn), "events:rule")


UNINDEXED: dict[str, Callable[[Any], Iterator[TaggedResource]]] = {"kinesis": _streams, "events": _rules}


def completed() -> Any:
    """While this is entered, GetResources shows these too."""
    return patch("moto.resourcegroupstaggingapi.models.iter_taggable_backends", _backends)


def _backends(account: str, region: str) -> Iterator[TaggableResourcesMixin]:
    yield from resource_tagging.iter_taggable_backends(account, region)
    for found in list(BackendDict._instances):
        if found.service_name in UNINDEXED and account in found and region in found[account].keys():  # noqa: SIM118
            yield Unindexed(UNINDEXED[found.service_name](found[account][region]))
