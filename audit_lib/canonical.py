"""Canonical JSON: one byte string for one value, so that digests mean something."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, Final

LARGEST: Final = 1 << 28
"""Bytes of the largest JSON document that is read: 256 MiB."""
DEEPEST: Final = 100
"""Levels of the most deeply nested one; this library writes none with more than a fifth of it."""


def canonical_json(value: Any) -> bytes:
    r"""Return `value` as JSON with sorted keys, no spaces, UTF-8, and no NaN or infinity.

    Floats are written by Python's shortest round-trip form, so equal doubles give equal bytes.

    Raises
    ------
    ValueError
        If a number is not finite.

    Examples
    --------
    >>> canonical_json({"b": 1.0, "a": "é"})
    b'{"a":"\xc3\xa9","b":1.0}'
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def pretty_json(value: Any) -> bytes:
    r"""Return `value` as indented JSON in its own key order, for people to read; deterministic too.

    The bytes are those of ``json.dumps(value, indent=2)``, which would write them without its C encoder.

    Raises
    ------
    ValueError
        If a number is not finite.

    Examples
    --------
    >>> pretty_json({"b": [1.0, "é"], "a": {}})
    b'{\n  "b": [\n    1.0,\n    "\xc3\xa9"\n  ],\n  "a": {}\n}\n'
    """
    import msgspec  # here, since a DAG file is parsed with this module and writes nothing

    return (
        msgspec.json.format(json.dumps(value, ensure_ascii=False, allow_nan=False).encode(), indent=2) + b"\n"
    )


def strict_json(content: bytes) -> Any:
    r"""Return the value of a JSON document that means one thing only.

    Raises
    ------
    ValueError
        If it is no JSON in UTF-8, holds a key twice, a number that is none or no double, is nested more deeply than
        `DEEPEST` or larger than `LARGEST`. The message repeats nothing of the document.

    Examples
    --------
    >>> strict_json(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: holds a key twice
    """
    check_size(content)
    try:
        document = json.loads(
            content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite
        )
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON from line {error.lineno}, column {error.colno} on") from None
    check_depth(document)
    return document


_TOO_DEEP: Final = f"is nested too deeply (more than {DEEPEST} levels)"


def check_size(content: bytes) -> None:
    """Raise ValueError if a document is larger than `LARGEST`."""
    if len(content) > LARGEST:
        raise ValueError(f"is larger than {LARGEST >> 20} MiB")


def check_depth(document: Any) -> None:
    """Raise ValueError if a document is nested more deeply than `DEEPEST`."""
    level = [document]
    for _ in range(DEEPEST + 1):
        level = [
            part
            for one in level
            if isinstance(one, (dict, list))
            for part in (one.values() if isinstance(one, dict) else one)
            if isinstance(part, (dict, list))
        ]
        if not level:
            return
    raise ValueError(_TOO_DEEP)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("holds a key twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError("holds a number that is none (NaN or infinity)")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("holds a number that is no double")
    return number


def sha256(content: bytes) -> str:
    """Return the SHA-256 of `content` in hex."""
    return hashlib.sha256(content).hexdigest()
