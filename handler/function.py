"""A deployed Setpoint: configured once, and then from tick to tick."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from time import monotonic
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from handler.ahead import place_of
from handler.compose import Setpoint, vocabulary
from handler.config import Config, read_config
from handler.loop.churn import Churn
from handler.loop.reconcile import Moment
from handler.loop.run import RunReport, concerned, failures
from handler.loop.status import run_status, statuses
from handler.loop.tally import changes, facts, tally
from infra.cloud import AwsCloud
from infra.events import publish
from infra.kinds.registry import KINDS
from infra.opening import Opening
from infra.session import connect
from infra.status_store import StatusStore
from policies.action import Outcome
from policies.estate import Estate
from policies.redact import redact

SPARE_MILLISECONDS = 8_000
"""Below this remaining time no further action is begun: what is under way still has to end and be reported."""

logger = Logger(service="setpoint")
metrics = Metrics(namespace="Setpoint", service="setpoint")


@cache
def deployed(ahead: Opening | None = None) -> Function:
    """The function as configured; made once, and again only if the configuration was wrong.

    `ahead` is what was asked for already; it counts only where it is about the place of the configuration.
    """
    config = read_config()
    place = place_of(config.bucket, config.prefix)
    opening = ahead if ahead is not None and ahead.place == place else Opening(connect(region=config.region), place)
    cloud = AwsCloud(opening.session, KINDS, paced=config.pace, opening=opening)
    words = vocabulary(config.account, config.region, config.controller, config.allowed_roles, config.allowed_types)
    executor = ThreadPoolExecutor(config.threads)
    setpoint = Setpoint(cloud, words, executor, (place,), opening)
    return Function(config, setpoint, StatusStore(opening.aws, config.bucket, config.status_prefix), executor)


@dataclass(frozen=True)
class Function:
    """A deployed Setpoint, from one tick to the next."""

    config: Config
    setpoint: Setpoint
    store: StatusStore
    executor: Executor
    churn: Churn = field(default_factory=Churn)

    def tick(self, now: datetime, over: Callable[[], bool]) -> Mapping[str, Any]:
        """Load, run, report, and raise together what went wrong."""
        begun = monotonic()
        shelf, estate = self.setpoint.load()
        stop = self._stop(shelf.stopped)
        report = self.setpoint.run(estate, Moment(now, stop, over, announce=_log_change, churn=self.churn))
        errors = [*failures(estate, report), *self._write_statuses(estate, report, now), *self._publish(report, now)]
        counts = tally(report, len(errors))
        summary = {**counts, "Seconds": monotonic() - begun, "ApiCalls": self.setpoint.cloud.calls.taken()}
        self._measure(summary)
        unvisited = [one.policy.name for one in report.policies if one.unvisited]
        logger.info("run finished", extra={"counts": summary, "stop": stop, "unvisited": unvisited})
        for error in errors:
            whose = {"error": type(error).__name__, "policies": concerned(report, error)}
            logger.error("run failed", extra={**whose, "detail": redact(str(error))})
        if errors:
            told = [_tellable(error) for error in errors]
            raise ExceptionGroup(f"{len(errors)} problems; the run went on with everything else", told)
        return summary

    def _stop(self, stopped: bool) -> str | None:
        if stopped:
            return f"there is an object named STOP under {self.config.prefix}"
        return "the function's Mode is observe" if self.config.mode == "observe" else None

    def _write_statuses(self, estate: Estate, report: RunReport, now: datetime) -> Sequence[Exception]:
        bodies = {**statuses(estate, report.policies, now), "_run": run_status(estate, report, now)}
        futures = [self.executor.submit(self.store.write, name, body, now) for name, body in bodies.items()]
        return [error for future in futures if isinstance(error := future.exception(), Exception)]

    def _publish(self, report: RunReport, now: datetime) -> Sequence[Exception]:
        told = [facts(change) for one in (*report.policies, *report.orphans) for change in changes(one)]
        if not self.config.event_bus or not told:
            return ()
        aws = self.setpoint.cloud.aws(self.setpoint.home)
        error = self.executor.submit(publish, aws, self.config.event_bus, told, now).exception()
        return (error,) if isinstance(error, Exception) else ()

    def _measure(self, summary: Mapping[str, float]) -> None:
        metrics.add_dimension(name="Controller", value=self.config.controller)
        for name, value in summary.items():
            metrics.add_metric(
                name=name, unit=MetricUnit.Seconds if name == "Seconds" else MetricUnit.Count, value=value
            )
        metrics.flush_metrics()


def _tellable(error: Exception) -> Exception:
    """The error without what looks like a secret: Lambda logs what is raised, causes and all."""
    error.args = (redact(str(error)),)
    error.__cause__, error.__suppress_context__ = None, True
    return error.with_traceback(None)


def _log_change(outcome: Outcome) -> None:
    logger.info("resource", extra={**facts(outcome)})
