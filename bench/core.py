"""What deciding alone costs: `test_core_speed.py` on the artifact, in a process of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping

from bench.places import ARTIFACT, ROOT, clean_environment, python_of


def measure() -> Mapping[str, Mapping[str, float]]:
    """CPU milliseconds for 10,000 resources by strategy and stage, the least of several runs."""
    command = [python_of("sdk"), "-S", str(ROOT / "bench" / "test_core_speed.py")]
    environment = {**clean_environment(), "PYTHONPATH": str(ARTIFACT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    told: Mapping[str, Mapping[str, float]] = json.loads(done.stdout)
    return told
