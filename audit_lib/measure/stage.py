"""The stage ``metrics``: every number of the audit, from the archived scores alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from audit_lib.canonical import pretty_json
from audit_lib.collector import seldom_collected
from audit_lib.documents.metrics import (
    Demographics,
    LabelMass,
    Metrics,
    Missingness,
    PairwiseAnswers,
    RowCounts,
    ScoreSummary,
    read_metrics,
)
from audit_lib.documents.reliability import Reliability
from audit_lib.documents.sample import Sample
from audit_lib.documents.statuses import ANSWERED, STATUSES, Statuses
from audit_lib.errors import IncompleteRunError, UndefinedMetricError
from audit_lib.large_file import Content
from audit_lib.measure.estimates.reliability import reliability_of
from audit_lib.measure.experiment.manipulation import agreement_reason, differs
from audit_lib.measure.experiment.names import names_explained
from audit_lib.measure.leakage import leakage_of
from audit_lib.measure.margins import held_to_margins, keeps_parts
from audit_lib.measure.metric import METRICS, Measured, record_of
from audit_lib.measure.multiplicity import Hypotheses, adjust
from audit_lib.measure.questions import SortedLevels, with_verdicts
from audit_lib.measure.rows.group_pairs import pair_table
from audit_lib.measure.rows.in_order import SortedIds
from audit_lib.measure.rows.load import load_rows
from audit_lib.measure.rows.scored import Rows, strata
from audit_lib.measure.rows.split_columns import attributed
from audit_lib.measure.sampling_errors import sampling_errors
from audit_lib.measure.score_summary import summary_of
from audit_lib.measure.scores_csv import SCORES_CSV, scores_csv
from audit_lib.measure.splits import Splits
from audit_lib.policies import Policy, policy_of
from audit_lib.policies.gates import check_invoked
from audit_lib.records import ParquetSink
from audit_lib.results import Estimate, Undefined
from audit_lib.run import SUCCESS, Run, StageOutput
from audit_lib.spec import AuditSpec

__all__ = ["METRICS", "complete_shards", "measure", "scored_shards"]

_SAYS_SO = {"uninterpretable", "unperceived", "manipulation_agreement"}
"""Flag and metric that tell of perception themselves."""

_WRITTEN = 1 << 20
"""Rows that are written at a time: a row group of Parquet's."""
_DECISIONS = pa.schema(
    [
        pa.field("variant_id", pa.string(), nullable=False),
        pa.field("round_id", pa.string()),
        pa.field("score", pa.float64()),
        pa.field("rank", pa.int32()),
        pa.field("selected", pa.bool_()),
        pa.field("tied_at_cutoff", pa.bool_(), nullable=False),
    ]
)


def complete_shards(run: Run) -> list[int]:
    """Return the shards that hold complete scores, in order, if any."""
    return sorted(int(path.split("/")[1]) for path in run.list("scores") if path.endswith(f"/{SUCCESS}"))


def scored_shards(run: Run) -> list[int]:
    """Return the shards that hold complete scores, in order.

    Raises
    ------
    IncompleteRunError
        If there is none.
    """
    shards = complete_shards(run)
    if not shards:
        raise IncompleteRunError(f"{run.uri}/scores: no shard is complete; score first")
    return shards


@seldom_collected()
def measure(run: Run) -> StageOutput:
    """Compute every metric of the spec in every stratum.

    Returns
    -------
    StageOutput
        ``metrics.json``, ``decisions.parquet``, and ``scores.csv``, the same rows for people without Parquet.
    """
    spec, policy = run.spec, policy_of(run.spec)
    rows, ids = load_rows(run, scored_shards(run))
    answered = int(_answered(rows).sum())
    check_invoked(policy, spec, answered=answered, total=len(rows), attributed=attributed(run))
    measured = measure_rows(rows, spec, policy)
    document = replace(
        measured,
        demographics=_demographics(run),
        sampling_errors=sampling_errors(run, scored_shards(run), rows, ids),
        leakage=leakage_of(run, scored_shards(run)),
    )
    content = pretty_json(document.as_dict())
    read_metrics(content)  # what no reader could read is not written
    return StageOutput(
        {
            "metrics.json": content,
            "decisions.parquet": _decisions(rows, ids),
            SCORES_CSV: scores_csv(rows, ids),
        },
        {
            "rows": len(rows),
            "answered": answered,
            "estimates": len(document.estimates),
            "tables": len(document.tables),
            "tests": document.multiplicity.family_size,
        },
    )


