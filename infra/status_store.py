"""Writes status documents to S3. Write-only: no run ever reads one; a warm function skips what has not changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from infra.aws import Aws
from infra.refusals import translated

REFRESH = timedelta(minutes=5)
"""An unchanged status is written again after this time, so that its `verifiedAt` stays believable."""


class StatusStore:
    """The statuses of one deployment under one prefix. What it remembers saves calls and decides nothing."""

    def __init__(self, aws: Aws, bucket: str, prefix: str) -> None:
        self._aws = aws
        self._bucket = bucket
        self._prefix = prefix
        self._written: dict[str, tuple[str, datetime]] = {}

    def write(self, name: str, status: Mapping[str, Any], now: datetime) -> bool:
        """Store one status unless the same one was stored just now; tells whether it was written."""
        gist = json.dumps(_without_times(status), sort_keys=True)
        known, since = self._written.get(name, ("", now))
        if known == gist and now - since < REFRESH:
            return False
        body = json.dumps(status, indent=2).encode()
        with translated():
            self._aws.client("s3").put_object(
                Bucket=self._bucket, Key=f"{self._prefix}{name}.json", Body=body, ContentType="application/json"
            )
        self._written[name] = (gist, now)
        return True


def _without_times(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_times(item) for key, item in value.items() if key != "verifiedAt"}
    if isinstance(value, list | tuple):
        return [_without_times(item) for item in value]
    return value
