"""SAM from its own venv: the template as CloudFormation gets it, and the artifact for this very machine."""

import fcntl
import json
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SAM_BIN = ROOT / ".venv-sam" / "bin"
ARCHITECTURE = {"x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "")

# SAM's own transform, as `sam deploy` has it run. It wants the code in S3 already.
TRANSFORM = """
import json
from pathlib import Path
from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform

class NoManagedPolicies:
    def load(self):
        return {}

template = yaml_parse(Path("template.yaml").read_text())
template["Resources"]["SetpointFunction"]["Properties"]["CodeUri"] = "s3://bucket/key"
defaults = {name: parameter["Default"] for name, parameter in template["Parameters"].items()}
print(json.dumps(transform(template, defaults, NoManagedPolicies())))
"""


@pytest.fixture(scope="session")
def sam(tmp_path_factory: pytest.TempPathFactory) -> "Sam":
    if not (SAM_BIN / "sam").exists():
        pytest.skip("SAM is not set up: make sam-setup")
    return Sam(tmp_path_factory.mktemp("sam"))


class Sam:
    """Runs what is in .venv-sam, without telemetry, update check, credentials or the user's settings."""

    python = SAM_BIN / "python"

    def __init__(self, home: Path) -> None:
        (home / "metadata.json").write_text(json.dumps({"lastVersionCheck": time.time()}))
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
            "AWS_DEFAULT_REGION": "us-east-1",
            "PYTHON": str(self.python),
            "SAM_CLI_TELEMETRY": "0",
            "__SAM_CLI_APP_DIR": str(home),
        }

    def __call__(self, *arguments: str | Path, **environment: str) -> str:
        return self._run(SAM_BIN / "sam", *arguments, environment=environment)

    def transform(self) -> dict[str, Any]:
        return json.loads(self.query(TRANSFORM))

    def runtime(self) -> str:
        return self.query("import sys; print('python%d.%d' % sys.version_info[:2])")

    def query(self, program: str) -> str:
        """What a small Python program prints in SAM's venv."""
        return self._run(self.python, "-c", program, environment={}).strip()

    def _run(self, *command: str | Path, environment: Mapping[str, str]) -> str:
        done = subprocess.run(
            command, cwd=ROOT, env={**self._environment, **environment}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="session")
def template(sam: Sam) -> dict[str, Any]:
    """The transformed template: what CloudFormation gets."""
    return sam.transform()


@pytest.fixture(scope="session")
def artifact(sam: Sam, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `sam build` makes for this machine and this interpreter, once for all workers of pytest."""
    if not ARCHITECTURE:
        pytest.skip(f"Lambda has no {platform.machine()}")
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    build = folder / "sam-build"
    with (folder / "sam-build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (build / "template.yaml").exists():
            choice = {"Architecture": ARCHITECTURE, "Runtime": sam.runtime()}
            overrides = [f"{name}={value}" for name, value in choice.items()]
            sam(
                "build", "--build-dir", build, "--parameter-overrides", *overrides,
                ARCH=choice["Architecture"], RUNTIME=choice["Runtime"],
            )  # fmt: skip
    return build / "SetpointFunction"