def measure_rows(rows: Rows, spec: AuditSpec, policy: Policy) -> Metrics:
    """Compute every metric of the spec in every stratum of some rows.

    Returns
    -------
    Metrics
        All of ``metrics.json`` that follows from the rows; `demographics`, `sampling_errors` and `leakage`, which do
        not, are None.
    """
    missingness: list[Missingness] = []
    mass: list[LabelMass] = []
    scores: list[ScoreSummary] = []
    answers: list[PairwiseAnswers] = []
    splits = Splits()
    reliability: list[Reliability] = []
    parts: list[Rows] = []
    doubts: dict[SortedLevels, frozenset[tuple[str, str]]] = {}
    for number, names in enumerate(spec.splits):
        if names not in spec.measure.strata and len(rows.columns["model"].labels) == 1:
            continue  # one model answered: a split by model would be the whole again
        splits.begin(names)
        for part in strata(rows, names):
            if splits.known(part):
                continue
            groups = [(levels, where) for levels, where in part.profiles() if None not in levels.values()]
            groups = [] if spec.groups.axes_of_probabilities else groups
            if number == 0:
                missingness += [_missingness(part, levels, where) for levels, where in groups]
                missingness.append(_missingness(part, None, ~part.known()))
                mass += [_label_mass(part, levels, where) for levels, where in groups]
                if "calibration_gap" in spec.measure.metrics:
                    reliability += reliability_of(part, spec)
            scores += [summary_of(part.levels, levels, part.score[where]) for levels, where in groups]
            answers += pair_table(part, spec)
            # Without any score one word of it is enough; each stratum would repeat it.
            silent = rows.decisions_only and number > 0
            doubted = _unperceived(part, spec)
            doubts[tuple(sorted(part.levels.items()))] = doubted
            measured = {name: _measured(name, part, spec, policy, silent) for name in spec.measure.metrics}
            splits.add(part, {name: _doubted(found, doubted) for name, found in measured.items()})
            if keeps_parts(spec, policy):
                parts.append(part)
    held = held_to_margins(
        splits.measured, spec, policy, lambda at, name, other: _of_metric(name, parts[at], other, policy)
    )
    ordered = [one[name] for one in held for name in spec.measure.metrics]
    tested, family = adjust(
        Hypotheses(
            tables=tuple(table for one in ordered for table in one.tables),
            estimates=tuple(estimate for one in ordered for estimate in one.estimates),
            heterogeneity=tuple(splits.heterogeneity(spec.measure.metrics)),
        ),
        spec.measure.alpha,
    )
    tested = with_verdicts(tested, spec, policy, doubts)
    return Metrics(
        experiment=spec.groups.provenance == "assigned",
        rows=RowCounts(
            total=len(rows),
            answered=int(_answered(rows).sum()),
            unknown_group=len(rows) - int(rows.known().sum()),
            by_status=_by_status(rows.status),
            decided_without_score=_decided_without_score(rows, slice(None)),
        ),
        demographics=None,
        strata_identical=tuple(splits.identical),
        missingness=tuple(missingness),
        label_mass=tuple(mass),
        tables=tested.tables,
        estimates=tested.estimates,
        scores=tuple(scores),
        heterogeneity=tested.heterogeneity,
        pairwise_answers=None if rows.pairs is None else tuple(answers),
        reliability=tuple(reliability) or None,
        names=names_explained(rows, spec),
        multiplicity=family,
    )


def _measured(name: str, part: Rows, spec: AuditSpec, policy: Policy, silent: bool) -> Measured:
    """Compute a metric; one that does not exist here is one Undefined with the reason."""
    try:
        with METRICS.naming(name):
            return _of_metric(name, part, spec, policy)
    except UndefinedMetricError as error:
        nothing = Undefined(str(error))
        estimate = Estimate(
            metric=name,
            value=nothing,
            interval=nothing,
            n=0,
            method="not computed",
            stratum=dict(part.levels),
        )
        return Measured(estimates=[] if silent else [estimate])


