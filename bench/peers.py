"""Who is measured, and how each is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.places import ARTIFACT, CLIENTS, ENVIRONMENTS, clean_environment, python_of
from bench.server.stand import ACCOUNT, REGION, Stand
from bench.worlds import World

BUCKET = "setpoint-bench"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "AKIATESTTESTTESTTEST", "AWS_SECRET_ACCESS_KEY": "x"}
CONFIGURATION = {"SETPOINT_BUCKET": BUCKET, "SETPOINT_MODE": "enforce", "SETPOINT_ACCOUNT": ACCOUNT}
CUSTODIAN_OUTPUT = ENVIRONMENTS / "custodian-output"


@dataclass(frozen=True)
class Peer:
    """One contestant. `warm`: what counts is the second run of one process, not the process."""

    name: str
    title: str
    workers: int = 0
    warm: bool = False

    def command(self, world: World) -> list[str]:
        """How it is started for a world."""
        match self.name:
            case "setpoint":
                return setpoint()
            case "setpoint-warm":
                return setpoint("--on-demand")
            case "custodian":
                return _custodian(world)
        script = [python_of("sdk"), str(CLIENTS / "script.py"), world.job]
        return [*script, "--workers", str(self.workers), *world.options]


SETPOINT = Peer("setpoint", "Setpoint, new process")
WARM = Peer("setpoint-warm", "Setpoint, second run of a process", warm=True)
CUSTODIAN = Peer("custodian", "Cloud Custodian")
ONE_THREAD = Peer("script-1", "boto3 script, 1 thread", 1)
THREADS = Peer("script-32", "boto3 script, 32 threads", 32)
PEERS = (SETPOINT, WARM, CUSTODIAN, ONE_THREAD, THREADS)


def setpoint(*options: str) -> list[str]:
    """The artifact's handler, on a Python that sees nothing but the artifact."""
    return [python_of("sdk"), "-S", str(CLIENTS / "ticks.py"), *options]


def environment(stand: Stand, address: str, peer: Peer = SETPOINT, setting: str = "") -> Mapping[str, str]:
    """What a client is told: where AWS is, who it is, whom to trust. Only Setpoint runs on its artifact's libraries."""
    artifact = {
        **CONFIGURATION,
        "SETPOINT_PACE": str(setting == "rates").lower(),
        "LAMBDA_TASK_ROOT": str(ARTIFACT),
        "PYTHONPATH": str(ARTIFACT),
    }
    return {
        **clean_environment(),
        **CREDENTIALS,
        "AWS_ENDPOINT_URL": address,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CA_BUNDLE": str(stand.roots if setting == "roots" else stand.bundle),
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        **(artifact if peer in (SETPOINT, WARM) else {}),
    }


def _custodian(world: World) -> Sequence[str]:
    policies = CLIENTS / "custodian" / f"{world.job}.yml"
    if world.job == "mixed":
        policies = CUSTODIAN_OUTPUT / "mixed.yml"
    # In memory it keeps within a run what several policies ask for, and nothing from run to run.
    cache = ("--cache", "memory") if world.job == "mixed" else ("--cache-period", "0")
    run = [python_of("custodian"), str(CLIENTS / "custodian.py"), "run", "-s", str(CUSTODIAN_OUTPUT), *cache]
    return [*run, "--region", REGION, str(policies)]
