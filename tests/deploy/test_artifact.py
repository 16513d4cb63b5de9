"""The built artifact does its work in Lambda's own runtime client, against an AWS behind a real socket."""

import json
import re
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import boto3
import botocore.loaders
import botocore.session
import pytest
from moto.server import ThreadedMotoServer

from infra.kinds.registry import KINDS
from tests.deploy import runtime
from tests.deploy.conftest import ROOT, Sam
from tests.deploy.dashboard import recorded, shown
from tests.deploy.runtime import Runtime

TICK = (ROOT / "events" / "tick.json").read_bytes()
ORDERS = {
    "version": 1,
    "policies": [
        {
            "name": "orders",
            "resource": {
                "type": "AWS::SQS::Queue",
                "properties": {"QueueName": "orders-${item}", "VisibilityTimeout": 120},
            },
            "strategy": {"type": "forEach", "items": {"source": "list", "values": ["a", "b"]}},
        }
    ],
}
CREDENTIALS: dict[str, Any] = {
    "aws_access_key_id": "test",
    "aws_secret_access_key": "test",
    "region_name": "us-east-1",
}
VARIABLES = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "SETPOINT_BUCKET": "bucket",
    "SETPOINT_PREFIX": "policies/",
    "SETPOINT_STATUS_PREFIX": "status/",
    "SETPOINT_CONTROLLER": "setpoint",
    "SETPOINT_MODE": "enforce",
    "SETPOINT_ACCOUNT": "123456789012",
    "SETPOINT_ALLOWED_ROLES": "",
    "SETPOINT_ALLOWED_TYPES": "",
    "SETPOINT_THREADS": "16",
    "SETPOINT_EVENT_BUS": "",
    "POWERTOOLS_SERVICE_NAME": "setpoint",
    "POWERTOOLS_METRICS_NAMESPACE": "Setpoint",
    "POWERTOOLS_LOG_LEVEL": "INFO",
}


def test_it_ships_no_command_line_and_no_tests(artifact: Path) -> None:
    assert (artifact / "handler" / "app.py").exists()
    shipped = {path.name for path in artifact.iterdir()}
    assert shipped.isdisjoint({"moto", "rich", "typer", "tests", "docs", "bin"})
    ours = [
        path
        for package in ("handler", "policies", "strategies", "infra")
        for path in (artifact / package).rglob("*.py")
    ]
    assert not [path for path in ours if re.search(r"^\s*(from|import) (typer|rich|moto)\b", path.read_text(), re.M)]


def test_its_byte_code_is_trusted(artifact: Path) -> None:
    """Bits 0 and 1 of the flags: made from a hash, and not to be checked."""
    compiled = list((artifact / "policies").rglob("*.pyc"))
    assert compiled
    assert {int.from_bytes(path.read_bytes()[4:8], "little") for path in compiled} == {1}


def test_it_stays_far_below_the_limit_of_250_mb(artifact: Path) -> None:
    assert sum(path.stat().st_size for path in artifact.rglob("*") if path.is_file()) < 80_000_000


SERVICES = sorted(
    {
        found
        for path in (ROOT / "infra").rglob("*.py")
        for found in re.findall(r'\b(?:client|pages)\(\s*"([a-z0-9-]+)"', path.read_text())
    }
)


def data_of(*folders: Path) -> botocore.loaders.Loader:
    return botocore.loaders.Loader(list(map(str, folders)), include_default_search_paths=not folders)


def wordless(model: Any) -> Any:
    if isinstance(model, dict):
        return {word: wordless(one) for word, one in model.items() if word not in ("documentation", "documentationUrl")}
    return [wordless(one) for one in model] if isinstance(model, list) else model


@pytest.mark.parametrize("service", SERVICES)
def test_what_the_sdk_still_says_of_our_services_is_what_it_always_says(artifact: Path, service: str) -> None:
    trimmed, whole = data_of(artifact / "botocore" / "data"), data_of()
    short, long = (wordless(data.load_service_model(service, "service-2")) for data in (trimmed, whole))
    for part in ("operations", "shapes"):
        kept = short.pop(part)
        assert kept == {name: one for name, one in long.pop(part).items() if name in kept}
    assert short == long
    pages = [data.load_service_model(service, "paginators-1")["pagination"] for data in (trimmed, whole)]
    assert pages[0] == {name: one for name, one in pages[1].items() if name in kept_operations(artifact, service)}
    rules = [data.load_service_model(service, "endpoint-rule-set-1") for data in (trimmed, whole)]
    assert wordless(rules[0]) == wordless(rules[1])


def kept_operations(artifact: Path, service: str) -> frozenset[str]:
    return frozenset(data_of(artifact / "botocore" / "data").load_service_model(service, "service-2")["operations"])


