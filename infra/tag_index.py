"""The tag index: what the Resource Groups Tagging API knows, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from infra.aws import Aws
from infra.refusals import translated
from policies.identity import POLICY

PAGE = 100
"""GetResources gives at most 100 resources a page."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """One resource as the tag index shows it."""

    arn: str
    tags: Mapping[str, str]


def read_index(aws: Aws, resource_type: str | None) -> tuple[Indexed, ...]:
    """The tag index of one type; None: of everything that carries an owner tag, whatever its type."""
    filters: dict[str, object] = (
        {"TagFilters": [{"Key": POLICY}]} if resource_type is None else {"ResourceTypeFilters": [resource_type]}
    )
    with translated():
        return tuple(_pages(aws, filters))


def _pages(aws: Aws, filters: dict[str, object]) -> Iterator[Indexed]:
    pages = aws.pages(
        "resourcegroupstaggingapi", "get_resources", "ResourceTagMappingList", ResourcesPerPage=PAGE, **filters
    )
    for found in pages:
        yield Indexed(found["ResourceARN"], {tag["Key"]: tag["Value"] for tag in found["Tags"]})
