"""The Lambda function: every minute one run over the policies in S3."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from handler.ahead import begin

OPENING = begin(os.environ)
"""Made before the other imports, which are most of a cold start: policies and owner tags arrive meanwhile."""

from handler.function import SPARE_MILLISECONDS, deployed  # noqa: E402


def handler(_event: Mapping[str, Any], context: Any) -> Mapping[str, Any]:
    """One run. Raises at its end if anything failed, so that Lambda's own error metric tells the truth."""
    return deployed(OPENING).tick(
        datetime.now(UTC), lambda: context.get_remaining_time_in_millis() < SPARE_MILLISECONDS
    )
