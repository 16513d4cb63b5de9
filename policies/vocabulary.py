"""What a parser may accept besides the grammar: given by the composition root, never read from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.kind import KindModel

if TYPE_CHECKING:
    from policies.strategy import Strategy

POWERFUL = ("AWS::IAM::", "AWS::Organizations::", "AWS::KMS::")
"""Types that grant power: refused unless the deployment allows them by name."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The strategies and kinds that there are, whose account and region policies mean, and what is allowed here."""

    strategies: Mapping[str, type[Strategy]]
    kinds: Mapping[str, KindModel]
    account: str
    region: str
    controller: str = "setpoint"
    allowed_roles: frozenset[str] = frozenset()
    allowed_types: frozenset[str] = frozenset()
