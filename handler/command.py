"""What makes a command of a function: shared options, exit codes, and an end for every error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import typer
from typer.core import TyperGroup

from handler.options import Settings, settings_of, sharing

Body: TypeAlias = Callable[..., int]
INTERRUPTED = 130
"""As a shell says that Ctrl-C ended a program."""


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


def command_of(app: typer.Typer, without: Collection[str] = ()) -> Callable[[Body], Body]:
    """Makes commands of functions: the shared options come as `settings`, and what they return is the exit code.

    `without` names shared options that mean nothing to them.
    """

    def command(body: Body) -> Body:
        def run(ctx: typer.Context, **given: Any) -> None:
            settings = settings_of(given).over(ctx.obj or Settings())
            as_json = bool(given.get("json"))
            raise typer.Exit(_bounded(lambda: body(settings=settings, **given), as_json, debug=settings.debug))

        run.__signature__ = sharing(body, without)  # type: ignore[attr-defined]
        run.__doc__ = body.__doc__
        app.command(body.__name__)(run)
        return body

    return command


def _bounded(body: Callable[[], int], as_json: bool, *, debug: bool) -> int:
    """The exit code, whatever happens: an error that people can mend is told in its own words, and as JSON too."""
    from handler.terminal import error_records, say, show_bug, show_error, show_json
    from policies.errors import SetpointError

    try:
        return body()
    except KeyboardInterrupt:
        say("Interrupted.")
        return INTERRUPTED
    except SetpointError as error:
        show_error(error)
        if as_json:
            show_json({"kind": "SetpointError", "version": 1, "errors": error_records(error)})
    except Exception as error:  # noqa: BLE001 - the boundary of the program: a mistake of ours is told as one
        show_bug(error, traced=debug)
    return 1
