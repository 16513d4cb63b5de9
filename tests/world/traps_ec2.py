"""EC2 where moto is too kind: client tokens, transitional states, the hour in which the dead are still listed.

Sources: "Ensuring idempotency in Amazon EC2 API requests" (same token and parameters: the same instance; changed
parameters: IdempotentParameterMismatch), API_TerminateInstances (one that is protected keeps those of its zone alive),
"Instance lifecycle" (terminated instances stay visible for a while, then vanish), and the EC2 error codes page. How
long a token outlives its instance is not documented; 24 hours was observed.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import moto.ec2.utils

from tests.world.call import Call, Params, Refused
from tests.world.trap import Place, Scene, Trap, backend, backends

CODES = {"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80}
LISTED = timedelta(hours=1)
REMEMBERED = timedelta(hours=24)

moto.ec2.utils.filter_dict_attribute_mapping.setdefault("client-token", "client_token")


@dataclass(frozen=True)
class Launch:
    """What a client token stands for."""

    fingerprint: str
    instances: tuple[str, ...]


class InstanceTraps(Trap):
    """A token launches once; states take `state_ticks` sensing rounds (0: at once) to settle.

    Instances made through `world.outside` run at once: a test's set-up is not in transition.
    """

    service = "ec2"

    def __init__(self) -> None:
        self.state_ticks = 1
        self._launches: dict[tuple[Place, str], Launch] = {}
        self._moving: dict[str, tuple[str, int]] = {}  # instance → the state it is moving to, since which tick
        self._deaths: dict[str, datetime] = {}

    def settle(self, scene: Scene) -> bool:
        changed = False
        for _, found in backends("ec2"):
            for instance in list(_instances(found)):
                changed |= self._arrive(instance, scene) | self._bury(found, instance, scene)
        forgotten = [token for token, launch in self._launches.items() if self._is_forgotten(launch, scene)]
        for token in forgotten:
            del self._launches[token]
        return changed or bool(forgotten)

    def before(self, call: Call, scene: Scene) -> Params | None:
        match call.operation:
            case "RunInstances" if call.params.get("ClientToken"):
                return self._replay(call, scene)
            case "StartInstances":
                _require(call, ("stopped", "running", "pending"), "started")
            case "StopInstances":
                _require(call, ("running", "stopping", "stopped"), "stopped")
            case "TerminateInstances":
                self._protect(call, scene)
        if call.operation in _DESTINATIONS:
            call.notes["states"] = {i.id: i.state for i in _instances(backend(call))}
        return None

    def after(self, call: Call, answer: Params, scene: Scene) -> None:
        if call.operation == "RunInstances":
            self._remember(call, tuple(i["InstanceId"] for i in answer["Instances"]))
        if call.operation in _DESTINATIONS and self.state_ticks:
            key, transition, destination = _DESTINATIONS[call.operation]
            for entry in answer[key]:
                if call.notes.get("states", {}).get(entry["InstanceId"]) not in (destination, "terminated"):
                    self._depart(call, entry["InstanceId"], transition, destination, scene)

    def _replay(self, call: Call, scene: Scene) -> Params | None:
        token = call.params["ClientToken"]
        if len(token) > 64:
            raise Refused(
                "InvalidParameterValue", f"Value ({token}) for parameter clientToken is invalid. Token too long."
            )
        launch = self._launches.get(((call.account, call.region), token))
        if launch is None:
            return None
        if launch.fingerprint != _fingerprint(call):
            message = (
                "Arguments on this idempotent request are inconsistent with arguments used in previous request(s)."
            )
            raise Refused("IdempotentParameterMismatch", message)
        if not set(launch.instances) <= {i.id for i in _instances(backend(call)) if i.state not in _DEAD}:
            message = "The client token you have provided is associated with a resource that has been terminated."
            raise Refused("IdempotentInstanceTerminated", message)
        ec2 = scene.outside.client("ec2", call.region, call.account)
        return dict(ec2.describe_instances(InstanceIds=list(launch.instances))["Reservations"][0])

    def _protect(self, call: Call, scene: Scene) -> None:
        """One that is protected keeps those of its zone alive; those of other zones end, though the call fails."""
        asked = [one for one in _instances(backend(call)) if one.id in call.params["InstanceIds"]]
        protected = [one for one in asked if one.disable_api_termination is True]
        if protected:
            zones = {_zone(one) for one in protected}
            elsewhere = [one.id for one in asked if _zone(one) not in zones]
            if elsewhere:
                ec2 = scene.outside.client("ec2", call.region, call.account)
                ec2.terminate_instances(InstanceIds=elsewhere)
            message = f"The instance '{protected[0].id}' may not be terminated. Modify its 'disableApiTermination'"
            raise Refused("OperationNotPermitted", f"{message} instance attribute and try again.")

    def _remember(self, call: Call, instances: tuple[str, ...]) -> None:
        if token := call.params.get("ClientToken"):
            self._launches[(call.account, call.region), token] = Launch(_fingerprint(call), instances)

    def _is_forgotten(self, launch: Launch, scene: Scene) -> bool:
        return all(i in self._deaths and scene.now - self._deaths[i] >= REMEMBERED for i in launch.instances)

    def _depart(self, call: Call, instance_id: str, state: str, destination: str, scene: Scene) -> None:
        instance = next(i for i in _instances(backend(call)) if i.id == instance_id)
        _set(instance, state)
        if self._moving.get(instance_id, ("", 0))[0] != destination:  # asking twice does not start the wait again
            self._moving[instance_id] = (destination, scene.tick)

    def _arrive(self, instance: Any, scene: Scene) -> bool:
        destination, since = self._moving.get(instance.id, (None, 0))
        if destination is None or scene.tick <= since + self.state_ticks:
            return False
        del self._moving[instance.id]
        _set(instance, destination)
        return True

    def _bury(self, found: Any, instance: Any, scene: Scene) -> bool:
        """Note the time of death; an hour later, take the instance off the list."""
        if instance.state != "terminated":
            return False
        died = self._deaths.setdefault(instance.id, scene.now)
        if scene.now - died < LISTED:
            return died == scene.now
        for reservation in list(found.reservations.values()):
            if instance in reservation.instances:
                reservation.instances.remove(instance)
            if not reservation.instances:
                del found.reservations[reservation.id]
        return True


_DEAD = ("shutting-down", "terminated")
_DESTINATIONS = {
    "RunInstances": ("Instances", "pending", "running"),
    "StartInstances": ("StartingInstances", "pending", "running"),
    "StopInstances": ("StoppingInstances", "stopping", "stopped"),
    "TerminateInstances": ("TerminatingInstances", "shutting-down", "terminated"),
}


def _instances(found: Any) -> Iterator[Any]:
    return (instance for reservation in found.reservations.values() for instance in reservation.instances)


def _zone(instance: Any) -> str:
    return str(instance.placement.zone)


def _require(call: Call, states: tuple[str, ...], done: str) -> None:
    for instance in _instances(backend(call)):
        if instance.id in call.params["InstanceIds"] and instance.state not in states:
            message = f"The instance '{instance.id}' is not in a state from which it can be {done}."
            raise Refused("IncorrectInstanceState", message)


def _fingerprint(call: Call) -> str:
    asked = {key: value for key, value in call.params.items() if key != "ClientToken"}
    return json.dumps(asked, sort_keys=True, default=str)


def _set(instance: Any, state: str) -> None:
    instance._state.name, instance._state.code = state, CODES[state]
