"""Policy documents as tests write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def document(*policies: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": 1, **more, "policies": list(policies)}


def policy(
    name: str, type_: str, properties: Mapping[str, Any], items: Mapping[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """A forEach policy, unless `strategy` says otherwise."""
    strategy = {"type": "forEach", **({"items": dict(items)} if items else {})}
    return {"name": name, "resource": {"type": type_, "properties": dict(properties)}, "strategy": strategy, **more}


def body(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode()
