"""Versions of what numbers may depend on."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

_LIBRARIES: Final = ("audit-lib", "numpy", "pandas", "pyarrow", "scipy")


def software() -> dict[str, str]:
    """Return the versions that numbers may depend on, as they are here."""
    found = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
    return found | {name: _installed(name) for name in _LIBRARIES}


@cache
def _installed(name: str) -> str:
    """Return a package's version; looked up once, for what runs does not change."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed as a package"
