"""Canonical JSON: one byte string for one value, so that digests mean something."""

from __future__ import annotations

import hashlib
import json
from typing import Any


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
    """Return `value` as indented JSON in its own key order, for people to read; deterministic too."""
    return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def sha256(content: bytes) -> str:
    """Return the SHA-256 of `content` in hex."""
    return hashlib.sha256(content).hexdigest()
