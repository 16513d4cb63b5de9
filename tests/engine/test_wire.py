"""The command against a real socket: what it does is counted where it arrives, at the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import pytest
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from tests.world.documents import document, policy

READS = ("Get", "List", "Describe", "Head", "Scan", "Query", "Lookup")


class CountingServer:
    """moto behind a socket on loopback; keeps the operation of every request."""

    def __init__(self) -> None:
        self.operations: list[str] = []
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._serve, threaded=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def _serve(self, environ: dict[str, Any], start_response: Any) -> Any:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = BytesIO(body)
        target = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
        self.operations.append(target or parse_qs(body.decode(errors="replace")).get("Action", [""])[0] or "Get")
        return self._moto(environ, start_response)

    def writes(self) -> list[str]:
        """What changed something since it was last asked."""
        found = [operation for operation in self.operations if not operation.startswith(READS)]
        self.operations.clear()
        return found

    def stop(self) -> None:
        self._server.shutdown()


@pytest.fixture
def server() -> Iterator[CountingServer]:
    running = CountingServer()
    yield running
    running.stop()


def setpoint(server: CountingServer, *words: str) -> int:
    """The exit code of the command, run as a process of its own."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_REGION": "eu-west-1",
        "AWS_ENDPOINT_URL": server.url,
    }
    command = [sys.executable, "-c", "from handler.cli import main; main()", *words]
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode


def list_of(*values: str) -> dict[str, Any]:
    return {"source": "list", "values": list(values)}


def test_a_second_run_writes_nothing(server: CountingServer, tmp_path: Path) -> None:
    alarm = {
        "AlarmName": "deep-${item.QueueName}",
        "Namespace": "AWS/SQS",
        "MetricName": "ApproximateNumberOfMessagesVisible",
        "Dimensions": [{"Name": "QueueName", "Value": "${item.QueueName}"}],
        "Statistic": "Maximum",
        "Period": 60,
        "EvaluationPeriods": 5,
        "Threshold": 900,
        "ComparisonOperator": "GreaterThanThreshold",
    }
    table = {
        "TableName": "stock-${item}",
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "TimeToLiveSpecification": {"AttributeName": "ends", "Enabled": True},
    }
    agents = policy("agents", "AWS::EC2::Instance", {"ImageId": "ami-12c6146b", "InstanceType": "t3.micro"})
    queues = policy("queues", "AWS::SQS::Queue", {"QueueName": "q-${item}", "DelaySeconds": 7}, list_of("x", "y", "z"))
    groups = policy("groups", "AWS::Logs::LogGroup", {"LogGroupName": "/w/${item}", "RetentionInDays": 7}, list_of("x"))
    tables = policy("tables", "AWS::DynamoDB::Table", table, list_of("north", "south"))
    alarms = policy("alarms", "AWS::CloudWatch::Alarm", alarm, {"source": "resources", "type": "AWS::SQS::Queue"})
    agents["strategy"] = {"type": "replicas", "count": 2}
    place = tmp_path / "estate.json"
    place.write_text(json.dumps(document(queues, groups, tables, alarms, agents)))

    assert setpoint(server, "plan", str(place)) == 2
    assert server.writes() == [], "a plan only looks"
    assert setpoint(server, "run", str(place)) == 0
    assert setpoint(server, "run", str(place)) == 0  # the alarms of the queues that the first one made
    assert len(server.writes()) >= 3 + 3 + 4 + 3 + 2
    assert setpoint(server, "run", str(place)) == 0
    assert server.writes() == []
    assert setpoint(server, "plan", str(place)) == 0
