"""SSM where moto is too kind: the name of a deleted parameter is not free at once.

Source: API_DeleteParameters ("after deleting a parameter, wait for at least 30 seconds to create a parameter with the
same name"). The documentation does not say how it is refused; here the name is simply still taken.
"""

from datetime import datetime, timedelta

from tests.world.call import Call, Params, Refused
from tests.world.trap import Place, Scene, Trap


class ParameterTraps(Trap):
    """A deleted name is taken for `name_wait` longer."""

    service = "ssm"

    def __init__(self) -> None:
        self.name_wait = timedelta(seconds=30)
        self._deleted: dict[tuple[Place, str], datetime] = {}

    def before(self, call: Call, scene: Scene) -> Params | None:
        if call.operation == "PutParameter":
            deleted = self._deleted.get(((call.account, call.region), call.params["Name"]))
            if deleted is not None and scene.now - deleted < self.name_wait:
                message = "The parameter already exists. To overwrite this value, set the overwrite option to true."
                raise Refused("ParameterAlreadyExists", message)
        return None

    def after(self, call: Call, answer: Params, scene: Scene) -> None:
        if call.operation in ("DeleteParameter", "DeleteParameters"):
            deleted = answer.get("DeletedParameters", [call.params.get("Name")])
            call.notes["there"] = len(deleted)
            for name in deleted:
                self._deleted[(call.account, call.region), name] = scene.now
