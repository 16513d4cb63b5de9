"""The contract of a resource kind: all that the engine ever asks of AWS about one type.

A kind translates between CloudFormation's words and the service's API, and nothing else: it does not retry, wait, poll,
decide, log or catch (beyond the codes that mean "not there"). What its calls raise is translated in one place
(`infra/refusals.py`) by the codes it lists here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Literal, TypeAlias

from infra.aws import Aws
from policies.action import Change, Desired, Progress
from policies.frozen import NOTHING
from policies.kind import KindModel
from policies.world import Resource

Joint: TypeAlias = Literal["read", "update", "delete"]
"""What a kind may be able to do for several resources by one call."""


class Kind(KindModel):
    """One CloudFormation type at AWS. Stateless: one instance serves all accounts, regions and threads.

    `index` is the type in the Resource Groups Tagging API (`sqs:queue`); None says that `survey` brings the tags, and
    then `arn_type` is the type by which orphans are found there.
    `absent_codes` are the error codes that mean "it is not there", `exists_codes` "the name is taken", `wait_codes`
    "not now" (in use, being modified, recently deleted, a dependency is missing).
    `deletes_in_transition` says that a delete is accepted in every state.
    `spent_token_codes` say that a client token belongs to a dead resource.
    `together` says for how many resources one call can do what; for each word there is a method (`read_all`,
    `update_all`, `delete_all`), which gets no more of them.
    `iam` maps verbs (survey, read, create, update, delete) to the IAM actions that they call; `passes_roles_to` are the
    services that get a role from us, `deletes_without_tags` the delete actions for which AWS cannot check our tag.
    """

    index: ClassVar[str | None] = None
    arn_type: ClassVar[str | None] = None
    absent_codes: ClassVar[frozenset[str]] = frozenset()
    exists_codes: ClassVar[frozenset[str]] = frozenset()
    wait_codes: ClassVar[frozenset[str]] = frozenset()
    deletes_in_transition: ClassVar[bool] = False
    spent_token_codes: ClassVar[frozenset[str]] = frozenset()
    together: ClassVar[Mapping[Joint, int]] = MappingProxyType({})
    iam: ClassVar[Mapping[str, frozenset[str]]] = NOTHING
    passes_roles_to: ClassVar[frozenset[str]] = frozenset()
    deletes_without_tags: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def survey(self, aws: Aws, prefixes: Sequence[str]) -> Iterator[Resource]:
        """Everything whose name starts with one of the prefixes (`""`: everything), by the cheapest bulk call.

        Complete or it raises. A superset is fine. Properties are set only where the bulk call shows all of them; tags
        only where `index` is None.
        """

    def find(self, aws: Aws, names: Sequence[str]) -> Iterator[Resource]:
        """`survey` of exactly these names, at most `names_per_call`, in one call. What is not there is left out."""
        return self.survey(aws, names)

    @abstractmethod
    def read(self, aws: Aws, seen: Resource) -> Resource | None:
        """The resource as the service has it now, with every supported property; None: it is not there.

        Reads the tags from the owning service where `seen.tags` is None, and keeps them where they are known. `seen`
        may be no more than a name (`locate`).
        """

    def look(self, aws: Aws, seen: Resource, words: frozenset[str]) -> Resource | None:
        """`read`, where only these properties and facts are asked for: a kind whose read takes a call for each of them
        leaves out the others. Never before a write.
        """
        return self.read(aws, seen)

    def prove(self, aws: Aws, seen: Resource) -> Resource | None:
        """`read`, where only existence, state and tags are asked for: before a mark, and before the end of what its
        tags prove to be ours. A kind whose tags are a call that fails for what is not there makes only that one.
        """
        return self.read(aws, seen.with_tags(None))

    @abstractmethod
    def create(self, aws: Aws, desired: Desired, token: str | None) -> Progress:
        """Create it with `desired.properties`, `desired.initial` and, in that very call, `desired.tags`.

        PARTIAL where what is declared takes further calls (they come as updates). `token` is the client token of a
        nameless resource.
        """

    @abstractmethod
    def update(self, aws: Aws, seen: Resource, change: Change) -> Progress:
        """Write `change.properties` (None: back to the default), set `change.tags`, remove `change.untag`.

        `seen` was read just now, by `read` or (where only tags change) `prove`. One call per API; PARTIAL where the
        service accepts only the first step now. Tags are merged, never purged.
        """

    @abstractmethod
    def delete(self, aws: Aws, seen: Resource) -> None:
        """Start its end. `seen` was read just now, by `read` or `prove`, and is proven ours."""

    def joins(self, does: Joint, change: Change) -> bool:
        """Whether one call can do this for several; updates make the same change to each."""
        return does in self.together

    def read_all(self, aws: Aws, seen: Sequence[Resource]) -> Iterator[Resource]:
        """`read` of several, their tags too. What is not there is left out, or the call refused."""
        raise NotImplementedError(f"{self.type} is read one by one")

    def update_all(self, aws: Aws, seen: Sequence[Resource], change: Change) -> Progress:
        """The same `update` of several. Refused for all where one is, though it may be done for some: it is asked for
        again, of fewer.
        """
        raise NotImplementedError(f"{self.type} is updated one by one")

    def delete_all(self, aws: Aws, seen: Sequence[Resource]) -> frozenset[str]:
        """`delete` of several; the ids of those that were gone already, as far as the service tells. Refused as
        `update_all`.
        """
        raise NotImplementedError(f"{self.type} is deleted one by one")

    def locate(self, aws: Aws, name: str) -> Resource:
        """As much of a resource as its name tells: enough for `read` to find it."""
        return Resource(type=self.type, id=name, name=name, handle=name)

    def has_arn(self, arn: str) -> bool:
        """Whether an ARN of the tag index is one of this kind."""
        service, _, word = (self.arn_type or self.index or "").partition(":")
        parts = arn.split(":", 5)
        return len(parts) == 6 and parts[2] == service and parts[5].startswith((f"{word}/", f"{word}:"))

    def name_of_arn(self, arn: str) -> str:
        """The `Resource.id` for an ARN of the tag index: what follows the resource type (`table/orders`)."""
        word, rest = (self.arn_type or self.index or "").partition(":")[2], arn.split(":", 5)[-1]
        return rest[len(word) + 1 :] if rest.startswith((f"{word}/", f"{word}:")) else rest
