"""Files that ship with the package: the demo's inputs, lexicons and prompt templates."""

from __future__ import annotations

from pathlib import Path


def include_dir() -> Path:
    """Return the folder ``include``: inside an installed wheel, or beside the package in a checkout."""
    package = Path(__file__).parent
    installed = package / "_include"
    return installed if installed.is_dir() else package.parent / "include"
