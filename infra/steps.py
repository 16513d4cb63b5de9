"""Takes acts of one kind step by step, and where one call can do the same step for several, it is one call.

An act is a generator: it yields what it would read or write next and is resumed with what came of it, or with the error
that came of it. So each ends with an outcome of its own. A call for several that is refused is made again for each half
of them, until what is wrong with one is told of that one alone; what says nothing of any of them (throttled, no answer,
the service is down) is told of all at once.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from infra.aws import Aws
from infra.kinds.kind import Does, Kind
from infra.refusals import translated
from policies.action import Action, Change, Outcome
from policies.errors import AbsentError, SenseError, SetpointError, ThrottledError
from policies.frozen import canonical_text
from policies.world import Resource


@dataclass(frozen=True, slots=True)
class Step:
    """One call to a kind's `read`, `prove`, `update` or `delete`. It is answered as they do; None: it is not there."""

    does: Does
    seen: Resource
    change: Change = field(default_factory=Change)


Act: TypeAlias = Generator[Step, Any, Outcome]


def take(aws: Aws, kind: Kind, acts: Sequence[Act]) -> list[Outcome | SetpointError]:
    """What comes of each act, in their order."""
    ends: dict[int, Outcome | SetpointError] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(acts)))
    while answers:
        steps: dict[int, Step] = {}
        for place, answer in answers.items():
            try:
                steps[place] = _resumed(acts[place], answer)
            except StopIteration as end:
                ends[place] = end.value
            except SetpointError as error:
                ends[place] = error
        answers = dict(zip(steps, _answers(aws, kind, tuple(steps.values())), strict=True))
    return [ends[place] for place in range(len(acts))]


def parts(kind: Kind, actions: Sequence[Action]) -> Iterator[Sequence[Action]]:
    """The actions of one scope, no creates among them, in parts whose writes one call can do."""
    writes: list[tuple[Does, Change]] = [
        ("delete" if action.verb.destroys else "update", action.change) for action in actions
    ]
    for places in _together(kind, writes):
        yield [actions[place] for place in places]


def _resumed(act: Act, answer: Any) -> Step:
    return act.throw(answer) if isinstance(answer, SetpointError) else act.send(answer)


def _answers(aws: Aws, kind: Kind, steps: Sequence[Step]) -> list[Any]:
    """The answer to each step, or its error."""
    answers: dict[int, Any] = {}
    for places in _together(kind, [(step.does, step.change) for step in steps]):
        answers.update(zip(places, _answered(aws, kind, [steps[place] for place in places]), strict=True))
    return [answers[place] for place in range(len(steps))]


def _together(kind: Kind, wanted: Iterable[tuple[Does, Change]]) -> Iterator[Sequence[int]]:
    """The places of what one call can do, however many there are of it; alone where none can do several."""
    same: dict[tuple[Does, str | int], list[int]] = {}
    for place, (does, change) in enumerate(wanted):
        same.setdefault((does, _spelled(change) if kind.joins(does, change) else place), []).append(place)
    for (does, _), places in same.items():
        most = kind.together.get(does, 1)
        yield from (places[start : start + most] for start in range(0, len(places), most))


def _spelled(change: Change) -> str:
    """One spelling for one write, whatever it changes from."""
    return canonical_text((change.properties, change.tags, sorted(change.untag)))


def _answered(aws: Aws, kind: Kind, steps: Sequence[Step]) -> list[Any]:
    try:
        with translated(kind):
            return _called(aws, kind, steps)
    except (ThrottledError, SenseError) as error:
        return [error] * len(steps)
    except SetpointError as error:
        if len(steps) == 1:
            nothing = isinstance(error, AbsentError) and steps[0].does in ("read", "prove")
            return [None if nothing else error]
    half = len(steps) // 2
    return [*_answered(aws, kind, steps[:half]), *_answered(aws, kind, steps[half:])]


def _called(aws: Aws, kind: Kind, steps: Sequence[Step]) -> list[Any]:
    if len(steps) == 1:
        return [_called_for_one(aws, kind, steps[0])]
    seen = [step.seen for step in steps]
    match steps[0].does:
        case "read" | "prove":
            found = {one.id: one for one in kind.read_all(aws, seen)}
            return [found.get(one.id) for one in seen]
        case "update":
            return [kind.update_all(aws, seen, steps[0].change)] * len(steps)
        case "delete":
            gone = kind.delete_all(aws, seen)
            return [AbsentError(f"{one.id} is not there") if one.id in gone else None for one in seen]


def _called_for_one(aws: Aws, kind: Kind, step: Step) -> Any:
    match step.does:
        case "read":
            return kind.read(aws, step.seen)
        case "prove":
            return kind.prove(aws, step.seen)
        case "update":
            return kind.update(aws, step.seen, step.change)
        case "delete":
            return kind.delete(aws, step.seen)