def _of_metric(name: str, part: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    found = METRICS.get(name)(part, spec, policy)
    if not isinstance(found, Measured):
        raise TypeError(f"{name} gave {type(found).__name__}, and no Measured")
    return found


def _unperceived(part: Rows, spec: AuditSpec) -> frozenset[tuple[str, str]]:
    """Return the levels, as (attribute, level), that the model did not tell as they were meant when it was asked."""
    return frozenset(
        (axis, level)
        for axis, levels in part.attributes.items()
        for level in levels
        if agreement_reason(part, spec, axis, level) is not None
    )


def _doubted(found: Measured, doubted: frozenset[tuple[str, str]]) -> Measured:
    """Flag nulls of an attribute that the model does not perceive: that groups look alike then says nothing."""
    if not doubted:
        return found
    return replace(
        found,
        estimates=[
            replace(one, flags=(*one.flags, "unperceived"))
            if doubted & one.group.items() and not {*one.flags, one.metric} & _SAYS_SO and not _differs(one)
            else one
            for one in found.estimates
        ],
    )


def _differs(one: Estimate) -> bool:
    parity = record_of(one.metric).parity
    return parity is not None and differs(one.interval, parity)


def _answered(rows: Rows) -> NDArray[np.bool_]:
    if rows.decisions_only or rows.texts is not None:
        return np.isin(rows.status, [STATUSES.index(status) for status in ANSWERED])
    return np.isfinite(rows.score)


def _decided_without_score(rows: Rows, where: slice | NDArray[np.bool_]) -> int:
    """Count rows whose recorded decision counts though they have no score, as others have."""
    missing = ~np.isin(rows.status[where], [STATUSES.index(status) for status in ANSWERED])
    return int((missing & (rows.decisions.selected[where] >= 0)).sum())


def _demographics(run: Run) -> Demographics | None:
    """What the sample says of people whose category is not known; None where categories are assigned."""
    if not run.stage("sample").is_complete():
        return None
    found = run.stage("sample").read_document(Sample, "sample.json").demographics
    if found is None:
        return None
    return Demographics(**{one.name: getattr(found, one.name) for one in fields(Demographics)})


def _decisions(rows: Rows, ids: SortedIds) -> Content:
    """Write the decisions in the order of the variants."""
    back, rounds = rows.by_variant(), rows.columns["round_id"]
    with ParquetSink(_DECISIONS) as sink:
        blocks = iter(ids.blocks(_WRITTEN)) if len(rows) else iter([pa.array([], pa.string())])
        for start, block in zip(range(0, max(len(rows), 1), _WRITTEN), blocks, strict=True):
            part = back[start : start + _WRITTEN]
            decisions, score, codes = rows.decisions.take(part), rows.score[part], rounds.codes[part]
            table = pa.table(
                {
                    "variant_id": block,
                    "round_id": rounds.dictionary.take(pa.array(codes, mask=codes < 0)),
                    "score": pa.array(score, mask=np.isnan(score)),
                    "rank": pa.array(decisions.rank, mask=decisions.rank == 0),
                    "selected": pa.array(decisions.selected > 0, mask=decisions.selected < 0),
                    "tied_at_cutoff": pa.array(decisions.tied_at_cutoff),
                },
                schema=_DECISIONS,
            )
            sink.write(table.combine_chunks())
    return sink.content()


def _by_status(status: NDArray[np.int8]) -> dict[str, int]:
    return {name: int((status == number).sum()) for number, name in enumerate(STATUSES)}


def _missingness(
    rows: Rows, group: Mapping[str, str | None] | None, where: slice | NDArray[np.bool_]
) -> Missingness:
    """Statuses of the rows of a group; of those whose group is not known where it is None."""
    status = rows.status[where]
    return Missingness(
        stratum=dict(rows.levels),
        group=None if group is None else _levels(group),
        n=int(status.size),
        **_by_status(status),
        decided_without_score=_decided_without_score(rows, where),
        repeats=None if rows.repeats is None else _by_repeat(rows.repeats[where]),
    )


def _levels(group: Mapping[str, str | None]) -> dict[str, str]:
    return {axis: level for axis, level in group.items() if level is not None}


def _by_repeat(repeats: NDArray[np.int32]) -> Statuses:
    """Statuses of all repeats: a row with one answer counts as answered, whatever else failed."""
    counts = dict(zip(STATUSES, repeats.sum(axis=0).tolist(), strict=True))
    return Statuses(n=sum(counts.values()), **counts)


def _label_mass(rows: Rows, group: Mapping[str, str | None], where: slice) -> LabelMass:
    mass = rows.label_mass[where]
    mass = mass[~np.isnan(mass)]
    return LabelMass(
        stratum=dict(rows.levels),
        group=_levels(group),
        n=int(mass.size),
        mean=float(mass.mean()) if mass.size else None,
        minimum=float(mass.min()) if mass.size else None,
    )
