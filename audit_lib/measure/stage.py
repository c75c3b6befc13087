"""The stage ``metrics``: every number of the audit, from the archived scores alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from audit_lib.canonical import pretty_json
from audit_lib.errors import IncompleteRunError
from audit_lib.measure.family import adjust
from audit_lib.measure.metric import METRICS, Measured
from audit_lib.measure.positions import heterogeneity
from audit_lib.measure.rows import Rows, load_rows, strata
from audit_lib.policies import load_policy
from audit_lib.records import STATUSES, write_table
from audit_lib.run import SUCCESS, Run, StageOutput
from audit_lib.spec import AuditSpec

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
    missingness, mass, scores = [], [], []
    measured: list[list[dict[str, Measured]]] = []
    for number, names in enumerate(spec.measure.strata):
        measured.append([])
        for part in strata(rows, names):
            groups = [(levels, where) for levels, where in part.profiles() if None not in levels.values()]
            if number == 0:
                missingness += [_missingness(part, levels, where) for levels, where in groups]
                missingness.append(_unknown_missingness(part))
                mass += [_label_mass(part, levels, where) for levels, where in groups]
            scores += [_summary(part, levels, where) for levels, where in groups]
            measured[number].append(
                {name: METRICS.get(name)(part, spec, policy) for name in spec.measure.metrics}
            )
    ordered = [one[name] for split in measured for one in split for name in spec.measure.metrics]
    document: dict[str, Any] = {
        "schema": "audit-metrics/1",
        "experiment": spec.groups.provenance == "assigned",
        "rows": {
            "total": len(rows),
            "answered": int(np.isfinite(rows.score).sum()),
            "unknown_group": len(rows) - int(rows.known().sum()),
            "by_status": _by_status(rows.status),
        },
        "missingness": missingness,
        "label_mass": mass,
        "tables": [table.as_dict() for one in ordered for table in one.tables],
        "estimates": [estimate.as_dict() for one in ordered for estimate in one.estimates],
        "scores": scores,
        "heterogeneity": list(_heterogeneity(measured, spec)),
    }
    document["multiplicity"] = adjust(document, spec.measure.alpha)
    return StageOutput(
        {"metrics.json": pretty_json(document), "decisions.parquet": _decisions(rows, ids)},
        {
            "rows": len(rows),
            "answered": document["rows"]["answered"],
            "estimates": len(document["estimates"]),
            "tables": len(document["tables"]),
            "tests": document["multiplicity"]["family_size"],
        },
    )


def _heterogeneity(measured: list[list[dict[str, Measured]]], spec: AuditSpec) -> Iterator[dict[str, Any]]:
    """Compare the whole with each split of it; without a headline of the whole there is nothing to compare."""
    if spec.measure.strata[0]:
        return
    (whole,) = measured[0]
    for names, parts in zip(spec.measure.strata[1:], measured[1:], strict=True):
        for name in spec.measure.metrics if names else ():
            yield from heterogeneity(whole[name], [part[name] for part in parts], names)


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
    return {"stratum": dict(rows.levels), "group": dict(levels), "n": int(status.size), **_by_status(status)}


def _unknown_missingness(rows: Rows) -> dict[str, Any]:
    """Statuses of the rows whose group is not known."""
    status = rows.status[~rows.known()]
    return {"stratum": dict(rows.levels), "group": None, "n": int(status.size), **_by_status(status)}


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
