"""The scored rows of an audit as arrays: what every metric starts from.

Rows stand group by group and, within a group, from the lowest score to the highest. Each side of a comparison
is then a few slices, scores need no sorting again, and the order depends on nothing but the rows themselves:
one machine and 64 shards give the same arrays, and so the same floats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.errors import EvidenceError, SpecError, UndefinedMetricError
from audit_lib.measure.answers import SCORE_COLUMNS, Answers, flags, modal
from audit_lib.measure.coded import Coded
from audit_lib.measure.decision import Decisions, decide
from audit_lib.measure.further import with_further
from audit_lib.measure.pair_answers import PairAnswers
from audit_lib.measure.pools import Pools
from audit_lib.measure.texts import Texts, load_texts
from audit_lib.measure.variations import Varied, ordinary, twins
from audit_lib.records import CHECK
from audit_lib.records import VARIATION as COLUMN
from audit_lib.registry import did_you_mean
from audit_lib.run import Run
from audit_lib.spec import UNDECIDED, AuditSpec, Decision

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

_VARIANT_COLUMNS: Final = (
    "variant_id", "application_id", "position", "round_id", "qualified", "outcome", "recorded_selected",
)  # fmt: skip


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
        Attributes, ``position``, ``model``, ``application_id``, ``round_id``.
    profile : ndarray of int32
        Levels of all attributes as one number, unknown ones included; never decreasing.
    place : ndarray of int
        Where each row stands in the sorted table of variants.
    score, label_mass : ndarray of float
        NaN where the model gave no answer. Never decreasing within a profile, NaN last. All NaN where the
        audit is of decisions only.
    rank : ndarray of int32
        Number of distinct scores below each row's; -1 without one.
    status : ndarray of int8
        Index into ``records.STATUSES``.
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
    texts : Texts or None
        The answers, where the task asks for texts or lists.
    pairs : PairAnswers or None
        The answers of the whole audit, where candidates were compared two by two.
    varied : Varied or None
        Controls, other prompts and the like: rows that no ordinary metric sees.
    """

    levels: Mapping[str, str]
    attributes: Mapping[str, tuple[str, ...]]
    columns: Mapping[str, Coded]
    profile: Codes
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
    texts: Texts | None = None
    pairs: PairAnswers | None = None
    varied: Varied | None = None

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

    def profiles(self) -> list[tuple[dict[str, str | None], slice]]:
        """Return the levels of each profile (None: unknown), and where its rows are."""
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
        """Return which rows have all the levels of `cell`."""
        mask = np.zeros(len(self), dtype=bool)
        for rows in self.slices(cell):
            mask[rows] = True
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
            label_mass=self.label_mass[index],
            status=self.status[index],
            qualified=self.qualified[index],
            decisions=self.decisions.take(index),
            pools=self.pools.take(index),
            repeats=None if self.repeats is None else self.repeats[index],
            within=None if self.within is None else self.within[index],
            decisions_only=self.decisions_only,
            texts=None if self.texts is None else self.texts.take(index, len(self)),
            pairs=self.pairs,
            varied=None if self.varied is None else self.varied.of(levels),
        )


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
    number = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    count = int(number[-2]) + 1 if occurs.size > 1 else 0
    number[-1] = -1
    return number[codes], count


def load_rows(run: Run, shards: Sequence[int]) -> tuple[Rows, pa.ChunkedArray]:
    """Read variants and all shards' scores, and decide who is selected.

    Returns
    -------
    Rows, ChunkedArray of str
        The rows, and the variant ids, sorted.
    """
    if not shards:
        raise EvidenceError(f"{run.uri}: no shard of scores")
    rows, ids = split_rows(_variants(run, shards), _scores(run, shards), run.spec)
    if rows.varied is not None:
        kept = ("variant_id", COLUMN, "prompt_id", "edits")
        content = run.stage("variants").read("variants.parquet")
        rows = replace(rows, varied=twins(rows, rows.varied, _read(content, kept, (COLUMN,))))
    if run.spec.task in UNDECIDED:
        rows = replace(rows, texts=load_texts(run, shards, rows, ids))
    if run.spec.task == "pairwise":
        rows = replace(rows, pairs=PairAnswers.load(run, shards, ids))
    return rows, ids


