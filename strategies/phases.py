"""What a rotation wants of past, current and future periods, and under which name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from policies.action import Desired, Trouble
from policies.fitting import Fitted
from policies.frozen import freeze
from policies.identity import KEY, tag_value
from policies.kind import KindModel
from policies.template import Template
from policies.world import Observation, Resource, State


class Wanted:
    """What is wanted of all periods, period by period."""

    def __init__(self) -> None:
        self.desired: list[Desired] = []
        self.lasting: list[str] = []
        self.spared: frozenset[str] = frozenset()
        self.hold: str | None = None
        self._skipped: dict[str, Trouble] = {}

    @property
    def troubles(self) -> tuple[Trouble, ...]:
        return tuple(self._skipped.values())

    def add(self, phase: str, fitted: Fitted, filled: Mapping[str, Resource], kind: KindModel) -> None:
        """Past ones only where they exist; what exists keeps its name, and past ones what they were born with."""
        self.spared |= fitted.spared
        self.hold = self.hold or fitted.hold
        for skipped in fitted.skipped:
            self._skipped.setdefault(str(skipped), Trouble("Degraded", "ItemSkipped", str(skipped)))
        for one in fitted.desired:
            there = filled.get(tag_value(one.key))
            if there is None and phase != "past":
                self.desired.append(one)
            elif there is not None:
                self.desired.append(_as_it_is(one, there, kind, phase))
                self.lasting += [one.key] if phase == "past" else []


def filled_by(seen: Observation) -> Mapping[str, Resource]:
    """By the key in their tags, what is owned."""
    there = (one for one in sorted(seen.owned, key=lambda one: one.id) if one.state is not State.DEAD)
    return {(one.tags or {}).get(KEY, ""): one for one in there}


def _as_it_is(one: Desired, there: Resource, kind: KindModel, phase: str) -> Desired:
    """The desired resource under the name that exists; of the past without what only a new resource could have."""
    properties = dict(one.properties)
    if phase == "past":
        properties = {word: value for word, value in properties.items() if not kind.create_only(word)}
    parts = (there.name or "").split("/", len(kind.identifiers) - 1) if kind.named else []
    named = {word: part for word, part in zip(kind.identifiers, parts, strict=False) if word in one.properties}
    return replace(one, name=there.name if kind.named else one.name, properties=freeze(properties | named), spec="")


def patched(target: Template, patch: Template) -> Template:
    """RFC 7386: objects are merged, null takes a member away, everything else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    under = dict(target) if isinstance(target, Mapping) else {}
    for word, value in patch.items():
        if value is None:
            under.pop(word, None)
        else:
            under[word] = patched(under.get(word), value)
    return freeze(under)
