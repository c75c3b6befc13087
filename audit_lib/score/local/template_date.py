"""The date that chat templates write into prompts: one that the spec gives, never the day of the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from typing import Any, Final

TODAY: Final = "strftime_now"
"""What a template calls to learn the date."""
UNLESS_GIVEN: Final = date(2025, 1, 1)


@contextmanager
def written_on(day: date | None) -> Iterator[None]:
    """Let a template that asks for today's date read this one; None leaves the clock alone."""
    if day is None:
        yield
        return
    from transformers.utils import chat_template_utils

    part: Any = chat_template_utils
    before = part.datetime
    part.datetime = type("datetime", (), {"now": staticmethod(lambda: datetime.combine(day, time()))})
    try:
        yield
    finally:
        part.datetime = before


def is_held(tokenizer: Any, day: date) -> bool:
    """Return whether this version of transformers lets the date be held."""
    try:
        with written_on(day):
            said = tokenizer.apply_chat_template(
                [{"role": "user", "content": ""}],
                chat_template="{{ strftime_now('%Y-%m-%d') }}",
                tokenize=False,
            )
    except AttributeError:
        return False
    return bool(said == day.isoformat())
