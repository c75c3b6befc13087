"""The stage ``metrics``: every number of the audit, from the archived scores alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from audit_lib.canonical import pretty_json
from audit_lib.documents.metrics import SCHEMA, read_metrics
from audit_lib.errors import IncompleteRunError, UndefinedMetricError
from audit_lib.measure.experiment.manipulation import agreement_reason, differs
from audit_lib.measure.leakage import leakage_of
from audit_lib.measure.metric import METRICS, Measured, record_of
from audit_lib.measure.multiplicity import adjust
from audit_lib.measure.rows.group_pairs import pair_table
from audit_lib.measure.rows.load import load_rows
from audit_lib.measure.rows.scored import Rows, strata
from audit_lib.measure.rows.split_columns import attributed
from audit_lib.measure.splits import Splits
from audit_lib.policies import Policy, policy_of
from audit_lib.policies.gates import check_invoked
from audit_lib.records import ANSWERED, STATUSES, write_table
from audit_lib.results import Estimate, Undefined
from audit_lib.run import SUCCESS, Run, StageOutput
from audit_lib.spec import AuditSpec

__all__ = ["METRICS", "measure", "scored_shards"]

_SAYS_SO = {"uninterpretable", "unperceived", "manipulation_agreement"}
"""Flag and metric that tell of perception themselves."""

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


def scored_shards(run: Run) -> list[int]:
    """Return the shards that hold complete scores, in order.

    Raises
    ------
    IncompleteRunError
        If there is none.
    """
    shards = sorted(int(path.split("/")[1]) for path in run.list("scores") if path.endswith(f"/{SUCCESS}"))
    if not shards:
        raise IncompleteRunError(f"{run.uri}/scores: no shard is complete; score first")
    return shards


def measure(run: Run) -> StageOutput:
    """Compute every metric of the spec in every stratum.

    Returns
    -------
    StageOutput
        ``metrics.json`` and ``decisions.parquet``.
    """
    spec, policy = run.spec, policy_of(run.spec)
    rows, ids = load_rows(run, scored_shards(run))
    answered = int(_answered(rows).sum())
    check_invoked(policy, spec, answered=answered, total=len(rows), attributed=attributed(run))
    missingness, mass, scores = [], [], []
    answers: list[dict[str, Any]] = []
    splits = Splits()
    for number, names in enumerate(spec.splits):
        if names not in spec.measure.strata and len(rows.columns["model"].labels) == 1:
            continue  # one model answered: a split by model would be the whole again
        splits.begin(names)
        for part in strata(rows, names):
            if splits.known(part):
                continue
            groups = [(levels, where) for levels, where in part.profiles() if None not in levels.values()]
            if number == 0:
                missingness += [_missingness(part, levels, where) for levels, where in groups]
                missingness.append(_unknown_missingness(part))
                mass += [_label_mass(part, levels, where) for levels, where in groups]
            scores += [_summary(part, levels, where) for levels, where in groups]
            answers += pair_table(part, spec)
            # Without any score one word of it is enough; each stratum would repeat it.
            silent = rows.decisions_only and number > 0
            splits.add(
                part, {name: _measured(name, part, spec, policy, silent) for name in spec.measure.metrics}
            )
    ordered = [one[name] for one in splits.measured for name in spec.measure.metrics]
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "experiment": spec.groups.provenance == "assigned",
        "rows": {
            "total": len(rows),
            "answered": answered,
            "unknown_group": len(rows) - int(rows.known().sum()),
            "by_status": _by_status(rows.status),
            "decided_without_score": _decided_without_score(rows, slice(None)),
        },
        "demographics": _demographics(run),
        "strata_identical": splits.identical,
        "missingness": missingness,
        "label_mass": mass,
        "tables": [table.as_dict() for one in ordered for table in one.tables],
        "estimates": [estimate.as_dict() for one in ordered for estimate in one.estimates],
        "scores": scores,
        "heterogeneity": list(splits.heterogeneity(spec.measure.metrics)),
    }
    if rows.pairs is not None:
        document["pairwise_answers"] = answers
    if (told := leakage_of(run, scored_shards(run))) is not None:
        document["leakage"] = told
    document["multiplicity"] = adjust(document, spec.measure.alpha)
    content = pretty_json(document)
    read_metrics(content)  # what no reader could read is not written
    return StageOutput(
        {"metrics.json": content, "decisions.parquet": _decisions(rows, ids)},
        {
            "rows": len(rows),
            "answered": document["rows"]["answered"],
            "estimates": len(document["estimates"]),
            "tables": len(document["tables"]),
            "tests": document["multiplicity"]["family_size"],
        },
    )


def _measured(name: str, part: Rows, spec: AuditSpec, policy: Policy, silent: bool) -> Measured:
    """Compute a metric; one that does not exist here is one Undefined with the reason."""
    try:
        return _doubted(METRICS.get(name)(part, spec, policy), part, spec)
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


def _doubted(found: Measured, part: Rows, spec: AuditSpec) -> Measured:
    """Flag nulls of an attribute that the model does not perceive: that groups look alike then says nothing."""
    doubted = {
        (axis, level)
        for axis, levels in part.attributes.items()
        for level in levels
        if agreement_reason(part, spec, axis, level) is not None
    }
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


def _demographics(run: Run) -> dict[str, Any] | None:
    """What the sample says of people whose category is not known; None where categories are assigned."""
    if not run.stage("sample").is_complete():
        return None
    found = run.stage("sample").read_json("sample.json").get("demographics")
    kept = ("people", "matched", "unmatched", "unknown", "unknown_values")
    return None if found is None else {key: found[key] for key in kept if key in found}


def _decisions(rows: Rows, ids: pa.ChunkedArray) -> bytes:
    """Write the decisions in the order of the variants."""
    back = np.empty(len(rows), dtype=np.int64)
    back[rows.place] = np.arange(len(rows))
    decisions, rounds, score = rows.decisions.take(back), rows.columns["round_id"], rows.score[back]
    codes = rounds.codes[back]
    table = pa.table(
        {
            "variant_id": ids,
            "round_id": rounds.dictionary.take(pa.array(codes, mask=codes < 0)),
            "score": pa.array(score, mask=np.isnan(score)),
            "rank": pa.array(decisions.rank, mask=decisions.rank == 0),
            "selected": pa.array(decisions.selected > 0, mask=decisions.selected < 0),
            "tied_at_cutoff": pa.array(decisions.tied_at_cutoff),
        },
        schema=_DECISIONS,
    )
    return write_table(table.combine_chunks())


def _by_status(status: NDArray[np.int8]) -> dict[str, int]:
    return {name: int((status == number).sum()) for number, name in enumerate(STATUSES)}


def _missingness(rows: Rows, levels: Mapping[str, str | None], where: slice) -> dict[str, Any]:
    status = rows.status[where]
    entry: dict[str, Any] = {"stratum": dict(rows.levels), "group": dict(levels), "n": int(status.size)}
    entry |= _by_status(status)
    entry["decided_without_score"] = _decided_without_score(rows, where)
    if rows.repeats is not None:
        entry["repeats"] = _by_repeat(rows.repeats[where])
    return entry


def _unknown_missingness(rows: Rows) -> dict[str, Any]:
    """Statuses of the rows whose group is not known."""
    unknown = ~rows.known()
    status = rows.status[unknown]
    entry: dict[str, Any] = {"stratum": dict(rows.levels), "group": None, "n": int(status.size)}
    entry |= _by_status(status)
    entry["decided_without_score"] = _decided_without_score(rows, unknown)
    if rows.repeats is not None:
        entry["repeats"] = _by_repeat(rows.repeats[unknown])
    return entry


def _by_repeat(repeats: NDArray[np.int32]) -> dict[str, int]:
    """Statuses of all repeats: a row with one answer counts as answered, whatever else failed."""
    counts = dict(zip(STATUSES, repeats.sum(axis=0).tolist(), strict=True))
    return {"n": sum(counts.values()), **counts}


def _label_mass(rows: Rows, levels: Mapping[str, str | None], where: slice) -> dict[str, Any]:
    mass = rows.label_mass[where]
    mass = mass[~np.isnan(mass)]
    summary = (
        {"mean": float(mass.mean()), "minimum": float(mass.min())}
        if mass.size
        else {"mean": None, "minimum": None}
    )
    return {"stratum": dict(rows.levels), "group": dict(levels), "n": int(mass.size), **summary}


def _summary(rows: Rows, levels: Mapping[str, str | None], where: slice) -> dict[str, Any]:
    score = rows.score[where]
    score = score[~np.isnan(score)]
    return {
        "stratum": dict(rows.levels),
        "group": dict(levels),
        "n": int(score.size),
        "mean": float(score.mean()) if score.size else None,
        "sd": float(score.std(ddof=1)) if score.size > 1 else None,
        "quantiles": np.quantile(score, [0, 0.25, 0.5, 0.75, 1]).tolist() if score.size else None,
    }
