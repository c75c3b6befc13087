"""Policy packs that installed packages bring: their bytes, and which of them a pack rests on."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Final

from audit_lib.errors import PluginError, SpecError
from audit_lib.registry import Plugins
from audit_lib.spec.text import read_yaml

PACKS: Final = Plugins("policies")
"""The entry point NAME in the group ``audit_lib.policies`` names the Python package that holds NAME.yaml."""

ARCHIVED: Final = "packs."
"""Where the plan keeps the pack NAME: as the design file ``packs.NAME``."""


def installed_pack(name: str) -> bytes | None:
    """Return the bytes of a pack of an installed package; None where no package brings it.

    Raises
    ------
    PluginError
        If the package holds no such file.
    """
    package = PACKS.package_of(name)
    if package is None:
        return None
    folder = PACKS.load(name)
    try:
        return files(folder).joinpath(f"{name}.yaml").read_bytes()
    except (OSError, TypeError) as error:
        raise PluginError(
            f"policy {name!r} of the package {package}: {name}.yaml cannot be read ({type(error).__name__}); the "
            "entry point names the Python package that holds it"
        ) from None


def packs_under(first: str | bytes, pack: Callable[[str], bytes | None]) -> dict[str, bytes]:
    """Return the packs of packages that a pack is, or extends: name -> bytes.

    Parameters
    ----------
    first : str or bytes
        Name of a pack, or the content of one.
    pack : callable
        Name -> bytes; None for what is no pack of a package.
    """
    found: dict[str, bytes] = {}
    name = first if isinstance(first, str) else _base(first)
    while name is not None and name not in found and (content := pack(name)) is not None:
        found[name] = content
        name = _base(content)
    return found


def _base(content: bytes) -> str | None:
    """Return the name of the pack that a pack extends; what is wrong with a pack is told where it is read."""
    try:
        base = read_yaml(content.decode("utf-8"), Path("pack.yaml"), what="policy pack").get("extends")
    except (UnicodeDecodeError, SpecError):
        return None
    return base if isinstance(base, str) else None
