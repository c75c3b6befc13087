"""A file of a bag's payload, and how manifests write its path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

ALGORITHMS: Final = ("sha256", "sha512")


@dataclass(frozen=True, slots=True, kw_only=True)
class BaggedFile:
    """A file of the payload: its path in the bag, its size in bytes, and its digest by each algorithm."""

    path: str
    size: int
    digests: Mapping[str, str]


def escaped(path: str) -> str:
    """Return a path as a manifest writes it: RFC 8493 escapes ends of lines, and the percent sign itself.

    Examples
    --------
    >>> escaped("100%")
    '100%25'
    """
    return path.replace("%", "%25").replace("\n", "%0A").replace("\r", "%0D")


def unescaped(path: str) -> str:
    """Return the path that a manifest means.

    Examples
    --------
    >>> unescaped("100%25")
    '100%'
    """
    for code, char in (("%0A", "\n"), ("%0a", "\n"), ("%0D", "\r"), ("%0d", "\r"), ("%25", "%")):
        path = path.replace(code, char)
    return path
