"""Placeholders: what they are, what they become, and what a text keeps to itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.frozen import freeze
from policies.template import Placeholder, RenderError, Text, compile_template, leaves, placeholders, render

SCOPE = freeze(
    {
        "item": {
            "id": "acme",
            "size": 3,
            "ratio": 0.5,
            "on": True,
            "none": None,
            "list": [1],
            "tags": {"a.b": "dotted"},
        },
        "index": 7,
        "period": "2026-03",
    }
)


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("plain", "plain"),
        ("", ""),
        ("$", "$"),
        ("a$b{c}", "a$b{c}"),
        ("$5 {x}", "$5 {x}"),
        # exactly one placeholder keeps the type
        ("${item.size}", 3),
        ("${item.ratio}", 0.5),
        ("${item.on}", True),
        ("${item.none}", None),
        ("${item.list}", (1,)),
        ("${index}", 7),
        ("${item.tags}", {"a.b": "dotted"}),
        # inside a text it is spelt out
        ("orders-${item.id}", "orders-acme"),
        ("${item.id}-${index}", "acme-7"),
        ("${item.id}${index}", "acme7"),
        ("n=${item.size}", "n=3"),
        ("${item.ratio}x", "0.5x"),
        ("${item.on}!", "true!"),
        ("${item.tags.a.b}", "dotted"),
        # an escaped one is a text
        ("$${item.id}", "${item.id}"),
        ("$${", "${"),
        ("a$${b}c", "a${b}c"),
        ("$${a}${item.id}", "${a}acme"),
        ("${item.id}$${a}", "acme${a}"),
        ("$$${item.id}", "$${item.id}"),
        ("$$$${item.id}", "$$${item.id}"),
        ("$${}", "${}"),
        ("$${item", "${item"),
    ],
)
def test_what_a_text_becomes(text: str, becomes: Any) -> None:
    assert render(compile_template(text), SCOPE) == becomes


@pytest.mark.parametrize(
    "text", ["${", "${}", "a${", "${item", "${item.}", "${.id}", "${a b}", "${1}", "${{item}}", "${item}${"]
)
def test_what_opens_no_placeholder(text: str) -> None:
    with pytest.raises(ValueError, match=r"write '\$\$\{' for a literal '\$\{'"):
        compile_template(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${item.missing}", "${item.missing} has no value here"),
        ("x-${item.missing.deeper}", "${item.missing.deeper} has no value here"),
        ("${item.id.deeper}", "${item.id.deeper} has no value here"),
        ("${other}", "${other} has no value here"),
        ("x-${item.none}", "${item.none} is null, which cannot stand inside a text"),
        ("x-${item.list}", "${item.list} is a list, which cannot stand inside a text"),
        ("x-${item.tags}", "${item.tags} is an object, which cannot stand inside a text"),
    ],
)
def test_what_has_no_value_or_cannot_stand_inside_a_text(text: str, message: str) -> None:
    with pytest.raises(RenderError) as raised:
        render(compile_template(text), SCOPE)
    assert str(raised.value) == message


def test_templates_go_all_the_way_down() -> None:
    template = compile_template({"A": ["${item.size}", {"B": "x-${index}"}], "C": 5, "${item.id}": None})
    assert render(template, SCOPE) == {"A": (3, {"B": "x-7"}), "C": 5, "${item.id}": None}
    assert [str(one) for one in placeholders(template)] == ["${item.size}", "${index}"]
    assert list(leaves(template))[2:] == [5, None]


def test_a_template_cannot_change() -> None:
    template = compile_template({"A": ["x"]})
    with pytest.raises(TypeError):
        template["A"] = 1
    assert isinstance(template["A"], tuple)


def test_what_is_rendered_is_no_template_again() -> None:
    """A value that looks like a placeholder is a value: nothing is ever expanded twice."""
    scope = freeze({"item": {"id": "${item.size}", "size": 3}})
    assert render(compile_template("${item.id}"), scope) == "${item.size}"
    assert render(compile_template("x-${item.id}"), scope) == "x-${item.size}"


@given(st.text(max_size=30))
def test_every_text_can_be_written(text: str) -> None:
    assert render(compile_template(text.replace("${", "$${")), SCOPE) == text.replace("$${", "$${")


@given(st.text(alphabet="$"), st.text(alphabet="a{}", max_size=4))
def test_dollars_are_dollars(dollars: str, rest: str) -> None:
    if dollars and rest.startswith("{"):
        return  # opens a placeholder, or escapes one
    assert render(compile_template(dollars + rest), SCOPE) == dollars + rest


_parts = st.lists(
    st.text(alphabet="ab-$ {}", max_size=4).filter(lambda part: "${" not in part and not part.endswith("$"))
    | st.sampled_from([Placeholder("item", ("id",)), Placeholder("index"), Placeholder("item", ("tags", "a.b"))]),
    max_size=5,
)


@given(_parts)
def test_a_text_reads_back_as_it_is_shown(parts: list[Any]) -> None:
    shown = str(Text(tuple(parts)))
    assert str(compile_template(shown)) == shown
