"""Takes several actions of one kind step by step, and where one call can do the same step for several, it is one call.

An action is a generator: it yields what it would read or write next and is resumed with the answer, or with the error
that came in its place. So each ends with an outcome of its own. Services refuse a call for the sake of one of many:
then nobody knows whom it concerns, and those actions end without an outcome, to be begun anew with fewer beside them
(`handler/loop/acts.py`). What says nothing of any of them (throttled, no answer) is told of all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from infra.aws import Aws
from infra.kinds.kind import Joint, Kind
from infra.refusals import concerns_all, translated
from policies.action import Action, Change, Outcome, Progress
from policies.errors import AbsentError, WaitError
from policies.frozen import canonical_text
from policies.world import Resource

Does: TypeAlias = Joint | Literal["prove"]
Answer: TypeAlias = Resource | Progress | None


@dataclass(frozen=True, slots=True)
class Step:
    """One call to a kind's `read`, `prove`, `update` or `delete`. It is answered as they do; None: it is not there."""

    does: Does
    seen: Resource
    change: Change = field(default_factory=Change)


Steps: TypeAlias = Generator[Step, Answer, Outcome]


def batches(kind: Kind, actions: Sequence[Action]) -> Iterator[Sequence[Action]]:
    """The actions of one scope, no creates among them, in batches whose writes one call can do."""
    writes: dict[int, tuple[Does, Change]] = {
        place: ("delete", Change()) if action.verb.destroys else ("update", action.change)
        for place, action in enumerate(actions)
    }
    for places in _joined(kind, writes):
        yield [actions[place] for place in places]


def run(aws: Aws, kind: Kind, actions: Sequence[Steps], over: Callable[[], bool]) -> list[Outcome | None]:
    """What came of each, in their order; None: begin it anew, with fewer. Never None where there is only one.

    Of several none goes on once the run's time is `over`; one alone is carried to its end.
    """
    caller = _Caller(aws, kind, over if len(actions) > 1 else lambda: False)
    ends: dict[int, Outcome] = {}
    answers: dict[int, Answer | Exception] = dict.fromkeys(range(len(actions)))
    while answers:
        steps: dict[int, Step] = {}
        for place, answer in answers.items():
            try:
                steps[place] = _resumed(actions[place], answer)
            except StopIteration as end:
                ends[place] = end.value
        answers = dict(caller.answers(steps))
    return [ends.get(place) for place in range(len(actions))]


def _resumed(action: Steps, answer: Answer | Exception) -> Step:
    return action.throw(answer) if isinstance(answer, Exception) else action.send(answer)


def _joined(kind: Kind, wanted: Mapping[int, tuple[Does, Change]]) -> Iterator[Sequence[int]]:
    """The places of what one call can do together; alone where none can."""
    same: dict[tuple[Does, str | int], list[int]] = {}
    for place, (does, change) in wanted.items():
        joins = does != "prove" and kind.joins(does, change)
        same.setdefault((does, _spelled(change) if joins else place), []).append(place)
    for (does, _), places in same.items():
        size = 1 if does == "prove" else kind.together.get(does, 1)
        yield from (places[start : start + size] for start in range(0, len(places), size))


def _spelled(change: Change) -> str:
    """One spelling for one write, whatever it changes from."""
    return canonical_text((change.properties, change.tags, sorted(change.untag)))


@dataclass(frozen=True)
class _Caller:
    aws: Aws
    kind: Kind
    over: Callable[[], bool]

    def answers(self, steps: Mapping[int, Step]) -> Iterator[tuple[int, Answer | Exception]]:
        """The answer to each step, or its error; none where it was refused together with others."""
        for places in _joined(self.kind, {place: (step.does, step.change) for place, step in steps.items()}):
            answers = self._answers([steps[place] for place in places])
            yield from zip(places, answers, strict=True) if answers is not None else ()

    def _answers(self, steps: Sequence[Step]) -> Sequence[Answer | Exception] | None:
        if self.over():
            return [WaitError("the run's time was over; the next run goes on")] * len(steps)
        try:
            with translated(self.kind):
                return [self._call(steps[0])] if len(steps) == 1 else self._call_for_all(steps)
        except AbsentError as error:
            return [None if steps[0].does in ("read", "prove") else error] if len(steps) == 1 else None
        except Exception as error:  # noqa: BLE001 - as with every task: it is told, and the others go on
            return [error] * len(steps) if len(steps) == 1 or concerns_all(error) else None

    def _call(self, step: Step) -> Answer:
        match step.does:
            case "read":
                return self.kind.read(self.aws, step.seen)
            case "prove":
                return self.kind.prove(self.aws, step.seen)
            case "update":
                return self.kind.update(self.aws, step.seen, step.change)
            case "delete":
                self.kind.delete(self.aws, step.seen)
                return None

    def _call_for_all(self, steps: Sequence[Step]) -> Sequence[Answer | Exception]:
        seen = [step.seen for step in steps]
        if steps[0].does == "read":
            found = {one.id: one for one in self.kind.read_all(self.aws, seen)}
            return [found.get(one.id) for one in seen]
        if steps[0].does == "update":
            return [self.kind.update_all(self.aws, seen, steps[0].change)] * len(steps)
        gone = self.kind.delete_all(self.aws, seen)
        return [AbsentError(f"{one.id} is not there") if one.id in gone else None for one in seen]
