"""The tags that AWS accepts, which moto does not check.

Source: "Tag naming limits and requirements" (AWS General Reference): keys of 1 to 128 characters, values of up to 256,
letters, digits, spaces and `+ - = . _ : / @`, no key that begins with `aws:`, 50 tags a resource. EC2: any character.
"""

import re
from collections.abc import Iterator

from tests.world.call import Call, Params, Refused

ALLOWED = re.compile(r"[\w\s+\-=.:/@]*")
CODES = {"sqs": "InvalidParameterValue", "ec2": "InvalidParameterValue", "logs": "InvalidParameterException"}


def check(call: Call) -> None:
    """Refuse a write whose tags AWS would refuse."""
    pairs = list(_pairs(call.params))
    broken = next((pair for pair in pairs if not _is_legal(call, *pair)), None)
    if broken or len(pairs) > 50:
        message = f"Invalid tag {broken}." if broken else f"Too many tags: {len(pairs)}, at most 50."
        raise Refused(CODES.get(call.service, "ValidationException"), message)


def _pairs(params: Params) -> Iterator[tuple[str, str]]:
    for found in (params.get("tags"), params.get("Tags")):
        yield from found.items() if isinstance(found, dict) else (_pair(tag) for tag in found or ())
    for specification in params.get("TagSpecifications", [])[:1]:
        yield from ((tag["Key"], tag.get("Value", "")) for tag in specification["Tags"])


def _is_legal(call: Call, key: str, value: str) -> bool:
    plain = call.service == "ec2" or (ALLOWED.fullmatch(key) and ALLOWED.fullmatch(value))
    return bool(plain) and 1 <= len(key) <= 128 and len(value) <= 256 and not key.lower().startswith("aws:")


def _pair(tag: Params) -> tuple[str, str]:
    """ECS writes them small."""
    return (tag["key"], tag.get("value", "")) if "key" in tag else (tag["Key"], tag.get("Value", ""))
