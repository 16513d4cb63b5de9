"""Kinesis where moto is too kind: streams that take time, one change at a time, doublings and halvings, ten a day.

Sources: API_CreateStream and API_DeleteStream (asynchronous: CREATING, DELETING), API_UpdateShardCount ("you cannot:
scale more than ten times per rolling 24-hour period per stream; scale up to more than double your current shard count;
scale down below half"), and ResourceInUseException of every change ("the resource must be in the ACTIVE state").
moto also drops the tags and the record size that come with CreateStream.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.world.call import Call, Params, Refused
from tests.world.trap import Place, Scene, Trap, backend, backends

StreamKey = tuple[Place, str]

CHANGES = frozenset(
    {
        "AddTagsToStream",
        "DecreaseStreamRetentionPeriod",
        "DeleteStream",
        "DisableEnhancedMonitoring",
        "EnableEnhancedMonitoring",
        "IncreaseStreamRetentionPeriod",
        "RemoveTagsFromStream",
        "StartStreamEncryption",
        "StopStreamEncryption",
        "UpdateMaxRecordSize",
        "UpdateShardCount",
        "UpdateStreamMode",
    }
)
INSTANT = frozenset({"AddTagsToStream", "RemoveTagsFromStream", "DeleteStream"})
"""Changes after which a stream is not UPDATING."""


@dataclass(frozen=True)
class Transition:
    """A stream that is not ACTIVE, since which tick, and how many shards reads still show meanwhile."""

    status: str
    since: int
    ticks: int
    shards: int | None = None

    def is_over(self, tick: int) -> bool:
        return tick > self.since + self.ticks


class StreamTraps(Trap):
    """Streams are CREATING, UPDATING and DELETING for some sensing rounds (0: none), and refuse what AWS refuses."""

    service = "kinesis"

    def __init__(self) -> None:
        self.create_ticks = self.update_ticks = self.delete_ticks = 1
        self.resizes_a_day = 10
        self._transitions: dict[StreamKey, Transition] = {}
        self._resizes: dict[StreamKey, list[datetime]] = {}
        self._sizes: dict[StreamKey, int] = {}

    def settle(self, scene: Scene) -> bool:
        over = {key: t for key, t in self._transitions.items() if t.is_over(scene.tick)}
        streams = dict(backends("kinesis"))
        for (place, name), transition in over.items():
            del self._transitions[place, name]
            if transition.status == "DELETING" and place in streams:
                streams[place].streams.pop(name, None)
        return bool(over)

    def is_deleting(self, place: Place, name: str) -> bool:
        """Tell whether a stream that moto still has is on its way out."""
        transition = self._transitions.get((place, name))
        return transition is not None and transition.status == "DELETING"

    def before(self, call: Call, scene: Scene) -> Params | None:
        stream = backend(call).streams.get(_key(call)[1])
        if stream is None or call.operation not in CHANGES:
            return None
        self._require_active(call)
        match call.operation:
            case "UpdateShardCount":
                call.notes["shards"] = stream.shard_count
                self._check_resize(call, stream, scene)
            case "UpdateMaxRecordSize":
                self._sizes[_key(call)] = call.params["MaxRecordSizeInKiB"]
                self._begin(call, Transition("UPDATING", scene.tick, self.update_ticks))
                return {}
            case "DeleteStream" if self.delete_ticks:
                self._begin(call, Transition("DELETING", scene.tick, self.delete_ticks))
                return {}
        return None

    def after(self, call: Call, answer: Params, scene: Scene) -> None:
        match call.operation:
            case "CreateStream":
                self._created(call, scene)
            case "DescribeStreamSummary":
                self._describe(call, answer["StreamDescriptionSummary"])
            case operation if operation in CHANGES - INSTANT:
                self._begin(call, Transition("UPDATING", scene.tick, self.update_ticks, call.notes.get("shards")))

    def _require_active(self, call: Call) -> None:
        transition = self._transitions.get(_key(call))
        if transition is not None and not (transition.status == "DELETING" and call.operation == "DeleteStream"):
            _, name = _key(call)
            message = f"Stream {name} under account {call.account} not ACTIVE, instead in state {transition.status}"
            raise Refused("ResourceInUseException", message)

    def _begin(self, call: Call, transition: Transition) -> None:
        if transition.ticks:
            self._transitions[_key(call)] = transition

    def _created(self, call: Call, scene: Scene) -> None:
        backend(call).streams[_key(call)[1]].tags.update(call.params.get("Tags", {}))
        self._sizes[_key(call)] = call.params.get("MaxRecordSizeInKiB", 1024)
        self._resizes.pop(_key(call), None)
        self._begin(call, Transition("CREATING", scene.tick, self.create_ticks))

    def _check_resize(self, call: Call, stream: Any, scene: Scene) -> None:
        now, wanted = stream.shard_count, call.params["TargetShardCount"]
        if not now <= 2 * wanted <= 4 * now:
            half = f"between {-(-now // 2)} and {2 * now}"
            raise Refused("InvalidArgumentException", f"UpdateShardCount: from {now} shards the target must be {half}")
        spent = [moment for moment in self._resizes.get(_key(call), []) if scene.now - moment < timedelta(hours=24)]
        if len(spent) >= self.resizes_a_day:
            message = f"Stream {_key(call)[1]} cannot be scaled more than {self.resizes_a_day} times in 24 hours."
            raise Refused("LimitExceededException", message)
        self._resizes[_key(call)] = [*spent, scene.now]

    def _describe(self, call: Call, summary: Params) -> None:
        transition = self._transitions.get(_key(call))
        summary["MaxRecordSizeInKiB"] = self._sizes.get(_key(call), 1024)
        if transition is not None:
            summary["StreamStatus"] = transition.status
            summary["OpenShardCount"] = transition.shards or summary["OpenShardCount"]


def _key(call: Call) -> StreamKey:
    named = call.params.get("StreamName") or call.params.get("StreamARN", "")
    return (call.account, call.region), named.rsplit("/", 1)[-1]
