"""Windows and spans of time as messages say them."""

from __future__ import annotations

from datetime import timedelta

from audit_lib.window import Window


def days(label: str) -> str:
    """Return a window's label for people."""
    window = Window.from_label(label)
    return f"{window.start:%Y-%m-%d %H:%M} to {window.end:%Y-%m-%d %H:%M}"


def ago(passed: timedelta) -> str:
    """Return how long something is past for people: in hours, from two days on in days.

    Examples
    --------
    >>> ago(timedelta(hours=1)), ago(timedelta(hours=47)), ago(timedelta(hours=5051))
    ('an hour', '47 hours', '210 days')
    """
    hours = int(passed.total_seconds() // 3600)
    if hours >= 48:
        return f"{hours // 24} days"
    return "an hour" if hours == 1 else f"{hours} hours" if hours else "less than an hour"
