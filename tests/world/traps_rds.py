"""RDS where moto is too kind: databases that take time, and refuse what AWS refuses meanwhile.

Sources: "Viewing Amazon RDS DB instance status", API_ModifyDBInstance (InvalidDBInstanceState unless available),
API_StopDBInstance and "Stopping an Amazon RDS DB instance temporarily" (neither replicas nor their sources; starts by
itself after seven days), API_DeleteDBInstance, API_DeleteDBCluster (no members). Every database that ever was has a
resource id of its own.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from tests.world.call import Call, Params, Refused
from tests.world.trap import Place, Scene, Trap, backend, backends

STOPPED_AT_MOST = timedelta(days=7)

Key = tuple[Place, str, str]
"""Place, `db` or `cluster`, and name."""


@dataclass(frozen=True)
class Transition:
    """On its way from one status to another, since which tick; what reads still show meanwhile, and how it ends."""

    status: str
    destination: str
    since: int
    ticks: int
    shown: Params
    ending: Params


class DatabaseTraps(Trap):
    """DB instances and clusters are creating, modifying, stopping, starting and deleting for some sensing rounds.

    What is made through `world.outside` is there at once: a test's set-up is not in transition.
    """

    service = "rds"

    def __init__(self) -> None:
        self.ticks = dict.fromkeys(("creating", "modifying", "stopping", "starting", "deleting"), 1)
        self._moving: dict[Key, Transition] = {}
        self._stopped: dict[Key, datetime] = {}
        self._generations: dict[Key, int] = {}

    def settle(self, scene: Scene) -> bool:
        changed = False
        for key, thing in list(_every()):
            changed |= self._wake(key, thing, scene) | self._arrive(key, thing, scene)
        return changed

    def before(self, call: Call, scene: Scene) -> Params | None:
        key, thing = _key(call), _find(call)
        if call.operation == "CreateDBInstanceReadReplica":
            _check_source(call)
        if thing is None:
            return None
        if call.operation == "CreateDBCluster":
            raise Refused("DBClusterAlreadyExistsFault", f"DB Cluster already exists: {key[2]}")
        if call.operation.startswith(("Modify", "Stop", "Start", "Delete")):
            self._require(key, thing, call)
        if call.operation == "StopDBInstance":
            _check_stop(thing)
        if call.operation.startswith("Modify"):
            call.notes["shown"] = _describe(call, scene)
        if call.operation.startswith("Delete") and not thing.deletion_protection and self.ticks["deleting"]:
            return self._delete(call, key, thing, scene)
        return None

    def after(self, call: Call, answer: Params, scene: Scene) -> None:
        key, thing = _key(call), _find(call)
        if thing is not None and (step := _step(call.operation)):
            status, destination = step
            if status == "creating":
                self._born(key, thing)
            if status == "stopping":
                self._stopped[key] = scene.now
            before, now = call.notes.get("shown", {}), _describe(call, scene)
            shown = {word: value for word, value in before.items() if value != now.get(word)}
            self._begin(key, thing, Transition(status, destination, scene.tick, self.ticks[status], shown, {}))
        for word in ("DBInstance", "DBCluster"):
            for entry in (*answer.get(f"{word}s", ()), *([answer[word]] if word in answer else ())):
                self._show(((call.account, call.region), _SORTS[word], entry[f"{word}Identifier"]), entry)

    def _require(self, key: Key, thing: Any, call: Call) -> None:
        wanted = ("stopped",) if call.operation.startswith("Start") else ("available", "storage-full")
        if call.operation.startswith("Delete"):
            wanted = ("available", "stopped", "storage-full", "failed")
        if _status(thing) not in wanted:
            code = "InvalidDBInstanceState" if key[1] == "db" else "InvalidDBClusterStateFault"
            raise Refused(code, f"Database {key[2]} is {_status(thing)}, and must be {' or '.join(wanted)}.")

    def _begin(self, key: Key, thing: Any, transition: Transition) -> None:
        if transition.ticks:
            self._moving[key] = transition
            _set(thing, transition.status)
        else:
            _set(thing, transition.destination)

    def _born(self, key: Key, thing: Any) -> None:
        self._generations[key] = self._generations.get(key, 0) + 1
        number = uuid5(NAMESPACE_URL, f"{key}/{self._generations[key]}").hex.upper()
        if key[1] == "db":
            thing.dbi_resource_id = f"db-{number}"
        else:
            thing.db_cluster_resource_id = f"cluster-{number}"

    def _arrive(self, key: Key, thing: Any, scene: Scene) -> bool:
        transition = self._moving.get(key)
        if transition is None:
            return False
        _set(thing, transition.status)  # moto's clusters are "creating" for one read only
        if scene.tick <= transition.since + transition.ticks:
            return False
        del self._moving[key]
        _set(thing, transition.destination)
        if transition.ending:
            _bury(key, transition.ending)
        return True

    def _wake(self, key: Key, thing: Any, scene: Scene) -> bool:
        """What has been stopped for seven days starts by itself."""
        if _status(thing) != "stopped":
            return False
        if scene.now - self._stopped.setdefault(key, scene.now) < STOPPED_AT_MOST:
            return False
        del self._stopped[key]
        self._begin(key, thing, Transition("starting", "available", scene.tick, self.ticks["starting"], {}, {}))
        return True

    def _delete(self, call: Call, key: Key, thing: Any, scene: Scene) -> Params | None:
        found = backend(call)
        final = call.params.get("FinalDBSnapshotIdentifier")
        if bool(final) == bool(call.params.get("SkipFinalSnapshot")):
            raise Refused(
                "InvalidParameterCombination", "FinalDBSnapshotIdentifier or SkipFinalSnapshot, and not both."
            )
        if final and (final in found.database_snapshots or final in found.cluster_snapshots):
            code = "DBSnapshotAlreadyExists" if key[1] == "db" else "DBClusterSnapshotAlreadyExistsFault"
            raise Refused(code, f"Cannot create the snapshot because one with the identifier {final} already exists.")
        if key[1] == "cluster" and thing.members:
            return None  # moto refuses it
        description = _describe(call, scene)
        self._stopped.pop(key, None)
        ticks = self.ticks["deleting"]
        self._begin(key, thing, Transition("deleting", "deleting", scene.tick, ticks, {}, {"final": final}))
        self._show(key, description)
        word = "DBInstance" if key[1] == "db" else "DBCluster"
        return {word: description | {_STATUS[key[1]]: "deleting"}}

    def _show(self, key: Key, entry: Params) -> None:
        transition = self._moving.get(key)
        if transition is None:
            return
        entry.update({**transition.shown, _STATUS[key[1]]: transition.status})
        if transition.status == "creating":
            for word in ("Endpoint", "InstanceCreateTime"):
                entry.pop(word, None)


_SORTS = {"DBInstance": "db", "DBCluster": "cluster"}
_STATUS = {"db": "DBInstanceStatus", "cluster": "Status"}
_STEPS = {
    "Create": ("creating", "available"),
    "Modify": ("modifying", "available"),
    "Start": ("starting", "available"),
    "Stop": ("stopping", "stopped"),
}


def _step(operation: str) -> tuple[str, str] | None:
    for verb, step in _STEPS.items():
        if operation in (f"{verb}DBInstance", f"{verb}DBCluster", f"{verb}DBInstanceReadReplica"):
            return step
    return None


def _key(call: Call) -> Key:
    sort = "db" if "DBInstanceIdentifier" in call.params else "cluster"
    name = call.params.get("DBInstanceIdentifier") or call.params.get("DBClusterIdentifier") or ""
    return (call.account, call.region), sort, name


def _find(call: Call) -> Any:
    key = _key(call)
    return (backend(call).databases if key[1] == "db" else backend(call).clusters).get(key[2])


def _every() -> Iterator[tuple[Key, Any]]:
    for place, found in backends("rds"):
        yield from (((place, "db", name), thing) for name, thing in list(found.databases.items()))
        yield from (((place, "cluster", name), thing) for name, thing in list(found.clusters.items()))


def _status(thing: Any) -> str:
    return str(thing._status if hasattr(thing, "_status") else thing.status)


def _set(thing: Any, status: str) -> None:
    """A cluster's members go where it goes, when it stops or starts."""
    thing.status = status
    for member in getattr(thing, "_members", ()):
        if status in ("stopping", "stopped", "starting") or (status == "available" and member.status == "starting"):
            member.status = status


