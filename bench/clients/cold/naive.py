"""What a function of this kind imports without a thought: boto3, thirty pydantic models, powertools, three clients."""

from __future__ import annotations

from typing import Any, Literal

import boto3
from aws_lambda_powertools import Logger, Metrics
from pydantic import BaseModel, Field, create_model


class Tag(BaseModel):
    Key: str
    Value: str


class Resource(BaseModel):
    """A model of usual size; thirty of them are made below."""

    Name: str = Field(min_length=1, max_length=80, pattern=r"^[A-Za-z0-9_-]+$")
    Size: int | None = Field(None, ge=0, le=43_200)
    Period: int | None = Field(None, ge=60, le=1_209_600)
    Mode: Literal["on", "off"] | None = None
    Enabled: bool | None = None
    Tags: list[Tag] | None = None


MODELS = [create_model(f"Resource{at}", __base__=Resource, Extra=(str | None, None)) for at in range(30)]

logger = Logger(service="naive")
metrics = Metrics(namespace="Naive", service="naive")
s3, sqs, tagging = (boto3.client(service) for service in ("s3", "sqs", "resourcegroupstaggingapi"))


def handler(_event: Any, _context: Any) -> None:
    s3.list_objects_v2(Bucket="bucket")
