"""Orphans: resources owned by a policy of this controller that no longer exists.

Computed only when a full prefix was loaded and every document of it parsed: otherwise a policy that is not here may
well be alive. What becomes of them is what becomes of any policy with `"ensure": "absent"`: the same guard, grace and
proof. They are reported; they are deleted only where the document that their policy left says `"orphans": "delete"`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from handler.loop.cloud import Cloud
from handler.loop.conductor import Pipeline, Task
from handler.loop.reconcile import Moment, PolicyReport, Reconciler
from handler.loop.surveys import Place, Survey
from policies.blueprint import Blueprint
from policies.document import Policy, PolicyClause, ResourceClause
from policies.estate import Estate
from policies.identity import DOCUMENT, Owner, claimed_by
from policies.kind import KindModel
from policies.names import NamePattern, common_start, renders
from policies.world import Resource, Scope
from strategies.for_each import ForEach


def orphans(
    estate: Estate,
    kinds: Mapping[str, KindModel],
    controller: str,
    scope: Scope,
    cloud: Cloud,
    moment: Moment,
    delete: bool = False,
) -> Pipeline[tuple[PolicyReport, ...]]:
    """One report per policy that is gone and still owns something in this account and region.

    `delete`: somebody says so, whatever the documents say.
    """
    if not estate.complete or moment.over():
        return ()
    (indexed,) = yield (Task(lambda: cloud.index(None, scope), ("index", None, scope)),)
    claimed = cloud.owners(indexed.result())
    reports = []
    for type_, resources in sorted(claimed.items()):
        for policy, left in sorted(_by_policy(estate, controller, (type_, scope), resources).items()):
            ghost = _ghost(estate, kinds[type_], Owner(controller, policy), scope, left, delete)
            prefix = common_start(one.name or "" for one in left)
            surveys = {(type_, scope): Survey((prefix,), whole_index=False)}
            reports.append((yield from Reconciler(ghost, (), surveys, cloud, moment).pipeline()))
    return tuple(report for report in reports if report.plan.actual)


def _by_policy(
    estate: Estate, controller: str, place: Place, resources: Sequence[Resource]
) -> Mapping[str, list[Resource]]:
    """The resources of this controller whose policy does not act on this type here, nor has an heir that does."""
    acting = [policy for policy in estate.policies if (policy.kind.type, policy.scope) == place]
    alive = {policy.name for policy in acting}
    heirs = {str(old) for policy in acting for old in estate.former_owners(policy)}
    found: dict[str, list[Resource]] = {}
    for one in resources:
        owner = claimed_by(one.tags) or ""
        ours, _, policy = owner.rpartition("/")
        if ours == controller and policy not in alive and owner not in heirs:
            found.setdefault(policy, []).append(one)
    return found


def _ghost(
    estate: Estate, kind: KindModel, owner: Owner, scope: Scope, left: Sequence[Resource], delete: bool
) -> Policy:
    """The policy that is gone, as one that wants nothing: observed only, unless its document says delete.

    Nothing goes by itself that its policy said in so many words to retain, while a policy of that name lives on with
    another type or elsewhere, or whose name a living policy wants (a rename that forgot to say `formerly`).
    """
    origins = {(one.tags or {}).get(DOCUMENT, "") for one in left}
    documents = {origin.partition(":")[0] for origin in origins}
    deletes = {document.name for document in estate.documents if document.orphans == "delete"}
    wanted = any(one.name and renders(pattern, one.name) for pattern in _patterns(estate, kind, scope) for one in left)
    said = documents <= deletes and owner.policy not in estate.live_names and not wanted
    clause = PolicyClause.model_construct(
        name=owner.policy,
        ensure="absent",
        removal="retain" if any(":" in origin for origin in origins) and not delete else "delete",
        mode="enforce" if delete or said else "observe",
        resource=ResourceClause.model_construct(type=kind.type),
        strategy=ForEach.model_construct(type="forEach"),
    )
    return Policy(min(documents), "$", owner, scope, clause, Blueprint(kind, {}), gone=True)


def _patterns(estate: Estate, kind: KindModel, scope: Scope) -> Iterator[NamePattern]:
    for policy in estate.policies:
        if (policy.kind.type, policy.scope) == (kind.type, scope) and policy.names is not None:
            yield policy.names


def scopes(estate: Estate, home: Scope) -> Iterator[Scope]:
    """Where orphans are looked for: wherever a policy acts, and at home."""
    yield from dict.fromkeys([home, *(policy.scope for policy in estate.policies)])
