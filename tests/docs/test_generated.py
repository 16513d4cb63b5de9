"""The pages made from the code are those that the code makes now."""

import pytest

from tests.docs.generated import DOCS, pages

PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_it_is_current(name: str) -> None:
    assert (DOCS / name).read_text() == PAGES[name], "stale: run python -m tests.docs.generated"
