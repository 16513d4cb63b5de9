"""Make the SDK's data in an artifact quick to read: python trim_sdk.py ARTIFACT

botocore reads JSON when a client is made: the service's model, the rules of its endpoints, and which services there
are. Kept are the services that any code outside the SDK names in quotes (plug-ins included), without their prose and
unpacked; a cold start then parses a third of the text, and no folder is listed for nothing.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

SDK = ("boto3", "botocore", "s3transfer")
PROSE = ("documentation", "documentationUrl")


def trim(artifact: Path) -> None:
    data = artifact / "botocore" / "data"
    named = _quoted(artifact)
    for folder in (path for path in data.iterdir() if path.is_dir() and path.name not in named):
        shutil.rmtree(folder)
    for found in [*data.rglob("*.json"), *data.rglob("*.json.gz")]:
        _rewrite(found)
    prefixes = {json.loads(model.read_bytes())["metadata"]["endpointPrefix"] for model in data.rglob("service-2.json")}
    endpoints = data / "endpoints.json"
    known = json.loads(endpoints.read_bytes())
    for partition in known["partitions"]:
        partition["services"] = {word: one for word, one in partition["services"].items() if word in prefixes}
    endpoints.write_text(_text(known), encoding="utf-8")


def _quoted(artifact: Path) -> frozenset[str]:
    """Every word that stands in quotes in the code that is not the SDK's."""
    sources = (path for path in artifact.rglob("*.py") if path.relative_to(artifact).parts[0] not in SDK)
    words = (re.findall(r"""["']([a-z0-9-]+)["']""", path.read_text(encoding="utf-8")) for path in sources)
    return frozenset(word for found in words for word in found)


def _rewrite(found: Path) -> None:
    packed = found.suffix == ".gz"
    raw = gzip.decompress(found.read_bytes()) if packed else found.read_bytes()
    found.unlink()
    if not found.name.startswith("examples-"):
        (found.with_suffix("") if packed else found).write_text(_text(_silent(json.loads(raw))), encoding="utf-8")


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _silent(value: Any) -> Any:
    """Without its prose. The words stay, empty: botocore asks for some of them by name."""
    if isinstance(value, dict):
        return {word: "" if word in PROSE and isinstance(one, str) else _silent(one) for word, one in value.items()}
    return [_silent(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    trim(Path(sys.argv[1]))
