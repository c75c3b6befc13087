"""Named parts that one file adds: metrics, sources, backends, figures and others; and those of installed packages.

A part registers itself with a decorator. A package of somebody else's brings parts by entry points in the group
``audit_lib.<kinds>``, such as ``audit_lib.metrics``. A spec names parts by these names.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from traceback import extract_tb
from typing import Any, Final, Generic, TypeVar

from audit_lib.errors import AuditError, PluginError, SpecError

Part = TypeVar("Part")

_WORDS: Final = {"policies": "policy"}
"""Kinds whose singular is not the plural without its last letter."""


class Plugins:
    """What installed packages bring of one kind, by entry point.

    The environment is looked through when a name is first wanted, and a package is imported when its own part is.

    Parameters
    ----------
    kinds : str
        What the parts are, in the plural; the entry points' group is ``audit_lib.<kinds>``.

    Examples
    --------
    >>> Plugins("metrics").group
    'audit_lib.metrics'
    """

    def __init__(self, kinds: str) -> None:
        self.group = f"audit_lib.{kinds}"
        self.kind = _WORDS.get(kinds, kinds.removesuffix("s"))

    def names(self) -> list[str]:
        """Return the names of the parts, sorted; none is imported."""
        return sorted(self._points)

    def package_of(self, name: str) -> str | None:
        """Return the package that brings `name`, as pip knows it; None where no package does.

        Raises
        ------
        PluginError
            If two packages do.
        """
        found = self._points.get(name, ())
        if len(found) > 1:
            raise PluginError(
                f"{self.kind} {name!r}: brought by {' and by '.join(map(_package, found))}; uninstall all but one"
            )
        return _package(found[0]) if found else None

    def load(self, name: str) -> Any:
        """Return what the entry point `name` refers to.

        Raises
        ------
        PluginError
            If it cannot be imported, or two packages bring it; names the package.
        """
        package, point = self.package_of(name), self._points[name][0]
        try:
            return point.load()
        except Exception as error:
            said = " ".join(str(error).split())
            raise PluginError(
                f"{self.kind} {name!r} of the package {package}: {point.value} cannot be imported "
                f"({type(error).__name__}: {said}); install the package again, or uninstall it"
            ) from error

    @cached_property
    def _points(self) -> dict[str, list[EntryPoint]]:
        found: dict[str, list[EntryPoint]] = {}
        for point in entry_points(group=self.group):
            found.setdefault(point.name, []).append(point)
        return found


class Registry(Generic[Part]):
    """Parts of one kind by name.

    Parameters
    ----------
    kinds : str
        What the parts are, in the plural; also the last part of the entry points' group.
    package : str
        The package whose modules register the parts shipped here.
    accepts : callable, optional
        Tells whether a part of an installed package is one of this kind.

    Examples
    --------
    >>> shapes = Registry[object]("shapes", "audit_lib.stats")
    >>> @shapes("square")
    ... class Square: ...
    >>> shapes.get("square").__name__
    'Square'
    >>> shapes.get("sqare")
    Traceback (most recent call last):
    audit_lib.errors.SpecError: no shape is named 'sqare'; did you mean 'square'?
    """

    def __init__(self, kinds: str, package: str, accepts: Callable[[Any], bool] = lambda part: True) -> None:
        self.package = package
        self._accepts = accepts
        self.plugins = Plugins(kinds)
        self.kind = self.plugins.kind
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
        """Return the part called `name`; of an installed package, it alone is imported.

        Raises
        ------
        SpecError
            If there is none; the message names the nearest one.
        PluginError
            If a package's part cannot be imported, or has the name of another.
        """
        self._load_shipped()
        if (package := self.plugins.package_of(name)) is not None:
            self._add(name, self.plugins.load(name), f"{self.kind} {name!r} of the package {package}")
        if name not in self._parts:
            raise SpecError(f"no {self.kind} is named {name!r}{did_you_mean(name, self.names())}")
        return self._parts[name]

    @contextmanager
    def naming(self, name: str) -> Iterator[None]:
        """Run what the part `name` does; where one of an installed package fails, its name and the line are told.

        The error's own words are left out: they may hold what an applicant wrote, or a password.

        Raises
        ------
        PluginError
            If a part of an installed package raises anything but an `AuditError`.
        """
        try:
            yield
        except AuditError:
            raise
        except Exception as error:
            if (package := self.plugins.package_of(name)) is None:
                raise
            place = extract_tb(error.__traceback__)[-1]
            raise PluginError(
                f"{self.kind} {name!r} of the package {package}: {type(error).__name__} in {place.filename}, line "
                f"{place.lineno}; tell its authors, or take it out of the spec"
            ) from error

    def names(self) -> list[str]:
        """Return the names, sorted; no installed package is imported for it."""
        self._load_shipped()
        return sorted({*self._parts, *self.plugins.names()})

    def __iter__(self) -> Iterator[tuple[str, Part]]:
        return ((name, self.get(name)) for name in self.names())

    def _add(self, name: str, part: Part, where: str) -> None:
        """Keep the part that an entry point `name` refers to."""
        if not self._accepts(part):
            raise PluginError(
                f"{where}: the entry point leads to no {self.kind}, but to {type(part).__name__} "
                f"{getattr(part, '__name__', '')!r}; its authors must name what the decorator gives back"
            )
        if self._parts.get(name, part) is not part:
            raise PluginError(
                f"{where}: audit_lib has another of this name; uninstall the package, or ask its authors for another "
                "name"
            )
        other = next((n for n, known in self._parts.items() if known is part and n != name), None)
        if other is not None:
            raise PluginError(
                f"{where}: its decorator says {other!r}; its authors must give it one name in both places"
            )
        self._parts[name] = part

    def _load_shipped(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        package = importlib.import_module(self.package)
        for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
            importlib.import_module(f"{self.package}.{module}")


def _package(point: EntryPoint) -> str:
    """Return the name and version of the package that an entry point is of."""
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value


def is_whole(part: Any, base: type) -> bool:
    """Tell whether a part is a subclass of `base` that has all that it must have.

    Examples
    --------
    >>> is_whole(bool, int), is_whole(3, int), is_whole(str, int)
    (True, False, False)
    """
    return inspect.isclass(part) and issubclass(part, base) and not inspect.isabstract(part)


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
