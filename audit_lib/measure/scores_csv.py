"""``metrics/scores.csv``: the rows that the statutory tables count, for a spreadsheet and for checks without Parquet.

One line an ordinary variant, in the order of their ids; docs/reference/scores-csv.md describes the columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from audit_lib.documents.statuses import STATUSES
from audit_lib.large_file import Content, Sink
from audit_lib.measure.rows.coded import Coded
from audit_lib.measure.rows.in_order import SortedIds
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
_COMBINED: Final = 1 << 10
"""Combinations of labels that are written once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Few:
    """Columns next to each other of which few values occur, as they are written: a value is looked up, not made."""

    labels: Sequence[str]
    codes: NDArray[Any]
    """Of all rows: put together as they lie, so that only one number of each is looked for in another order."""

    def then(self, other: _Few) -> _Few:
        """Return both, as one column."""
        labels = [f"{one},{two}" for one in self.labels for two in other.labels]
        codes = self.codes.astype(np.min_scalar_type(-len(labels)))
        codes *= len(other.labels)
        codes += other.codes
        return _Few(labels=labels, codes=codes)

    def texts(self) -> Callable[[_Part], pa.Array]:
        """Return what writes them."""
        labels = pa.array(self.labels, pa.string())
        return lambda part: labels.take(pa.array(self.codes[part.at]))


class _Part(NamedTuple):
    """Some rows, in the order in which they are written."""

    ids: pa.Array
    at: NDArray[np.int32]


_Column = _Few | Callable[[_Part], pa.Array]


def scores_csv(rows: Rows, ids: SortedIds) -> Content:
    """Return the rows as CSV: ids, groups, what a stratum may be split by, and what was scored and decided.

    Parameters
    ----------
    rows : Rows
        Of the whole audit.
    ids : SortedIds
        Ids of the variants.
    """
    back = rows.by_variant()
    others = sorted(rows.columns.keys() - {*_IDS, *rows.attributes, "model", "qualified", *_LEFT_OUT})
    coded = [*_IDS, *rows.attributes, "model", *others]
    weights = [] if rows.weights is None else ["sampling_weight"]
    out = Sink()
    taken = {"variant_id", *_IDS, "model", "qualified", *weights, *_LAST}
    names = [name if name in (*_IDS, "model") or name not in taken else f"source:{name}" for name in coded]
    header = ["variant_id", *names, "qualified", *weights, *_LAST]
    out.write((",".join(map(cell, header)) + "\n").encode())
    columns = _together(
        [lambda part: written(part.ids), *(_of_labels(rows.columns[name]) for name in coded), *_numbers(rows)]
    )
    start = 0
    for block in ids.blocks(_LINES):
        part = _Part(ids=block, at=back[start : start + len(block)])
        lines = pc.binary_join_element_wise(*(column(part) for column in columns), ",")
        # The texts of an array lie one after another in one buffer.
        _, offsets, texts = lines.buffers()
        first, last = np.frombuffer(offsets, np.int32)[[lines.offset, lines.offset + len(lines)]].tolist()
        out.write(memoryview(texts)[first:last])
        start += len(block)
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


def _together(columns: Iterable[_Column]) -> list[Callable[[_Part], pa.Array]]:
    """Return what writes each column; those next to each other are one where few combinations are possible."""
    joined: list[_Column] = []
    for column in columns:
        last = joined[-1] if joined else None
        if (
            isinstance(last, _Few)
            and isinstance(column, _Few)
            and len(last.labels) * len(column.labels) <= _COMBINED
        ):
            joined[-1] = last.then(column)
        else:
            joined.append(column)
    return [column.texts() if isinstance(column, _Few) else column for column in joined]


def _of_labels(column: Coded) -> _Column:
    if len(column.dictionary) <= _FEW:
        return _few([*map(cell, column.dictionary.to_pylist()), ""], column.codes)

    def texts(part: _Part) -> pa.Array:
        codes = column.codes[part.at]
        return written(column.dictionary.take(pa.array(codes, mask=codes < 0)))

    return texts


def _few(labels: Sequence[str], codes: NDArray[Any]) -> _Few:
    """Take labels and the codes of all rows; the last label is that of a code below 0."""
    last = len(labels) - 1
    kind = np.promote_types(codes.dtype, np.min_scalar_type(-len(labels)))
    return _Few(labels=labels, codes=np.where(codes < 0, kind.type(last), codes))


def _numbers(rows: Rows) -> Iterator[_Column]:
    decisions, weights = rows.decisions, rows.weights
    yield _few(["no", "yes", ""], rows.qualified)
    if weights is not None:
        yield lambda part: pa.array(list(map(repr, weights[part.at].tolist())), pa.string())
    yield _few([*STATUSES, ""], rows.status)
    yield lambda part: float_texts(rows.score[part.at])
    highest = int(decisions.rank.max(initial=0))
    if highest <= _COMBINED:
        yield _few(["", *map(str, range(1, highest + 1))], decisions.rank)
    else:
        yield lambda part: _ranks(decisions.rank[part.at])
    yield _few(["0", "1", ""], decisions.selected)
    yield _few(["0\n", "1\n"], decisions.tied_at_cutoff.astype(np.int8))


def _ranks(rank: NDArray[np.int32]) -> pa.Array:
    return pc.cast(pa.array(rank, mask=rank == 0), pa.string()).fill_null("")
