"""The one error tree.

    SetpointError
    ├── ParseError        a document, its items or the configuration cannot be understood
    ├── PluginError       an installed strategy or kind cannot be loaded
    ├── SenseError        a read failed or is incomplete: unknown is not absent
    ├── ConflictError     the resource is somebody else's, or two policies claim it
    ├── RefusedError      a rule of the deployment, a guardrail or the service says no
    │   └── DeniedError   no permission; names the missing IAM action
    ├── ThrottledError    the service asks for fewer calls; the next run goes on
    ├── WaitError         not now: in transition, in use, name not free yet; the next run goes on
    ├── ExistsError       a create found its name taken
    └── AbsentError       the resource is not there

Messages are written for the person who edits a policy at night: what, where, what was expected, what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class SetpointError(Exception):
    """Root of everything that Setpoint itself raises."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake in one place of a document."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class ParseError(SetpointError):
    """Every mistake of one document, item source or configuration, all at once."""

    def __init__(self, source: str, problems: Iterable[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{source}: {problem}" for problem in self.problems))


class PluginError(SetpointError, ValueError):
    """An installed strategy or kind cannot be loaded. Only the documents that name it are concerned."""


class SenseError(SetpointError):
    """A read failed or stayed incomplete. Nothing may be concluded from it, least of all absence."""


class ConflictError(SetpointError):
    """The resource belongs to somebody else, or more than one policy claims it."""


class RefusedError(SetpointError):
    """A rule of this deployment, a guardrail or the service itself says no."""


class DeniedError(RefusedError):
    """The credentials lack a permission. `action` is the IAM action to grant."""

    def __init__(self, action: str, detail: str) -> None:
        self.action = action
        super().__init__(f"not allowed to call {action}: {detail}")


class ThrottledError(SetpointError):
    """The service asked for fewer calls, after the SDK's own retries. The next run goes on."""


class WaitError(SetpointError):
    """Not now: being created, modified or deleted, in use, or the name is not free yet. The next run goes on."""


class ExistsError(SetpointError):
    """A create found the name taken; whose it is, is for the next read to say."""


class AbsentError(SetpointError):
    """The resource is not there (any more)."""
