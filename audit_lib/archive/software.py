"""Versions of what numbers may depend on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Final

_LIBRARIES: Final = ("audit-lib", "numpy", "pandas", "pyarrow", "scipy")


def software() -> dict[str, str]:
    """Return the versions that numbers may depend on, as they are here."""
    found = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed as a package"
    return found
