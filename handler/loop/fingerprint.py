"""What makes two planned actions the same one: by this a saved plan is compared with the world as it is now."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from policies.action import Action
from policies.frozen import canonical_text
from policies.identity import MARKED


def fingerprint(action: Action) -> str:
    """A hash of what would be written and to what: equal for equal plans, at whatever time they are made.

    Reasons are left out, and so are the moment in a mark and the client tokens, which are chosen at the act.
    """
    parts = {
        "verb": action.verb.value,
        "policy": action.policy,
        "type": action.type,
        "where": [action.scope.account, action.scope.region, action.scope.role],
        "key": action.key,
        "seen": action.seen and action.seen.id,
        "desired": _desired(action),
        "change": _change(action),
    }
    return hashlib.sha256(canonical_text(parts).encode()).hexdigest()[:32]


def _desired(action: Action) -> Mapping[str, Any] | None:
    want = action.desired
    if want is None:
        return None
    return {
        "name": want.name,
        "properties": want.properties,
        "tags": want.tags,
        "initial": want.initial,
        "of": want.of,
    }


def _change(action: Action) -> Mapping[str, Any]:
    change = action.change
    tags = {key: "" if key == MARKED else value for key, value in change.tags.items()}
    return {"properties": change.properties, "tags": tags, "untag": sorted(change.untag)}