def split_rows(
    variants: pa.Table, shards: Iterable[pa.Table], spec: AuditSpec
) -> tuple[Rows, pa.ChunkedArray]:
    """Make the ordinary rows as `make_rows` does, and beside them, as `Rows.varied`, all others."""
    usual = ordinary(variants)
    if pc.all(usual).as_py() is not False:
        kept = [name for name in variants.column_names if name != COLUMN]
        return make_rows(variants.select(kept), shards, spec)
    tables = list(shards)
    found = []
    for mask in (usual, pc.invert(usual)):
        own = variants.filter(mask)
        scores = [table.filter(pc.is_in(table["variant_id"], own["variant_id"])) for table in tables]
        found.append((own, scores))
    (own, scores), (others, their) = found
    # What a model perceives is a label, which has no mean over repeats.
    asked = others.filter(pc.starts_with(others[COLUMN].cast(pa.string()), CHECK))
    their = [modal(pa.concat_tables(their), asked["variant_id"])]
    rows, ids = make_rows(own.drop_columns([COLUMN]), scores, spec)
    # Nobody is selected among them, whatever the rule.
    undecided = spec.model_copy(update={"decision": Decision(rule="none")})
    varied = make_rows(others, their, undecided)[0]
    return replace(rows, varied=Varied(rows=varied, twin=np.full(len(varied), np.nan))), ids


def _variants(run: Run, shards: Sequence[int]) -> pa.Table:
    axes = run.spec.groups.axes
    content = run.stage("variants").read("variants.parquet")
    extra = (COLUMN,) if COLUMN in pq.read_schema(pa.BufferReader(content)).names else ()
    table = _read(content, (*_VARIANT_COLUMNS, *extra, *axes), ("position", *extra, *axes))
    return with_further(run, table, shards)


def _scores(run: Run, shards: Sequence[int]) -> Iterator[pa.Table]:
    for shard in shards:
        yield _read(run.stage(f"scores/{shard}").read("scores.parquet"), SCORE_COLUMNS, ("model", "status"))


