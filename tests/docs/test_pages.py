"""What the pages say is so: their policies parse, their commands exist with these options, their files are there."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from handler.cli import app
from handler.compose import vocabulary
from policies.estate import parse_estate
from policies.text import read_json
from strategies.registry import STRATEGIES
from tests.docs.pages import PAGES, ROOT, Block, blocks, document, prose

VOCABULARY = vocabulary("123456789012", "eu-west-1")
JSON = list(blocks("json"))

_COMMAND = re.compile(r"(?:^|`)(setpoint [a-z][^\n`#]*)", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_PATH = re.compile(r"`((?:docs|examples|handler|infra|policies|strategies|tests|events)/[\w./-]*[\w/]|[\w-]+\.toml)`")

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
COMMANDS = sorted({found.strip() for page in PAGES for found in _COMMAND.findall(page.read_text())})


@pytest.mark.parametrize("block", JSON, ids=str)
def test_json_is_strict(block: Block) -> None:
    assert read_json(block.text.encode()) == json.loads(block.text)


@pytest.mark.parametrize("block", [one for one in JSON if one.page.name != "extending.md"], ids=str)
def test_policies_parse_and_are_apart(block: Block) -> None:
    estate = parse_estate([("example", "1", json.dumps(document(block)).encode())], VOCABULARY, full=True)
    assert [str(failure) for failure in estate.failures] == []
    assert estate.conflicts == {}


@every_page
def test_python_compiles(page: Path) -> None:
    for block in blocks("python", page):
        compile(block.text, str(block), "exec")


def test_the_language_page_has_a_section_for_each_strategy_that_is_there() -> None:
    page = (ROOT / "docs" / "language.md").read_text()
    supported, _, not_yet = page.partition("### Not yet")
    for word, strategy in STRATEGIES.items():
        assert f"### {word}\n" in supported if strategy.supported else f"`{word}`" in not_yet, word


def test_the_pages_speak_of_commands() -> None:
    assert {shlex.split(command)[1] for command in COMMANDS} >= {"validate", "plan", "run", "apply", "schema"}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_exist_with_these_options(command: str) -> None:
    group: Any = typer.main.get_command(app)
    _, name, *rest = shlex.split(command)
    assert name in group.commands
    known = {option for of in (group, group.commands[name]) for one in of.params for option in one.opts}
    assert {word.partition("=")[0] for word in rest if word.startswith("-")} <= known | {"--help"}


@every_page
def test_files_are_there(page: Path) -> None:
    assert list(_lost(page)) == []


def _lost(page: Path) -> Iterator[str]:
    """Every file that a page speaks of and that is not there."""
    text = prose(page)
    for link in _LINK.findall(text):
        if not link.startswith(("http:", "https:")) and not (page.parent / link).exists():
            yield link
    yield from (path for path in _PATH.findall(text) if not (ROOT / path).exists())
