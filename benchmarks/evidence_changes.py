"""Random changes of a file: of its bytes, and of a JSON document's values as the library would have written them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any, Final

from audit_lib.canonical import canonical_json, pretty_json

_TIME: Final = re.compile(rb"T\d\d:\d\d:\d\d")
ODD_VALUES: Final = (
    None, True, -1, 0, 2**63, 10**30, 1.5, -0.0, 1e308, "", "\x00", "\ud800", "\u202e", "..", "../../x", "/etc/passwd",
    "s3://x/y", "x" * 5000, "NaN", "0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59.999999+00:00", [], {}, [[]],
    [None], {"": None}, {"a": {"a": {"a": 1}}},
)  # fmt: skip
"""What may stand in the place of any value."""


def changed(content: bytes, draw: random.Random) -> bytes:
    """Return `content` with one random change: of its JSON if it is some, or of its bytes."""
    if draw.random() < 0.5:
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            return of_bytes(content, draw)
        if isinstance(document, (dict, list)) and document:
            return of_document(document, draw, pretty=content[1:2] == b"\n")
    return of_bytes(content, draw)


def of_bytes(content: bytes, draw: random.Random) -> bytes:
    """Return `content` with a bit, a byte, a span, a digit or a time changed, taken away or put in."""
    if not content:
        return bytes([draw.randrange(256)])
    place = draw.randrange(len(content))
    end = min(len(content), place + draw.randrange(1, 64))
    kind = draw.randrange(9)
    if kind == 0:
        return content[:place] + bytes([content[place] ^ (1 << draw.randrange(8))]) + content[place + 1 :]
    if kind == 1:
        return content[:place] + bytes([draw.randrange(256)]) + content[place:]
    if kind == 2:
        return content[:place] + content[place + 1 :]
    if kind == 3:
        return content[:place]
    if kind == 4:
        return content[:place] + content[end:]
    if kind == 5:
        return content[:end] + content[place:]
    if kind == 6:
        return re.sub(rb"\d", lambda d: str((int(d[0]) + 1) % 10).encode(), content, count=1)
    if kind == 7:
        return _TIME.sub(b"T00:00:00", content, count=1)
    return content[:place] + draw.choice((b"[" * 5000, b'{"a":' * 5000, b"9" * 6000, b"\xff\xfe", b"1e999"))


def of_document(document: Any, draw: random.Random, *, pretty: bool) -> bytes:
    """Return a document with one value changed, gone, twice or moved, in the form that the library writes."""
    place = draw.choice(list(places(document)))
    holder = document
    for key in place[:-1]:
        holder = holder[key]
    last = place[-1]
    kind = draw.randrange(5)
    if kind == 0:
        del holder[last]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(last, holder[last])
    elif kind == 1:
        holder[f"{last}x"] = holder[last]
    elif kind == 2:
        holder[last] = other(holder[last])
    else:
        holder[last] = draw.choice(ODD_VALUES)
    write = pretty_json if pretty else canonical_json
    try:
        return write(document)
    except ValueError:  # half of a surrogate pair, or a number beyond doubles, which the library never writes
        return json.dumps(document, sort_keys=not pretty).encode()


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value, of those that hold others too."""
    parts = list(document.items() if isinstance(document, dict) else enumerate(document))
    for key, value in parts:
        yield (*path, key)
        if isinstance(value, (dict, list)):
            yield from places(value, (*path, key))


def other(value: Any) -> Any:
    """Return another value of the same kind that could stand there."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        at = re.search(r"T\d\d:\d\d:\d\d", value)
        if at:
            later = "T23:59:59" if at[0] != "T23:59:59" else "T23:59:58"
            return re.sub(r"T\d\d:\d\d:\d\d", later, value)
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    if value is None:
        return "x"
    return [1] if value in ([], {}) else type(value)()
