"""What the dashboard shows, and what the function's log tells CloudWatch to record, in the same terms."""

import json
import re
from collections.abc import Iterator
from typing import Any

VALUES = {
    "AWS::Region": "us-east-1",
    "ControllerName": "setpoint",
    "SetpointFunction": "function",
    "ErrorAlarm.Arn": "arn:aws:cloudwatch:us-east-1:123456789012:alarm:errors",
    "HeartbeatAlarm.Arn": "arn:aws:cloudwatch:us-east-1:123456789012:alarm:heartbeat",
}

Metric = tuple[str, frozenset[tuple[str, str]]]
"""A name and all its dimensions: CloudWatch shows nothing for a part of them."""


def widgets(template: dict[str, Any]) -> list[dict[str, Any]]:
    """The widgets as CloudWatch gets them."""
    body = template["Resources"]["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
    return json.loads(re.sub(r"\$\{([^}]+)\}", lambda name: VALUES[name[1]], body))["widgets"]


def shown(template: dict[str, Any]) -> Iterator[Metric]:
    """The metrics of ours in the widgets, each "." replaced by what stands above it."""
    for widget in widgets(template):
        above: list[str] = []
        for row in widget["properties"].get("metrics", ()):
            above = [above[place] if word == "." else word for place, word in enumerate(row)]
            if above[0] == "Setpoint":
                yield above[1], frozenset(zip(above[2::2], above[3::2], strict=True))


def recorded(log: str) -> Iterator[Metric]:
    """The metrics in a log, in CloudWatch's embedded metric format."""
    for line in log.splitlines():
        if not line.startswith("{") or "CloudWatchMetrics" not in line:
            continue
        entry = json.loads(line)
        for directive in entry["_aws"]["CloudWatchMetrics"]:
            for names in directive["Dimensions"]:
                dimensions = frozenset((name, entry[name]) for name in names)
                yield from ((metric["Name"], dimensions) for metric in directive["Metrics"])
