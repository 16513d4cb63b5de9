"""Names of two templates: proven disjoint, or a name that really is rendered by both."""

import re
import time
import warnings
from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.names import (
    Blank,
    NamePattern,
    Unprovable,
    check_pattern,
    common_name,
    longest_length,
    matches,
    renders,
    shortest_length,
    subset_witness,
)

DEFAULT = "[A-Za-z0-9._-]+"
WORD = Blank("[a-z]+")
ITEM = Blank(DEFAULT)


def names(*parts: str | Blank, most: int = 80) -> NamePattern:
    return NamePattern(parts, most)


def listed(*known: str, most: int = 80) -> NamePattern:
    return NamePattern(("any-", ITEM), most, frozenset(known))


# --- the dialect


@pytest.mark.parametrize(
    "regex",
    [
        DEFAULT,
        "a",
        "a?b*c+",
        "(a|b)*",
        "((a|b)+|c)?x",
        "(?:ab)+",
        r"\d+\.\w\s\-",
        "[^a-z]",
        "[-a]",
        "[a-]",
        ".",
        "[.*+?]",
        r"[\]\[\^\\-]",
        "[a^]",
        "a b",
        "[+=,.@&-]",
        r"\D\W\S",
        "(a+)+",
        "a" * 512,
        "(" * 32 + "a" + ")" * 32,
    ],
)
def test_the_dialect_has_classes_groups_alternation_and_simple_repeats(regex: str) -> None:
    check_pattern(regex)


@pytest.mark.parametrize(
    ("regex", "found", "position", "reason"),
    [
        ("a{2}", "{", 2, "counted repeats are not allowed; use maxLength"),
        ("^a", "^", 1, "always matches the whole item"),
        ("a$", "$", 2, "always matches the whole item"),
        ("*a", "*", 1, "nothing to repeat"),
        ("a**", "*", 3, "only one of"),
        ("a+?", "?", 3, "lazy and possessive"),
        ("a*+", "+", 3, "lazy and possessive"),
        ("(?=a)", "=", 3, "look-around, flags and named groups"),
        ("(?P<x>a)", "P", 3, "look-around, flags and named groups"),
        ("(?i)a", "i", 3, "look-around, flags and named groups"),
        (r"(a)\1", "1", 5, r"after \ only"),
        (r"\bx", "b", 2, r"after \ only"),
        (r"\n", "n", 2, r"after \ only"),
        ("a\\", "the end", 3, r"after \ only"),
        ("(a", "the end", 3, "group is not closed"),
        ("a)", ")", 2, "closes no group"),
        ("[ab", "the end", 4, "class is not closed"),
        ("[a-", "the end", 4, "class is not closed"),
        ("[]", "[", 1, "holds no character"),
        ("[^]", "[", 1, "holds no character"),
        ("[^ -~]", "[", 1, "holds no character"),
        ("[z-a]", "a", 4, "a range goes from"),
        (r"[\d-z]", "z", 5, "a range goes from"),
        ("[a-c-e]", "-", 5, "a - inside a class"),
        ("[[a]", "[", 2, "inside a class"),
        ("a]", "]", 2, "closes nothing"),
        ("", "the end", 1, "nothing stands before it"),
        ("a|", "the end", 3, "nothing stands before it"),
        ("()", ")", 2, "nothing stands before it"),
        ("aé", "é", 2, "only printable ASCII"),
        ("a\n", "\\n", 2, "only printable ASCII"),
        ("(" * 33 + "a" + ")" * 33, "a", 34, "nest deeper than 32"),
    ],
)
def test_the_rest_is_refused_with_position_and_reason(regex: str, found: str, position: int, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"found {found} at position {position} of the pattern")) as refusal:
        check_pattern(regex)
    assert reason in str(refusal.value)


@pytest.mark.parametrize("regex", ["a" * 513, "(" + "a?" * 250 + ")*"])
def test_patterns_are_bounded(regex: str) -> None:
    with pytest.raises(ValueError, match=r"allowed: at most 512|too many ways"):
        check_pattern(regex)


@given(st.text(alphabet="ab[]()|?*+^-\\.d{}$&é", max_size=12))
def test_what_is_accepted_is_a_python_pattern_too(regex: str) -> None:
    try:
        check_pattern(regex)
    except ValueError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "possible set difference": Python itself reads it our way
        re.compile(regex, re.ASCII)


# --- matching

_ATOMS = st.sampled_from(["a", "b", "0", "[ab]", "[^a]", ".", r"\d", r"\w", "[a0-]", r"\-"])
_PATTERNS = st.recursive(
    _ATOMS,
    lambda inner: (
        st.tuples(inner, inner).map("".join)
        | st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})")
        | st.tuples(inner, st.sampled_from("?*+")).map(lambda pair: f"({pair[0]}){pair[1]}")
    ),
    max_leaves=6,
)


@given(_PATTERNS, st.text(alphabet="ab0-~é\n", max_size=8))
def test_matching_agrees_with_python_on_printable_ascii(regex: str, text: str) -> None:
    printable = text.isascii() and text.isprintable()
    assert matches(regex, text) == (printable and re.fullmatch(regex, text, re.ASCII) is not None)


