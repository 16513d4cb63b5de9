"""Make the SDK's data in an artifact quick to read: PYTHONPATH=ARTIFACT python trim_sdk.py ARTIFACT

botocore reads JSON when a client is made: the service's model, the rules of its endpoints, and which services there
are. Kept are the services that any code outside the SDK names in quotes (plug-ins included), unpacked and without their
prose; and of each the operations whose method any code names at all, with the shapes that those speak of. A cold start
then parses a tenth of the text (of EC2, which has eight hundred operations, a fiftieth), and keeps as little in memory.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from botocore import xform_name

SDK = ("boto3", "botocore", "s3transfer")
PROSE = ("documentation", "documentationUrl")


def trim(artifact: Path) -> None:
    data = artifact / "botocore" / "data"
    named, words = _quoted(artifact), _words(artifact)
    for folder in (path for path in data.iterdir() if path.is_dir() and path.name not in named):
        shutil.rmtree(folder)
    for found in [*data.rglob("*.json"), *data.rglob("*.json.gz")]:
        _rewrite(found)
    for model in data.rglob("service-2.json"):
        _keep(model, words)
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


def _words(artifact: Path) -> frozenset[str]:
    """Every identifier in any code: who calls an operation writes the name of its method, in quotes or not."""
    found: set[str] = set()
    for path in artifact.rglob("*.py"):
        found.update(re.findall(r"[a-z][a-z0-9_]*", path.read_text(encoding="utf-8")))
    return frozenset(found)


def _keep(path: Path, words: frozenset[str]) -> None:
    """One service, no more of it than the operations of these methods, what they speak of, and every error."""
    model = json.loads(path.read_bytes())
    operations = {name: one for name, one in model["operations"].items() if xform_name(name) in words}
    errors = (name for name, shape in model["shapes"].items() if shape.get("exception"))
    shapes = _reached(model["shapes"], {*_shapes_in(operations), *errors})
    for found in path.parent.glob("*.json"):
        data = json.loads(found.read_bytes())
        parts = data.get("merge", data)
        for word, kept in (("operations", operations), ("pagination", operations), ("shapes", shapes)):
            if word in parts:
                parts[word] = {name: one for name, one in parts[word].items() if name in kept}
        if "waiters" in parts:
            parts["waiters"] = {name: one for name, one in parts["waiters"].items() if one["operation"] in operations}
        found.write_text(_text(data), encoding="utf-8")


def _shapes_in(value: Any) -> Iterator[str]:
    """The names of all shapes that something refers to."""
    if isinstance(value, dict) and isinstance(value.get("shape"), str):
        yield value["shape"]
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _shapes_in(one)


def _reached(shapes: dict[str, Any], begin: set[str]) -> set[str]:
    """These shapes, and all that they are made of."""
    found, new = set[str](), begin
    while new:
        found |= new
        new = {name for word in new for name in _shapes_in(shapes[word])} - found
    return found


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
