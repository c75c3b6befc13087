r"""The study as CSV: correlations, model selection, and the points behind both.

UTF-8, comma, one header line, ``\n``. An empty cell is a number that does not exist; the column ``undefined`` says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from audit_lib.documents.validity import Correlation, ModelSelection, Point, ValidityStudy
from audit_lib.report.tables import csv_bytes
from audit_lib.results import Interval, Undefined

CORRELATIONS: Final = (
    "task", "gap", "k", "metric", "undirected", "job", "group", "r", "p_value", "low", "high", "level", "method",
    "points_low", "points_high", "n", "models", "left_out", "undefined_points", "undefined",
)  # fmt: skip
SELECTION: Final = (
    "task", "gap", "k", "metric", "gain", "length", "ndcg", "low_of_jobs", "high_of_jobs", "chance", "models",
    "left_out", "jobs", "undefined_jobs", "undefined",
)  # fmt: skip
_POINT: Final = ("task", "model", "job", "group", "gap", "n_group", "n_reference")


def correlations_csv(study: ValidityStudy) -> bytes:
    """Return a line a correlation."""
    return csv_bytes(CORRELATIONS, (_correlation(one) for one in study.correlations))


def selection_csv(study: ValidityStudy) -> bytes:
    """Return a line an NDCG."""
    return csv_bytes(SELECTION, (_selection(one) for one in study.selection))


def points_csv(study: ValidityStudy) -> bytes:
    """Return a line a point: a group of a job as a model treats it, with metrics and gaps."""
    first = study.points[0]
    gaps = {k: f"gap_k{k}" for k in first.gaps}
    columns = (*_POINT, *first.metrics, *gaps.values(), "undefined")
    return csv_bytes(columns, (_point(one, gaps) for one in study.points))


def _correlation(one: Correlation) -> dict[str, Any]:
    low, high, interval = _limits(one.interval)
    points_low, points_high, _ = _limits(one.interval_of_points)
    return {
        **{name: getattr(one, name) for name in CORRELATIONS if hasattr(one, name)},
        "r": _number(one.r),
        "p_value": _number(one.p_value),
        "low": low,
        "high": high,
        "level": None if interval is None else interval.level,
        "method": None if interval is None else interval.method,
        "points_low": points_low,
        "points_high": points_high,
        "undefined": _reasons({"r": one.r} if isinstance(one.r, Undefined) else {"interval": one.interval}),
    }


def _selection(one: ModelSelection) -> dict[str, Any]:
    return {
        **{name: getattr(one, name) for name in SELECTION if hasattr(one, name)},
        "ndcg": _number(one.ndcg),
        "low_of_jobs": one.low,
        "high_of_jobs": one.high,
        "chance": _number(one.chance),
        "undefined": _reasons({"ndcg": one.ndcg}),
    }


def _point(one: Point, gaps: Mapping[str, str]) -> dict[str, Any]:
    numbers = {**one.metrics, **{gaps[k]: value for k, value in one.gaps.items()}}
    return {
        **{name: getattr(one, name) for name in _POINT},
        **{name: _number(value) for name, value in numbers.items()},
        "undefined": _reasons(numbers),
    }


def _number(value: float | Undefined) -> float | None:
    return None if isinstance(value, Undefined) else value


def _limits(interval: Interval | Undefined) -> tuple[float | None, float | None, Interval | None]:
    if isinstance(interval, Undefined):
        return None, None, None
    return (
        interval.low if isfinite(interval.low) else None,
        interval.high if isfinite(interval.high) else None,
        interval,
    )


def _reasons(values: Mapping[str, object]) -> str:
    return "; ".join(
        f"{name}: {value.reason}" for name, value in values.items() if isinstance(value, Undefined)
    )
