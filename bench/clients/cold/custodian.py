"""Cloud Custodian's own Lambda entry point, with the resource that a queue policy loads, and the same three clients."""

from __future__ import annotations

from typing import Any

from c7n import handler as custodian  # what its generated function imports
from c7n.resources import load_resources
from c7n.utils import local_session

load_resources(("aws.sqs",))
session = local_session(custodian.boto3.Session)
s3, sqs, tagging = (session.client(service) for service in ("s3", "sqs", "resourcegroupstaggingapi"))


def handler(_event: Any, _context: Any) -> None:
    s3.list_objects_v2(Bucket="bucket")