def _describe(call: Call, scene: Scene) -> Params:
    rds, (_, sort, name) = scene.outside.client("rds", call.region, call.account), _key(call)
    if sort == "db":
        return deepcopy(dict(rds.describe_db_instances(DBInstanceIdentifier=name)["DBInstances"][0]))
    return deepcopy(dict(rds.describe_db_clusters(DBClusterIdentifier=name)["DBClusters"][0]))


def _bury(key: Key, ending: Params) -> None:
    found = dict(backends("rds"))[key[0]]
    if key[1] == "db":
        found.delete_db_instance(key[2], final_db_snapshot_identifier=ending["final"])
    else:
        found.delete_db_cluster(key[2], snapshot_name=ending["final"])


def _check_source(call: Call) -> None:
    source = backend(call).databases.get(call.params["SourceDBInstanceIdentifier"])
    if source is not None and (_status(source) != "available" or not source.backup_retention_period):
        message = "Automated backups are not enabled for this database instance, or it is not available."
        raise Refused("InvalidDBInstanceState", f"{message} To enable them, use ModifyDBInstance.")


def _check_stop(thing: Any) -> None:
    if thing.db_cluster_identifier:
        raise Refused("InvalidDBClusterStateFault", "A member of a cluster cannot be stopped by itself.")
    if thing.is_replica or thing.replicas:
        raise Refused("InvalidDBInstanceState", "A DB instance that is or has a read replica cannot be stopped.")