@pytest.mark.parametrize("regex", ["(a+)+", "(a|a)*", "(a?a?a?a?a?a?)*" + "a?" * 30, "((a*)*)*", "(.*)*"])
def test_no_pattern_takes_long(regex: str) -> None:
    start = time.perf_counter()
    assert not matches(regex, "a" * 20_000 + "\n")
    assert time.perf_counter() - start < 2


# --- common names


@pytest.mark.parametrize(
    ("a", "b", "shared"),
    [
        (names("orders-", ITEM), names("bills-", ITEM), None),
        (names(ITEM, "-dlq"), names(ITEM, "-main"), None),
        (names("orders-", ITEM), names("orders-", ITEM, "-dlq"), "orders-a-dlq"),
        (names("orders-", WORD), names("orders-", WORD, "-dlq"), None),
        (names("orders-", ITEM), names("orders-eu-", ITEM), "orders-eu-a"),
        (names("orders-", WORD), names("orders-eu-", ITEM), None),
        (names(Blank(r"\d+")), names(Blank("[0-9a-f]+")), "0"),
        (names(Blank("(aaa)+")), names(Blank("(aaaa)+")), "a" * 12),
        (names(Blank("(aaa)+"), most=11), names(Blank("(aaaa)+")), None),
        (names("x", Blank("[a-z]*")), names("x", Blank("[0-9]*")), "x"),
        (names(Blank("[a-z]*")), names(Blank("[0-9]*")), None),
        # literals and lists
        (names("one"), names("one"), "one"),
        (names("one"), names("two"), None),
        (names("orders-a-dlq"), names("orders-", ITEM, "-dlq"), "orders-a-dlq"),
        (names("orders-dlq"), names("orders-", ITEM, "-dlq"), None),
        (names("orders-ab", most=80), names("orders-", ITEM, most=8), None),
        (listed("orders-b", "orders-a"), listed("orders-b", "orders-c"), "orders-b"),
        (listed("bb", "c", "aa"), listed("bb", "aa"), "aa"),
        (listed("orders-1", "orders-2"), names("orders-", WORD), None),
        (listed("orders-1", "orders-x"), names("orders-", WORD), "orders-x"),
        (listed(), names(ITEM), None),
        (names("Größe-", ITEM), names("Größe-", WORD), "Größe-a"),
        # length of blanks
        (names("x-", Blank(DEFAULT, 3)), names("x-", ITEM, "-dlq"), None),
        (names("x-", Blank(DEFAULT, 5)), names("x-", ITEM, "-dlq"), "x-a-dlq"),
        (names(Blank("a+", 2), "b", Blank("a+", 1)), names(Blank("a+"), "baa"), None),
        (names(Blank("a+", 2), "b", Blank("a+", 2)), names(Blank("a+"), "baa"), "abaa"),
        (names(Blank("[ab]+", 2), Blank("[ab]+", 2)), names("aaaa", Blank("b+")), None),
        (names(Blank("[ab]+", 2), Blank("[ab]+", 3)), names("aaaa", Blank("b+")), "aaaab"),
        (names(Blank("aaa", 2)), names(ITEM), None),
    ],
)
def test_two_templates_share_the_shortest_name_or_none(a: NamePattern, b: NamePattern, shared: str | None) -> None:
    assert common_name(a, b) == shared
    assert common_name(b, a) == shared


@pytest.mark.parametrize(
    ("pattern", "shared"),
    [(".", "a"), ("[^a-z]", "0"), (r"[^\w]", "-"), ("[0-9A-Z]", "0"), ("[ ~]", "~"), ("(ba|ab|0a)", "ab")],
)
def test_of_equally_short_names_the_most_readable_is_shown(pattern: str, shared: str) -> None:
    assert common_name(names(Blank(pattern)), names(Blank(".+"))) == shared


_SIGMA = "ab0"
_SMALL_ATOMS = st.sampled_from(["a", "b", "0", "[ab]", "[b0]", "[ab0]"])
_SMALL = st.recursive(
    _SMALL_ATOMS,
    lambda inner: (
        st.tuples(inner, inner).map("".join)
        | st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})")
        | st.tuples(inner, st.sampled_from("?*+")).map(lambda pair: f"({pair[0]}){pair[1]}")
    ),
    max_leaves=5,
)
_PARTS = st.text(alphabet=_SIGMA, max_size=2) | st.builds(Blank, _SMALL, st.none() | st.integers(1, 3))
_TEMPLATES = st.builds(NamePattern, st.lists(_PARTS, max_size=3).map(tuple), st.integers(1, 5))
_WORDS = ["".join(word) for length in range(6) for word in product(_SIGMA, repeat=length)]


