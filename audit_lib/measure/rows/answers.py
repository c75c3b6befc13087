"""What the model answered, gathered from any number of shards.

The aggregate of the shards is the set of their rows, each placed at its variant in the sorted table. Any cut
of the rows into shards, in any order, therefore gives the same arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from audit_lib.documents.statuses import ANSWERED, STATUSES
from audit_lib.errors import EvidenceError
from audit_lib.measure.rows.coded import Coded
from audit_lib.measure.rows.constant import constant
from audit_lib.measure.rows.in_order import SortedIds, in_blocks
from audit_lib.shard_scores import ShardScores

Floats = NDArray[np.float64]

SCORE_COLUMNS: Final = ("variant_id", "repeat", "model", "label_mass", "score", "selected", "status")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the model answered to each variant; NaN and -1 where it has not.

    Parameters
    ----------
    score, label_mass : ndarray of float, shape (variants,)
        Mean over the repeats that were answered.
    status : ndarray of int8
        Index into ``STATUSES``: that of the first repeat with an answer, else of the first one.
    recorded : ndarray of int8
        A recorded decision: 1, 0, or -1 for none.
    model : Coded
        Who answered.
    repeats : ndarray of int32, shape (variants, statuses), or None
        How many repeats of each variant have each status; None where nothing was asked twice.
    within : ndarray of float, shape (variants, 2), or None
        Of each variant the sum of squared deviations of its repeats from their mean, and how many have a score,
        minus one; None where nothing was asked twice.
    """

    score: NDArray[np.float64]
    label_mass: NDArray[np.float64]
    status: NDArray[np.int8]
    recorded: NDArray[np.int8]
    model: Coded
    repeats: NDArray[np.int32] | None
    within: NDArray[np.float64] | None

    @classmethod
    def gather(cls, shards: Iterable[ShardScores], variant_ids: SortedIds) -> Answers:
        """Merge the score rows of shards, and place them at their variants.

        Parameters
        ----------
        shards : iterable of ShardScores
            In any order.
        variant_ids : SortedIds

        Raises
        ------
        EvidenceError
            If a row's variant is not in the table of variants, or a repeat of one stands there twice.
        """
        n = len(variant_ids)
        score, mass = np.full(n, np.nan), constant(np.nan, n, np.float64)
        status, recorded = np.full(n, -1, dtype=np.int8), np.full(n, -1, dtype=np.int8)
        models: list[Coded] = []
        repeats: dict[int, NDArray[np.int32]] = {}
        within: dict[int, Floats] = {}
        for start, ids, rows in in_blocks(shards, variant_ids):
            found = cls._of_block(rows, ids)
            where = slice(start, start + len(ids))
            score[where] = found.score
            if not np.isnan(found.label_mass).all():
                mass = mass if mass.flags.writeable else mass.copy()
                mass[where] = found.label_mass
            status[where], recorded[where] = found.status, found.recorded
            models.append(found.model.narrow())
            if found.repeats is not None and found.within is not None:
                repeats[start], within[start] = found.repeats, found.within
        return cls(
            score=score,
            label_mass=mass,
            status=status,
            recorded=recorded,
            model=Coded.of_few(models, n),
            repeats=_all_repeats(repeats, status),
            within=_all_within(within, n),
        )

    @classmethod
    def _of_block(cls, scores: pa.Table, variant_ids: pa.Array) -> Answers:
        """Place score rows at some variants, whose ids are sorted."""
        n = len(variant_ids)
        order, place = _placed(scores["variant_id"], variant_ids)
        code: dict[str, int] = {status: number for number, status in enumerate(STATUSES)}
        labels = Coded.encode(scores["status"])
        status = np.array([*(code.get(label, -1) for label in labels.labels), -1], dtype=np.int8)[
            labels.codes[order]
        ]
        answered = np.isin(status, [code[name] for name in ANSWERED])
        first: NDArray[Any] | slice = slice(None)
        repeats: NDArray[np.int32] | None = None
        if (np.diff(place) == 0).any():
            # Repeats in order, answered ones first: their first row names the status, their means are the score.
            repeat = scores["repeat"].to_numpy()[order]
            again = np.lexsort((repeat, ~answered, place))
            order, place, status, answered, repeat = (
                a[again] for a in (order, place, status, answered, repeat)
            )
            same = np.diff(place) == 0
            twice = place.size - np.unique(place.astype(np.int64) * (int(repeat.max()) + 1) + repeat).size
            if twice:
                raise EvidenceError(f"scores: {twice} answers stand twice, in one shard or in two")
            first = np.flatnonzero(np.r_[True, ~same])
            known = status >= 0
            cells = place[known].astype(np.int64) * len(STATUSES) + status[known]
            repeats = np.bincount(cells, minlength=n * len(STATUSES)).astype(np.int32).reshape(n, -1)

        def mean(name: str) -> NDArray[np.float64]:
            values = scores[name].to_numpy()[order].astype(np.float64, copy=False)  # -0.0 becomes 0.0 below
            if isinstance(first, slice):
                return _scatter(np.where(answered, values + 0.0, np.nan), place, np.nan, np.float64, n)
            known = answered & ~np.isnan(values)
            return _means(values[known] + 0.0, place[known], n)

        at = place[first]
        model = Coded.encode(scores["model"])
        recorded = flags(scores["selected"])
        return cls(
            score=mean("score"),
            label_mass=mean("label_mass"),
            status=_scatter(status[first], at, -1, np.int8, n),
            recorded=_scatter(recorded[order][first], at, -1, np.int8, n),
            model=Coded(
                codes=_scatter(model.codes[order][first], at, -1, np.int32, n), dictionary=model.dictionary
            ),
            repeats=repeats,
            within=None
            if repeats is None
            else _within(scores["score"].to_numpy()[order], answered, place, n),
        )


