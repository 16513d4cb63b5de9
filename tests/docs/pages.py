"""The pages that people read, and the blocks in them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md")))

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block: where it stands, in which language, and what it says."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(language: str, page: Path | None = None) -> Iterator[Block]:
    """Every block in a language, of one page or of all."""
    for path in PAGES if page is None else (page,):
        text = path.read_text()
        for found in _BLOCK.finditer(text):
            if found[1] == language:
                yield Block(path, text.count("\n", 0, found.start()) + 1, language, found[2])


def prose(page: Path) -> str:
    """A page without its blocks."""
    return _BLOCK.sub("", page.read_text())


def document(block: Block) -> Mapping[str, Any] | None:
    """The policy document that a JSON block is, or that its one policy would stand in; None where it is neither."""
    value = json.loads(block.text)
    if not isinstance(value, dict):
        return None
    if "policies" in value:
        return value
    return {"version": 1, "policies": [value]} if value.keys() >= {"name", "resource", "strategy"} else None
