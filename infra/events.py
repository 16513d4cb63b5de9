"""Tells the rest of the account: one EventBridge event per change."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from infra.aws import Aws
from infra.refusals import translated
from policies.errors import SenseError

BATCH = 10
"""PutEvents takes at most ten entries."""


def publish(aws: Aws, bus: str, changes: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Put every change on the bus; raises where the bus did not take one (the change itself has happened)."""
    entries = [
        {
            "EventBusName": bus,
            "Source": "setpoint",
            "DetailType": "Setpoint Change",
            "Time": now,
            "Detail": json.dumps(one),
        }
        for one in changes
    ]
    refused = 0
    for start in range(0, len(entries), BATCH):
        with translated():
            refused += aws.client("events").put_events(Entries=entries[start : start + BATCH])["FailedEntryCount"]
    if refused:
        raise SenseError(f"event bus {bus!r} did not take {refused} of {len(entries)} events")
