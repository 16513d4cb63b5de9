"""Auto Scaling where moto is too kind: a name is taken, and a group with instances is not deleted without force.

Sources: API_CreateAutoScalingGroup (AlreadyExists) and API_DeleteAutoScalingGroup ("if the group has instances or
scaling activities in progress, you must specify the option to force the deletion in order for it to succeed").
"""

from typing import Any

from tests.world.call import Call, Params, Refused
from tests.world.trap import Scene, Trap, backend


class GroupTraps(Trap):
    """What AWS refuses and moto takes: there, creating again overwrites and deleting always works."""

    service = "autoscaling"

    def before(self, call: Call, scene: Scene) -> Params | None:
        group = _group(call)
        if call.operation == "CreateAutoScalingGroup" and group is not None:
            message = "AutoScalingGroup by this name already exists - A group with the name already exists"
            raise Refused("AlreadyExists", message)
        if call.operation == "DeleteAutoScalingGroup" and group is not None and not call.params.get("ForceDelete"):
            _require_empty(group)
        return None


def _group(call: Call) -> Any:
    return backend(call).autoscaling_groups.get(call.params.get("AutoScalingGroupName"))


def _require_empty(group: Any) -> None:
    if group.instance_states:
        message = "You cannot delete an AutoScalingGroup while there are instances still in the group."
        raise Refused("ResourceInUse", message)
