"""Writes the pages that are made from the code: `python -m tests.docs.generated`. A test fails where one is stale."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from handler.compose import vocabulary
from infra.kinds.kind import Kind
from infra.kinds.registry import KINDS
from policies.definitions import promise
from policies.kind import Creation
from policies.properties import CreateOnly, Extension, Marker, WriteOnly
from policies.schema import json_schema
from strategies.registry import STRATEGIES
from tests.sweep.catalogue import SCENARIOS, pairs

DOCS = Path(__file__).parents[2] / "docs"

_HEAD = """\
# Resource kinds

Made from the code by `python -m tests.docs.generated`; do not edit. The properties are CloudFormation's own, so their
meaning is in AWS's documentation. *Create-only*: another value needs another resource (`replace`). *Write-only*: the
service never shows it, so drift in it cannot be seen. *Extension*: Setpoint's own, CloudFormation has no such property.
What counts as unhealthy stands in [language.md](language.md#replicas).
"""
_PAIRS = """\
# Strategies and kinds

Made from the code by `python -m tests.docs.generated`; do not edit. Each number counts scenarios in which the sweep
(`tests/sweep`) shows for that strategy and kind that the world converges and then stays quiet, undisturbed and after
every crash, lost answer, refusal and stale read. Pairs without a number may work; nothing here has shown it.
"""
_CREATION = {
    Creation.EXCLUSIVE: "exclusive: the call fails where the name is taken",
    Creation.UPSERT: "upsert: the call would overwrite, so the name is read first",
    Creation.RETURNS_EXISTING: "returns what exists: the answer proves nothing, so ownership is read back",
}
_TOGETHER = {"read": "reads", "update": "updates by the same change", "delete": "deletes"}
_VERBS = ("survey", "read", "create", "update", "delete")
_MARKS: Mapping[str, Marker] = {"create-only": CreateOnly, "write-only": WriteOnly, "extension": Extension}


def pages() -> Mapping[str, str]:
    """Every generated page, by its file name below docs/."""
    schema = json_schema(vocabulary("123456789012", "us-east-1"))
    return {
        "kinds.md": kinds_page(KINDS),
        "pairs.md": pairs_page(),
        "setpoint.schema.json": json.dumps(schema, indent=1) + "\n",
    }


def pairs_page() -> str:
    """Every strategy with every kind for which a scenario of the sweep shows that it converges and then stays quiet."""
    shown: dict[str, dict[str, list[str]]] = {}
    for scenario in SCENARIOS:
        for strategy, kind in pairs(scenario):
            shown.setdefault(kind, {}).setdefault(strategy, []).append(scenario)
    words = sorted(STRATEGIES)
    rows = [
        f"| `{kind}` | " + " | ".join(str(len(shown[kind].get(word, ()))) or "" for word in words) + " |"
        for kind in sorted(shown)
    ]
    names = [
        f"- **{word}** of `{kind}`: {', '.join(sorted(shown[kind][word]))}"
        for word in words
        for kind in sorted(shown)
        if word in shown[kind]
    ]
    head = ["| kind | " + " | ".join(words) + " |", "|---" * (len(words) + 1) + "|"]
    return "\n".join([_PAIRS, *head, *rows, "", *names, ""]).replace(" 0 |", "  |")


def kinds_page(kinds: Mapping[str, Kind]) -> str:
    """A table of all kinds, and a section for each."""
    rows = [_row(word, kinds[word]) for word in sorted(kinds)]
    table = ["| kind | a create is | holds data | identity | deep reads |", "|---|---|---|---|---|", *rows]
    sections = ["\n".join(_section(word, kinds[word])) for word in sorted(kinds)]
    return "\n".join([_HEAD, *table, "", *sections])


def _row(word: str, kind: Kind) -> str:
    data = "yes: kept unless `removal` is `delete`" if kind.holds_data else "no: deleted when unwanted"
    identity = ", ".join(f"`{name}`" for name in kind.identifiers) or "slot and client token"
    reads = "never: the bulk call shows everything" if kind.complete_survey else "once per `driftCheck`"
    create = "none: can only be matched" if kind.match_only else _CREATION[kind.creation].partition(":")[0]
    return f"| [`{word}`](#{_anchor(word)}) | {create} | {data} | {identity} | {reads} |"


def _section(word: str, kind: Kind) -> Iterator[str]:
    fields = sorted(kind.properties.model_fields)
    yield from (f"## {word}", "", promise(type(kind)), "")
    yield f"- **Create**: {'none: it can only be matched' if kind.match_only else _CREATION[kind.creation]}."
    yield f"- **Properties**: {_words(fields)}."
    for said, mark in _MARKS.items():
        marked = [field for field in fields if kind.shape.inner(field).has(mark)]
        if marked:
            yield f"- **{said.capitalize()}**: {_words(marked)}."
    yield f"- **Facts** (for `where`, `deleteIf`, `protect` and placeholders): {_words(kind.facts)}."
    yield f"- **Read-only**, refused: {_words(kind.read_only)}."
    if kind.not_supported:
        yield f"- **Not yet supported**, refused: {_words(kind.not_supported)}."
    if kind.together:
        told = (f"{_TOGETHER[does]} of up to {most}" for does, most in kind.together.items() if does in _TOGETHER)
        yield f"- **One call for several**: {', '.join(told)}."
    yield "- **IAM actions**:"
    yield from (f"  - {verb}: {_words(kind.iam.get(verb, ()))}" for verb in _VERBS)
    yield ""


def _words(words: object) -> str:
    assert isinstance(words, list | frozenset | tuple)
    return ", ".join(f"`{word}`" for word in sorted(words)) or "none"


def _anchor(word: str) -> str:
    return word.lower().replace("::", "")


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text)
