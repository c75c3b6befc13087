"""Named parts that one file adds: metrics, backends, sources, perturbations, elicitations, reports.

A part registers itself with a decorator; a third party's package does the same through an entry
point in the group ``audit_lib.<kind>``. A spec names parts by these names.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from audit_lib.errors import SpecError

Part = TypeVar("Part")


class Registry(Generic[Part]):
    """Parts of one kind by name.

    Parameters
    ----------
    kind : str
        What the parts are, in the singular; also the last part of the entry point group.
    package : str
        The package whose modules register the parts shipped here.

    Examples
    --------
    >>> shapes = Registry[object]("shape", "audit_lib.stats")
    >>> @shapes("square")
    ... class Square: ...
    >>> shapes.get("square").__name__
    'Square'
    >>> shapes.get("sqare")
    Traceback (most recent call last):
    audit_lib.errors.SpecError: no shape is named 'sqare'; did you mean 'square'?
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self.package = package
        self._parts: dict[str, Part] = {}
        self._loaded = False

    def __call__(self, name: str) -> Callable[[Part], Part]:
        """Register the decorated part under `name`."""

        def register(part: Part) -> Part:
            if self._parts.setdefault(name, part) is not part:
                raise ValueError(f"two {self.kind}s are named {name!r}")
            return part

        return register

    def get(self, name: str) -> Part:
        """Return the part called `name`.

        Raises
        ------
        SpecError
            If there is none; the message names the nearest one.
        """
        self._load()
        if name not in self._parts:
            raise SpecError(f"no {self.kind} is named {name!r}{did_you_mean(name, self.names())}")
        return self._parts[name]

    def names(self) -> list[str]:
        """Return the names, sorted."""
        self._load()
        return sorted(self._parts)

    def __iter__(self) -> Iterator[tuple[str, Part]]:
        return ((name, self.get(name)) for name in self.names())

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        package = importlib.import_module(self.package)
        for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
            importlib.import_module(f"{self.package}.{module}")
        for point in sorted(entry_points(group=f"audit_lib.{self.kind}"), key=lambda p: p.name):
            self._parts.setdefault(point.name, point.load())


def did_you_mean(name: str, known: list[str]) -> str:
    """Return ``"; did you mean 'x'?"``, or the list of what is known where nothing is near.

    Examples
    --------
    >>> did_you_mean("referense", ["group", "reference"])
    "; did you mean 'reference'?"
    >>> did_you_mean("colour", ["group", "reference"])
    '; known: group, reference'
    """
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known) or 'none'}"
