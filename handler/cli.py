"""The command line: what can be typed. What it does is in `looking.py`, `acting.py`, `orphaning.py` and `demo.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from handler.command import Commands, command_of
from handler.options import NEEDLESS, Settings, settings_of, sharing

app = typer.Typer(cls=Commands, no_args_is_help=True, rich_markup_mode="rich", pretty_exceptions_enable=False)
command = command_of(app)
story = command_of(app, (*NEEDLESS, "controller", "allow_role", "allow_type"))
printing = command_of(app, NEEDLESS)

Policies = Annotated[list[str], typer.Argument(metavar="POLICIES", help="Files, folders, or s3://bucket/prefix/.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
At = Annotated[str | None, typer.Option(metavar="TIME", help="Another now, as 2026-03-02T09:00:00Z.")]
Account = Annotated[str | None, typer.Option(metavar="ID", help="What ${account} means: 000000000000.")]


def _root(ctx: typer.Context, version: bool, **given: Any) -> None:
    ctx.obj = settings_of(given)
    if version:
        from importlib.metadata import version as version_of

        typer.echo(f"setpoint {version_of('setpoint')}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def _asked(version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    """Keep the dynamic part of an AWS estate at the state that its policies ask for."""


_root.__signature__ = sharing(_asked)  # type: ignore[attr-defined]
app.callback(invoke_without_command=True, help=_asked.__doc__)(_root)


@command
def validate(policies: Policies, settings: Settings, account: Account = None, json: AsJson = False) -> int:
    """Parse policies and prove that no two own the same thing. Needs no account.

    Exits with 1 where something is wrong.
    """
    from handler import looking

    return looking.validate(settings, policies, account, json)


@command
def plan(
    policies: Policies,
    settings: Settings,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the plan for apply.")] = None,
    json: AsJson = False,
    at: At = None,
) -> int:
    """Show what a run would do, and do nothing.

    Exits with 0 where nothing is to be done, 2 where something is (or is held or awaited), 1 on an error.
    """
    from handler import looking

    return looking.plan(settings, policies, out, json, at)


@command
def run(
    policies: Policies,
    settings: Settings,
    watch: Annotated[bool, typer.Option("--watch", help="One run a minute, until Ctrl-C.")] = False,
    json: AsJson = False,
    at: At = None,
) -> int:
    """Bring AWS to what the policies want, once.

    Exits with 0 also where something is held or goes on, 1 on Conflict, Degraded or a failure, 130 on Ctrl-C.
    """
    from handler import acting

    return acting.run(settings, policies, watch, json, at)


@command
def apply(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What plan --out saved.")],
    settings: Settings,
    json: AsJson = False,
) -> int:
    """Do exactly what a saved plan says, held actions included; refused if the world has moved."""
    from handler import acting

    return acting.apply(settings, file, json)


@story
def demo(settings: Settings) -> int:  # noqa: ARG001 - there is nothing to connect to
    """Tell the whole story on an embedded AWS. Needs no account and no network."""
    from handler.demo import play

    return play()


@command
def status(
    places: Annotated[list[str], typer.Argument(metavar="STATUS", help="Folder, or s3://bucket/status/.")],
    settings: Settings,
    json: AsJson = False,
) -> int:
    """Show what the last run said of every policy."""
    from handler import looking

    return looking.status(settings, places, json)


@command
def orphans(
    policies: Policies,
    settings: Settings,
    delete: Annotated[bool, typer.Option("--delete", help="Delete them, by the same guard and grace.")] = False,
    json: AsJson = False,
) -> int:
    """List what policies that are gone left behind."""
    from handler import orphaning

    return orphaning.orphans(settings, policies, delete, json)


@command
def iam(
    policies: Policies,
    settings: Settings,
    account: Account = None,
    for_role: Annotated[str | None, typer.Option(metavar="ARN", help="What this role of theirs needs.")] = None,
) -> int:
    """Print the least IAM policy that these policies need."""
    from handler import looking

    return looking.iam(settings, policies, account, for_role)


@command
def simulate(
    policy_file: Annotated[str, typer.Argument(metavar="POLICY", help="A document: file or s3://bucket/key.json.")],
    settings: Settings,
    policy: Annotated[str | None, typer.Option(metavar="NAME", help="Which policy of it.")] = None,
    metrics: Annotated[Path | None, typer.Option(metavar="FILE", help="Recorded history, .csv or .json.")] = None,
    from_cloudwatch: Annotated[bool, typer.Option("--from-cloudwatch", help="Take the history from there.")] = False,
    last: Annotated[str, typer.Option(metavar="7d", help="How much of it.")] = "7d",
    plant: Annotated[str, typer.Option(metavar="load|none", help="load: the metric responds to the size.")] = "none",
    unit_capacity: Annotated[
        float | None, typer.Option(metavar="N", help="The load at which one unit shows 1.", show_default=False)
    ] = None,
    start: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Size at the start: the least.", show_default=False)
    ] = None,
    compare: Annotated[
        str | None, typer.Option(metavar="OTHER", help="A second document, or policy of the same one.")
    ] = None,
    every: Annotated[str, typer.Option(metavar="1m", help="Time between two runs.")] = "1m",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .svg, .html or .png.")] = None,
    json: AsJson = False,
) -> int:
    """Replay history through a policy, tick by tick: what it would have done, as a table and a picture."""
    from handler import simulating

    asked = simulating.Asked(
        policy, metrics, last if from_cloudwatch else None, plant, unit_capacity, start, compare, every, out
    )
    return simulating.simulate(settings, policy_file, asked, json)


@printing
def schema(
    settings: Settings,
    typescript: Annotated[bool, typer.Option("--typescript", help="A .d.ts for policies as code.")] = False,
) -> int:
    """Print the JSON Schema for editors: setpoint schema > setpoint.schema.json"""
    from handler import looking

    return looking.schema(settings, typescript)


def main() -> None:
    """What `setpoint` runs."""
    app()
