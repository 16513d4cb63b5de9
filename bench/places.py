"""Where things are: the environments and the artifact, all in one folder that git does not see."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / ".bench"
ARTIFACT = ENVIRONMENTS / "artifact"
CLIENTS = ROOT / "bench" / "clients"
SAM = ROOT / ".venv-sam"

_OURS = ("AWS_", "SETPOINT_", "PYTHON", "POWERTOOLS_", "LAMBDA_")


def python_of(environment: str) -> str:
    """The interpreter of one of our environments."""
    return str(ENVIRONMENTS / environment / "bin" / "python")


def libraries_of(environment: str) -> Path:
    """The installed packages of one of our environments."""
    return next((ENVIRONMENTS / environment / "lib").glob("python3.*/site-packages"))


def clean_environment() -> dict[str, str]:
    """This environment without anybody's AWS, and without what changes Python.

    PYTHONDONTWRITEBYTECODE above all: with it, every start compiles everything again.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
