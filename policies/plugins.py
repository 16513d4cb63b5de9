"""Registries of strategies and kinds: entry points written in code for ours, installed ones for everybody else's.

Both have the same form, and both are imported when a policy first names them: a run pays for what it uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from policies.errors import PluginError

T = TypeVar("T")


class Plugins(Mapping[str, T], Generic[T]):
    """Words to plug-ins, loaded on first use. An installed plug-in cannot take one of our words."""

    def __init__(self, group: str, ours: Sequence[EntryPoint]) -> None:
        self._group = group
        self._ours = {point.name: point for point in ours}
        self._loaded: dict[str, T] = {}

    @cached_property
    def _points(self) -> Mapping[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self._group)} | self._ours

    def __getitem__(self, word: str) -> T:
        if word not in self._loaded:
            point = self._ours.get(word) or self._points[word]
            try:
                self._loaded[word] = self.make(point.load())
            except Exception as error:
                message = f"the plug-in {word!r} ({point.value}) cannot be loaded: {type(error).__name__}: {error}"
                raise PluginError(f"{message}; mend or remove the package that brings it") from error
        return self._loaded[word]

    def loaded(self) -> tuple[T, ...]:
        """Those that were asked for so far."""
        return tuple(self._loaded.values())

    def make(self, loaded: T) -> T:
        """What the registry hands out for what the entry point names."""
        return loaded

    def __contains__(self, word: object) -> bool:
        return word in self._ours or word in self._points

    def __iter__(self) -> Iterator[str]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)
