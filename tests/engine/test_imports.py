"""What `handler.app` imports: a run's needs and nothing of the command line, since each import costs cold start."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

FORBIDDEN = {"typer", "click", "rich", "moto", "cfnlint", "pytest", "hypothesis", "jsonschema", "aws_xray_sdk"}
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
