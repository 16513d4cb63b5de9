"""S3 where moto knows too little: a new bucket has the tags of its create call, and nothing public.

Sources: API_CreateBucket (CreateBucketConfiguration.Tags; in us-east-1 it answers for a bucket that is there, and
changes nothing); since April 2023 new buckets block public access and disable ACLs, since January 2023 all are
encrypted.
"""

from typing import Any

import moto.backends

from tests.world.call import Call, Params
from tests.world.trap import Scene, Trap

BARS = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")


class BucketTraps(Trap):
    """New buckets are as at AWS."""

    service = "s3"

    def before(self, call: Call, scene: Scene) -> Params | None:
        if call.operation == "CreateBucket":
            call.notes["fresh"] = call.params["Bucket"] not in _buckets(call).buckets
        return None

    def after(self, call: Call, answer: Params, scene: Scene) -> None:
        if call.operation == "CreateBucket" and call.notes["fresh"]:
            s3, name = _buckets(call), call.params["Bucket"]
            bucket = s3.buckets[name]
            tags = call.params.get("CreateBucketConfiguration", {}).get("Tags", [])
            s3.put_bucket_tagging(name, {tag["Key"]: tag["Value"] for tag in tags})
            s3.put_public_access_block(name, dict.fromkeys(BARS, "true"))
            bucket.ownership_rule = bucket.ownership_rule or "BucketOwnerEnforced"
            bucket.encryption = {"Rule": {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}}


def _buckets(call: Call) -> Any:
    """moto keeps the buckets of all regions in one place."""
    return moto.backends.get_backend("s3")[call.account]["aws"]
