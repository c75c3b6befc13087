"""Canonical JSON: one byte string for one value, so that digests mean something."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from json.encoder import encode_basestring
from typing import Any, Final

LARGEST: Final = 1 << 28
"""Bytes of the largest JSON document that is read: 256 MiB."""
DEEPEST: Final = 100
"""Levels of the most deeply nested one; this library writes none with more than a fifth of it."""
_MOST_DIGITS: Final = 400
"""Of a whole number; beyond it there is no double, and readers differ on what it is."""


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
    return _canonical(value).encode()


_canonical: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode
"""Made once: `json.dumps` makes an encoder for each call."""


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


def jcs(value: Any) -> bytes:
    r"""Return `value` as RFC 8785 writes JSON (JCS): the same bytes in every language that follows it.

    Its numbers are ECMAScript's: 1.0 is ``1`` and 1e-07 is ``1e-7``, which `canonical_json` writes as Python does.

    Raises
    ------
    ValueError
        If a number is not finite, or a whole number is none of the doubles that stand for one whole number alone.

    Examples
    --------
    >>> jcs({"b": [1.0, 1e-07, 1e-05], "a": "é"})
    b'{"a":"\xc3\xa9","b":[1,1e-7,0.00001]}'
    """
    return (_by_c(value) if _is_plain(value) else _jcs(value)).encode()


def _is_plain(value: Any) -> bool:
    """Whether Python's own encoder writes the value the same: one object with ASCII keys and no odd numbers."""
    return isinstance(value, dict) and all(
        key.isascii() and (each is None or type(each) in (str, bool) or _is_plain_number(each))
        for key, each in value.items()
    )


def _is_plain_number(value: Any) -> bool:
    if type(value) is list:
        return all(type(each) is float and _is_plain_number(each) for each in value)
    if type(value) is int:
        return abs(value) < 2**53
    written = repr(value)
    return type(value) is float and written[-2:] != ".0" and written.replace(".", "", 1).lstrip("-").isdigit()


def jcs_rows(columns: Mapping[str, Sequence[Any]]) -> Iterator[bytes]:
    r"""Yield, for each row of a table given by columns, what `jcs` makes of it as an object.

    Raises
    ------
    ValueError
        As `jcs`; if the columns are not all of one length.

    Examples
    --------
    >>> list(jcs_rows({"b": [1.0, None], "a": ["x", "y"]}))
    [b'{"a":"x","b":1}', b'{"a":"y","b":null}']
    """
    written = []
    for name in sorted(columns, key=lambda name: name.encode("utf-16-be")):
        beginning = f"{_text(name)}:"
        written.append([beginning + value for value in _column(columns[name])])
    for row in zip(*written, strict=True):
        yield f"{{{','.join(row)}}}".encode()


def _column(values: Sequence[Any]) -> list[str]:
    kinds = set(map(type, values))
    if kinds <= {str, type(None)}:
        known = {value: "null" if value is None else encode_basestring(value) for value in set(values)}
        return [known[value] for value in values]
    if kinds == {int} and max(map(abs, values)) < 2**53:
        return list(map(str, values))
    if kinds <= {float, type(None)}:
        return ["null" if value is None else _ecmascript(value) for value in values]
    return [_jcs(value) for value in values]


_by_c: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def _jcs(value: Any) -> str:
    if isinstance(value, dict):
        order = sorted(value.items(), key=lambda item: item[0].encode("utf-16-be"))
        return "{" + ",".join(f"{_text(key)}:{_jcs(each)}" for key, each in order) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_jcs, value)) + "]"
    if isinstance(value, float):
        return _ecmascript(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53 - 1:
        raise ValueError("a whole number beyond 2^53 - 1 is not one number in every language")
    return _text(value)


_text: Final = json.JSONEncoder(ensure_ascii=False).encode


def _ecmascript(number: float) -> str:
    """Return a double as ECMAScript's Number::toString writes it."""
    if not math.isfinite(number):
        raise ValueError("holds a number that is none (NaN or infinity)")
    if number == 0:
        return "0"
    written = repr(number)
    if "e" not in written and not written.endswith(".0"):
        return written
    sign, digits, exponent = Decimal(written).normalize().as_tuple()
    figures, place = "".join(map(str, digits)), len(digits) + int(exponent)
    if 0 < place <= 21:
        text = figures[:place].ljust(place, "0") + (f".{figures[place:]}" if place < len(figures) else "")
    elif -6 < place <= 0:
        text = f"0.{'0' * -place}{figures}"
    else:
        rest = f".{figures[1:]}" if len(figures) > 1 else ""
        text = f"{figures[0]}{rest}e{'+' if place > 0 else '-'}{abs(place - 1)}"
    return f"-{text}" if sign else text


def strict_json(content: bytes) -> Any:
    r"""Return the value of a JSON document that means one thing only.

    Raises
    ------
    ValueError
        If it is no JSON in UTF-8, holds a key twice, a number that is none or no double, half of a
        pair of surrogates, is nested more deeply than `DEEPEST` or larger than `LARGEST`. The message
        repeats nothing of the document.

    Examples
    --------
    >>> strict_json(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: holds a key twice
    """
    check_size(content)
    try:
        document = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_once,
            parse_constant=_no_number,
            parse_float=_finite,
            parse_int=whole_number,
        )
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON from line {error.lineno}, column {error.colno} on") from None
    check_depth(document)
    if b"\\u" in content:
        try:
            json.dumps(document, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("holds half of a pair of surrogates, which is no character") from None
    return document


_TOO_DEEP: Final = f"is nested too deeply (more than {DEEPEST} levels)"


def check_size(content: bytes) -> None:
    """Raise ValueError if a document is larger than `LARGEST`."""
    if len(content) > LARGEST:
        raise ValueError(f"is larger than {LARGEST >> 20} MiB")


def check_depth(document: Any) -> None:
    """Raise ValueError if a document is nested more deeply than `DEEPEST`."""
    level = [document] if isinstance(document, (dict, list)) else []
    for _ in range(DEEPEST):
        if not level:
            return
        parts = (one.values() if isinstance(one, dict) else one for one in level)
        level = [part for part in chain.from_iterable(parts) if isinstance(part, (dict, list))]
    if level:
        raise ValueError(_TOO_DEEP)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("holds a key twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError("holds a number that is none (NaN or infinity)")


def whole_number(text: str) -> int:
    """Return the whole number that a document holds; raise ValueError for one of more digits than any double has."""
    if len(text) > _MOST_DIGITS:
        raise ValueError("holds a whole number of too many digits")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("holds a number that is no double")
    return number


def sha256(content: bytes) -> str:
    """Return the SHA-256 of `content` in hex."""
    return hashlib.sha256(content).hexdigest()
