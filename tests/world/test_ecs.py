"""The traps of ECS services."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.world import World


def prepare(world: World) -> Any:
    world.outside.ecs.create_cluster(clusterName="web")
    for memory in (128, 256):
        container: Any = {"name": "app", "image": "app", "memory": memory}
        world.outside.ecs.register_task_definition(family="app", containerDefinitions=[container])
    return world.session.client("ecs")


def create(ecs: Any, count: int = 2) -> None:
    ecs.create_service(cluster="web", serviceName="shop", taskDefinition="app:1", desiredCount=count)


def shown(ecs: Any) -> dict[str, Any]:
    service: dict[str, Any] = ecs.describe_services(cluster="web", services=["shop"])["services"][0]
    return service


def counts(ecs: Any) -> tuple[int, int, str]:
    service = shown(ecs)
    return service["runningCount"], service["pendingCount"], service["deployments"][0]["rolloutState"]


def settle(world: World) -> None:
    for _ in range(2):
        world.tick_started()


def test_a_deployment_takes_a_round(world: World) -> None:
    ecs = prepare(world)
    create(ecs)
    assert counts(ecs) == (0, 2, "IN_PROGRESS")
    settle(world)
    assert counts(ecs) == (2, 0, "COMPLETED")
    ecs.update_service(cluster="web", service="shop", taskDefinition="app:2")
    assert counts(ecs) == (2, 0, "IN_PROGRESS")
    settle(world)
    assert counts(ecs) == (2, 0, "COMPLETED")


def test_scaling_takes_a_round_and_is_no_deployment(world: World) -> None:
    ecs = prepare(world)
    create(ecs)
    settle(world)
    ecs.update_service(cluster="web", service="shop", desiredCount=5)
    assert counts(ecs) == (2, 3, "COMPLETED")
    settle(world)
    assert counts(ecs) == (5, 0, "COMPLETED")


def test_tasks_that_fail_are_counted(world: World) -> None:
    world.ecs.failing.add("web/shop")
    ecs = prepare(world)
    create(ecs)
    settle(world)
    assert counts(ecs) == (0, 2, "IN_PROGRESS")
    assert shown(ecs)["deployments"][0]["failedTasks"] > 0


def test_what_was_made_by_hand_is_steady(world: World) -> None:
    prepare(world)
    create(world.outside.ecs)
    assert counts(world.session.client("ecs")) == (2, 0, "COMPLETED")


def test_a_draining_service_is_hidden_and_blocks_its_name(world: World) -> None:
    ecs = prepare(world)
    create(ecs)
    settle(world)
    with pytest.raises(ClientError, match="scaled above 0"):
        ecs.delete_service(cluster="web", service="shop")
    ecs.update_service(cluster="web", service="shop", desiredCount=0)
    assert ecs.delete_service(cluster="web", service="shop")["service"]["status"] == "DRAINING"
    assert ecs.list_services(cluster="web")["serviceArns"] == []
    assert (shown(ecs)["status"], world.resources()) == ("DRAINING", {})
    with pytest.raises(ClientError, match="still Draining"):
        create(ecs)
    with pytest.raises(ecs.exceptions.ServiceNotActiveException):
        ecs.update_service(cluster="web", service="shop", desiredCount=1)
    settle(world)
    assert shown(ecs)["status"] == "INACTIVE"
    create(ecs)
    assert world.resources()["AWS::ECS::Service"].keys() == {"web/shop"}


def test_a_name_is_taken(world: World) -> None:
    ecs = prepare(world)
    create(ecs)
    with pytest.raises(ClientError, match="not idempotent"):
        create(ecs, 5)


def test_ten_are_described_at_most(world: World) -> None:
    ecs = prepare(world)
    with pytest.raises(ecs.exceptions.InvalidParameterException):
        ecs.describe_services(cluster="web", services=[f"shop-{number}" for number in range(11)])
