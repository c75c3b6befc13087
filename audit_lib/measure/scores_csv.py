"""``metrics/scores.csv``: the rows that the statutory tables count, for a spreadsheet and for checks without Parquet.

One line an ordinary variant, in the order of their ids; docs/reference/scores-csv.md describes the columns.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from audit_lib.documents.statuses import STATUSES
from audit_lib.measure.rows.coded import Coded
from audit_lib.measure.rows.scored import Rows
from audit_lib.records import SHOWN_NAME

SCORES_CSV: Final = "scores.csv"
_IDS: Final = ("application_id", "round_id", "position")
_LAST: Final = ("status", "score", "rank", "selected", "tied_at_cutoff")
_LEFT_OUT: Final = (SHOWN_NAME, "prompt_id")
_LINES: Final = 1 << 16
"""Lines that are made at a time."""
_QUOTED: Final = re.compile(r'[",\r\n]')
_FORMULA: Final = tuple("=+-@\t\r'")
"""How a text begins that a spreadsheet runs as a formula, or that could be taken for one that was made harmless."""


def scores_csv(rows: Rows, ids: pa.ChunkedArray) -> bytes:
    """Return the rows as CSV: ids, groups, what a stratum may be split by, and what was scored and decided.

    Parameters
    ----------
    rows : Rows
        Of the whole audit.
    ids : ChunkedArray of str
        Ids of the variants, sorted.
    """
    back = np.empty(len(rows), dtype=np.int64)
    back[rows.place] = np.arange(len(rows))
    others = sorted(rows.columns.keys() - {*_IDS, *rows.attributes, "model", "qualified", *_LEFT_OUT})
    coded = [*_IDS, *rows.attributes, "model", *others]
    weights = [] if rows.weights is None else ["sampling_weight"]
    out = io.BytesIO()
    taken = {"variant_id", *_IDS, "model", "qualified", *weights, *_LAST}
    names = [name if name in (*_IDS, "model") or name not in taken else f"source:{name}" for name in coded]
    header = ["variant_id", *names, "qualified", *weights, *_LAST]
    out.write((",".join(map(cell, header)) + "\n").encode())
    labels = [_cells(rows.columns[name]) for name in coded]
    for start in range(0, len(rows), _LINES):
        part = back[start : start + _LINES]
        columns = [
            list(map(cell, ids.slice(start, _LINES).to_pylist())),
            *(own[rows.columns[name].codes[part]].tolist() for name, own in zip(coded, labels, strict=True)),
            *_numbers(rows, part),
        ]
        out.write("".join(f"{','.join(line)}\n" for line in zip(*columns, strict=True)).encode())
    return out.getvalue()


def cell(text: str) -> str:
    """Return a text as it is written, so that it is read back, and that no spreadsheet runs it.

    Examples
    --------
    >>> cell("a,b"), cell("=1+1"), cell("'"), cell("")
    ('"a,b"', "'=1+1", "''", '""')
    """
    if text[:1] in _FORMULA and text:
        text = f"'{text}"
    if not text or _QUOTED.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def _cells(column: Coded) -> NDArray[Any]:
    """Return each label as it is written, and at the end what stands for none."""
    return np.array([*map(cell, column.dictionary.to_pylist()), ""], dtype=object)


def _numbers(rows: Rows, part: NDArray[np.int64]) -> Iterator[Sequence[str]]:
    flags, status = np.array(["0", "1", ""], dtype=object), np.array([*STATUSES, ""], dtype=object)
    decisions = rows.decisions.take(part)
    yield np.array(["no", "yes", ""], dtype=object)[rows.qualified[part]].tolist()
    if rows.weights is not None:
        yield list(map(repr, rows.weights[part].tolist()))
    yield status[rows.status[part]].tolist()
    yield ["" if score != score else repr(score) for score in rows.score[part].tolist()]
    yield [str(rank) if rank else "" for rank in decisions.rank.tolist()]
    yield flags[decisions.selected].tolist()
    yield flags[decisions.tied_at_cutoff.astype(np.int8)].tolist()
