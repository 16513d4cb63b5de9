"""What an AWS call is called: `service.Operation`, read off the wire whatever its protocol."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qs

READS = ("List", "Get", "Describe", "Head", "BatchGet", "Lookup", "Search")
"""How operations begin that change nothing."""

_SCOPE = re.compile(r"Credential=[^/]+/\d+/[^/]+/([^/]+)/aws4_request")
_RPC = re.compile(r"/service/[^/]+/operation/([^/?]+)")
_VARIABLE = re.compile(r"/[^/]*[0-9:%][^/]*")
_SIGNED_AS = {"monitoring": "cloudwatch"}


def name_of(method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes) -> str:
    """The call's name; the service is the one that the signature is for."""
    scope = _SCOPE.search(headers.get("Authorization", ""))
    signed = scope[1] if scope else "unsigned"
    return f"{_SIGNED_AS.get(signed, signed)}.{_operation(signed, method, path, query, headers, body)}"


def is_read(name: str) -> bool:
    """Whether a call changes nothing."""
    return name.partition(".")[2].startswith(READS)


def _operation(
    service: str, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
) -> str:
    if target := headers.get("X-Amz-Target"):
        return target.rsplit(".", 1)[1]
    if rpc := _RPC.match(path):
        return rpc[1]
    if body.startswith(b"Action=") or b"&Action=" in body[:4096]:
        return parse_qs(body.decode("latin1"))["Action"][0]
    if service == "s3":
        return _s3_operation(method, path, query)
    return query.get("Action") or _rest_operation(method, path)


def _s3_operation(method: str, path: str, query: Mapping[str, str]) -> str:
    if "list-type" in query:
        return "ListObjectsV2"
    place = ("Service", "Bucket", "Object")[min(2, len(path.strip("/").split("/", 1)) if path.strip("/") else 0)]
    return f"{method.capitalize()}{place}"


def _rest_operation(method: str, path: str) -> str:
    verb = {"GET": "Get", "HEAD": "Head"}.get(method, method.capitalize())
    return f"{verb} {_VARIABLE.sub('/*', path)}"
