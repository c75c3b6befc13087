"""How two artefacts differ, in words that hold no person's data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from audit_lib.records import parquet_source

RELATIVE: Final = 1e-9
ABSOLUTE: Final = 1e-12
"""Two numbers agree if they differ by at most ``max(RELATIVE * larger size, ABSOLUTE)``.

Sums are added in another order on another processor, which moves the last bits (some 1e-16); root
finders of score intervals stop within 1e-12. A published figure has at most six digits.
"""
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How an artefact differs from its recomputation.

    Parameters
    ----------
    exceeds : tuple of str
        Differences that the tolerance does not explain, the first few in words. Empty for a Parquet file
        that holds the same rows in other bytes: its format leaves the writer that freedom.
    numbers : int
        Numbers that differ within the tolerance.
    largest : float
        Largest relative difference among those.
    """

    exceeds: tuple[str, ...] = ()
    numbers: int = 0
    largest: float = 0.0


def compare(name: str, archived: bytes, recomputed: bytes) -> Difference | None:
    """Compare two versions of an artefact by what its file name says it is; None if the bytes are equal.

    Raises
    ------
    ValueError, OSError
        If an artefact is not what its name says.

    Examples
    --------
    >>> compare("a.json", b'{"x": 1.0}', b'{"x": 1.0}') is None
    True
    >>> compare("a.json", b'{"x": 1.0}', b'{"x": 1.5}').exceeds
    ('x: 1.0 archived, 1.5 recomputed',)
    >>> compare("a.json", b'{"x": 1.0}', b'{"x": 1.0000000000000002}').numbers
    1
    """
    if archived == recomputed:
        return None
    if name.endswith(".json"):
        found = _json_differences(json.loads(archived), json.loads(recomputed), "")
    elif name.endswith(".parquet"):
        found = _table_differences(archived, recomputed)
    else:
        return Difference(exceeds=(_first_line(archived, recomputed),))
    exceeds: list[str] = []
    within: list[float] = []
    for text, size in found:
        if size is None:
            exceeds.append(text)
        else:
            within.append(size)
    if not exceeds and not within and name.endswith(".json"):
        exceeds = ["the bytes differ although the values agree: it was not written by this library"]
    more = len(exceeds) - _SHOWN
    shown = (*exceeds[:_SHOWN], f"and {more} more") if more > 0 else tuple(exceeds)
    return Difference(exceeds=shown, numbers=len(within), largest=max(within, default=0.0))


# Each difference is a text and, where the tolerance explains it, its relative size.
_Found = tuple[str, float | None]


def _json_differences(archived: Any, recomputed: Any, path: str) -> Iterator[_Found]:
    where = path or "the document"
    if isinstance(archived, dict) and isinstance(recomputed, dict):
        if list(archived) != list(recomputed):
            yield f"{where}: has other keys, or in another order", None
            return
        for key in archived:
            yield from _json_differences(archived[key], recomputed[key], f"{path}.{key}" if path else key)
    elif isinstance(archived, list) and isinstance(recomputed, list):
        if len(archived) != len(recomputed):
            yield f"{where}: {len(archived)} entries archived, {len(recomputed)} recomputed", None
            return
        for place, pair in enumerate(zip(archived, recomputed, strict=True)):
            yield from _json_differences(*pair, f"{path}[{place}]")
    elif isinstance(archived, float) and isinstance(recomputed, float):
        if archived != recomputed:
            size = _within(archived, recomputed)
            yield f"{where}: {archived!r} archived, {recomputed!r} recomputed", size
    elif type(archived) is not type(recomputed) or archived != recomputed:
        numbers = all(isinstance(value, (int, float)) for value in (archived, recomputed))
        detail = f"{archived!r} archived, {recomputed!r} recomputed" if numbers else "is something else"
        yield f"{where}: {detail}", None


def each_number(archived: Any, recomputed: Any, path: str = "") -> Iterator[tuple[str, bool | None]]:
    """Yield each number of an archived document, and whether it comes out again within the tolerance.

    None where the recomputed document has no number at that place.

    Examples
    --------
    >>> list(each_number({"n": 3, "p": 0.5, "why": "x", "old": 2}, {"n": 3, "p": 0.4, "new": 1}))
    [('n', True), ('p', False), ('old', None)]
    """
    if isinstance(archived, dict):
        other = recomputed if isinstance(recomputed, dict) else {}
        for key in archived:
            yield from each_number(archived[key], other.get(key), f"{path}.{key}" if path else key)
    elif isinstance(archived, list):
        same_length = isinstance(recomputed, list) and len(archived) == len(recomputed)
        others = recomputed if same_length else [None] * len(archived)
        for place, pair in enumerate(zip(archived, others, strict=True)):
            yield from each_number(*pair, f"{path}[{place}]")
    elif _is_number(archived):
        if not _is_number(recomputed):
            yield path, None
        else:
            yield path, archived == recomputed or _within(float(archived), float(recomputed)) is not None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _within(archived: float, recomputed: float) -> float | None:
    """Relative difference if the tolerance explains it, else None."""
    gap, size = abs(archived - recomputed), max(abs(archived), abs(recomputed))
    if not math.isfinite(gap) or gap > max(RELATIVE * size, ABSOLUTE):
        return None
    return gap / size


def _table_differences(archived: bytes, recomputed: bytes) -> Iterator[_Found]:
    import pyarrow.parquet as pq

    left, right = (pq.read_table(parquet_source(content)) for content in (archived, recomputed))
    if left.schema != right.schema or len(left) != len(right):
        shapes = [f"{len(table)} rows of {table.num_columns} columns" for table in (left, right)]
        yield f"{shapes[0]} archived, {shapes[1]} recomputed, or of other names or types", None
        return
    for column in left.column_names:
        if left[column].equals(right[column]):
            continue
        pairs = zip(left[column].to_pylist(), right[column].to_pylist(), strict=True)
        for row, (one, other) in enumerate(pairs):
            if isinstance(one, float) and isinstance(other, float):
                if one != other and not (math.isnan(one) and math.isnan(other)):
                    yield f"column {column}, row {row}: another number", _within(one, other)
            elif one != other:
                yield f"column {column}, row {row}: another value", None


def _first_line(archived: bytes, recomputed: bytes) -> str:
    left, right = archived.split(b"\n"), recomputed.split(b"\n")
    for number, (one, other) in enumerate(zip(left, right, strict=False), start=1):
        if one != other:
            return f"differs from line {number} on"
    return f"{len(left)} lines archived, {len(right)} recomputed"
