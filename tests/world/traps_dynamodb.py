"""DynamoDB where moto is too kind: tables that take time, one kind of change at a time, a budget of decreases.

Sources: API_UpdateTable ("you can only perform one of the following operations at once"; asynchronous, the table is
UPDATING meanwhile), API_DeleteTable ("if a table is in CREATING or UPDATING states, then DynamoDB returns a
ResourceInUseException"; no error while DELETING), API_DescribeTable (may say ResourceNotFoundException right after
create), and "Quotas": four decreases a UTC day, and one more for each hour without a decrease.
"""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from tests.world.call import Call, Params, Refused
from tests.world.trap import Place, Scene, Trap, backend, backends

TableKey = tuple[Place, str]


@dataclass(frozen=True)
class Transition:
    """A table that is not ACTIVE, since which tick, and what reads still show meanwhile."""

    status: str
    since: int
    ticks: int
    shown: Params = field(default_factory=dict)
    new_indexes: frozenset[str] = frozenset()

    def is_over(self, tick: int) -> bool:
        return tick > self.since + self.ticks


@dataclass
class Decreases:
    """How often a table's throughput was decreased on a day (UTC), and when last."""

    day: date
    count: int = 0
    last: datetime | None = None


class TableTraps(Trap):
    """Tables are CREATING, UPDATING and DELETING for some sensing rounds (0: none), and refuse what AWS refuses then.

    `hidden_ticks`: for how many ticks after its creation DescribeTable does not know a table.
    """

    service = "dynamodb"

    def __init__(self) -> None:
        self.create_ticks = self.update_ticks = self.delete_ticks = 1
        self.hidden_ticks = 0
        self.decreases_a_day = 4
        self._transitions: dict[TableKey, Transition] = {}
        self._created: dict[TableKey, int] = {}
        self._generations: dict[TableKey, int] = {}
        self._decreases: dict[TableKey, Decreases] = {}

    def settle(self, scene: Scene) -> bool:
        over = {key: t for key, t in self._transitions.items() if t.is_over(scene.tick)}
        tables = dict(backends("dynamodb"))
        for (place, name), transition in over.items():
            del self._transitions[place, name]
            if transition.status == "DELETING" and place in tables:
                tables[place].tables.pop(name, None)
        return bool(over)

    def is_deleting(self, place: Place, name: str) -> bool:
        """Tell whether a table that moto still has is on its way out."""
        transition = self._transitions.get((place, name))
        return transition is not None and transition.status == "DELETING"

    def before(self, call: Call, scene: Scene) -> Params | None:
        match call.operation:
            case "UpdateTable" if table := self._table(call):
                self._check_update(call, table, scene)
            case "DeleteTable" if table := self._table(call):
                return self._delete(call, table, scene)
            case "DescribeTable" if self._is_hidden(call, scene):
                message = f"Requested resource not found: Table: {call.params['TableName']} not found"
                raise Refused("ResourceNotFoundException", message)
            case "TagResource" | "UntagResource":
                self._require(call, "UPDATING")
            case "UpdateTimeToLive":
                self._require(call)
            case "UpdateContinuousBackups" if self._status(call) == "CREATING":
                raise Refused("ContinuousBackupsUnavailableException", "Backups are being enabled for the table.")
        return None

    def after(self, call: Call, answer: Params, scene: Scene) -> None:
        match call.operation:
            case "CreateTable":
                self._generations[_key(call)] = self._generations.get(_key(call), 0) + 1
                self._created[_key(call)] = scene.tick
                self._begin(call, Transition("CREATING", scene.tick, self.create_ticks))
            case "UpdateTable":
                self._updated(call, scene)
        for key in ("Table", "TableDescription"):
            if key in answer:
                self._describe(call, answer[key])

    def _table(self, call: Call) -> Any:
        return backend(call).tables.get(call.params["TableName"])

    def _status(self, call: Call) -> str:
        transition = self._transitions.get(_key(call))
        return transition.status if transition else "ACTIVE"

    def _is_hidden(self, call: Call, scene: Scene) -> bool:
        born = self._created.get(_key(call))
        return born is not None and self.hidden_ticks > 0 and scene.tick <= born + self.hidden_ticks

    def _require(self, call: Call, *allowed: str) -> None:
        status = self._status(call)
        if status not in ("ACTIVE", *allowed):
            doing = {"CREATING": "created", "UPDATING": "updated", "DELETING": "deleted"}[status]
            message = f"Attempt to change a resource which is still in use: Table is being {doing}: {_key(call)[1]}"
            raise Refused("ResourceInUseException", message)

    def _begin(self, call: Call, transition: Transition) -> None:
        if transition.ticks:
            self._transitions[_key(call)] = transition

    def _check_update(self, call: Call, table: Any, scene: Scene) -> None:
        self._require(call)
        kinds = sorted(set(_kinds(call.params)))
        if len(kinds) > 1:
            message = f"One or more parameter values were invalid: Only one kind of change per UpdateTable: {kinds}"
            raise Refused("ValidationException", message)
        _check_throughput(call.params, table)
        if wanted := call.params.get("ProvisionedThroughput"):
            self._spend_decrease(call, table, wanted, scene)
        call.notes["shown"] = deepcopy({"ProvisionedThroughput": table.throughput})
        call.notes["decreases"] = table.throughput.get("NumberOfDecreasesToday", 0)

    def _spend_decrease(self, call: Call, table: Any, wanted: Params, scene: Scene) -> None:
        units = ("ReadCapacityUnits", "WriteCapacityUnits")
        today = scene.now.astimezone(UTC).date()
        spent = self._decreases.get(_key(call))
        if spent is None or spent.day != today:
            spent = self._decreases[_key(call)] = Decreases(today)
        if all(wanted[unit] >= table.throughput[unit] for unit in units):
            return
        rested = spent.last is not None and scene.now - spent.last >= timedelta(hours=1)
        if spent.count >= self.decreases_a_day and not rested:
            message = "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day."
            raise Refused("LimitExceededException", message)
        spent.count, spent.last = spent.count + 1, scene.now

    def _updated(self, call: Call, scene: Scene) -> None:
        table, spent = self._table(call), self._decreases.get(_key(call))
        if call.params.get("BillingMode") == "PAY_PER_REQUEST":
            table.throughput = {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
        table.throughput["NumberOfDecreasesToday"] = spent.count if spent else 0
        created = (update.get("Create") for update in call.params.get("GlobalSecondaryIndexUpdates", []))
        indexes = frozenset(index["IndexName"] for index in created if index)
        self._begin(call, Transition("UPDATING", scene.tick, self.update_ticks, call.notes.get("shown", {}), indexes))

    def _delete(self, call: Call, table: Any, scene: Scene) -> Params | None:
        if not self.delete_ticks or table.deletion_protection_enabled:
            return None
        self._require(call, "DELETING")
        if self._status(call) == "ACTIVE":
            self._begin(call, Transition("DELETING", scene.tick, self.delete_ticks))
        description = deepcopy(table.describe()["TableDescription"])
        description["CreationDateTime"] = description["CreationDateTime"].replace(tzinfo=UTC)
        self._describe(call, description)
        return {"TableDescription": description}

    def _describe(self, call: Call, description: Params) -> None:
        place, name = _key(call)
        transition = self._transitions.get((place, name))
        generation = f"{place}/{name}/{self._generations.get((place, name), 0)}"
        description["TableId"] = str(uuid5(NAMESPACE_URL, generation))
        if description.get("BillingModeSummary", {}).get("BillingMode") != "PAY_PER_REQUEST":
            description.pop("BillingModeSummary", None)  # AWS leaves it out for tables that were never on demand
        for key in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
            if not description.get(key):
                description.pop(key, None)
        if transition is not None:
            description.update({"TableStatus": transition.status, **transition.shown})
            for index in description.get("GlobalSecondaryIndexes", []):
                if index["IndexName"] in transition.new_indexes:
                    index["IndexStatus"] = "CREATING"


def _key(call: Call) -> TableKey:
    named = call.params.get("TableName") or call.params.get("ResourceArn", "")
    return (call.account, call.region), named.rsplit("/", 1)[-1]


def _kinds(params: Params) -> Iterable[str]:
    """Name the kinds of change in one UpdateTable; throughput of the table and of its indexes may go together."""
    for key in ("BillingMode", "ProvisionedThroughput", "OnDemandThroughput", "WarmThroughput"):
        if key in params:
            yield "throughput"
    for number, update in enumerate(params.get("GlobalSecondaryIndexUpdates", [])):
        yield "throughput" if "Update" in update else f"index {number}"
    for key in ("StreamSpecification", "SSESpecification", "TableClass", "DeletionProtectionEnabled", "ReplicaUpdates"):
        if key in params:
            yield key


def _check_throughput(params: Params, table: Any) -> None:
    wanted, mode = params.get("ProvisionedThroughput"), params.get("BillingMode", table.billing_mode)
    if mode == "PAY_PER_REQUEST" and wanted:
        message = (
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
        )
        raise Refused("ValidationException", f"One or more parameter values were invalid: {message}")
    if mode == "PROVISIONED" and table.billing_mode == "PAY_PER_REQUEST" and not wanted:
        message = "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
        raise Refused("ValidationException", f"One or more parameter values were invalid: {message}")
    if wanted and mode == table.billing_mode and wanted.items() <= table.throughput.items():
        message = (
            "The provisioned throughput for the table will not change. The requested value equals the current value."
        )
        raise Refused("ValidationException", message)
