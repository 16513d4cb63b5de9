"""The product, broken on purpose: for each invariant one mistake that somebody could make, and that it must catch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any
from uuid import uuid4

import pytest

from handler.loop import conductor, toward
from handler.loop.acts import Acts
from handler.loop.away import Away
from handler.loop.toward import Toward
from infra import act
from infra.aws import Aws
from infra.kinds.sqs_queue import SqsQueue
from policies import redact
from policies.action import Verb
from policies.identity import PENDING, SPEC
from policies.strategy import Removal
from tests.sweep.points import DEADLINE, NOTHING, Point

Break = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Sabotage:
    """A mistake, and a point at which the sweep trips over it. Named after the invariant that says so."""

    mistake: str
    scenario: str
    point: Point
    break_it: Break


def _forget_what_is_initial(patch: pytest.MonkeyPatch) -> None:
    for module in (act, toward):
        patch.setattr(module, "unfinished", lambda desired, actual: desired)


def _write_tags_every_time(patch: pytest.MonkeyPatch) -> None:
    real = toward.drift

    def drift(kind: Any, desired: Any, actual: Any, **how: Any) -> Any:
        return replace(real(kind, desired, actual, **how), tags=desired.tags)

    for module in (act, toward):
        patch.setattr(module, "drift", drift)


def _begin_anew_what_is_unfinished(patch: pytest.MonkeyPatch) -> None:
    real = Toward._existing

    def existing(self: Toward, want: Any, resource: Any) -> Iterator[Any]:
        if (resource.tags or {}).get(SPEC) == PENDING:
            yield self.draft.action(Verb.REPLACE, want.key, "not finished: anew", want, resource)
        else:
            yield from real(self, want, resource)

    patch.setattr(Toward, "_existing", existing)


def _skip_the_owner_check(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Toward, "_missing", lambda self, want: iter((self._create(want),)))
    patch.setattr(act, "check_ours", lambda action, found: None)


def _random_tokens(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(toward, "next_tokens", lambda *_: (uuid4().hex,))


def _take_the_old_before_the_new_works(patch: pytest.MonkeyPatch) -> None:
    def surplus(self: Away, known: set[str]) -> Iterator[Removal]:
        yield from (Removal(one, "another one fills its place") for one in self.seen.owned if one.id not in known)

    patch.setattr(Away, "_surplus", surplus)


def _tokens_without_the_slot(patch: pytest.MonkeyPatch) -> None:
    real = toward.next_tokens
    patch.setattr(toward, "next_tokens", lambda owner, key, birth, dead: real(owner, "0", "always", dead))


def _tags_after_the_create(patch: pytest.MonkeyPatch) -> None:
    real = SqsQueue.create

    def create(self: SqsQueue, aws: Aws, desired: Any, token: Any) -> Any:
        progress = real(self, aws, replace(desired, tags={}), token)
        sqs = aws.client("sqs")
        sqs.tag_queue(QueueUrl=sqs.get_queue_url(QueueName=desired.name)["QueueUrl"], Tags=dict(desired.tags))
        return progress

    patch.setattr(SqsQueue, "create", create)


def _take_half_a_list_for_the_whole(patch: pytest.MonkeyPatch) -> None:
    real = Aws.pages

    def pages(self: Aws, *words: Any, **arguments: Any) -> Iterator[Any]:
        try:
            yield from real(self, *words, **arguments)
        except Exception:  # noqa: BLE001 - the mistake
            return

    patch.setattr(Aws, "pages", pages)


def _one_for_all(patch: pytest.MonkeyPatch) -> None:
    real = conductor.conduct

    def conduct(pipelines: Any, executor: Any) -> list[Any]:
        results = real(pipelines, executor)
        failed = next((one for one in results if isinstance(one, Exception)), None)
        return results if failed is None else [failed for _ in results]

    patch.setattr("handler.loop.run.conduct", conduct)


def _go_on_after_the_time(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Acts, "_perform", lambda self, batch: self.cloud.act(batch, self.over))


def _turns_by_chance(patch: pytest.MonkeyPatch) -> None:
    turns = count()
    patch.setattr("handler.loop.observe.its_turn", lambda resource, every, now: next(turns) % 7 == 0)


def _hash_before_properties(patch: pytest.MonkeyPatch) -> None:
    real = act._Act._converge

    def converge(self: Any, found: Any, desired: Any, born: bool = False) -> Any:
        yield from self._write_tags(found, act.drift(self.kind, desired, found))
        return (yield from real(self, found, desired, born))

    patch.setattr(act._Act, "_converge", converge)


def _show_everything(patch: pytest.MonkeyPatch) -> None:
    for pattern in ("_SECRET_TEXT", "_SECRET_ASSIGNED", "_SECRET_WORD", "_BEARER"):
        patch.setattr(redact, pattern, re.compile(r"(?!)()()"))


SABOTAGES: Mapping[str, Sabotage] = {
    "Converges": Sabotage(
        "what is `initial` is forgotten when a create of several calls is gone on with",
        "groups-initial",
        Point("crash_after", 3),
        _forget_what_is_initial,
    ),
    "Quiet": Sabotage(
        "tags are written in every run, whether they differ or not",
        "queues-new",
        Point(NOTHING),
        _write_tags_every_time,
    ),
    "SameTally": Sabotage(
        "a create that was interrupted is begun anew, not gone on with",
        "groups-new",
        Point("crash_after", 3),
        _begin_anew_what_is_unfinished,
    ),
    "OwnedOnly": Sabotage("nobody asks whose it is", "queues-taken", Point("crash_before", 1), _skip_the_owner_check),
    "NeverOver": Sabotage("client tokens are random", "agents-new", Point(NOTHING, 0, "lag 2"), _random_tokens),
    "NeverUnder": Sabotage(
        "the old one goes before the new one works",
        "agents-createFirst",
        Point("crash_before", 1),
        _take_the_old_before_the_new_works,
    ),
    "OneTokenOneResource": Sabotage(
        "every slot has the same tokens", "agents-new", Point("crash_before", 1), _tokens_without_the_slot
    ),
    "BornOwned": Sabotage("tags come after the create", "queues-new", Point("crash_before", 1), _tags_after_the_create),
    "BlindNeverDeletes": Sabotage(
        "half a list is taken for the whole", "queues-leaving", Point("unavailable", 1), _take_half_a_list_for_the_whole
    ),
    "Isolated": Sabotage("one failure ends every policy", "", Point(NOTHING), _one_for_all),
    "Bounded": Sabotage("the run's time is not asked for", "days-turn", Point(DEADLINE, 4), _go_on_after_the_time),
    "Truthful": Sabotage(
        "the hash is written before the properties",
        "queues-edited",
        Point("crash_after", 6),
        _hash_before_properties,
    ),
    "NoSecrets": Sabotage("nothing is redacted", "alarms-new", Point("crash_before", 1), _show_everything),
    "Replayable": Sabotage(
        "whose turn it is to be read is a matter of chance", "queues-new", Point(NOTHING), _turns_by_chance
    ),
}
