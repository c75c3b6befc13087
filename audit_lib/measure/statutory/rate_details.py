"""What stands beside a rate and its ratio: missing-data bounds, shortfall, flip-flop, what could have been found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics.impact import ImpactRow
from audit_lib.policies import Policy
from audit_lib.results import Undefined
from audit_lib.spec import AuditSpec
from audit_lib.stats.adverse_impact import flip_flop, shortfall
from audit_lib.stats.missing import rate_bounds, ratio_bounds
from audit_lib.stats.power import smallest_detectable_ratio
from audit_lib.typed_json import as_json

ITSELF = Undefined("the comparator itself")


def bounds(row: ImpactRow, comparator: ImpactRow | Undefined, missing: int) -> dict[str, Any]:
    """Bound a rate and its ratio by what `missing` people could change, over the comparator's observed rate.

    Returns
    -------
    dict
        ``n``, and ``rate_bounds`` and ``ratio_bounds`` as [low, high] or Undefined.
    """

    def ratio() -> list[float | None]:
        found = _defined(comparator)
        limits = ratio_bounds(row.selected, row.total, missing, found.selected, found.total)
        return _pair(limits.as_dict())

    return {
        "n": missing,
        "rate_bounds": _or_reason(lambda: _pair(rate_bounds(row.selected, row.total, missing).as_dict())),
        "ratio_bounds": _or_reason(ratio),
    }


def adverse_impact(
    row: ImpactRow, comparator: ImpactRow | Undefined, spec: AuditSpec, policy: Policy
) -> dict[str, Any]:
    """Say what the difference amounts to, what one selection more would do, and what could have been found.

    Returns
    -------
    dict
        ``shortfall`` (people, at the common rate and at the comparator's), ``flip_flop`` and
        ``smallest_detectable_ratio`` (at the spec's alpha and power), each possibly Undefined.
    """

    def short() -> dict[str, float]:
        counts = _counts(row, comparator)
        return {"pooled": shortfall(*counts), "comparator": shortfall(*counts, expected_at="comparator")}

    def flips() -> dict[str, Any]:
        return flip_flop(
            *_counts(row, comparator), threshold=policy.guidance.threshold, alpha=spec.measure.alpha
        ).as_dict()

    def detectable() -> float:
        _, n, x_top, n_top = _counts(row, comparator)
        return smallest_detectable_ratio(
            n, n_top, x_top / n_top, power=spec.measure.power, alpha=spec.measure.alpha
        )

    return {
        "shortfall": _or_reason(short),
        "flip_flop": _or_reason(flips),
        "smallest_detectable_ratio": _or_reason(detectable),
        "alpha": spec.measure.alpha,
        "power": spec.measure.power,
        "method": "rows taken as independent; power of the two-sided pooled z test",
    }


def _counts(row: ImpactRow, comparator: ImpactRow | Undefined) -> tuple[int, int, int, int]:
    found = _defined(comparator)
    return row.selected, row.total, found.selected, found.total


def _defined(comparator: ImpactRow | Undefined) -> ImpactRow:
    if isinstance(comparator, Undefined):
        raise UndefinedMetricError(comparator.reason)
    return comparator


def _pair(limits: dict[str, Any]) -> list[float | None]:
    return [limits["low"], limits["high"]]


def _or_reason(work: Callable[[], Any]) -> Any:
    try:
        return as_json(work())
    except UndefinedMetricError as error:
        return Undefined(str(error)).as_dict()
