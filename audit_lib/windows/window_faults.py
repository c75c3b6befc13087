"""What is wrong with the windows of an audit: each is stated, and nothing is averaged over it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from audit_lib.documents.run_index import IndexedRun
from audit_lib.window import Window

_LIKE_A_WINDOW: Final = re.compile(r"[0-9]{8}T[0-9]{6}Z_[0-9]{8}T[0-9]{6}Z")


def named_as_windows(folders: Iterable[str]) -> list[str]:
    """Return the names of the folders of an audit that are windows, or mean to be."""
    return [name for name in folders if _LIKE_A_WINDOW.fullmatch(name)]


def window_faults(folders: Iterable[str], runs: Sequence[IndexedRun]) -> list[str]:
    """Return a line for each fault.

    Parameters
    ----------
    folders : iterable of str
        Names of the folders of the audit.
    runs : sequence of IndexedRun
        Its runs, in the order of windows.

    Examples
    --------
    >>> window_faults(["20260112T000000Z_20260105T000000Z", "index"], [])
    ['20260112T000000Z_20260105T000000Z: ends before it begins, or is no time: no run in it is counted']
    """
    found = [
        f"{name}: ends before it begins, or is no time: no run in it is counted"
        for name in sorted(named_as_windows(folders))
        if not _is_window(name)
    ]
    complete: dict[str, list[IndexedRun]] = {}
    for one in runs:
        if one.outcome == "complete":
            complete.setdefault(one.window, []).append(one)
    for label, several in complete.items():
        if len(several) > 1:
            designs = ", ".join(sorted(one.design for one in several))
            found.append(
                f"{label}: audited {len(several)} times, by designs {designs}; their numbers are not averaged"
            )
    ordered = sorted((Window.from_label(label) for label in complete), key=lambda one: (one.end, one.start))
    found += [
        f"{one.label} and {other.label}: overlap; people in both are counted in each, and never together"
        for one, other in pairwise(ordered)
        if other.start < one.end
    ]
    return found


def _is_window(name: str) -> bool:
    try:
        Window.from_label(name)
    except ValueError:
        return False
    return True
