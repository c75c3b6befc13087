"""Records of other systems' logs: their own values under our names, everything else by its path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from audit_lib.errors import SpecError
from audit_lib.json_path import steps, value_at
from audit_lib.spec import AuditSpec

ONE_POSITION: Final = "all"
"""The position of decisions whose log does not tell any."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def named_paths(spec: AuditSpec) -> tuple[str, ...]:
    """Return what the spec reads beside a log's own values: columns and template fields."""
    return tuple(dict.fromkeys([*spec.source.named.values(), *spec.source.fields]))


def check_paths(paths: Iterable[str]) -> dict[str, tuple[str | int, ...]]:
    """Return the steps of each path.

    Raises
    ------
    SpecError
        If one is no path.
    """
    found = {}
    for path in paths:
        try:
            found[path] = steps(path)
        except ValueError as error:
            raise SpecError(f"source: {error}") from None
    return found


def values_at(document: Any, paths: Mapping[str, tuple[str | int, ...]]) -> dict[str, Any]:
    """Return path -> value, for the paths that the document has."""
    found = {}
    for name, path in paths.items():
        try:
            found[name] = value_at(document, path)
        except LookupError:
            continue
    return found


def instant(seconds: float) -> datetime:
    """Return the instant of a Unix time.

    Raises
    ------
    ValueError
        If it lies beyond the years 1 to 9999.
    """
    try:
        return _EPOCH + timedelta(microseconds=round(seconds * 1_000_000))
    except OverflowError:
        raise ValueError("a time beyond the year 9999") from None
