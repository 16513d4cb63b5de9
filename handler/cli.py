"""The command line: what can be typed. What the commands do is in `looking.py`, `acting.py` and `demo.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from handler.options import Settings, settings_of, sharing


class Commands(TyperGroup):
    """Exit with 1 where what was typed is wrong: 2 is a plan that has changes."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        with _exit_code_1():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        with _exit_code_1():
            return super().invoke(ctx)


@contextmanager
def _exit_code_1() -> Iterator[None]:
    try:
        yield
    except typer.TyperException as wrong:
        wrong.exit_code = 1
        raise


app = typer.Typer(cls=Commands, no_args_is_help=True, rich_markup_mode="rich", pretty_exceptions_enable=False)

Policies = Annotated[list[str], typer.Argument(metavar="POLICIES", help="Files, folders, or s3://bucket/prefix/.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
At = Annotated[str | None, typer.Option(metavar="TIME", help="Another now, as 2026-03-02T09:00:00Z.")]
Account = Annotated[str | None, typer.Option(metavar="ID", help="What ${account} means: 000000000000.")]


def command(body: Callable[..., int]) -> Callable[..., int]:
    """Make a command of a function: the shared options come as `settings`, and what it returns is the exit code."""

    def run(ctx: typer.Context, **given: Any) -> None:
        settings = settings_of(given).over(ctx.obj or Settings())
        raise typer.Exit(_bounded(lambda: body(settings=settings, **given), debug=settings.debug))

    run.__signature__ = sharing(body)  # type: ignore[attr-defined]
    run.__doc__ = body.__doc__
    app.command(body.__name__)(run)
    return body


def _bounded(body: Callable[[], int], *, debug: bool) -> int:
    """The exit code, whatever happens: an error that people can mend is told in its own words."""
    from handler.terminal import show_bug, show_error
    from policies.errors import SetpointError

    try:
        return body()
    except SetpointError as error:
        show_error(error)
    except Exception as error:  # noqa: BLE001 - the boundary of the program: a mistake of ours is told as one
        show_bug(error, traced=debug)
    return 1


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

    Exits with 0 also where something is held or goes on, 1 on Conflict, Degraded or a failure.
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


@command
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
    from handler import acting

    return acting.orphans(settings, policies, delete, json)


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
