"""Rows made of a run's tables: variants joined with the scores of every shard, and the decision rule applied."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from audit_lib.documents.statuses import STATUSES
from audit_lib.errors import EvidenceError
from audit_lib.measure.rows.answers import SCORE_COLUMNS, Answers, flags, modal
from audit_lib.measure.rows.coded import Coded
from audit_lib.measure.rows.constant import taken
from audit_lib.measure.rows.decision import decide
from audit_lib.measure.rows.drawn_rounds import DrawnRounds
from audit_lib.measure.rows.in_order import SortedIds, UnsortedError
from audit_lib.measure.rows.load_texts import load_texts
from audit_lib.measure.rows.pair_answers import PairAnswers
from audit_lib.measure.rows.pools import Pools
from audit_lib.measure.rows.reread import asked_as, check_rereadable, reread
from audit_lib.measure.rows.scored import Codes, Floats, Rows, Varied
from audit_lib.measure.rows.split_columns import WEIGHT, with_further
from audit_lib.measure.rows.variations import PROMPT, ordinary, twins
from audit_lib.parquet_batches import batches_of
from audit_lib.plan.power_limits import of_names
from audit_lib.records import CHECK, NO_AND_YES, SHOWN_NAME
from audit_lib.records import VARIATION as COLUMN
from audit_lib.run import Run
from audit_lib.score.tasks.listwise import needs_first
from audit_lib.shard_scores import ShardScores
from audit_lib.spec import RECORDED, UNDECIDED, AuditSpec, Decision, PromptTemplate

_LABELS: Final = ("model", "status")
_CLUSTERS: Final = ("application_id", "round_id")
_PART: Final = 1 << 18
"""Values of a column that are read together."""
_VARIANT_COLUMNS: Final = (
    "variant_id", "application_id", "position", "round_id", "qualified", "outcome", "recorded_selected",
)  # fmt: skip


def load_rows(
    run: Run,
    shards: Sequence[int],
    decision: Decision | None = None,
    reading: PromptTemplate | None = None,
) -> tuple[Rows, SortedIds]:
    """Read variants and all shards' scores, and decide who is selected.

    By the spec's rule, or by `decision`; with the scores as they are, or those that the kept texts have when they are
    read as `reading` says.

    Returns
    -------
    Rows, SortedIds
        The rows, and the variant ids.
    """
    if not shards:
        raise EvidenceError(f"{run.uri}: no shard of scores")
    spec = run.spec if decision is None else run.spec.model_copy(update={"decision": decision})
    prompt = None
    if reading is not None:
        check_rereadable(run, reading)
        prompt = asked_as(spec, reading)
        spec = spec.model_copy(update={"prompt": prompt})

    def scores() -> Iterator[pa.Table | ShardScores]:
        if prompt is None:
            return _files(run, shards)
        return (reread(table, prompt) for table in _tables(run, shards, ("text", "detail")))

    try:
        rows, ids = _streamed(run, shards, scores(), spec)
    except UnsortedError:
        rows, ids = split_rows(_variants(run, shards), scores(), spec)
    if rows.varied is not None:
        kept = ("variant_id", COLUMN, "prompt_id", "edits")
        source = run.stage("variants").parquet("variants.parquet")
        rows = replace(rows, varied=twins(rows, rows.varied, _read(source, kept, (COLUMN,))))
    if run.spec.task in UNDECIDED:
        rows = replace(rows, texts=load_texts(run, shards, rows, ids.whole()))
    if run.spec.task == "pairwise":
        rows = replace(rows, pairs=PairAnswers.load(run, shards, ids.whole()))
    return rows, ids


def load_part(
    run: Run, shards: Sequence[int], decision: Decision, only: Collection[str] | None = None
) -> Rows:
    """Read the rows that some shards answered, as if there were no others.

    Parameters
    ----------
    run : Run
        With these shards of its scores.
    shards : sequence of int
        Which.
    decision : Decision
        The rule, which looks at these rows alone.
    only : collection of str, optional
        Ids of variants: of no others.
    """
    tables = list(_tables(run, shards))
    ids = pa.concat_arrays([chunk for one in tables for chunk in one["variant_id"].chunks])
    wanted = ids if only is None else pa.array(sorted(only), pa.string())
    variants = _variants(run, shards)
    variants = variants.filter(
        pc.and_(pc.is_in(variants["variant_id"], ids), pc.is_in(variants["variant_id"], wanted))
    )
    tables = [one.filter(pc.is_in(one["variant_id"], wanted)) for one in tables]
    alone = run.spec.measure.model_copy(update={"random_rounds": None})
    spec = run.spec.model_copy(update={"decision": decision, "measure": alone})
    return split_rows(variants, tables, spec)[0]


def _streamed(
    run: Run, shards: Sequence[int], scores: Iterable[pa.Table | ShardScores], spec: AuditSpec
) -> tuple[Rows, SortedIds]:
    """Make the rows without holding the ids of all variants, where their texts are needed for nothing else.

    Raises
    ------
    UnsortedError
        If the variants are not in the order of their ids.
    """
    source = run.stage("variants").parquet("variants.parquet")
    if COLUMN in pq.read_schema(source).names or spec.decision.classes:
        return split_rows(_variants(run, shards), scores, spec)
    table = _variants(run, shards, without=("variant_id",))
    ids = SortedIds.of_file(lambda: run.stage("variants").parquet("variants.parquet", large=0), len(table))
    known = _Known.of(table, spec, ids)
    del table
    return _arranged(known, scores, spec), ids


def split_rows(
    variants: pa.Table, shards: Iterable[pa.Table | ShardScores], spec: AuditSpec
) -> tuple[Rows, SortedIds]:
    """Make the ordinary rows as `make_rows` does, and beside them, as `Rows.varied`, all others."""
    usual = ordinary(variants)
    if pc.all(usual).as_py() is not False:
        known = _Known.of(variants.select([name for name in variants.column_names if name != COLUMN]), spec)
        del variants
        return _arranged(known, shards, spec), known.ids
    tables = [one.table() if isinstance(one, ShardScores) else one for one in shards]
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
    alone = spec.measure.model_copy(update={"random_rounds": None})
    undecided = spec.model_copy(update={"decision": Decision(rule="none"), "measure": alone})
    varied = make_rows(others, their, undecided)[0]
    varied_rows = Varied(rows=varied, twin=np.full(len(varied), np.nan))
    return replace(rows, varied=varied_rows), SortedIds.of_array(ids)


def _variants(run: Run, shards: Sequence[int], without: tuple[str, ...] = ()) -> pa.Table:
    axes = run.spec.groups.axes
    source = run.stage("variants").parquet("variants.parquet")
    extra: tuple[str, ...] = (COLUMN,) if COLUMN in pq.read_schema(source).names else ()
    if of_names(run.spec) and "standardised_effect" in run.spec.measure.metrics:
        extra += (SHOWN_NAME,)
    prompts = (PROMPT,) if "decision_flip_share" in run.spec.measure.metrics else ()
    columns = (*_VARIANT_COLUMNS, *extra, *prompts, *axes)
    held = [name for name in columns if name not in without]
    # One after another: texts are long, and codes are enough.
    return with_further(
        run, pa.table({name: _column(source, name, ("position", *extra, *axes)) for name in held}), shards
    )


def _column(source: pa.NativeFile, name: str, labels: Collection[str]) -> pa.ChunkedArray:
    """Read a column: ids and those of few labels as codes, and one that says nothing of anybody as no values at all."""
    file = pq.ParquetFile(source, read_dictionary=[name] if name in labels else [])
    size = file.metadata.num_rows
    parts = (batch.column(0) for batch in batches_of(file, _PART, [name]))
    if name in labels:
        found = Coded.of_few((Coded.encode(pa.chunked_array([part])) for part in parts), size).as_arrow()
    elif name in _CLUSTERS:
        ids = Coded.of_sorted(parts, size)
        found = (Coded.encode(_read(source, (name,), ())[name]) if ids is None else ids).as_arrow()
    else:
        found = _read(source, (name,), ())[name]
        if size and found.null_count == size:
            found = pa.chunked_array([pa.nulls(size)])
    pa.default_memory_pool().release_unused()  # what reading took
    return found


def _tables(run: Run, shards: Sequence[int], more: tuple[str, ...] = ()) -> Iterator[pa.Table]:
    for shard in shards:
        source = run.stage(f"scores/{shard}").parquet("scores.parquet")
        yield _read(source, (*SCORE_COLUMNS, *more), _LABELS)


def _files(run: Run, shards: Sequence[int]) -> Iterator[ShardScores]:
    for shard in shards:
        source = run.stage(f"scores/{shard}").parquet("scores.parquet", large=0)
        yield ShardScores.of_file(source, SCORE_COLUMNS, _LABELS)


def make_rows(
    variants: pa.Table, shards: Iterable[pa.Table], spec: AuditSpec
) -> tuple[Rows, pa.ChunkedArray]:
    """Join variants and the score rows of shards, and apply the spec's decision rule.

    Parameters
    ----------
    variants : Table
        Sorted or not.
    shards : iterable of Table or ShardScores
        Score rows, in any order.
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
    known = _Known.of(variants, spec)
    return _arranged(known, shards, spec), known.ids.whole()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the table of variants says of each, in the order of their ids."""

    ids: SortedIds
    columns: dict[str, Coded]
    recorded: NDArray[np.int8]
    qualified: NDArray[np.int8]
    weights: Floats | None

    @classmethod
    def of(cls, variants: pa.Table, spec: AuditSpec, sorted_ids: SortedIds | None = None) -> _Known:
        """Take variants in any order, or without their ids, which are then known to be sorted."""
        if sorted_ids is None:
            ids = variants["variant_id"]
            if not pc.all(pc.less(ids.slice(0, max(len(ids) - 1, 0)), ids.slice(1))).as_py():
                variants = variants.sort_by("variant_id")
            sorted_ids = SortedIds.of_array(variants["variant_id"])
        names = ["application_id", "position", "round_id", *spec.groups.axes]
        names += [name for name in variants.column_names if name not in (*_VARIANT_COLUMNS, WEIGHT, *names)]
        columns = {name: Coded.encode(variants[name]) for name in names}
        few = [name for name in names if name not in (*_CLUSTERS, SHOWN_NAME, PROMPT)]
        columns |= {name: columns[name].narrow() for name in few}
        if not len(columns["round_id"].dictionary):
            columns["round_id"] = columns["round_id"].narrow()
        recorded, qualified = flags(variants["recorded_selected"]), _qualified(variants, spec)
        weights = variants[WEIGHT].to_numpy() if WEIGHT in variants.column_names else None
        return cls(ids=sorted_ids, columns=columns, recorded=recorded, qualified=qualified, weights=weights)


def _arranged(known: _Known, shards: Iterable[pa.Table | ShardScores], spec: AuditSpec) -> Rows:
    """Join the scores, decide, and put the rows in order; no array is held as it was before."""
    columns, recorded, qualified = known.columns, known.recorded, known.qualified
    answers = Answers.gather(
        (one if isinstance(one, ShardScores) else ShardScores.of_table(one) for one in shards), known.ids
    )
    pa.default_memory_pool().release_unused()
    columns["model"] = answers.model
    if any("qualified" in names for names in spec.measure.strata):
        columns["qualified"] = Coded(codes=qualified, dictionary=pa.array(NO_AND_YES))
    rounds = columns["round_id"].codes
    pools = Pools.of(answers.score, rounds)
    if needs_first(spec):
        # A ranking that cannot be read in full may still say who is first.
        unread = np.isnan(answers.score) & (answers.status == STATUSES.index("unparsed"))
        pools = pools.with_firsts(np.where(unread, answers.recorded, -1), rounds)
    recorded = np.where(answers.recorded >= 0, answers.recorded, recorded)
    # The lot breaks ties in the order of the variants' ids, so decisions come before the rows are arranged.
    decisions = decide(answers.score, rounds, pools, recorded, spec.decision, spec.seed)
    score, decisions_only = answers.score, _decisions_only(answers.score, recorded, spec)
    if decisions_only:
        score, pools = np.full_like(score, np.nan), Pools.of(np.full_like(score, np.nan), rounds)
    status, mass, repeats, within = answers.status, answers.label_mass, answers.repeats, answers.within
    del answers, recorded
    drawn = None
    if (section := spec.measure.random_rounds) is not None:
        people = columns["application_id"].codes
        drawn = DrawnRounds.draw(score, columns["position"], people, section, spec.seed)
    attributes = {axis: tuple(levels) for axis, levels in spec.groups.attributes.items()}
    profile = _profile(columns, attributes)
    order, rank = _ranked(score)
    order = order[
        np.argsort(profile[order].astype(np.min_scalar_type(profile.max(initial=0))), kind="stable")
    ]
    for name in list(columns):
        columns[name] = columns[name].take(order)
    # One after another, so that no two are held twice.
    profile = profile[order]
    score = score[order]
    rank = rank[order]
    mass = taken(mass, order)
    decisions, pools = decisions.take(order), pools.take(order)
    return Rows(
        levels={},
        attributes=attributes,
        columns=columns,
        profile=profile,
        place=order,
        score=score,
        rank=rank,
        label_mass=mass,
        status=status[order],
        qualified=qualified[order],
        decisions=decisions,
        pools=pools,
        repeats=None if repeats is None else repeats[order],
        within=None if within is None else within[order],
        decisions_only=decisions_only,
        drawn=drawn,
        weights=None if known.weights is None else known.weights[order],
    )


def _decisions_only(score: Floats, recorded: NDArray[Any], spec: AuditSpec) -> bool:
    """Tell whether every score is a recorded decision written as 1 or 0, which says nothing beside it."""
    known = ~np.isnan(score)
    if spec.decision.rule != RECORDED or not spec.model.decides or not known.any():
        return False
    return bool((score[known] == recorded[known]).all())


def _qualified(variants: pa.Table, spec: AuditSpec) -> NDArray[np.int8]:
    """Read who is qualified: as the column of that name says, else as the outcome does."""
    qualified, how = flags(variants["qualified"]), spec.source.outcome
    if variants["outcome"].null_count == len(variants) or (how is not None and how.classes):
        return qualified
    outcome = variants["outcome"].to_numpy()
    with np.errstate(invalid="ignore"):
        if how is not None and how.threshold is not None:
            known, positive = ~np.isnan(outcome), outcome >= how.threshold
        else:
            known, positive = np.isin(outcome, (0, 1)), outcome == 1
    return np.where((qualified < 0) & known, positive, qualified).astype(np.int8)


def _profile(columns: Mapping[str, Coded], attributes: Mapping[str, tuple[str, ...]]) -> NDArray[Any]:
    highest = math.prod(len(levels) + 1 for levels in attributes.values())
    kind = np.min_scalar_type(-highest - 1)  # with room for the number after the last
    profile = np.zeros(columns["application_id"].codes.size, dtype=kind)
    for axis, levels in attributes.items():
        places = {level: number for number, level in enumerate(levels)}
        recode = [places.get(label, len(levels)) for label in columns[axis].labels]
        profile *= len(levels) + 1
        profile += np.array([*recode, len(levels)], dtype=kind)[columns[axis].codes]
    return profile


def _ranked(score: Floats) -> tuple[NDArray[np.signedinteger[Any]], Codes]:
    """Return the order of the scores, ties in the order of the rows, and the dense rank of each."""
    order: NDArray[np.signedinteger[Any]] = np.argsort(score, kind="stable")
    if order.size < 2**31:
        order = order.astype(np.int32)
    ordered = score[order]
    ordered = ordered[: ordered.size - int(np.isnan(ordered).sum())]
    new = np.ones(ordered.size, dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    rank = np.full(score.size, -1, dtype=np.int32)
    rank[order[: ordered.size]] = np.cumsum(new, dtype=np.int32) - np.int32(1)
    return order, rank


def _read(source: pa.NativeFile, columns: Sequence[str], labels: Sequence[str]) -> pa.Table:
    """Read columns of a Parquet table, those of few labels as codes."""
    return pq.ParquetFile(source, read_dictionary=list(labels)).read(columns=list(columns))
