"""The library's lists of protected words: the plan keeps those that a run counted by."""

from __future__ import annotations

from typing import Final

from audit_lib.resources import include_dir

KEPT: Final = "protected_words."
"""Where the plan keeps the list KIND: as the design file ``protected_words.KIND``."""


def shipped_files() -> dict[str, bytes]:
    """Return the shipped lists: kind -> CSV."""
    folder = include_dir() / "lexicons" / "protected"
    return {path.stem: path.read_bytes() for path in sorted(folder.glob("*.csv"))}
