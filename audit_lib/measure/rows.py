"""The scored rows of an audit as arrays: the sufficient statistics that every metric starts from.

Each shard's scores become columns of numbers and codes, placed by the position of their variant in the
sorted table of variants. Shards merge exactly: any cut of the rows, merged in any order, gives the same
arrays, so one machine and 64 give the same integers and the same floats.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.errors import EvidenceError, SpecError
from audit_lib.measure.decision import Decisions, decide
from audit_lib.records import ANSWERED, STATUSES
from audit_lib.registry import did_you_mean
from audit_lib.run import Run
from audit_lib.spec import AuditSpec

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

_VARIANT_COLUMNS: Final = ("variant_id", "application_id", "position", "round_id", "recorded_selected")
_SCORE_COLUMNS: Final = ("variant_id", "repeat", "model", "label_mass", "score", "selected", "status")


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """A column of labels: ``labels[codes[i]]`` is row i's, and -1 stands for unknown.

    Parameters
    ----------
    codes : ndarray of int32
        One a row.
    labels : tuple of str
        Sorted.
    """

    codes: Codes
    labels: tuple[str, ...]

    @classmethod
    def encode(cls, column: pa.ChunkedArray) -> Coded:
        """Code a column of strings by their sorted order."""
        encoded = column.combine_chunks().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        labels = encoded.dictionary.to_pylist()
        order = np.array(sorted(range(len(labels)), key=labels.__getitem__), dtype=np.int32)
        rank = np.empty(len(labels) + 1, dtype=np.int32)
        rank[order] = np.arange(len(labels), dtype=np.int32)
        rank[-1] = -1
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return cls(codes=rank[codes], labels=tuple(labels[i] for i in order))

    def code(self, label: str) -> int:
        """Return a label's code; -2, which no row has, for a label that no row has."""
        return self.labels.index(label) if label in self.labels else -2

    def take(self, index: NDArray[Any] | slice) -> Coded:
        """Return the column of some of the rows."""
        return Coded(codes=self.codes[index], labels=self.labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the model answered to each variant; NaN and -1 where it has not (yet).

    Parameters
    ----------
    score, label_mass : ndarray of float, shape (variants,)
        Mean over the repeats that were answered.
    status : ndarray of int8
        Index into ``records.STATUSES``: that of the first repeat with an answer, else of the first one.
    recorded : ndarray of int8
        A recorded decision: 1, 0, or -1 for none.
    model : Coded
        Who answered.
    """

    score: Floats
    label_mass: Floats
    status: NDArray[np.int8]
    recorded: NDArray[np.int8]
    model: Coded

    @classmethod
    def of_shard(cls, scores: pa.Table, variant_ids: pa.Array) -> Answers:
        """Place a shard's score rows at their variants.

        Raises
        ------
        EvidenceError
            If a row's variant is not in the table of variants.
        """
        n = len(variant_ids)
        found = pc.index_in(scores["variant_id"], value_set=variant_ids)
        if found.null_count:
            raise EvidenceError(f"scores: {found.null_count} rows of variants that were never made")
        place = found.to_numpy().astype(np.int64)
        code = {status: number for number, status in enumerate(STATUSES)}
        status_labels = Coded.encode(scores["status"])
        status = np.array([code.get(label, -1) for label in status_labels.labels], dtype=np.int8)[status_labels.codes]
        answered = np.isin(status, [code[name] for name in ANSWERED])
        # Repeats in order, answered ones first: their first row names the status, their means are the score.
        order = np.lexsort((scores["repeat"].to_numpy(), ~answered, place))
        place, status, answered = place[order], status[order], answered[order]
        first = np.flatnonzero(np.r_[True, np.diff(place) != 0]) if place.size else np.empty(0, dtype=np.int64)

        def mean(name: str) -> Floats:
            values = scores[name].to_numpy()[order].astype(np.float64)
            known = answered & ~np.isnan(values)
            total = np.bincount(place[known], weights=values[known], minlength=n)
            count = np.bincount(place[known], minlength=n)
            with np.errstate(invalid="ignore"):
                return np.where(count > 0, total / count, np.nan)

        def scatter(values: NDArray[Any], fill: int, dtype: type) -> NDArray[Any]:
            out = np.full(n, fill, dtype=dtype)
            out[place[first]] = values[first]
            return out

        model = Coded.encode(scores["model"])
        recorded = scores["selected"].cast(pa.int8()).combine_chunks().fill_null(-1).to_numpy(zero_copy_only=False)
        return cls(
            score=mean("score"),
            label_mass=mean("label_mass"),
            status=scatter(status, -1, np.int8),
            recorded=scatter(recorded[order], -1, np.int8),
            model=Coded(codes=scatter(model.codes[order], -1, np.int32), labels=model.labels),
        )

    def merge(self, other: Answers) -> Answers:
        """Return both shards' answers. A variant's rows are in one shard, so nothing is added up.

        Raises
        ------
        EvidenceError
            If both hold the same variant.
        """
        mine, theirs = self.status >= 0, other.status >= 0
        if (mine & theirs).any():
            raise EvidenceError(f"scores: {int((mine & theirs).sum())} variants stand in two shards")
        labels = tuple(sorted({*self.model.labels, *other.model.labels}))
        recode = [np.array([labels.index(m) for m in part.model.labels] + [-1], dtype=np.int32) for part in (self, other)]
        model = np.where(theirs, recode[1][other.model.codes], recode[0][self.model.codes])
        return Answers(
            score=np.where(theirs, other.score, self.score),
            label_mass=np.where(theirs, other.label_mass, self.label_mass),
            status=np.where(theirs, other.status, self.status),
            recorded=np.where(theirs, other.recorded, self.recorded),
            model=Coded(codes=model, labels=labels),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of an audit, or of one stratum of it.

    Parameters
    ----------
    levels : mapping of str to str
        Which stratum, such as ``{"position": "retail"}``; empty for the whole audit.
    cells : list of dict
        The groups; `group` holds indices into it, -1 where an attribute is unknown.
    columns : mapping of str to Coded
        Attributes, ``position``, ``model``, ``application_id``, ``round_id``.
    group : ndarray of int
        Intersectional group of each row.
    score, label_mass : ndarray of float
        NaN where the model gave no answer.
    status : ndarray of int8
        Index into ``records.STATUSES``.
    decisions : Decisions
        Who is selected.
    """

    levels: Mapping[str, str]
    cells: list[dict[str, str]]
    columns: Mapping[str, Coded]
    group: Codes
    score: Floats
    label_mass: Floats
    status: NDArray[np.int8]
    decisions: Decisions

    def __len__(self) -> int:
        return int(self.score.size)

    @property
    def application(self) -> Codes:
        """Code of each row's application: the person or dossier."""
        return self.columns["application_id"].codes

    @property
    def round(self) -> Codes:
        """Code of each row's round; -1 for none."""
        return self.columns["round_id"].codes

    def members(self, cell: Mapping[str, str]) -> NDArray[np.bool_]:
        """Return which rows have all the levels of `cell`, which may name some of the attributes only."""
        mask = np.ones(len(self), dtype=bool)
        for axis, level in cell.items():
            mask &= self.columns[axis].codes == self.columns[axis].code(level)
        return mask

    def take(self, index: NDArray[Any], levels: Mapping[str, str]) -> Rows:
        """Return some of the rows as a stratum."""
        return Rows(
            levels=levels,
            cells=self.cells,
            columns={name: column.take(index) for name, column in self.columns.items()},
            group=self.group[index],
            score=self.score[index],
            label_mass=self.label_mass[index],
            status=self.status[index],
            decisions=self.decisions.take(index),
        )


def load_rows(run: Run, shards: Sequence[int]) -> tuple[Rows, pa.Array]:
    """Read variants and all shards' scores, and decide who is selected.

    Returns
    -------
    Rows, Array of str
        The rows, and their variant ids, sorted.
    """
    names = [*_VARIANT_COLUMNS, *run.spec.groups.axes]
    variants = _read(run.stage("variants").read("variants.parquet"), names).sort_by("variant_id")
    ids = variants["variant_id"].combine_chunks()
    merged: Answers | None = None
    for shard in shards:
        part = Answers.of_shard(_read(run.stage(f"scores/{shard}").read("scores.parquet"), _SCORE_COLUMNS), ids)
        merged = part if merged is None else merged.merge(part)
    if merged is None:
        raise EvidenceError(f"{run.uri}: no shard of scores")
    return make_rows(variants, merged, run.spec), ids


def make_rows(variants: pa.Table, answers: Answers, spec: AuditSpec) -> Rows:
    """Join variants and answers, and apply the spec's decision rule."""
    columns = {name: Coded.encode(variants[name]) for name in ("application_id", "position", "round_id")}
    columns |= {axis: Coded.encode(variants[axis]) for axis in spec.groups.axes} | {"model": answers.model}
    recorded = variants["recorded_selected"].cast(pa.int8()).combine_chunks().fill_null(-1).to_numpy(zero_copy_only=False)
    recorded = np.where(answers.recorded >= 0, answers.recorded, recorded)
    cells = spec.groups.cells()
    group = np.full(len(answers.score), -1, dtype=np.int32)
    for number, cell in enumerate(cells):
        inside = np.ones(group.size, dtype=bool)
        for axis, level in cell.items():
            inside &= columns[axis].codes == columns[axis].code(level)
        group[inside] = number
    return Rows(
        levels={},
        cells=cells,
        columns=columns,
        group=group,
        score=answers.score,
        label_mass=answers.label_mass,
        status=answers.status,
        decisions=decide(answers.score, columns["round_id"].codes, recorded, spec.decision, spec.seed),
    )


def strata(rows: Rows, spec: AuditSpec) -> Iterator[Rows]:
    """Split rows by each entry of ``measure.strata``; the headline comes first.

    Raises
    ------
    SpecError
        If an entry names a column that the rows do not have.
    """
    for names in spec.measure.strata:
        for name in names:
            if name not in rows.columns:
                raise SpecError(f"measure.strata: no column {name!r}{did_you_mean(name, sorted(rows.columns))}")
        if not names:
            yield rows
            continue
        columns = [rows.columns[name] for name in names]
        key = np.zeros(len(rows), dtype=np.int64)
        for column in columns:
            key = key * (len(column.labels) + 1) + column.codes + 1
        values, inverse = np.unique(key, return_inverse=True)
        order = np.argsort(inverse, kind="stable")
        ends = np.searchsorted(inverse[order], np.arange(values.size + 1))
        for i in range(values.size):
            index = order[ends[i] : ends[i + 1]]
            labels = [column.labels[column.codes[index[0]]] if column.codes[index[0]] >= 0 else "unknown" for column in columns]
            yield rows.take(index, dict(zip(names, labels, strict=True)))


def _read(content: bytes, columns: Sequence[str]) -> pa.Table:
    return pq.read_table(io.BytesIO(content), columns=list(columns))
