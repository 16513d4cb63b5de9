"""What it takes to bring one resource to what is desired: properties, tags, the mark, and the hash last."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.action import Desired
from policies.drift import birth_of, drift, own, spec_of, unfinished
from policies.frozen import freeze
from policies.identity import ID, KEY, MARKED, PENDING, POLICY, SPEC, Owner
from policies.kind import KindModel
from policies.properties import CreateOnly, Default, Name, Properties, Tag, WriteOnly
from policies.world import Resource


class Part(Properties):
    Size: int | None = None
    Kind: str | None = None


class ThingProperties(Properties):
    ThingName: Annotated[str, CreateOnly, Name("[a-z]+", 10)]
    Delay: Annotated[int | None, Default(0)] = None
    Settings: Part | None = None
    Secret: Annotated[str | None, WriteOnly] = None
    Tags: list[Tag] | None = None


class Thing(KindModel):
    type = "Test::Thing"
    properties = ThingProperties
    identifier = "ThingName"


KIND, OWNER = Thing(), Owner("setpoint", "things")


def desired(initial: Any = (), tags: Any = (), **properties: Any) -> Desired:
    named = freeze({"ThingName": "a", **properties})
    return own(KIND, Desired("a", "a", named, freeze(dict(tags)), freeze(dict(initial))), OWNER, "main")


def actual(want: Desired, tags: Any = (), **properties: Any) -> Resource:
    """What was made as desired, and then changed so."""
    shown = {word: value for word, value in want.properties.items() if word != "Secret"}
    return Resource(
        KIND.type, "a", "a", tags=freeze({**want.tags, **dict(tags)}), properties=freeze({**shown, **properties})
    )


WANT = desired(Delay=5, Settings={"Size": 1}, tags={"team": "a"})


@pytest.mark.parametrize(
    ("want", "found", "properties", "tags"),
    [
        (WANT, actual(WANT), {}, {}),
        (WANT, actual(WANT, Delay=6), {"Delay": 5}, {}),
        (WANT, actual(WANT, tags={"theirs": "x"}), {}, {}),
        (WANT, actual(WANT, tags={"team": "b"}), {}, {"team": "a"}),
        (WANT, actual(WANT, Other=7), {}, {}),
        # whole top-level properties: what is declared, over what is there
        (WANT, actual(WANT, Settings={"Size": 2, "Kind": "theirs"}), {"Settings": {"Size": 1, "Kind": "theirs"}}, {}),
        (desired(Delay=None), actual(desired(), Delay=5), {"Delay": None}, {SPEC: desired(Delay=None).tags[SPEC]}),
        (desired(Delay=0), actual(desired(Delay=0)), {}, {}),
    ],
)
def test_what_has_to_be_written(want: Desired, found: Resource, properties: Any, tags: Any) -> None:
    change = drift(KIND, want, found)
    assert (change.properties, change.tags, change.untag) == (properties, tags, frozenset())
    assert bool(change) == bool(properties or tags)


def test_unread_properties_are_unknown_and_not_different() -> None:
    change = drift(KIND, WANT, Resource(KIND.type, "a", "a", tags=WANT.tags))
    assert not change
    assert not change.differences


def test_an_edited_policy_shows_in_the_hash_alone() -> None:
    edited = desired(Delay=9, Settings={"Size": 1}, tags={"team": "a"})
    change = drift(KIND, edited, Resource(KIND.type, "a", "a", tags=WANT.tags))
    assert dict(change.tags) == {SPEC: edited.tags[SPEC]}


@pytest.mark.parametrize(("unmark", "untag"), [(True, {MARKED}), (False, set())])
def test_what_is_wanted_again_loses_its_mark(unmark: bool, untag: set[str]) -> None:
    assert drift(KIND, WANT, actual(WANT, tags={MARKED: "x"}), unmark=unmark).untag == untag


def test_a_write_only_property_is_written_when_the_policy_changes_it_and_only_then() -> None:
    old, new = desired(Secret="x"), desired(Secret="y")
    assert not drift(KIND, old, actual(old))
    change = drift(KIND, new, actual(old))
    assert dict(change.properties) == {"Secret": "y"}
    assert [(str(one), one.before) for one in change.differences] == [("Secret", "(not readable)")]


def test_the_owner_tags_are_part_of_what_is_desired() -> None:
    assert WANT.tags.keys() > {POLICY, KEY, ID, SPEC, "team"}
    assert WANT.tags[SPEC] == spec_of(KIND, Desired("a", "a", WANT.properties, freeze({"team": "a"})))
    assert own(KIND, Desired("a", "a", WANT.properties), OWNER, "main", PENDING).tags[SPEC] == PENDING


def test_initial_counts_until_the_create_has_ended_and_never_again() -> None:
    want = desired(initial={"Delay": 7}, Settings={"Size": 1})
    assert unfinished(want, actual(want, tags={SPEC: PENDING})).properties["Delay"] == 7
    assert "Delay" not in unfinished(want, actual(want)).properties
    assert not drift(KIND, want, actual(want, Delay=99))


def test_initial_is_no_part_of_the_spec_and_part_of_the_birth() -> None:
    with_it, without = (Desired("a", "a", freeze({}), initial=freeze(initial)) for initial in ({"Delay": 7}, {}))
    assert spec_of(KIND, with_it) == spec_of(KIND, without)
    assert birth_of(with_it) != birth_of(without)


_declared = st.fixed_dictionaries(
    {},
    optional={
        "Delay": st.none() | st.integers(0, 3),
        "Settings": st.none()
        | st.fixed_dictionaries({}, optional={"Size": st.integers(0, 2), "Kind": st.sampled_from("ab")}),
    },
)
_tags = st.dictionaries(st.sampled_from(["team", "stage"]), st.sampled_from("ab"))


@given(_declared, _tags, _declared, _tags)
def test_applied_and_read_again_nothing_differs(declared: Any, tags: Any, there: Any, theirs: Any) -> None:
    want = desired(tags=tags, **declared)
    found = Resource(KIND.type, "a", "a", tags=freeze(theirs), properties=freeze({"ThingName": "a", **there}))
    change = drift(KIND, want, found)
    after = Resource(
        KIND.type, "a", "a", tags=freeze({**theirs, **change.tags}),
        properties=freeze({**(found.properties or {}), **change.properties}),
    )  # fmt: skip
    assert not drift(KIND, want, after)
    assert (after.tags or {}).keys() >= theirs.keys(), "tags are merged, never purged"
