"""What to tell whoever edits two policies that could act on the same resource."""

from __future__ import annotations

from dataclasses import dataclass

from policies.document import Policy
from policies.frozen import canonical_text
from policies.identity import POLICY
from policies.leaves import TAGS
from policies.meetings import Witness


@dataclass(frozen=True, slots=True)
class Clash:
    """Two policies that could do the same thing to one resource, or that are not proven never to."""

    order: tuple[int, int]
    one: Policy
    other: Policy
    contested: str
    """What both would do: `own`, `delete`, or `set LEAF of`."""
    owned: bool
    """Whether both create what they act on."""
    witness: Witness
    unproven: str | None = None


def explain(clash: Clash) -> str:
    """Who, what, where, an example, and the way out."""
    both = f"{introduce(clash.one)} and {introduce(clash.other)}"
    what = clash.one.kind.type
    advice = "give them different prefixes" if clash.owned else "give them different names or conditions"
    ending = f"{advice} or merge them; neither acts until then"
    if clash.unproven:
        return (
            f"{both} cannot be proven never to {clash.contested} the same {what} in {clash.one.scope}"
            f" ({clash.unproven}): {ending}"
        )
    return f"{both} could both {clash.contested} {_example(what, clash.witness)} in {clash.one.scope}: {ending}"


def introduce(policy: Policy) -> str:
    """The policy, and where it stands."""
    return f"policy {policy.name!r} (document {policy.document!r}, {policy.path})"


def _example(what: str, witness: Witness) -> str:
    shown = {path: value for path, value in witness.values.items() if path != f"{TAGS}.{POLICY}"}
    traits = [f"without {path}" if value is None else f"with {path} {_spell(value)}" for path, value in shown.items()]
    name = f"{what} {witness.name!r}" if witness.name is not None else f"any {what}"
    return " ".join((name, " and ".join(traits))).strip()


def _spell(value: object) -> str:
    return repr(value) if isinstance(value, str) else canonical_text(value)
