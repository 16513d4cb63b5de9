"""Lambda where moto is too kind: creating and updating take time, and meanwhile nothing else is taken.

Sources: "Lambda function states" (Pending after a create; LastUpdateStatus InProgress after an update, while which
UpdateFunctionCode, UpdateFunctionConfiguration, PublishVersion and TagResource fail), API_CreateFunction
(ResourceConflictException: the resource already exists, or another operation is in progress).
"""

from datetime import timedelta
from typing import Any

from tests.world.call import Call, Params, Refused
from tests.world.trap import Place, Scene, Trap, backend

UPDATES = {"UpdateFunctionCode", "UpdateFunctionConfiguration"}
REFUSED = {*UPDATES, "PublishVersion", "TagResource", "UntagResource", "PutFunctionConcurrency"}


class FunctionTraps(Trap):
    """Functions are Pending, and InProgress, for some sensing rounds (0: none); every change moves LastModified."""

    service = "lambda"

    def __init__(self) -> None:
        self.create_ticks = self.update_ticks = 1
        self._moving: dict[tuple[Place, str], tuple[str, int]] = {}
        self._changes = 0

    def settle(self, scene: Scene) -> bool:
        ticks = {"Pending": self.create_ticks, "InProgress": self.update_ticks}
        over = [key for key, (what, since) in self._moving.items() if scene.tick > since + ticks[what]]
        for key in over:
            del self._moving[key]
        return bool(over)

    def before(self, call: Call, scene: Scene) -> Params | None:
        if call.operation == "CreateFunction" and call.params["FunctionName"] in _functions(call):
            raise Refused("ResourceConflictException", f"Function already exist: {call.params['FunctionName']}", 409)
        if call.operation in REFUSED and _key(call) in self._moving:
            message = f"The operation cannot be performed at this time: {_key(call)[1]} is being updated"
            raise Refused("ResourceConflictException", message, 409)
        return None

    def after(self, call: Call, answer: Params, scene: Scene) -> None:
        if call.operation == "CreateFunction":
            self._begin(call, "Pending", self.create_ticks, scene)
        if call.operation in UPDATES:
            self._begin(call, "InProgress", self.update_ticks, scene)
        if call.operation == "DeleteFunction":
            self._moving.pop(_key(call), None)
        shown = answer.get("Configuration", answer)
        if "FunctionArn" in shown:
            self._show(call, shown)

    def _begin(self, call: Call, what: str, ticks: int, scene: Scene) -> None:
        self._changes += 1
        moment = scene.now + timedelta(milliseconds=self._changes)
        _functions(call)[_key(call)[1]]["latest"].last_modified = f"{moment:%Y-%m-%dT%H:%M:%S}.{self._changes:03}+0000"
        if ticks:
            self._moving[_key(call)] = what, scene.tick

    def _show(self, call: Call, shown: Params) -> None:
        what, _ = self._moving.get(_key(call), ("", 0))
        shown["State"] = "Pending" if what == "Pending" else "Active"
        shown["LastUpdateStatus"] = "InProgress" if what == "InProgress" else "Successful"
        shown["LastModified"] = _functions(call)[_key(call)[1]]["latest"].last_modified


def _functions(call: Call) -> Any:
    return backend(call)._lambdas._functions


def _key(call: Call) -> tuple[Place, str]:
    named = call.params.get("FunctionName") or call.params.get("Resource", "")
    return (call.account, call.region), named.rsplit(":", 1)[-1]