def _all_repeats(
    found: Mapping[int, NDArray[np.int32]], status: NDArray[np.int8]
) -> NDArray[np.int32] | None:
    """Put together the repeats of all blocks; where a block asked nothing twice, a variant has one or none."""
    if not found:
        return None
    repeats: NDArray[np.int32] = (status[:, None] == np.arange(len(STATUSES))).astype(np.int32)
    for start, own in found.items():
        repeats[start : start + len(own)] = own
    return repeats


def _all_within(found: Mapping[int, Floats], n: int) -> Floats | None:
    if not found:
        return None
    within = np.zeros((n, 2))
    for start, own in found.items():
        within[start : start + len(own)] = own
    return within


TIED: Final = -1.0
"""In the place of an answer where repeats of a question tie for the most frequent one."""


def modal(scores: pa.Table, variant_ids: pa.ChunkedArray) -> pa.Table:
    """Give all answered repeats of some variants their most frequent answer, or `TIED`.

    Answers that are places in a list of labels have no mean: between the first and the third is not the second.
    """
    own = pc.is_in(scores["variant_id"], variant_ids).to_numpy()
    values = scores["score"].to_numpy().astype(np.float64)
    rows = np.flatnonzero(own & ~np.isnan(values))
    ids = scores["variant_id"].take(pa.array(rows)).to_pylist()
    said: dict[str, Counter[float]] = {}
    for one, value in zip(ids, values[rows].tolist(), strict=True):
        said.setdefault(one, Counter())[value] += 1
    most = {one: _most(counts) for one, counts in said.items()}
    values[rows] = [most[one] for one in ids]
    column = pa.array(values, mask=np.isnan(values))
    return scores.set_column(scores.column_names.index("score"), "score", column)


def _most(counts: Counter[float]) -> float:
    (one, first), *others = counts.most_common(2)
    return TIED if others and others[0][1] == first else one


def _means(values: NDArray[np.float64], place: NDArray[Any], n: int) -> NDArray[np.float64]:
    """Mean of the repeats at each place, rounded once: equal repeats have their own value for a mean.

    A floating sum would not: (0.7 + 0.7 + 0.7) / 3 is less than 0.7, and so would not pass a threshold of 0.7.
    """
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(low, place, values)
    np.maximum.at(high, place, values)
    means = np.where(low == high, low, np.nan)
    differing = np.flatnonzero((low < high)[place])
    sums: dict[int, list[Fraction]] = {}
    for row in differing.tolist():
        sums.setdefault(int(place[row]), []).append(Fraction(float(values[row])))
    for at, repeats in sums.items():
        means[at] = float(sum(repeats, Fraction(0)) / len(repeats))
    return means


def _within(
    values: NDArray[Any], answered: NDArray[np.bool_], place: NDArray[Any], n: int
) -> NDArray[np.float64]:
    values = values.astype(np.float64)
    known = answered & ~np.isnan(values)
    values, place = values[known] + 0.0, place[known]
    squares = np.bincount(place, np.square(values - _means(values, place, n)[place]), n)
    return np.column_stack([squares, np.maximum(np.bincount(place, minlength=n) - 1.0, 0.0)])


def flags(column: pa.ChunkedArray) -> NDArray[np.int8]:
    """Return a column of booleans as 1, 0, and -1 for null."""
    return np.asarray(column.cast(pa.int8()).fill_null(-1).to_numpy(), dtype=np.int8)


def _placed(ids: pa.ChunkedArray, variant_ids: pa.Array) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rows in the order of their ids, and the place of each among the variants."""
    order = pc.sort_indices(ids)
    if len(ids) == len(variant_ids) and ids.take(order).equals(pa.chunked_array([variant_ids])):
        return order.to_numpy(), np.arange(len(ids))
    # Not one row a variant: look each up.
    found = pc.index_in(ids, value_set=variant_ids)
    if found.null_count:
        raise EvidenceError(f"scores: {found.null_count} rows of variants that were never made")
    place = found.to_numpy()
    rows = np.argsort(place, kind="stable")
    return rows, place[rows]


def _scatter(values: NDArray[Any], place: NDArray[Any], fill: float, dtype: type, n: int) -> NDArray[Any]:
    out: NDArray[Any] = np.full(n, fill, dtype=dtype)
    out[place] = values
    return out
