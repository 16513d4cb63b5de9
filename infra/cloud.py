"""AWS as the loop sees it: sessions per role, clients per account and region, kinds by type."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import datetime, timedelta
from threading import Lock

from infra import act as acting
from infra import census, sources
from infra.aws import Aws, Calls, Credentials, Session
from infra.kinds.registry import Kinds
from infra.metrics import read_metrics
from infra.opening import Opening
from infra.pace import Pacer, rated
from infra.refusals import translated
from infra.steps import batches
from infra.tag_index import Indexed, read_index
from policies.action import Action, Outcome
from policies.frozen import Json
from policies.items import ItemSource
from policies.numbers.metric import Answer, MetricQuery
from policies.world import Resource, Scope

RENEW = timedelta(minutes=10)
"""A role's credentials are fetched anew when they end within this time: far longer than a run."""


class AwsCloud:
    """Fulfils `handler.loop.cloud.Cloud` with AWS. One instance serves all threads and all runs of a warm function."""

    def __init__(
        self,
        session: Session,
        kinds: Kinds,
        *,
        endpoint_url: str | None = None,
        writable: bool = True,
        paced: bool = False,
        opening: Opening | None = None,
    ) -> None:
        self._session = session
        self._kinds = kinds
        self._endpoint_url = endpoint_url
        self._writable = writable
        self._paced = paced
        self._pacers: dict[tuple[str, str], Pacer] = {}
        self._scopes: dict[Scope, Aws] = {}
        self._turns: dict[Scope, Lock] = {}
        self._lock = Lock()
        self._opening = opening
        self.calls = opening.calls if opening else Calls()

    def aws(self, scope: Scope) -> Aws:
        """The clients of one scope, made once; with a role, again before its credentials end.

        Each scope has a lock of its own: a role that STS is slow to give holds up nobody else.
        """
        with self._lock:
            turn = self._turns.setdefault(scope, Lock())
            pacer = self._pacers.setdefault((scope.account, scope.region), Pacer()) if self._paced else None
        with turn:
            known = self._scopes.get(scope)
            if known is None or known.expires_within(RENEW):
                known = self._scopes[scope] = Aws(
                    self._session,
                    scope,
                    endpoint_url=self._endpoint_url,
                    writable=self._writable,
                    credentials=None if scope.role is None else self._credentials(scope),
                    on_call=self.calls,
                    pacer=pacer,
                )
            return known

    def survey(self, type_: str, scope: Scope, prefixes: Sequence[str]) -> tuple[Resource, ...]:
        return census.survey(self.aws(scope), self._kinds[type_], prefixes)

    def find(self, type_: str, scope: Scope, names: Sequence[str]) -> tuple[Resource, ...]:
        return census.find(self.aws(scope), self._kinds[type_], names)

    def index(self, type_: str | None, scope: Scope) -> tuple[Indexed, ...]:
        if type_ is None:
            if self._opening and scope.role is None and scope.region == self._opening.aws.region:
                return self._opening.owner_index()
            return read_index(self.aws(scope), None)
        word = self._kinds[type_].index
        return () if word is None else read_index(self.aws(scope), word)

    def join(self, type_: str, surveyed: Sequence[Resource], index: Sequence[Indexed]) -> tuple[Resource, ...]:
        return census.join(self._kinds[type_], surveyed, index)

    def owners(self, index: Sequence[Indexed]) -> Mapping[str, Sequence[Resource]]:
        return census.owners(self._kinds, index)

    def read(self, scope: Scope, resource: Resource, words: frozenset[str] | None = None) -> Resource | None:
        return acting.read(self.aws(scope), self._kinds[resource.type], resource, words)

    def lane(self, type_: str, scope: Scope, acting: bool) -> Hashable:
        iam, verbs = self._kinds[type_].iam, ("create", "update", "delete") if acting else ("read",)
        ours = {action.partition(":")[0] for action in iam.get("survey", ())}  # others' are called on our behalf
        paced = (rated(action) for verb in verbs for action in iam.get(verb, ()))
        service = next((one for one in paced if one in ours), None)
        return (service, scope.account, scope.region) if self._paced and service else None

    def items(self, source: ItemSource, scope: Scope) -> tuple[Json, ...]:
        return sources.read_items(self.aws(scope), source)

    def metrics(self, queries: Sequence[MetricQuery], scope: Scope, now: datetime) -> Mapping[str, Answer]:
        return read_metrics(self.aws(scope), queries, now)

    def batches(self, actions: Sequence[Action]) -> Sequence[Sequence[Action]]:
        places: dict[tuple[str, Scope], list[Action]] = {}
        for action in actions:
            places.setdefault((action.type, action.scope), []).append(action)
        return [batch for (type_, _), some in places.items() for batch in batches(self._kinds[type_], some)]

    def act(self, batch: Sequence[Action], over: Callable[[], bool]) -> Sequence[Outcome | None]:
        return acting.act(self.aws(batch[0].scope), self._kinds[batch[0].type], batch, over, self.tell)

    def tell(self, outcome: Outcome) -> None:
        """One action has ended, while the others of its batch go on: for whoever watches."""

    def _credentials(self, scope: Scope) -> Credentials:
        """The role's credentials. The session stays the one and only; clients are made with these keys."""
        sts = self._session.client("sts", region_name=scope.region, endpoint_url=self._endpoint_url)
        with translated():
            answer = sts.assume_role(RoleArn=scope.role, RoleSessionName="setpoint")["Credentials"]
        return Credentials(
            answer["AccessKeyId"], answer["SecretAccessKey"], answer["SessionToken"], answer["Expiration"]
        )