def spelled(parts: tuple[str | Blank, ...], word: str) -> bool:
    """By trying every way to cut the word, with Python's own matcher."""
    if not parts:
        return word == ""
    head, *rest = parts
    if isinstance(head, str):
        return word.startswith(head) and spelled(tuple(rest), word[len(head) :])
    longest = len(word) if head.max_length is None else min(head.max_length, len(word))
    cuts = range(longest + 1)
    return any(re.fullmatch(head.pattern, word[:cut]) and spelled(tuple(rest), word[cut:]) for cut in cuts)


def language(a: NamePattern) -> Iterator[str]:
    if a.names is not None:
        return iter(a.names)
    return (word for word in _WORDS if len(word) <= a.max_length and spelled(a.parts, word))


@given(_TEMPLATES, _TEMPLATES)
@settings(max_examples=150, deadline=None)
def test_the_common_name_is_what_enumeration_finds(a: NamePattern, b: NamePattern) -> None:
    theirs = set(language(b))
    expected = next((name for name in language(a) if name in theirs and name), None)
    assert common_name(a, b) == expected


@given(_TEMPLATES, st.sampled_from(_WORDS))
@settings(deadline=None)
def test_a_template_renders_exactly_its_language(a: NamePattern, name: str) -> None:
    assert renders(a, name) == (name in set(language(a)))


@given(_TEMPLATES, _SMALL)
@settings(max_examples=150, deadline=None)
def test_the_stray_name_is_what_enumeration_finds(a: NamePattern, allowed: str) -> None:
    strays = (name for name in language(a) if not re.fullmatch(allowed, name))
    assert subset_witness(a, allowed) == next(strays, None)


@given(_TEMPLATES)
@settings(deadline=None)
def test_no_name_is_outside_the_bounds_of_length(a: NamePattern) -> None:
    shortest, longest = shortest_length(a), longest_length(a)
    for name in language(a):
        assert shortest is not None
        assert shortest <= len(name)
        assert longest is None or len(name) <= longest


@pytest.mark.parametrize(
    ("a", "shortest", "longest"),
    [
        (names("orders-", ITEM), 8, None),
        (names("orders-", Blank(DEFAULT, 20)), 8, 27),
        (names("x", Blank("(a|bcd)e?"), "y"), 3, 6),
        (names("x", Blank("a*")), 1, None),
        (names("literal"), 7, 7),
        (names(Blank("aaa", 2)), None, 2),
        (listed("a", "abc"), 1, 3),
        (listed(), None, 0),
        (names("a" * 100, most=80), 100, 100),
    ],
)
def test_lengths_are_arithmetic_and_know_no_limit(a: NamePattern, shortest: int | None, longest: int | None) -> None:
    assert (shortest_length(a), longest_length(a)) == (shortest, longest)


@pytest.mark.parametrize(
    ("a", "allowed", "stray"),
    [
        (names("orders-", ITEM), "[A-Za-z0-9_-]+", "orders-."),
        (names("orders-", WORD), "[A-Za-z0-9_-]+", None),
        (names("orders ", WORD), "[A-Za-z0-9_-]+", "orders a"),
        (names("orders-", Blank("[a-z]*")), "[a-z-]+[a-z]", "orders-"),
        (names("Größe-", WORD), "[ -~]+", "Größe-a"),
        (listed("a.b", "ab"), "[a-z]+", "a.b"),
        (names("ab"), "[a-z]+", None),
        (names("x", Blank("a*b", 3)), "xa?b", "xaab"),
        (names("x", Blank("a*b", 2)), "xa?b", None),
    ],
)
def test_a_template_yields_only_names_that_the_kind_allows(a: NamePattern, allowed: str, stray: str | None) -> None:
    assert subset_witness(a, allowed) == stray


# --- cost


def test_what_cannot_be_told_in_time_is_said_to_be_so() -> None:
    entangled = names(Blank("(a?b?c?)*" * 20)), names(Blank("(c?b?a?)*" * 20), "d")
    start = time.perf_counter()
    with pytest.raises(Unprovable, match="too entangled to tell"):
        common_name(*entangled)
    assert time.perf_counter() - start < 3


@pytest.mark.parametrize(
    "pair",
    [
        (names(Blank("(a|b)*a" + "(a|b)" * 60)), names(Blank("(a|b)*b" + "(a|b)" * 60))),
        (names(Blank("[a-z]+", 60), "-", Blank("[a-z]+", 60)), names(Blank("[a-z]+", 60), "_", Blank("[a-z]+", 60))),
    ],
)
def test_patterns_that_explode_when_determinized_are_proven_all_the_same(pair: tuple[NamePattern, NamePattern]) -> None:
    start = time.perf_counter()
    assert common_name(*pair) is None
    assert time.perf_counter() - start < 1


def test_five_hundred_policies_with_different_ends_take_no_time() -> None:
    policies = [names(f"app{number}-", ITEM) for number in range(250)]
    policies += [names(ITEM, f"-app{number}x") for number in range(250)]
    start = time.perf_counter()
    for index, policy in enumerate(policies[:250]):
        assert all(common_name(policy, other) is None for other in policies[:index])
    for index, policy in enumerate(policies[250:]):
        assert all(common_name(policy, other) is None for other in policies[250 : 250 + index])
    assert time.perf_counter() - start < 1
