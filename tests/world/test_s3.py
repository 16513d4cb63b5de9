"""What a new S3 bucket has at AWS."""

from typing import Any

from tests.world import World

TAGS = [{"Key": "team", "Value": "orders"}]
PLACE: dict[str, Any] = {"LocationConstraint": "eu-west-1"}


def test_a_new_bucket_has_its_tags_and_nothing_public(world: World) -> None:
    s3 = world.session.client("s3")
    s3.create_bucket(Bucket="bucket", CreateBucketConfiguration={**PLACE, "Tags": TAGS})
    assert s3.get_bucket_tagging(Bucket="bucket")["TagSet"] == TAGS
    block = s3.get_public_access_block(Bucket="bucket")["PublicAccessBlockConfiguration"]
    assert set(block.values()) == {True}
    controls = s3.get_bucket_ownership_controls(Bucket="bucket")["OwnershipControls"]
    assert controls == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    assert s3.get_bucket_encryption(Bucket="bucket")["ServerSideEncryptionConfiguration"]["Rules"]


def test_in_us_east_1_a_second_create_changes_nothing(world: World) -> None:
    s3 = world.session.client("s3", region_name="us-east-1")
    s3.create_bucket(Bucket="bucket", CreateBucketConfiguration={"Tags": TAGS})
    s3.create_bucket(Bucket="bucket", CreateBucketConfiguration={"Tags": [{"Key": "other", "Value": "tag"}]})
    assert s3.get_bucket_tagging(Bucket="bucket")["TagSet"] == TAGS


def test_buckets_count_if_they_are_tagged(world: World) -> None:
    """In the others a test keeps its policies."""
    s3 = world.session.client("s3")
    s3.create_bucket(Bucket="policies", CreateBucketConfiguration=PLACE)
    assert world.resources() == {}
    s3.create_bucket(Bucket="bucket", CreateBucketConfiguration={**PLACE, "Tags": TAGS})
    found = world.resources()["AWS::S3::Bucket"]
    assert (found.keys(), found["bucket"]["Tags"]) == ({"bucket"}, {"team": "orders"})
