"""The sweep has teeth: each invariant catches the mistake that it is there for."""

from __future__ import annotations

import pytest

from tests.sweep import invariants
from tests.sweep.catalogue import SCENARIOS
from tests.sweep.sabotage import SABOTAGES
from tests.sweep.test_interruptions import break_service
from tests.sweep.trial import attempt, beginning, reference
from tests.world import World

CHECKS = {
    "Converges": ("converges",),
    "Quiet": ("quiet",),
    "SameTally": ("same_tally",),
    "OwnedOnly": ("owned_only",),
    "NeverOver": ("never_over",),
    "NeverUnder": ("never_under",),
    "OneTokenOneResource": ("one_token_one_resource",),
    "BornOwned": ("born_owned",),
    "BlindNeverDeletes": ("blind_never_deletes",),
    "Bounded": ("bounded", "in_time"),
    "Truthful": ("truthful", "told_truly"),
    "NoSecrets": ("no_secrets",),
}


@pytest.mark.parametrize("invariant", CHECKS)
def test_each_invariant_catches_its_mistake(invariant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage = SABOTAGES[invariant]
    for weather in {"fair", sabotage.point.weather}:
        reference(sabotage.scenario, weather)  # that of the product as it should be
    beginning(sabotage.scenario)
    for other in (check for word, checks in CHECKS.items() if word != invariant for check in checks):
        monkeypatch.setattr(invariants, other, lambda *_: None)  # it must not need their help
    sabotage.break_it(monkeypatch)
    with pytest.raises(AssertionError, match=f"^{invariant}"):
        attempt(SCENARIOS[sabotage.scenario], sabotage.point)


def test_every_invariant_has_its_mistake() -> None:
    named = {line.split()[0] for line in (invariants.__doc__ or "").splitlines() if line.startswith("    ")}
    assert SABOTAGES.keys() == named == CHECKS.keys() | {"Isolated", "Replayable"}


@pytest.mark.parametrize("invariant", CHECKS)
def test_without_the_mistake_the_same_point_is_fine(invariant: str) -> None:
    attempt(SCENARIOS[SABOTAGES[invariant].scenario], SABOTAGES[invariant].point)


def test_a_failure_that_spreads_is_noticed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    SABOTAGES["Isolated"].break_it(monkeypatch)
    with pytest.raises(AssertionError, match=r"^Isolated"):
        break_service(world, "sqs", "denied")


def test_chance_in_a_run_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    sabotage = SABOTAGES["Replayable"]
    reference(sabotage.scenario)
    beginning(sabotage.scenario)
    sabotage.break_it(monkeypatch)
    first, second = (attempt(SCENARIOS[sabotage.scenario], sabotage.point) for _ in range(2))
    assert first != second, "Replayable would notice nothing"
