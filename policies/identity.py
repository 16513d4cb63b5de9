"""Who owns a resource, and the proof of it.

Four owner tags go into every create call. Three say who (`setpoint:policy`, `setpoint:key`, `setpoint:spec`), the
fourth proves it: `setpoint:id` hashes policy, key and the resource's own name, so that tags copied to another resource,
as an RDS snapshot restore does, prove nothing. Nameless resources (EC2 instances) carry in `setpoint:id` the hash of
what they were born with; there the client token, which only the create call can set, is the proof.

Tag values may hold letters, digits, spaces and `+ - = . _ : / @`, at most 256 (Tagging API); all written here do.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice

from policies.frozen import NOTHING, Json, canonical_text
from policies.world import Resource

PREFIX = "setpoint:"
POLICY = "setpoint:policy"
KEY = "setpoint:key"
ID = "setpoint:id"
SPEC = "setpoint:spec"
MARKED = "setpoint:marked"
ADOPTED = "setpoint:adopted"
DOCUMENT = "setpoint:document"
"""Which document the policy stood in: tells whether an orphan left a document that still exists."""

HOLD_UNTIL = "setpoint:hold-until"

PENDING = "pending"
"""Value of `setpoint:spec` while a create of several calls has not ended."""

CHAIN_STEPS = 16
"""Links of a token chain that one run tries."""

CHAIN_LENGTH = 2000
"""Links looked through for a proof: a slot that dies every minute for a day uses 1,440."""

_UNSAFE = re.compile(r"[^A-Za-z0-9 +\-._:/@]")


@dataclass(frozen=True, slots=True)
class Owner:
    """A policy of one controller: two deployments in one account never mistake each other's resources."""

    controller: str
    policy: str

    def __str__(self) -> str:
        return f"{self.controller}/{self.policy}"


def owner_tags(owner: Owner, document: str, key: str, name: str | None, spec: str, birth: str) -> dict[str, str]:
    """The owner tags of a resource; `birth` stands in for the name of a nameless one."""
    return {
        POLICY: str(owner),
        KEY: tag_value(key),
        ID: proof(owner, key, name) if name else birth,
        SPEC: spec,
        DOCUMENT: document,
    }


def claimed_by(tags: Mapping[str, str] | None) -> str | None:
    """The owner that the tags name, proven or not."""
    return (tags or {}).get(POLICY)


def proves(resource: Resource, owner: Owner) -> bool:
    """Whether the tags name this owner and could not have come from another resource."""
    tags = resource.tags or {}
    if tags.get(POLICY) != str(owner) or KEY not in tags:
        return False
    if resource.name is not None:
        return tags.get(ID) == _proof(str(owner), tags[KEY], resource.name)
    return resource.token is not None and link_of(resource, owner) is not None


def proof(owner: Owner, key: str, name: str) -> str:
    return _proof(str(owner), tag_value(key), name)


@lru_cache(maxsize=100_000)
def _proof(owner: str, key_tag: str, name: str) -> str:
    return _digest("id", owner, key_tag, name)


def spec_hash(properties: Mapping[str, Json], tags: Mapping[str, str], unreadable: Mapping[str, Json] = NOTHING) -> str:
    """Versioned hash of what the policy declares. A mismatch triggers a read, never a blind write.

    What the service never shows (`unreadable`, write-only properties) has a second hash of its own: it is the only way
    to see that it was changed in the policy. Sixteen bits: enough to notice an edit, too few to guess a secret by.
    """
    spec = "v1:" + _digest("spec", canonical_text(properties), canonical_text(tags))
    return f"{spec}:{_digest('unreadable', canonical_text(unreadable))[:4]}" if unreadable else spec


def unreadable_hash(spec: str | None) -> str | None:
    """The part of a spec hash that stands for write-only properties, if there is one."""
    parts = (spec or "").split(":")
    return parts[2] if len(parts) == 3 else None


def chain(owner: Owner | str, key_tag: str, birth: str) -> Iterator[str]:
    """The client tokens of one slot: hash(controller, policy, slot, spec), then each the hash of the last.

    A token lives for a day after its instance died, the dead are shown for an hour: a token made from visible deaths
    would wedge the slot, a chain does not.
    """
    token = _digest("token", str(owner), key_tag, birth)
    while True:
        yield token
        token = _digest("next", token)


def next_tokens(owner: Owner, key: str, birth: str, dead: tuple[Resource, ...]) -> tuple[str, ...]:
    """The tokens to try for a slot, in order: those after the newest visible dead one, at most sixteen."""
    used = {resource.token for resource in dead} - {None}
    looked = CHAIN_LENGTH if used else 0
    tokens = list(islice(chain(owner, tag_value(key), birth), looked + CHAIN_STEPS))
    start = max((place + 1 for place, token in enumerate(tokens[:looked]) if token in used), default=0)
    return tuple(tokens[start : start + CHAIN_STEPS])


def link_of(resource: Resource, owner: Owner) -> int | None:
    """Which link of its slot's chain a nameless resource was created with; None: it does not prove."""
    tags = resource.tags or {}
    birth, _, born_to = tags.get(ID, "").partition("@")
    links = islice(chain(born_to or owner, tags.get(KEY, ""), birth), CHAIN_LENGTH)
    return next((place for place, token in enumerate(links) if token == resource.token), None)


def birth_mark(resource: Resource, owner: Owner) -> str | None:
    """The value that `setpoint:id` of a nameless resource keeps, whoever owns it now.

    Its token comes from the chain of the policy that it was born to, so a policy that takes it over notes which.
    """
    tags = resource.tags or {}
    birth, born_to = tags.get(ID), tags.get(POLICY)
    return birth if birth is None or "@" in birth or born_to == str(owner) else f"{birth}@{born_to}"


def tag_value(text: str) -> str:
    """The text as a legal tag value, different for different texts: what is not allowed is written as =XX."""
    safe = _UNSAFE.sub(lambda found: "".join(f"={byte:02X}" for byte in found.group().encode()), text)
    return safe if len(safe) <= 256 else f"{safe[:200]}={_digest('long', text)}"


PURPOSES = ("delete", "retain")


def mark(owner: Owner, resource_id: str, now: datetime, purpose: str = "delete") -> str:
    """The value of a mark: the moment, and a hash of policy, id and purpose, since a copied tag is worth nothing.

    A mark of what is retained starts no grace: should its policy say delete one day, it is marked anew.
    """
    moment = rfc3339(now)
    return f"{moment}/{_mark_digest(owner, resource_id, purpose, moment)}"


def marked_at(
    tags: Mapping[str, str] | None, owner: Owner, resource_id: str, purpose: str = "delete"
) -> datetime | None:
    """When this policy marked this very resource for that; None for no mark, or one that came from elsewhere."""
    moment, _, digest = (tags or {}).get(MARKED, "").partition("/")
    return parse_moment(moment) if digest == _mark_digest(owner, resource_id, purpose, moment) else None


def _mark_digest(owner: Owner, resource_id: str, purpose: str, moment: str) -> str:
    return _digest("mark", str(owner), resource_id, purpose, moment)[:16]


def rfc3339(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_moment(text: str) -> datetime | None:
    """An RFC 3339 time with its offset, in UTC; None for anything else, also for a time that UTC cannot hold."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _digest(*parts: str) -> str:
    return hashlib.sha256(canonical_text(list(parts)).encode()).hexdigest()[:32]
