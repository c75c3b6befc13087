"""The stage ``metrics``: every number of the audit, from the archived scores alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from audit_lib.canonical import pretty_json
from audit_lib.errors import IncompleteRunError
from audit_lib.measure.metric import METRICS
from audit_lib.measure.rows import Rows, load_rows, strata
from audit_lib.policies import load_policy
from audit_lib.records import STATUSES, write_table
from audit_lib.run import SUCCESS, Run, StageOutput

__all__ = ["METRICS", "measure", "scored_shards"]

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
    spec, policy = run.spec, load_policy(run.spec.report.policy)
    rows, ids = load_rows(run, scored_shards(run))
    headline = set(spec.measure.strata[0])
    missingness, mass, scores, measured = [], [], [], []
    for part in strata(rows, spec):
        if set(part.levels) == headline:
            missingness += [_missingness(part, number) for number in (*range(len(part.cells)), -1)]
            mass += [_label_mass(part, number) for number in range(len(part.cells))]
        scores += [_summary(part, number) for number in range(len(part.cells))]
        measured += [METRICS.get(name)(part, spec, policy) for name in spec.measure.metrics]
    document: dict[str, Any] = {
        "schema": "audit-metrics/1",
        "experiment": spec.groups.provenance == "assigned",
        "rows": {
            "total": len(rows),
            "answered": int(np.isfinite(rows.score).sum()),
            "unknown_group": int((rows.group < 0).sum()),
            "by_status": _by_status(rows.status),
        },
        "missingness": missingness,
        "label_mass": mass,
        "tables": [table.as_dict() for one in measured for table in one.tables],
        "estimates": [estimate.as_dict() for one in measured for estimate in one.estimates],
        "scores": scores,
    }
    return StageOutput(
        {"metrics.json": pretty_json(document), "decisions.parquet": _decisions(rows, ids)},
        {
            "rows": len(rows),
            "answered": document["rows"]["answered"],
            "estimates": len(document["estimates"]),
            "tables": len(document["tables"]),
        },
    )


def _decisions(rows: Rows, ids: pa.Array) -> bytes:
    decisions, rounds = rows.decisions, rows.columns["round_id"]
    table = pa.table(
        {
            "variant_id": ids,
            "round_id": pa.array([*rounds.labels, None], pa.string()).take(pa.array(rounds.codes % (len(rounds.labels) + 1))),
            "score": pa.array(rows.score, mask=np.isnan(rows.score)),
            "rank": pa.array(decisions.rank, mask=decisions.rank == 0),
            "selected": pa.array(decisions.selected > 0, mask=decisions.selected < 0),
            "tied_at_cutoff": pa.array(decisions.tied_at_cutoff),
        },
        schema=_DECISIONS,
    )
    return write_table(table)


def _by_status(status: NDArray[np.int8]) -> dict[str, int]:
    return {name: int((status == number).sum()) for number, name in enumerate(STATUSES)}


def _missingness(rows: Rows, group: int) -> dict[str, Any]:
    """Statuses of one group; -1 stands for the rows whose group is not known."""
    status = rows.status[rows.group == group]
    cell = rows.cells[group] if group >= 0 else None
    return {"stratum": dict(rows.levels), "group": cell, "n": int(status.size), **_by_status(status)}


def _label_mass(rows: Rows, group: int) -> dict[str, Any]:
    mass = rows.label_mass[(rows.group == group) & ~np.isnan(rows.label_mass)]
    summary = {"mean": float(mass.mean()), "minimum": float(mass.min())} if mass.size else {"mean": None, "minimum": None}
    return {"stratum": dict(rows.levels), "group": rows.cells[group], "n": int(mass.size), **summary}


def _summary(rows: Rows, group: int) -> dict[str, Any]:
    score = rows.score[(rows.group == group) & ~np.isnan(rows.score)]
    quantiles = np.quantile(score, [0, 0.25, 0.5, 0.75, 1]).tolist() if score.size else None
    return {
        "stratum": dict(rows.levels),
        "group": rows.cells[group],
        "n": int(score.size),
        "mean": float(score.mean()) if score.size else None,
        "sd": float(score.std(ddof=1)) if score.size > 1 else None,
        "quantiles": quantiles,
    }
