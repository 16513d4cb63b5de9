"""ECS where moto is too kind: deployments take time, tasks take time to stop, a draining service is in the way.

Sources: API_DeleteService (the service "moves from ACTIVE to DRAINING, and is no longer visible in the ListServices API
operation"; then INACTIVE; "if you attempt to create a new service with the same name as an existing service in either
ACTIVE or DRAINING status, you receive an error"), API_DescribeServices (up to ten), API_UpdateService.
"""

from collections.abc import Iterator
from typing import Any

from tests.world.call import Call, Params, Refused
from tests.world.trap import Place, Scene, Trap, backend, backends

DEPLOYS = {"taskDefinition", "networkConfiguration", "platformVersion", "loadBalancers", "serviceRegistries"}
"""What starts a deployment."""

ServiceKey = tuple[Place, str]


class ServiceTraps(Trap):
    """Deployments, scaling and draining take some sensing rounds (0: none).

    Services made or scaled through `world.outside` are steady at once: a test's set-up is not in transition.
    `failing` names services (`cluster/name`) whose tasks never run.
    """

    service = "ecs"

    def __init__(self) -> None:
        self.deploy_ticks = self.drain_ticks = 1
        self.failing: set[str] = set()
        self._since: dict[ServiceKey, int] = {}

    def settle(self, scene: Scene) -> bool:
        changed = False
        for place, found in backends("ecs"):
            for service in found.services.values():
                changed |= self._arrive(place, service, scene)
        return changed

    def before(self, call: Call, scene: Scene) -> Params | None:
        service = _named(call)
        match call.operation:
            case "CreateService" if service is not None and service.status != "INACTIVE":
                _refuse_name(service)
            case "UpdateService" if service is not None and service.status != "ACTIVE":
                raise Refused("ServiceNotActiveException", "Service was not ACTIVE.")
            case "DescribeServices" if len(call.params["services"]) > 10:
                raise Refused("InvalidParameterException", "Services cannot have more than 10 elements.")
        if service is not None:
            call.notes["running"] = service.running_count
        return None

    def after(self, call: Call, answer: Params, scene: Scene) -> None:
        service = _named(call)
        match call.operation:
            case "CreateService":
                service.created_at = answer["service"]["createdAt"] = scene.now
                self._begin(call, service, 0, scene)
            case "UpdateService":
                if DEPLOYS & call.params.keys() or call.params.get("forceNewDeployment"):
                    service.deployments[0].update(rolloutState="IN_PROGRESS", failedTasks=0)
                self._begin(call, service, call.notes["running"], scene)
            case "DeleteService" if call.notes["running"] and self.drain_ticks:
                service.status, service.running_count = "DRAINING", call.notes["running"]
                answer["service"]["status"] = "DRAINING"
                self._since[_key(call)] = scene.tick
            case "ListServices":
                active = {one.arn for one in _services(backend(call), _cluster(call)) if one.status == "ACTIVE"}
                answer["serviceArns"] = [arn for arn in answer["serviceArns"] if arn in active]

    def _begin(self, call: Call, service: Any, running: int, scene: Scene) -> None:
        """The tasks come and go in the rounds that follow."""
        self._since[_key(call)] = scene.tick
        service.running_count = running
        service.pending_count = max(service.desired_count - running, 0)
        _show(service)
        self._arrive((call.account, call.region), service, scene)

    def _arrive(self, place: Place, service: Any, scene: Scene) -> bool:
        key = place, f"{service.cluster_name}/{service.name}"
        ticks = self.drain_ticks if service.status == "DRAINING" else self.deploy_ticks
        since = self._since.get(key)
        if service.status == "INACTIVE" or (since is not None and ticks and scene.tick <= since + ticks):
            return False
        self._since.pop(key, None)
        before = (service.status, service.running_count, service.pending_count, _states(service))
        if service.status == "DRAINING":
            service.status, service.running_count = "INACTIVE", 0
        elif key[1] in self.failing:
            service.deployments[0].update(failedTasks=service.deployments[0]["failedTasks"] + 1)
        else:
            service.running_count, service.pending_count = service.desired_count, 0
            service.deployments[0].update(rolloutState="COMPLETED")
            _show(service)
        return before != (service.status, service.running_count, service.pending_count, _states(service))


def _refuse_name(service: Any) -> None:
    if service.status == "DRAINING":
        raise Refused("InvalidParameterException", "Unable to Start a service that is still Draining.")
    raise Refused("InvalidParameterException", "Creation of service was not idempotent.")


def _show(service: Any) -> None:
    """The deployment counts the tasks as the service does."""
    counts = {"desiredCount": service.desired_count, "taskDefinition": service.task_definition}
    counts |= {"runningCount": service.running_count, "pendingCount": service.pending_count}
    service.deployments[0].update(counts)


def _states(service: Any) -> tuple[str, int]:
    return service.deployments[0]["rolloutState"], service.deployments[0]["failedTasks"]


def _cluster(call: Call) -> str:
    return str(call.params.get("cluster", "default")).rsplit("/", 1)[-1]


def _key(call: Call) -> ServiceKey:
    name = call.params.get("serviceName") or call.params.get("service", "")
    return (call.account, call.region), f"{_cluster(call)}/{name.rsplit('/', 1)[-1]}"


def _named(call: Call) -> Any:
    """moto's service that the call names, if it names one that is there."""
    found = {f"{one.cluster_name}/{one.name}": one for one in _services(backend(call), _cluster(call))}
    return found.get(_key(call)[1])


def _services(found: Any, cluster: str) -> Iterator[Any]:
    return (service for service in found.services.values() if service.cluster_name == cluster)
