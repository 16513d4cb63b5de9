"""The traps of SQS."""

import pytest

from tests.world import World


def test_a_deleted_name_rests_for_sixty_seconds(world: World) -> None:
    sqs = world.session.client("sqs")
    sqs.delete_queue(QueueUrl=sqs.create_queue(QueueName="a")["QueueUrl"])
    world.advance(seconds=59)
    with pytest.raises(sqs.exceptions.QueueDeletedRecently) as caught:
        sqs.create_queue(QueueName="a")
    assert caught.value.response["Error"]["Code"] == "AWS.SimpleQueueService.QueueDeletedRecently"
    world.advance(seconds=1)
    sqs.create_queue(QueueName="a")


def test_a_name_deleted_by_hand_rests_too(world: World) -> None:
    sqs = world.session.client("sqs")
    url = sqs.create_queue(QueueName="a")["QueueUrl"]
    world.outside.sqs.delete_queue(QueueUrl=url)
    with pytest.raises(sqs.exceptions.QueueDeletedRecently):
        sqs.create_queue(QueueName="a")
    world.advance(minutes=1)
    sqs.create_queue(QueueName="a")


def test_creating_an_existing_queue_leaves_its_tags_alone(world: World) -> None:
    sqs = world.session.client("sqs")
    first = sqs.create_queue(QueueName="a", Attributes={"VisibilityTimeout": "60"}, tags={"owner": "them"})
    again = sqs.create_queue(QueueName="a", Attributes={"VisibilityTimeout": "60"}, tags={"owner": "us"})
    assert first["QueueUrl"] == again["QueueUrl"]
    assert sqs.list_queue_tags(QueueUrl=first["QueueUrl"])["Tags"] == {"owner": "them"}


def test_creating_with_other_attributes_is_an_error(world: World) -> None:
    sqs = world.session.client("sqs")
    sqs.create_queue(QueueName="a")
    with pytest.raises(sqs.exceptions.QueueNameExists) as caught:
        sqs.create_queue(QueueName="a", Attributes={"VisibilityTimeout": "60"})
    assert caught.value.response["Error"]["Code"] == "QueueAlreadyExists"


def test_attribute_changes_may_show_late(world: World) -> None:
    world.sqs.attribute_delay = 1
    sqs = world.session.client("sqs")
    url = sqs.create_queue(QueueName="a")["QueueUrl"]

    def shown() -> tuple[str, bool]:
        attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        return attributes["VisibilityTimeout"], "KmsMasterKeyId" in attributes

    world.tick_started()
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "99", "KmsMasterKeyId": "alias/aws/sqs"})
    assert shown() == ("30", False)
    world.tick_started()
    assert shown() == ("30", False)
    world.tick_started()
    assert shown() == ("99", True)
    assert world.resources()["AWS::SQS::Queue"]["a"]["VisibilityTimeout"] == "99"


def test_list_queues_pages_only_when_asked(world: World) -> None:
    for number in range(5):
        world.outside.sqs.create_queue(QueueName=f"q{number}")
    sqs = world.session.client("sqs")
    world.page_size = 2
    assert len(sqs.list_queues()["QueueUrls"]) == 5
    page = sqs.list_queues(MaxResults=1000)
    assert (len(page["QueueUrls"]), "NextToken" in page) == (2, True)


def test_without_max_results_the_list_is_cut_silently(world: World) -> None:
    world.sqs.list_cap = 3
    for number in range(5):
        world.outside.sqs.create_queue(QueueName=f"q{number}")
    page = world.session.client("sqs").list_queues()
    assert (len(page["QueueUrls"]), "NextToken" in page) == (3, False)
