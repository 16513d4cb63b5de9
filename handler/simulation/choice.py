"""Which policy of some documents is to be replayed."""

from __future__ import annotations

from pathlib import Path

from handler.options import Settings
from handler.workbench import WrongOptionError, origin, parsed
from policies.document import Policy
from policies.errors import ParseError
from strategies.replicas import Replicas
from strategies.scale import Scale


def chosen(settings: Settings, place: str, name: str | None) -> Policy:
    """The policy of this name, or the only one with a number. Raises what is wrong with the documents."""
    _, estate = parsed(settings, [place])
    for failure in estate.failures:
        raise ParseError(origin([place], failure.source), failure.problems)
    able = {one.name: one for one in reversed(estate.policies) if isinstance(one.strategy, Replicas | Scale)}
    listed = ", ".join(sorted(able))
    if not able:
        raise WrongOptionError(f"{place} has no policy of type replicas or scale: there is nothing to replay")
    if name is not None and name not in able:
        raise WrongOptionError(f"{place} has no policy {name!r} of type replicas or scale; there is: {listed}")
    if name is None and len(able) != 1:
        raise WrongOptionError(f"say with --policy which one of {place} to replay; of type replicas or scale: {listed}")
    policy = able[name] if name is not None else next(iter(able.values()))
    if not policy.wanted:
        raise WrongOptionError(f"policy {policy.name!r} says ensure: absent; there is nothing to replay")
    return policy


def other(settings: Settings, place: str, compare: str) -> Policy:
    """What `--compare` means: another document, or another policy of the same."""
    if compare.startswith("s3://") or Path(compare).exists():
        return chosen(settings, compare, None)
    if compare.endswith(".json") or "/" in compare:
        raise WrongOptionError(f"found --compare {compare!r}, and there is no such file")
    return chosen(settings, place, compare)
