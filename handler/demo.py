"""The whole story on an embedded AWS. Each step says what will happen and is checked: a demo that errs exits with 1."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta

from rich.text import Text

from handler.demo_stage import DOCUMENTS, Run, Stage, embedded_aws, policy_text
from handler.loop.run import RunReport
from handler.picture import error_picture, outcome_picture, plan_picture, plan_summary
from handler.terminal import screen, spinning
from policies.errors import SetpointError

LATER = timedelta(minutes=31)
BROKEN = (("version", "vresion"), ('"Threshold": 900', '"Threshold": "lots"'), ("forEach", "forEech"))


class BrokenClaimError(SetpointError):
    """The demo said that something would happen, and it did not."""


def play() -> int:
    """Tell the story; 0 only if all of it was true."""
    with embedded_aws() as session:
        with spinning("building an AWS inside this process ..."):
            stage = Stage(session)
        _Story(stage).tell()
    return 0


class _Story:
    def __init__(self, stage: Stage) -> None:
        self._stage, self._console = stage, screen()

    def tell(self) -> None:
        self.policies()
        self.first_runs()
        self.hands()
        self.edit()
        self.leaving()
        self.mistake()
        self.end()

    def policies(self) -> None:
        self._heading(
            "The policies", "Four documents in a bucket. They are all that Setpoint knows; it remembers nothing."
        )
        for document in DOCUMENTS:
            self._stage.publish(document, policy_text(document))
            for policy in json.loads(policy_text(document))["policies"]:
                self._console.print(Text.assemble(("  " + policy["name"], "bold"), f"  {policy['description']}"))
        self._stage.set_tenants(["acme", "globex", "initech"])
        for function in ("checkout", "billing"):
            self._stage.client("logs").create_log_group(logGroupName=f"/aws/lambda/{function}")

    def first_runs(self) -> None:
        self._heading("The plan", "What a run would do. Planning holds clients that cannot write.")
        self._show_plan(self._stage.plan())
        self._heading(
            "The first runs", "The first makes what is missing; the second sees the queues and gives each an alarm."
        )
        made = ["create ledger", *(f"create orders-{one}" for one in ("acme", "globex", "initech"))]
        self._run([*made, "update /aws/lambda/billing", "update /aws/lambda/checkout"])
        self._run(f"create backlog-orders-{one}" for one in ("acme", "globex", "initech"))
        self._say("The third finds nothing to do: everything is idempotent.")
        self._run([])

    def hands(self) -> None:
        self._heading(
            "Somebody meddles", "A queue is deleted by hand, and an alarm is set so high that it never rings."
        )
        sqs, cloudwatch = self._stage.client("sqs"), self._stage.client("cloudwatch")
        sqs.delete_queue(QueueUrl=sqs.get_queue_url(QueueName="orders-globex")["QueueUrl"])
        [alarm] = cloudwatch.describe_alarms(AlarmNames=["backlog-orders-acme"])["MetricAlarms"]
        kept = {word: alarm[word] for word in _ALARM if word in alarm}
        cloudwatch.put_metric_alarm(**{**kept, "Threshold": 1_000_000})
        self._say("The next run heals both. The alarm of the lost queue goes with it and is back one run later.")
        self._run(["create orders-globex", "delete backlog-orders-globex", "update backlog-orders-acme"])
        self._run(["create backlog-orders-globex"])

    def edit(self) -> None:
        self._heading("An edited policy", "Messages get five minutes instead of two before they are delivered again.")
        edited = policy_text("tenants").replace('"VisibilityTimeout": 120', '"VisibilityTimeout": 300')
        self._stage.publish("tenants", edited)
        self._show_plan(self._stage.plan())
        self._run(f"update orders-{one}" for one in ("acme", "globex", "initech"))

    def leaving(self) -> None:
        self._heading(
            "A tenant leaves", "Queues hold data, so this one is only marked: whoever returns in time gets it back."
        )
        self._stage.set_tenants(["acme", "globex"])
        self._run(["mark orders-initech"])
        self._say("Half an hour later the grace is over: the queue goes, and in the next run its alarm.")
        self._run(["delete orders-initech"], after=LATER)
        self._run(["delete backlog-orders-initech"])

    def mistake(self) -> None:
        self._heading("A broken document", "Three slips of the pen in alarms.json, while a new tenant joins.")
        broken = policy_text("alarms")
        for right, wrong in BROKEN:
            broken = broken.replace(right, wrong)
        self._stage.publish("alarms", broken)
        self._stage.set_tenants(["acme", "globex", "hooli"])
        self._say(
            "The document changes nothing and says all that is wrong; the others go on; the run fails at its end."
        )
        run = self._run(["create orders-hooli"], errors=True)
        for record in run.errors:
            self._console.print(Text.assemble(("  error: ", "bold red"), error_picture(record)))
        self._say("Repaired, it goes on where it stood.")
        self._stage.publish("alarms", policy_text("alarms"))
        self._run(["create backlog-orders-hooli"])

    def end(self) -> None:
        self._heading("The end", "The last run finds the account as the policies want it.")
        self._run([])
        self._say("Everything came as announced. Now yours: 'The first policy' in README.md.")

    def _heading(self, title: str, sentence: str) -> None:
        self._console.print(Text(f"\n{self._stage.now:%H:%M}  {title}", "bold cyan"))
        self._say(sentence)

    def _say(self, sentence: str) -> None:
        self._console.print(Text(sentence))

    def _show_plan(self, report: RunReport) -> None:
        for line in plan_picture(report):
            self._console.print(line)
        self._console.print(plan_summary(report))

    def _run(self, claimed: Iterable[str], *, after: timedelta = timedelta(minutes=1), errors: bool = False) -> Run:
        """One run, shown; raises BrokenClaimError unless exactly what was claimed is done."""
        run = self._stage.run(after)
        self._console.print(Text(f"  {self._stage.now:%H:%M} run", "dim"))
        for outcome in run.outcomes:
            for line in outcome_picture(outcome):
                self._console.print(Text("    ").append(line))
        if not run.outcomes:
            self._console.print("    nothing to do")
        if run.done != sorted(claimed) or bool(run.errors) != errors:
            told = [*(record["message"] for record in run.errors), *run.unfinished]
            raise BrokenClaimError(f"the demo claimed {sorted(claimed)}, and {run.done} happened {told or ''}")
        return run


_ALARM = (
    "AlarmName",
    "Namespace",
    "MetricName",
    "Dimensions",
    "Statistic",
    "Period",
    "EvaluationPeriods",
    "ComparisonOperator",
)
