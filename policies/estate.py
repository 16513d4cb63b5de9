"""All documents of a run together: what parsed, what collides, and what may be concluded from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from policies.claims import conflicts
from policies.clashes import introduce
from policies.document import Policy, PolicyDocument
from policies.errors import ParseError
from policies.identity import Owner
from policies.parse import parse_document
from policies.vocabulary import Vocabulary


@dataclass(frozen=True)
class Estate:
    """Every policy that there is, as far as the documents parsed. Policies in `conflicts` act on nothing.

    `complete` says that a full prefix was given and every document of it parsed: only then is a policy that is not
    here gone, so that orphans may be computed and `formerly` takes over.
    """

    documents: tuple[PolicyDocument, ...]
    failures: tuple[ParseError, ...]
    conflicts: Mapping[str, tuple[str, ...]]
    complete: bool

    @cached_property
    def policies(self) -> tuple[Policy, ...]:
        """The policies of all documents, in order; one for each region that a policy names."""
        return tuple(chain.from_iterable(document.policies for document in self.documents))

    @cached_property
    def live_names(self) -> frozenset[str]:
        return frozenset(policy.name for policy in self.policies)

    def former_owners(self, policy: Policy) -> tuple[Owner, ...]:
        """Whose resources the policy takes over: what it was `formerly`, as far as no policy has that name now."""
        if not self.complete:
            return ()
        live = {Owner(policy.owner.controller, name) for name in self.live_names}
        return tuple(owner for owner in policy.formerly if owner not in live)


def parse_estate(bodies: Iterable[tuple[str, str, bytes]], vocabulary: Vocabulary, full: bool) -> Estate:
    """Parse every (name, generation, body) on its own, then prove the policies of all of them disjoint.

    `full` says that these are all the documents of the controller.
    """
    documents: list[PolicyDocument] = []
    failures: list[ParseError] = []
    for name, generation, body in bodies:
        try:
            documents.append(parse_document(name, body, generation, vocabulary))
        except ParseError as failure:
            failures.append(failure)
    policies = tuple(chain.from_iterable(document.policies for document in documents))
    return Estate(tuple(documents), tuple(failures), _all_conflicts(policies), complete=full and not failures)


def _all_conflicts(policies: Sequence[Policy]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name, message in chain(_namesakes(policies), _rival_heirs(policies)):
        if message not in found[name]:
            found[name].append(message)
    for name, messages in conflicts(policies).items():
        found[name] += messages
    return {name: tuple(messages) for name, messages in found.items()}


def _namesakes(policies: Iterable[Policy]) -> Iterator[tuple[str, str]]:
    """Policies of one name in two documents: nobody can tell whose resources carry it."""
    first: dict[str, Policy] = {}
    for policy in policies:
        known = first.setdefault(policy.name, policy)
        if (known.document, known.path) != (policy.document, policy.path):
            rule = "names are unique over all documents of a controller"
            yield (
                policy.name,
                f"{introduce(policy)} is also {_place(known)}: {rule}; rename one; neither acts until then",
            )


def _rival_heirs(policies: Iterable[Policy]) -> Iterator[tuple[str, str]]:
    """Policies of one type, account and region, `formerly` the same: each would remove what the other wants."""
    first: dict[tuple[Owner, str, str, str], Policy] = {}
    for policy in policies:
        for old in policy.formerly:
            ground = (old, policy.kind.type, policy.scope.account, policy.scope.region)
            rival = first.setdefault(ground, policy)
            if rival.name != policy.name:
                both = f"{introduce(rival)} and {introduce(policy)} were both formerly {str(old)!r}"
                message = (
                    f"{both}: only one can take over what it owned; remove one of the two; neither acts until then"
                )
                yield rival.name, message
                yield policy.name, message


def _place(policy: Policy) -> str:
    return f"in document {policy.document!r} ({policy.path})"