def test_every_operation_that_a_kind_needs_is_there_with_all_its_shapes(artifact: Path) -> None:
    """By the names of the IAM actions: most are named like their operations."""
    session, whole, met = botocore.session.Session(), data_of(), 0
    session.register_component("data_loader", data_of(artifact / "botocore" / "data"))
    needed = {action for kind in KINDS.values() for actions in kind.iam.values() for action in actions} - INSIDE
    for service, word in sorted(action.split(":") for action in needed | ELSEWHERE):
        if service in SERVICES and word in whole.load_service_model(service, "service-2")["operations"]:
            operation = session.get_service_model(service).operation_model(word)
            for shape in (operation.input_shape, operation.output_shape, *operation.error_shapes):
                _walk(shape, set())
            met += 1
    assert met > 100


ELSEWHERE = {
    "cloudwatch:GetMetricData", "dynamodb:Scan", "events:PutEvents", "resourcegroupstaggingapi:GetResources",
    "s3:GetObject", "s3:HeadObject", "s3:ListObjectsV2", "s3:PutObject", "ssm:GetParameter",
    "sts:AssumeRole", "sts:GetCallerIdentity",
}  # fmt: skip
"""What is called beside the kinds."""

INSIDE = {
    "ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVpcs", "lambda:GetLayerVersion",
    "lambda:ListTags", "rds:CreateDBClusterSnapshot", "rds:CreateDBSnapshot",
}  # fmt: skip
"""What AWS does by the rights of whoever calls something else."""


def _walk(shape: Any, seen: set[str]) -> None:
    """Every shape inside; raises where one is missing."""
    if shape is None or shape.name in seen:
        return
    seen.add(shape.name)
    match shape.type_name:
        case "structure":
            inside = list(shape.members.values())
        case "list":
            inside = [shape.member]
        case "map":
            inside = [shape.key, shape.value]
        case _:
            inside = []
    for one in inside:
        _walk(one, seen)


def test_of_a_service_with_hundreds_of_operations_few_are_kept(artifact: Path) -> None:
    assert "RunInstances" in kept_operations(artifact, "ec2")
    assert len(kept_operations(artifact, "ec2")) < 50


def test_a_client_can_be_made_of_every_service_of_ours_and_of_few_others(artifact: Path) -> None:
    session = botocore.session.Session()
    session.register_component("data_loader", data_of(artifact / "botocore" / "data"))
    for service in SERVICES:
        client = session.create_client(service, "eu-west-1", aws_access_key_id="a", aws_secret_access_key="b")
        assert client.meta.endpoint_url.startswith("https://")
    assert len(session.get_available_services()) < 60


@pytest.mark.skipif(not runtime.available(), reason="the emulator is for Linux on x86_64 and arm64")
def test_a_tick_makes_the_queues_and_writes_the_status(
    sam: Sam, artifact: Path, endpoint: str, template: dict[str, Any], tmp_path: Path
) -> None:
    sqs = boto3.client("sqs", endpoint_url=endpoint, **CREDENTIALS)
    s3 = boto3.client("s3", endpoint_url=endpoint, **CREDENTIALS)
    s3.create_bucket(Bucket="bucket")
    s3.put_object(Bucket="bucket", Key="policies/queues.json", Body=json.dumps(ORDERS))

    with Runtime(sam, artifact, tmp_path, {**VARIABLES, "AWS_ENDPOINT_URL": endpoint}) as function:
        answers = [function.invoke(TICK) for _ in range(2)]
        log = function.output()

    assert not [answer for answer in answers if answer and "errorType" in answer], log
    queues = sqs.list_queues().get("QueueUrls", [])
    assert sorted(url.rpartition("/")[2] for url in queues) == ["orders-a", "orders-b"], log
    assert json.loads(s3.get_object(Bucket="bucket", Key="status/queues.json")["Body"].read())
    # The dashboard's metrics are the recorded ones, to the last dimension.
    assert {"Created", "Seconds"} <= {name for name, _ in {*shown(template)} & {*recorded(log)}}, log


@pytest.fixture
def endpoint() -> Iterator[str]:
    """An empty AWS. Its state is the process's, so it is emptied for those who come later too."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    url = "http://{}:{}".format(*server.get_host_and_port())
    try:
        _reset(url)
        yield url
        _reset(url)
    finally:
        server.stop()


def _reset(endpoint: str) -> None:
    urlopen(Request(f"{endpoint}/moto-api/reset", method="POST")).close()


def test_the_roots_of_aws_are_in_the_artifact(artifact: Path) -> None:
    roots = artifact / "amazon-roots.pem"
    context = ssl.create_default_context(cafile=str(roots))
    assert len(context.get_ca_certs()) == 6