def make_rows(
    variants: pa.Table, shards: Iterable[pa.Table], spec: AuditSpec
) -> tuple[Rows, pa.ChunkedArray]:
    """Join variants and the score rows of shards, and apply the spec's decision rule.

    Parameters
    ----------
    variants : Table
        Sorted or not.
    shards : iterable of Table
        Score rows, in any order; read one after the other.
    spec : AuditSpec
        Groups and decision rule.

    Returns
    -------
    Rows, ChunkedArray of str
        The rows, and the variant ids, sorted.

    Raises
    ------
    EvidenceError
        If the scores are not those of the variants.
    InputError
        If the decision rule lacks what it needs.
    """
    ids = variants["variant_id"]
    if not pc.all(pc.less(ids.slice(0, max(len(ids) - 1, 0)), ids.slice(1))).as_py():
        variants = variants.sort_by("variant_id")
        ids = variants["variant_id"]
    names = ["application_id", "position", "round_id", *spec.groups.axes]
    names += [name for name in variants.column_names if name not in (*_VARIANT_COLUMNS, *names)]
    columns = {name: Coded.encode(variants[name]) for name in names}
    recorded, qualified = flags(variants["recorded_selected"]), _qualified(variants)
    del variants
    answers = Answers.gather(list(shards), ids)
    columns["model"] = answers.model
    recorded = np.where(answers.recorded >= 0, answers.recorded, recorded)
    rounds = columns["round_id"].codes
    pools = Pools.of(answers.score, rounds)
    # The lot breaks ties in the order of the variants' ids, so decisions come before the rows are arranged.
    decisions = decide(answers.score, rounds, pools, recorded, spec.decision, spec.seed)
    score, decisions_only = answers.score, _decisions_only(answers.score, recorded, spec)
    if decisions_only:
        score, pools = np.full_like(score, np.nan), Pools.of(np.full_like(score, np.nan), rounds)
    attributes = {axis: tuple(levels) for axis, levels in spec.groups.attributes.items()}
    profile = _profile(columns, attributes)
    order, rank = _ranked(score)
    order = order[
        np.argsort(profile[order].astype(np.min_scalar_type(profile.max(initial=0))), kind="stable")
    ]
    return (
        Rows(
            levels={},
            attributes=attributes,
            columns={name: column.take(order) for name, column in columns.items()},
            profile=profile[order],
            place=order,
            score=score[order],
            rank=rank[order],
            label_mass=answers.label_mass[order],
            status=answers.status[order],
            qualified=qualified[order],
            decisions=decisions.take(order),
            pools=pools.take(order),
            repeats=None if answers.repeats is None else answers.repeats[order],
            within=None if answers.within is None else answers.within[order],
            decisions_only=decisions_only,
        ),
        ids,
    )


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
    order = np.argsort(codes.astype(np.min_scalar_type(count)), kind="stable")
    ends = np.searchsorted(codes[order], np.arange(count + 1))
    for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        index = order[start:stop]
        own = [int(column.codes[index[0]]) for column in columns]
        labels = [
            column.dictionary[code].as_py() if code >= 0 else "unknown"
            for column, code in zip(columns, own, strict=True)
        ]
        yield rows.take(index, dict(zip(names, labels, strict=True)))


def _decisions_only(score: Floats, recorded: NDArray[Any], spec: AuditSpec) -> bool:
    """Tell whether every score is a recorded decision written as 1 or 0, which says nothing beside it."""
    known = ~np.isnan(score)
    if spec.decision.rule != "recorded" or spec.model.backend not in ("recorded", "http") or not known.any():
        return False
    return bool((score[known] == recorded[known]).all())


def _qualified(variants: pa.Table) -> NDArray[np.int8]:
    qualified = flags(variants["qualified"])
    if variants["outcome"].null_count < len(variants):
        outcome = variants["outcome"].to_numpy()
        with np.errstate(invalid="ignore"):
            qualified = np.where((qualified < 0) & np.isin(outcome, (0, 1)), outcome, qualified).astype(
                np.int8
            )
    return qualified


def _profile(columns: Mapping[str, Coded], attributes: Mapping[str, tuple[str, ...]]) -> Codes:
    profile = np.zeros(columns["application_id"].codes.size, dtype=np.int32)
    for axis, levels in attributes.items():
        places = {level: number for number, level in enumerate(levels)}
        recode = [places.get(label, len(levels)) for label in columns[axis].labels]
        profile *= len(levels) + 1
        profile += np.array([*recode, len(levels)], dtype=np.int32)[columns[axis].codes]
    return profile


def _ranked(score: Floats) -> tuple[NDArray[np.int64], Codes]:
    """Return the order of the scores, ties in the order of the rows, and the dense rank of each."""
    order = np.argsort(score, kind="stable")
    ordered = score[order]
    ordered = ordered[: ordered.size - int(np.isnan(ordered).sum())]
    new = np.ones(ordered.size, dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    rank = np.full(score.size, -1, dtype=np.int32)
    rank[order[: ordered.size]] = np.cumsum(new, dtype=np.int32) - np.int32(1)
    return order, rank


def _read(content: bytes, columns: Sequence[str], labels: Sequence[str]) -> pa.Table:
    """Read columns of a Parquet table, those of few labels as codes."""
    return pq.read_table(pa.BufferReader(content), columns=list(columns), read_dictionary=list(labels))
