"""SQS where moto is too kind: names that rest after a delete, tags that a second CreateQueue ignores.

Source: API_CreateQueue and API_SetQueueAttributes of the SQS API reference.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.world.call import Call, Params, Refused
from tests.world.trap import Place, Scene, Trap, backend, backends

REST = timedelta(seconds=60)

QueueKey = tuple[Place, str]


@dataclass(frozen=True)
class Unseen:
    """Attribute changes of one queue that reads do not show yet: what they replaced, and since when."""

    tick: int
    replaced: dict[str, str | None]


class QueueTraps(Trap):
    """A deleted name rests 60 s; CreateQueue never touches an existing queue; attributes may show late.

    `attribute_delay`: ticks in which GetQueueAttributes still shows the old values (AWS: up to 60 s).
    `list_cap`: how many queues ListQueues returns at most without MaxResults, and then without a token (AWS: 1000).
    """

    service = "sqs"

    def __init__(self) -> None:
        self.attribute_delay = 0
        self.list_cap = 1000
        self._known: dict[Place, set[str]] = {}
        self._deleted: dict[QueueKey, datetime] = {}
        self._unseen: dict[QueueKey, list[Unseen]] = {}

    def settle(self, scene: Scene) -> bool:
        changed = False
        for place, queues in ((place, found.queues) for place, found in backends("sqs")):
            gone = self._known.get(place, set()) - queues.keys()
            self._deleted.update({(place, name): scene.now for name in gone})
            changed |= bool(gone) or self._known.get(place) != set(queues)
            self._known[place] = set(queues)
        return changed

    def before(self, call: Call, scene: Scene) -> Params | None:
        match call.operation:
            case "CreateQueue":
                self._create(call, scene)
            case "SetQueueAttributes" if self.attribute_delay:
                call.notes["old"] = _attributes(call, scene)
        return None

    def after(self, call: Call, answer: Params, scene: Scene) -> None:
        match call.operation:
            case "CreateQueue":
                self._created(call)
            case "SetQueueAttributes" if self.attribute_delay:
                self._hide(call, scene)
            case "GetQueueAttributes":
                self._show_old(call, answer, scene)
                _whole_seconds(answer.get("Attributes", {}))
            case "ListQueues" if "MaxResults" not in call.params and "QueueUrls" in answer:
                answer["QueueUrls"] = answer["QueueUrls"][: self.list_cap]

    def _create(self, call: Call, scene: Scene) -> None:
        name = call.params["QueueName"]
        existing = backend(call).queues.get(name)
        if existing is not None:
            call.notes["tags"] = existing.tags
            return
        died = self._deleted.get(((call.account, call.region), name))
        if died is not None and scene.now - died < REST:
            message = (
                "You must wait 60 seconds after deleting a queue before you can create another with the same name."
            )
            raise Refused("AWS.SimpleQueueService.QueueDeletedRecently", message, shape="QueueDeletedRecently")

    def _created(self, call: Call) -> None:
        name = call.params["QueueName"]
        self._known.setdefault((call.account, call.region), set()).add(name)
        if "tags" in call.notes:
            backend(call).queues[name].tags = call.notes["tags"]

    def _hide(self, call: Call, scene: Scene) -> None:
        old = call.notes["old"]
        replaced = {key: old.get(key) for key in call.params["Attributes"]}
        self._unseen.setdefault(_key(call), []).append(Unseen(scene.tick, replaced))

    def _show_old(self, call: Call, answer: Params, scene: Scene) -> None:
        shown = answer.get("Attributes", {})
        for change in reversed(self._unseen.get(_key(call), [])):
            if scene.tick > change.tick + self.attribute_delay:
                continue
            for key, old in change.replaced.items():
                if old is None:
                    shown.pop(key, None)
                elif _asked(call, key):
                    shown[key] = old


def _whole_seconds(attributes: dict[str, str]) -> None:
    """AWS gives times as whole seconds; moto, with a fraction."""
    for key in ("CreatedTimestamp", "LastModifiedTimestamp"):
        if key in attributes:
            attributes[key] = str(int(float(attributes[key])))


def _asked(call: Call, attribute: str) -> bool:
    names = call.params.get("AttributeNames", [])
    return "All" in names or attribute in names


def _attributes(call: Call, scene: Scene) -> dict[str, str]:
    sqs = scene.outside.client("sqs", call.region, call.account)
    try:
        found: dict[str, str] = sqs.get_queue_attributes(QueueUrl=call.params["QueueUrl"], AttributeNames=["All"])[
            "Attributes"
        ]
    except sqs.exceptions.QueueDoesNotExist:
        return {}
    return found


def _key(call: Call) -> QueueKey:
    return (call.account, call.region), call.params["QueueUrl"].rsplit("/", 1)[-1]
