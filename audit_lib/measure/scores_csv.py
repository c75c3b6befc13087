"""``metrics/scores.csv``: the rows that the statutory tables count, for a spreadsheet and for checks without Parquet.

One line an ordinary variant, in the order of their ids; docs/reference/scores-csv.md describes the columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from audit_lib.documents.statuses import STATUSES
from audit_lib.large_file import Content, Sink
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
_BEGINS: Final = np.isin(np.arange(256), [ord(one) for one in _FORMULA])
_HOLDS: Final = np.isin(np.arange(256), [ord(one) for one in '",\r\n'])
_FEW: Final = 1 << 16
"""Labels of a column that are written once, and not for each row."""


def scores_csv(rows: Rows, ids: pa.ChunkedArray) -> Content:
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
    out = Sink()
    taken = {"variant_id", *_IDS, "model", "qualified", *weights, *_LAST}
    names = [name if name in (*_IDS, "model") or name not in taken else f"source:{name}" for name in coded]
    header = ["variant_id", *names, "qualified", *weights, *_LAST]
    out.write((",".join(map(cell, header)) + "\n").encode())
    labels = [_labels(rows.columns[name]) for name in coded]
    for start in range(0, len(rows), _LINES):
        part = back[start : start + _LINES]
        columns = [
            written(ids.slice(start, _LINES).combine_chunks()),
            *(_of_rows(rows.columns[name], own, part) for name, own in zip(coded, labels, strict=True)),
            *_numbers(rows, part),
        ]
        lines = pc.binary_join_element_wise(*columns, ",")
        # The texts of an array lie one after another in one buffer.
        _, offsets, texts = lines.buffers()
        first, last = np.frombuffer(offsets, np.int32)[[lines.offset, lines.offset + len(lines)]].tolist()
        out.write(memoryview(texts)[first:last])
    return out.content()


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


def written(texts: pa.Array) -> pa.Array:
    """Return each text as `cell` writes it, and nothing for none.

    Examples
    --------
    >>> written(pa.array(["a", "", None, "a,b"])).to_pylist()
    ['a', '""', '', '"a,b"']
    """
    if _is_plain(texts):
        return texts.fill_null("")
    return pa.array(["" if text is None else cell(text) for text in texts.to_pylist()], pa.string())


def _is_plain(texts: pa.Array) -> bool:
    """Tell whether every text is written as it is."""
    if not len(texts):
        return True
    _, offsets, content = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    codes = np.frombuffer(content if content is not None else b"", np.uint8)
    long = ends[1:] > ends[:-1]
    if _BEGINS[codes[ends[:-1][long]]].any() or _HOLDS[codes[ends[0] : ends[-1]]].any():
        return False
    return bool((long | texts.is_null().to_numpy(zero_copy_only=False)).all())


def float_texts(values: NDArray[np.float64]) -> pa.Array:
    """Return numbers as Python writes them, and nothing for NaN.

    Examples
    --------
    >>> float_texts(np.array([0.1, 2.0, np.nan, 1e-5])).to_pylist()
    ['0.1', '2.0', '', '1e-05']
    """
    size = np.abs(values)
    # Between these sizes Arrow writes a number that is not whole by the same digits and in the same form.
    same = (size >= 1e-4) & (size < 1e10) & (values != np.floor(values))
    found = pc.cast(pa.array(values), pa.string())
    other = np.flatnonzero(~same)
    if not other.size:
        return found
    known, place = np.unique(values[other].view(np.int64), return_inverse=True)
    texts = ["" if one != one else repr(one) for one in known.view(np.float64).tolist()]
    return pc.replace_with_mask(found, pa.array(~same), pa.array(texts, pa.string()).take(pa.array(place)))


def _labels(column: Coded) -> pa.Array | None:
    """Return the labels of a column as they are written, and at the end what stands for none; None of too many."""
    if len(column.dictionary) > _FEW:
        return None
    return pa.array([*map(cell, column.dictionary.to_pylist()), ""], pa.string())


def _of_rows(column: Coded, labels: pa.Array | None, part: NDArray[np.int64]) -> pa.Array:
    codes = column.codes[part]
    if labels is None:
        return written(column.dictionary.take(pa.array(codes, mask=codes < 0)))
    return _picked(labels, codes)


def _picked(labels: pa.Array, codes: NDArray[Any]) -> pa.Array:
    """Return the label of each code; the last one for a code below 0."""
    return labels.take(pa.array(np.where(codes < 0, len(labels) - 1, codes)))


def _numbers(rows: Rows, part: NDArray[np.int64]) -> Iterator[pa.Array]:
    decisions = rows.decisions.take(part)
    yield _picked(pa.array(["no", "yes", ""]), rows.qualified[part])
    if rows.weights is not None:
        yield pa.array(list(map(repr, rows.weights[part].tolist())), pa.string())
    yield _picked(pa.array([*STATUSES, ""]), rows.status[part])
    yield float_texts(rows.score[part])
    yield pc.cast(pa.array(decisions.rank, mask=decisions.rank == 0), pa.string()).fill_null("")
    yield _picked(pa.array(["0", "1", ""]), decisions.selected)
    yield _picked(pa.array(["0\n", "1\n", "\n"]), decisions.tied_at_cutoff.astype(np.int8))
