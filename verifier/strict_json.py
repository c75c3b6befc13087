"""JSON that means one thing only, and the two forms in which evidence is written."""

from __future__ import annotations

import json
import math
from typing import Any

LARGEST = 1 << 28
DEEPEST = 100
_MOST_DIGITS = 400


class OddError(ValueError):
    """A document is not what it must be; the message repeats nothing of it."""


def read(content: bytes) -> Any:
    """Return the value of a document.

    Raises
    ------
    OddError
        If it is no JSON in UTF-8, holds a key twice or a number that is none, or is too deep or too large.
    """
    if len(content) > LARGEST:
        raise OddError(f"is larger than {LARGEST >> 20} MiB")
    try:
        document = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_once,
            parse_constant=_no_number,
            parse_float=_finite,
            parse_int=_whole,
        )
    except RecursionError:
        raise OddError(_TOO_DEEP) from None
    except UnicodeDecodeError:
        raise OddError("is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise OddError(f"is not JSON from line {error.lineno}, column {error.colno} on") from None
    _check_depth(document)
    if b"\\u" in content:
        canonical(document)  # half of a pair of surrogates is no character
    return document


def canonical(value: Any) -> bytes:
    """Return a value with sorted keys and no spaces; floats in Python's shortest form."""
    return _text(value, sort_keys=True, separators=(",", ":"))


def pretty(value: Any) -> bytes:
    """Return a value indented by two, keys in their order."""
    return _text(value, indent=2) + b"\n"


def is_as_written(content: bytes, document: Any) -> bool:
    """Whether a document has the bytes of one of the two forms."""
    return content == pretty(document) or content == canonical(document)


_TOO_DEEP = f"is nested too deeply (more than {DEEPEST} levels)"


def _text(value: Any, **form: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, **form).encode()
    except ValueError:
        raise OddError("holds a character that is none") from None


def _check_depth(document: Any) -> None:
    level = [document]
    for _ in range(DEEPEST):
        parts = [
            part
            for one in level
            if isinstance(one, (dict, list))
            for part in (one.values() if isinstance(one, dict) else one)
        ]
        level = [part for part in parts if isinstance(part, (dict, list))]
        if not level:
            return
    raise OddError(_TOO_DEEP)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise OddError("holds a key twice")
    return found


def _no_number(text: str) -> Any:
    raise OddError("holds a number that is none (NaN or infinity)")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise OddError("holds a number that is no double")
    return number


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise OddError("holds a whole number of too many digits")
    return int(text)
