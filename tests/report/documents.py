"""Typed documents for tests that need a few numbers only: the rest is as small as a document can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit_lib.documents.metrics import Findings, Metrics, RowCounts, TestFamily
from audit_lib.documents.rate_tables import AdverseImpact, Bounds, RateRow, RateTable
from audit_lib.results import Estimate, Undefined

NOT_MEASURED = Undefined("not measured")


def estimate(**changes: Any) -> Estimate:
    """Return an estimate with everything that it must have."""
    plain: dict[str, Any] = {
        "metric": "impact_ratio", "value": NOT_MEASURED, "interval": NOT_MEASURED, "n": 1, "method": "by hand",
    }  # fmt: skip
    return Estimate(**plain | changes)


def rate_row(
    category: Mapping[str, str],
    selected: int,
    n: int,
    *,
    ratio: float | Undefined = NOT_MEASURED,
    nobody: str = "nobody",
    **changes: Any,
) -> RateRow:
    """Return a row with its rate and a ratio."""
    bounds = Bounds(n=0, rate_bounds=NOT_MEASURED, ratio_bounds=NOT_MEASURED)
    plain: dict[str, Any] = {
        "category": category, "label": ", ".join(category.values()), "n": n, "selected": selected,
        "share_of_data": 0.5, "rate": estimate(metric="selection_rate", value=selected / n if n else Undefined(nobody)),
        "impact_ratio": estimate(value=ratio), "four_fifths_flag": None, "excluded": None, "missing": bounds,
        "unknown": bounds,
        "adverse_impact": AdverseImpact(
            shortfall=NOT_MEASURED, flip_flop=NOT_MEASURED, alpha=0.05,
            method="by hand",
        ),
    }  # fmt: skip
    return RateRow(**plain | changes)


def metrics(tables: tuple[RateTable[RateRow], ...] = (), **changes: Any) -> Metrics:
    """Return a ``metrics.json`` with these tables and nothing else."""
    plain: dict[str, Any] = {
        "experiment": False,
        "rows": RowCounts(total=0, answered=0, unknown_group=0, by_status={}, decided_without_score=0),
        "demographics": None, "strata_identical": (), "missingness": (), "label_mass": (), "tables": tables,
        "estimates": (), "scores": (), "heterogeneity": (),
        "multiplicity": TestFamily(
            family_size=0, rule="", methods={}, alpha=0.05,
            findings=Findings(unadjusted=0, holm=0),
        ),
    }  # fmt: skip
    return Metrics(**plain | changes)
