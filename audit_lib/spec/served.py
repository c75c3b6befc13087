"""Whether the model that answered is the one that the spec names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

ANY: Final = "any"
Served = Literal["any"] | list[str] | None

_YEAR: Final = r"20\d\d"
_MONTH: Final = r"(?:0[1-9]|1[0-2])"
_DAY: Final = r"(?:0[1-9]|[12]\d|3[01])"
_VERSION: Final = re.compile(
    rf"[-@](?:{_YEAR}-{_MONTH}-{_DAY}|{_YEAR}{_MONTH}{_DAY}|{_MONTH}-{_DAY}|{_MONTH}-{_YEAR}|{_MONTH}{_DAY}"
    rf"|2\d{_MONTH}|00\d)(?:-v\d+(?::\d+)?)?",
    re.ASCII,
)
"""The date of a version, as providers write it: 2024-08-06, 20241022, 05-20, 09-2025, 0125 (month, day), 2411; or
its number, 002."""
_LATEST: Final = "-latest"
_FOLDER: Final = "models/"
"""Google's services write it before their models' names."""
_NUMBER: Final = re.compile(r"v?\d+(?:[._-]\d+)*", re.ASCII)
"""A version that names no model, as a tool's endpoint tells its own: v7, 3.1.0, 2026-11-01."""


def is_label(name: str) -> bool:
    """Tell whether `model.name` is a label in words, such as ``our screening tool``: no model's id holds a space.

    Examples
    --------
    >>> is_label("our screening tool"), is_label("gpt-4o")
    (True, False)
    """
    return re.search(r"\s", name.strip()) is not None


def is_named(served: str, name: str) -> bool:
    """Tell whether a model that answered is the one of that name: the same, or a dated or numbered version of it.

    Examples
    --------
    >>> is_named("gpt-4o-2024-08-06", "gpt-4o"), is_named("gpt-3.5-turbo-0125", "gpt-3.5-turbo")
    (True, True)
    >>> is_named("v7", "our-screener")
    True
    >>> is_named("models/gemini-1.5-pro-002", "gemini-1.5-pro"), is_named("v3.2", "v3.1")
    (True, False)
    >>> is_named("gpt-4o-mini", "gpt-4o"), is_named("gpt-4-turbo", "gpt-4"), is_named("gpt-4", "gpt-4-0613")
    (False, False, False)
    """
    ours, theirs = (one.strip().casefold().removeprefix(_FOLDER) for one in (name, served))
    if ours == theirs:
        return True
    if _NUMBER.fullmatch(
        theirs
    ):  # of the tool that the spec names, unless that is itself a version, and another
        return _NUMBER.fullmatch(ours) is None
    ours = ours.removesuffix(_LATEST)
    return theirs.startswith(ours) and _VERSION.fullmatch(theirs, len(ours)) is not None


def without_version(served: str) -> str | None:
    """Return a model's name without the date or number of its version; None for a bare version, which names none.

    Examples
    --------
    >>> without_version("GPT-4-0613"), without_version("claude-3-5-sonnet-latest"), without_version("v7")
    ('gpt-4', 'claude-3-5-sonnet', None)
    >>> without_version("gpt-4-turbo")
    'gpt-4-turbo'
    """
    name = served.strip().casefold().removeprefix(_FOLDER)
    if _NUMBER.fullmatch(name):
        return None
    name = name.removesuffix(_LATEST)
    ends = [found.start() for found in _VERSION.finditer(name) if found.end() == len(name) and found.start()]
    return name[: ends[0]] if ends else name


def may_serve(served: str, name: str, allowed: Served) -> bool:
    """Tell whether the answers of a model belong to the audit of `name`, as ``model.served`` says."""
    if takes_any(name, allowed):
        return True
    listed: Sequence[str] = [name] if allowed is None or allowed == ANY else allowed
    return any(is_named(served, one) for one in listed)


def takes_any(name: str, allowed: Served) -> bool:
    """Tell whether an answer of any model may count: the spec says so, or its name is a label and names none."""
    return allowed == ANY or (allowed is None and is_label(name))
