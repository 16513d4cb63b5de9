"""What `handler.app` imports: a run's needs and nothing of the command line, since each import costs cold start."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FORBIDDEN = {"typer", "click", "rich", "moto", "cfnlint", "pytest", "hypothesis", "jsonschema", "aws_xray_sdk"}
PATHS = {word: os.environ[word] for word in ("PATH", "PYTHONPATH") if word in os.environ}
LAZY = {"infra.kinds.sqs_queue", "infra.kinds.ec2_instance", "strategies.replicas", "handler.cli", "policies.schema"}


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    code = "import handler.app, json, sys; print(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(answer.stdout))


@pytest.mark.parametrize("package", sorted(FORBIDDEN))
def test_no_package_of_the_command_line_is_loaded(loaded: set[str], package: str) -> None:
    assert not {name for name in loaded if name == package or name.startswith(f"{package}.")}


@pytest.mark.parametrize("module", sorted(LAZY))
def test_kinds_and_strategies_wait_until_a_policy_names_them(loaded: set[str], module: str) -> None:
    assert module not in loaded


SDK = """
import sys
import handler.app, handler.cli
from infra.session import SdkSession
from infra.aws import Aws
from policies.world import Scope
from botocore.exceptions import EndpointConnectionError
aws = Aws(SdkSession(region="eu-west-1"), Scope("123456789012", "eu-west-1"), endpoint_url="https://127.0.0.1:9")
try:
    aws.client("sqs").list_queues()
except EndpointConnectionError:
    pass
ours = {"handler", "infra", "policies", "strategies"}
holders = [(name, vars(one)) for name, one in sys.modules.items() if name.split(".")[0] in ("botocore", "urllib3")]
holders += [
    (f"{name}.{word}", vars(one)) for name, held in holders for word, one in held.items() if isinstance(one, type)
]
for name, held in holders:
    for word, value in held.items():
        if str(getattr(value, "__module__", "")).split(".")[0] in ours:
            print(f"{name}.{word} is {value}")
"""


def test_nothing_of_the_sdk_is_patched() -> None:
    environment = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_MAX_ATTEMPTS": "1", **PATHS}
    answer = subprocess.run([sys.executable, "-c", SDK], capture_output=True, text=True, check=True, env=environment)
    assert answer.stdout == ""


def test_nothing_of_the_sdk_is_imported_that_its_authors_call_private() -> None:
    root = Path(__file__).parents[2]
    found = set()
    for file in [*root.glob("infra/**/*.py"), *root.glob("handler/**/*.py")]:
        for line in ast.walk(ast.parse(file.read_text())):
            modules = [name.name for name in line.names] if isinstance(line, ast.Import) else []
            if isinstance(line, ast.ImportFrom) and not line.level:
                modules = [f"{line.module}.{name.name}" for name in line.names]
            found |= {module for module in modules if module.split(".")[0] in ("boto3", "botocore", "urllib3")}
    assert "botocore.session" in found
    assert not [module for module in found if any(word.startswith("_") for word in module.split("."))]
