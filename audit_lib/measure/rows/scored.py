"""The scored rows of an audit as arrays: what every metric starts from.

Rows stand group by group and, within a group, from the lowest score to the highest. Each side of a comparison
is then a few slices, scores need no sorting again, and the order depends on nothing but the rows themselves:
one machine and 64 shards give the same arrays, and so the same floats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import SpecError, UndefinedMetricError
from audit_lib.measure.rows.coded import Coded
from audit_lib.measure.rows.constant import taken
from audit_lib.measure.rows.decision import Decisions
from audit_lib.measure.rows.drawn_rounds import DrawnRounds
from audit_lib.measure.rows.pair_answers import PairAnswers
from audit_lib.measure.rows.pools import Pools
from audit_lib.measure.rows.texts import TextRows
from audit_lib.records import VARIATION
from audit_lib.registry import did_you_mean

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of an audit, or of one stratum of it.

    Parameters
    ----------
    levels : mapping of str to str
        Which stratum, such as ``{"position": "retail"}``; empty for the whole audit.
    attributes : mapping of str to tuple of str
        The spec's levels of each attribute.
    columns : mapping of str to Coded
        Attributes, ``position``, ``model``, ``application_id``, ``round_id``; where the spec splits by them,
        ``qualified`` and fields of the source.
    profile : ndarray of int
        Levels of all attributes as one number, unknown ones included; never decreasing.
    place : ndarray of int
        Where each row stands in the sorted table of variants.
    score, label_mass : ndarray of float
        NaN where the model gave no answer. Never decreasing within a profile, NaN last. All NaN where the
        audit is of decisions only.
    rank : ndarray of int32
        Number of distinct scores below each row's; -1 without one.
    status : ndarray of int8
        Index into ``STATUSES``.
    qualified : ndarray of int8
        1, 0, or -1 where it is not known: ``qualified``, or an ``outcome`` that is 1 or 0.
    decisions : Decisions
        Who is selected.
    pools : Pools
        Where each row stands in its whole round, also where a stratum holds a part of it only.
    repeats : ndarray of int32, shape (rows, statuses), or None
        Repeats of each status, where requests were asked several times.
    within : ndarray of float, shape (rows, 2), or None
        Squared deviations of the repeats' scores from their mean, and degrees of freedom (`Answers`).
    decisions_only : bool
        Whether decisions were recorded and no score beside them.
    drawn : DrawnRounds or None
        Rounds drawn at random of the whole audit, where the spec asks for them.
    texts : TextRows or None
        The answers, where the task asks for texts or lists.
    pairs : PairAnswers or None
        The answers of the whole audit, where candidates were compared two by two.
    weights : ndarray of float, shape (rows,), or None
        Sampling weights, where the spec names a column of them.
    varied : Varied or None
        Controls, other prompts and the like: rows that no ordinary metric sees.
    """

    levels: Mapping[str, str]
    attributes: Mapping[str, tuple[str, ...]]
    columns: Mapping[str, Coded]
    profile: NDArray[Any]
    place: NDArray[Any]
    score: Floats
    rank: Codes
    label_mass: Floats
    status: NDArray[np.int8]
    qualified: NDArray[np.int8]
    decisions: Decisions
    pools: Pools
    repeats: NDArray[np.int32] | None = None
    within: Floats | None = None
    decisions_only: bool = False
    drawn: DrawnRounds | None = None
    texts: TextRows | None = None
    pairs: PairAnswers | None = None
    weights: Floats | None = None
    varied: Varied | None = None
    _found: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was computed of these rows already."""

    def __len__(self) -> int:
        return int(self.score.size)

    def need_scores(self) -> None:
        """Refuse to go on where there is no score: for metrics that measure nothing else.

        Raises
        ------
        UndefinedMetricError
            If the audit is of recorded decisions only.
        """
        if self.decisions_only:
            raise UndefinedMetricError("no scores: only decisions were recorded")

    @property
    def application(self) -> Codes:
        """Code of each row's application: the person or dossier."""
        return self.columns["application_id"].codes

    @property
    def round(self) -> Codes:
        """Code of each row's round; -1 for none."""
        return self.columns["round_id"].codes

    def units(self, unit: str) -> tuple[Codes, int]:
        """Number the applications or rounds of the rows from 0, and count them; rows without a round are one more."""
        if unit not in self._found:
            self._found[unit] = numbered(self.round if unit == "round" else self.application)
        found: tuple[Codes, int] = self._found[unit]
        return found

    def by_variant(self) -> Codes:
        """Return the row of each variant, in the order of their ids: the inverse of `place`."""
        if "by_variant" not in self._found:
            back = np.empty(len(self), dtype=np.int32)
            back[self.place] = np.arange(len(self), dtype=np.int32)
            self._found["by_variant"] = back
        found: Codes = self._found["by_variant"]
        return found

    def profiles(self) -> list[tuple[dict[str, str | None], slice]]:
        """Return the levels of each profile (None: unknown), and where its rows are."""
        if "profiles" not in self._found:
            self._found["profiles"] = self._profiles()
        found: list[tuple[dict[str, str | None], slice]] = self._found["profiles"]
        return found

    def _profiles(self) -> list[tuple[dict[str, str | None], slice]]:
        sizes = [len(levels) + 1 for levels in self.attributes.values()]
        # Of the profiles' own type: another one would make numpy convert all rows.
        ends = np.searchsorted(self.profile, np.arange(int(np.prod(sizes)) + 1, dtype=self.profile.dtype))
        found = []
        for number, (start, stop) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
            codes = np.unravel_index(number, sizes)
            levels = {
                axis: names[int(code)] if code < len(names) else None
                for code, (axis, names) in zip(codes, self.attributes.items(), strict=True)
            }
            found.append((levels, slice(start, stop)))
        return found

    def slices(self, cell: Mapping[str, str]) -> list[slice]:
        """Return where the rows are that have all levels of `cell`, which may name some attributes only."""
        found: list[slice] = []
        for levels, rows in self.profiles():
            if rows.start < rows.stop and all(levels[axis] == level for axis, level in cell.items()):
                if found and found[-1].stop == rows.start:
                    rows = slice(found.pop().start, rows.stop)
                found.append(rows)
        return found

    def members(self, cell: Mapping[str, str]) -> NDArray[np.bool_]:
        """Return which rows have all the levels of `cell`, which may name other columns than attributes too."""
        mask = np.zeros(len(self), dtype=bool)
        for rows in self.slices({axis: level for axis, level in cell.items() if axis in self.attributes}):
            mask[rows] = True
        for name in cell.keys() - self.attributes.keys():
            mask &= self.columns[name].codes == self.columns[name].code(cell[name])
        return mask

    def known(self) -> NDArray[np.bool_]:
        """Return which rows have a level of every attribute."""
        mask = np.zeros(len(self), dtype=bool)
        for levels, rows in self.profiles():
            mask[rows] = None not in levels.values()
        return mask

    def take(self, index: NDArray[Any], levels: Mapping[str, str]) -> Rows:
        """Return some of the rows, in the same order, as a stratum.

        Candidates keep their standing in the whole round: there the decision was taken, whoever of it is counted.
        """
        return Rows(
            levels=levels,
            attributes=self.attributes,
            columns={name: column.take(index) for name, column in self.columns.items()},
            profile=self.profile[index],
            place=self.place[index],
            score=self.score[index],
            rank=compact(self.rank[index])[0],
            label_mass=taken(self.label_mass, index),
            status=self.status[index],
            qualified=self.qualified[index],
            decisions=self.decisions.take(index),
            pools=self.pools.take(index),
            repeats=None if self.repeats is None else self.repeats[index],
            within=None if self.within is None else self.within[index],
            decisions_only=self.decisions_only,
            drawn=self.drawn,
            texts=None if self.texts is None else self.texts.take(index, len(self)),
            pairs=self.pairs,
            weights=None if self.weights is None else self.weights[index],
            varied=None if self.varied is None else self.varied.of(levels),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Varied:
    """The rows beside the ordinary ones.

    Parameters
    ----------
    rows : Rows
        Their column ``variation`` says what each is. Nobody is selected among them.
    twin : ndarray of float, shape (rows,)
        Mean score of the ordinary rows about the same prompt with the same edits; NaN without one.
    """

    rows: Rows
    twin: NDArray[np.float64]

    def names(self) -> list[str]:
        """Return the variations that occur, sorted."""
        column = self.rows.columns[VARIATION]
        labels = column.labels
        return sorted(labels[code] for code in np.unique(column.codes).tolist() if code >= 0)

    def only(self, name: str) -> Varied:
        """Return the rows of one variation."""
        column = self.rows.columns[VARIATION]
        places = [code for code, label in enumerate(column.labels) if label == name]
        return self._take(np.isin(column.codes, places), self.rows.levels)

    def of(self, levels: Mapping[str, str]) -> Varied:
        """Return the rows of a stratum, such as ``{"position": "retail"}``."""
        kept = np.ones(len(self.rows), dtype=bool)
        for name, label in levels.items():
            column = self.rows.columns[name]
            if label == "unknown" and label not in column.labels:
                kept &= column.codes < 0
            else:
                kept &= np.isin(column.codes, [i for i, own in enumerate(column.labels) if own == label])
        return self._take(kept, levels)

    def _take(self, kept: NDArray[np.bool_], levels: Mapping[str, str]) -> Varied:
        index = np.flatnonzero(kept)
        return Varied(rows=self.rows.take(index, levels), twin=self.twin[index])


def compact(codes: NDArray[Any]) -> tuple[Codes, int]:
    """Number the codes that occur from 0 in their order, and count them; -1 stays.

    Examples
    --------
    >>> codes, count = compact(np.array([7, -1, 3, 7]))
    >>> codes.tolist(), count
    ([1, -1, 0, 1], 2)
    """
    if codes.size == 0:
        return codes.astype(np.int32), 0
    occurs = np.zeros(int(codes.max()) + 2, dtype=bool)
    occurs[codes] = True  # -1 marks the last one
    if codes.dtype == np.int32 and occurs[:-1].all():
        return codes, occurs.size - 1  # as they are
    number = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    count = int(number[-2]) + 1 if occurs.size > 1 else 0
    number[-1] = -1
    return number[codes], count


def numbered(codes: Codes) -> tuple[Codes, int]:
    """Number the codes that occur from 0 in their order, and count them; rows of -1 are one more, the last.

    Examples
    --------
    >>> codes, count = numbered(np.array([7, -1, 3, 7]))
    >>> codes.tolist(), count
    ([1, 2, 0, 1], 3)
    """
    found, count = compact(codes)
    if codes.size and codes.min() < 0:
        return np.where(found < 0, np.int32(count), found), count + 1
    return found, count


def strata(rows: Rows, names: Sequence[str]) -> Iterator[Rows]:
    """Split rows by some of their columns, in the order of the labels; no column gives the whole.

    Raises
    ------
    SpecError
        If the rows have no such column.
    """
    for name in names:
        if name not in rows.columns:
            raise SpecError(f"measure.strata: no column {name!r}{did_you_mean(name, sorted(rows.columns))}")
    if not names:
        yield rows
        return
    columns = [rows.columns[name] for name in names]
    key = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        key = key * (len(column.dictionary) + 1) + column.codes + 1
    codes, count = compact(key)
    del key
    # Small integers are sorted by counting.
    order = np.argsort(codes.astype(np.min_scalar_type(count)), kind="stable").astype(rows.place.dtype)
    ends = np.searchsorted(codes[order], np.arange(count + 1))
    del codes
    for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        index = order[start:stop]
        own = [int(column.codes[index[0]]) for column in columns]
        labels = [
            column.dictionary[code].as_py() if code >= 0 else "unknown"
            for column, code in zip(columns, own, strict=True)
        ]
        yield rows.take(index, dict(zip(names, labels, strict=True)))
