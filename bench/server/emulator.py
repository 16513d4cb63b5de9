"""moto's server with AWS's own page sizes and words where moto has others. Loopback only.

DescribeAlarms gives 50 alarms a page and at most 100; GetResources 100 resources; log groups are `logs:log-group`, and
DescribeLogGroups finds them by their names too.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from moto.cloudwatch.responses import CloudWatchResponse
from moto.core.responses import ActionResult
from moto.logs.responses import LogsResponse
from moto.resourcegroupstaggingapi import models as tagging
from moto.resourcegroupstaggingapi.responses import ResourceGroupsTaggingAPIResponse
from moto.server import main

_all_alarms = CloudWatchResponse.describe_alarms
_all_groups = LogsResponse.describe_log_groups
_integer = ResourceGroupsTaggingAPIResponse._get_int_param
_resources = tagging.ResourceGroupsTaggingAPIBackend.get_resources
_matches = tagging.match_resource_type


def _alarms_by_page(self: Any) -> ActionResult:
    found = _all_alarms(self).result
    size, start = int(self._get_param("MaxRecords") or 50), int(self._get_param("NextToken") or 0)
    page = {
        "MetricAlarms": found["MetricAlarms"][start : start + size],
        "CompositeAlarms": found["CompositeAlarms"] if start == 0 else [],
    }
    if start + size < len(found["MetricAlarms"]):
        page["NextToken"] = str(start + size)
    return ActionResult(page)


def _page_size(self: Any, name: str, default: Any = None) -> Any:
    """A page that is asked for by ARNs holds them all."""
    size = 100 if name == "ResourcesPerPage" and self._get_param("ResourceARNList") else default
    return _integer(self, name, size)


def _resources_by_page(self: Any, **asked: Any) -> Any:
    """AWS counts resources, and tags only where one asks for that; nobody here does."""
    return _resources(self, **{**asked, "tags_per_page": 1_000_000})


def _matches_as_aws(type_: str, filters: Any) -> Any:
    return _matches("logs:log-group" if type_ == "logs:loggroup" else type_, filters)


def _groups_by_name(self: Any) -> str:
    names = self._get_param("logGroupIdentifiers")
    if not names:
        return str(_all_groups(self))
    groups = self.logs_backend.groups
    return json.dumps({"logGroups": [groups[name].to_describe_dict() for name in sorted(names) if name in groups]})


CloudWatchResponse.describe_alarms = _alarms_by_page
LogsResponse.describe_log_groups = _groups_by_name
ResourceGroupsTaggingAPIResponse._get_int_param = _page_size
tagging.ResourceGroupsTaggingAPIBackend.get_resources = _resources_by_page
tagging.match_resource_type = _matches_as_aws

if __name__ == "__main__":
    main(["-H", "127.0.0.1", *sys.argv[1:]])
