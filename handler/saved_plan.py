"""A plan as a file: what `plan --out` writes, and what `apply` does if the world is still the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from handler.compose import Setpoint
from handler.loop.reconcile import PolicyReport
from handler.loop.run import RunReport
from handler.records import Record, actions, head, kept_records, policy_record
from infra.store import STOP, Shelf
from policies.errors import RefusedError, SenseError
from policies.problems import problems_of

KIND = "SetpointPlan"


def record(setpoint: Setpoint, shelf: Shelf, report: RunReport, now: datetime, errors: Sequence[Record]) -> Record:
    """The plan as JSON: whose, from which documents, every action, and what stands in the way."""
    words = setpoint.vocabulary
    return {
        **head(KIND, now, words, setpoint.places),
        "allowedRoles": sorted(words.allowed_roles),
        "allowedTypes": sorted(words.allowed_types),
        "stopped": shelf.stopped,
        "documents": generations(shelf),
        "changes": any(map(wants, report.policies)) or any(one.guarded.allowed for one in report.orphans),
        "actions": [action for one in report.policies for action in actions(one)],
        "orphans": [action for one in report.orphans for action in actions(one)],
        "kept": kept_records(report),
        "policies": [policy_record(one) for one in report.policies],
        "errors": list(errors),
    }


def wants(report: PolicyReport) -> bool:
    """Whether a policy means to change anything, now or as soon as it may."""
    guarded = report.guarded
    stuck = any(trouble.condition == "Held" for trouble in report.plan.troubles)
    return bool(guarded.allowed or guarded.held or guarded.waiting) or stuck


def generations(shelf: Shelf) -> dict[str, str]:
    return {stored.name: stored.generation for stored in shelf.documents}


def write(path: Path, plan: Record) -> None:
    try:
        path.write_text(json.dumps(plan, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise SenseError(f"cannot write {path}: {error.strerror or error}") from error


class _Saved(BaseModel):
    model_config = ConfigDict(frozen=True, alias_generator=to_camel)


class SavedAction(_Saved):
    """One action of a saved plan, as far as `apply` needs to know it."""

    state: Literal["allowed", "held", "waiting"]
    action: str
    resource: str
    fingerprint: str
    approvable: bool = True

    @property
    def title(self) -> str:
        return f"{self.action} {self.resource}"


class SavedPlan(_Saved):
    """A plan that was saved: where it was made, of what, and what it would do."""

    kind: Literal["SetpointPlan"]
    version: Literal[1]
    account: str
    region: str
    controller: str
    places: tuple[str, ...]
    allowed_roles: tuple[str, ...]
    allowed_types: tuple[str, ...]
    documents: Mapping[str, str]
    actions: tuple[SavedAction, ...]
    orphans: tuple[SavedAction, ...]

    @property
    def approved(self) -> dict[str, str]:
        """By fingerprint, what `apply` does: all that was allowed, and all that only a limit held."""
        every = (*self.actions, *self.orphans)
        return {one.fingerprint: one.title for one in every if one.state != "waiting" and one.approvable}


def check_place(path: Path, places: Sequence[str]) -> None:
    """Raise SenseError where a plan would replace a policy document, be read as one, or stop every run."""
    target = path.resolve()
    for place in (Path(place).resolve() for place in places if not place.startswith("s3://")):
        beside = target.parent == (place if place.is_dir() else place.parent)
        read = place.is_dir() and target.suffix == ".json"
        if target == place or (beside and (read or target.name == STOP)):
            raise SenseError(f"found --out {path}, where policies are read from ({place}); save the plan elsewhere")


def read(path: Path) -> SavedPlan:
    """The plan in a file; raises SenseError where there is none."""
    try:
        return SavedPlan.model_validate_json(path.read_bytes())
    except OSError as error:
        raise SenseError(f"cannot read {path}: {error.strerror or error}") from error
    except ValidationError as error:
        first = next(problems_of(error, SavedPlan))
        raise SenseError(f"{path} is no saved plan ({first}); make one with: plan --out") from error


def check_same(saved: SavedPlan, present: Mapping[str, Any]) -> None:
    """Raise RefusedError, with every reason, unless a plan made now would be the same one."""
    now = SavedPlan.model_validate(present)
    if saved.account != now.account:
        whose = f"it was made for account {saved.account}, and these credentials are of {now.account}"
        raise RefusedError(f"this plan is another account's: {whose}; say --profile, or make a new one")
    moved = list(_moved(saved, now))
    if moved:
        reasons = "\n".join(f"  {line}" for line in moved)
        raise RefusedError(f"the world has moved since this plan was made; make a new one:\n{reasons}")


def _moved(saved: SavedPlan, present: SavedPlan) -> Iterator[str]:
    for name in sorted(saved.documents.keys() | present.documents.keys()):
        before, after = saved.documents.get(name), present.documents.get(name)
        if before != after:
            yield f"document {name}: {before or 'none'} then, {after or 'none'} now"
    then, now = saved.approved, present.approved
    yield from (f"not to be done any more: {then[one]}" for one in sorted(then.keys() - now.keys()))
    yield from (f"new: {now[one]}" for one in sorted(now.keys() - then.keys()))
