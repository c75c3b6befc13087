"""Where in a JSON document a value is: ``result.candidates[0].score``."""

from __future__ import annotations

import re
from typing import Any, cast

_PATH = re.compile(r"(?:\$\.?)?((?:[A-Za-z_][A-Za-z0-9_-]*|\[\d+\])(?:\.[A-Za-z_][A-Za-z0-9_-]*|\[\d+\])*)")
_STEP = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]")


def steps(path: str) -> tuple[str | int, ...]:
    """Return the keys and places of a path.

    Raises
    ------
    ValueError
        If it is none: keys joined by points, places in brackets, ``$`` in front if one likes.

    Examples
    --------
    >>> steps("$.result.candidates[0].score")
    ('result', 'candidates', 0, 'score')
    """
    match = _PATH.fullmatch(path)
    if match is None:
        raise ValueError(f"{path!r} is not a path such as result.candidates[0].score")
    return tuple(key or int(place) for key, place in _STEP.findall(match[1]))


def value_at(document: Any, path: tuple[str | int, ...]) -> Any:
    """Return the value at a path.

    Raises
    ------
    LookupError
        If the document has no such place.

    Examples
    --------
    >>> value_at({"a": [1, {"b": 2}]}, ("a", 1, "b"))
    2
    """
    found: Any = document
    for step in path:
        if not isinstance(found, list if isinstance(step, int) else dict):
            raise LookupError(f"there is no {step!r}")
        found = cast(Any, found)[step]
    return found
