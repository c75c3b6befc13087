"""Do the parts of an audit, such as its positions, agree, and does pooling them turn a finding round?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from audit_lib.canonical import canonical_json
from audit_lib.documents.effects import StrataSpread, StratumEffect
from audit_lib.documents.metrics import (
    EstimateHeterogeneity,
    EstimateSimpson,
    Heterogeneity,
    RatioHeterogeneity,
    StratumCounts,
    StratumValue,
)
from audit_lib.documents.parameters import DESIGN
from audit_lib.documents.rate_tables import RateRow
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.inference import Compared
from audit_lib.measure.metric import Measured
from audit_lib.measure.statutory.rate_tables import ClusteredTable
from audit_lib.results import Interval, TestResult, Undefined
from audit_lib.stats._checks import z_quantile
from audit_lib.stats.heterogeneity import TwoByTwo, breslow_day, cochran_q, simpson_check
from audit_lib.stats.shrinkage import effect_spread

T = TypeVar("T")

SHARED = "some independent units stand in several strata, which are then not independent"


def heterogeneity(whole: Measured, parts: Sequence[Measured], over: Sequence[str]) -> Iterator[Heterogeneity]:
    """Compare each finding of the whole with the same one in its parts.

    Tables: Breslow and Day's test of one odds ratio (Tarone's correction), Cochran's of one log ratio, and
    Simpson's check, all against the category that is the comparator of the whole; where people share rounds or
    applications, Cochran's with variances that allow for it. Estimates with a standard error: Cochran's test on
    the scale of their interval.

    Parameters
    ----------
    whole : Measured
        One metric in the headline.
    parts : sequence of Measured
        The same metric in each stratum of a split.
    over : sequence of str
        The columns split by.
    """
    tables: dict[tuple[str, str, str | None], list[ClusteredTable]] = {
        _which(table): [] for table in whole.tables
    }
    for part in parts:
        for table in part.tables:
            tables[_which(table)].append(table)
    for table in whole.tables:
        for row in table.rows:
            entry = _of_row(table, row, tables[_which(table)], tuple(over))
            if entry is not None:
                yield entry
    own: dict[bytes, list[Compared]] = {}
    for part in parts:
        for estimate in part.estimates:
            if isinstance(estimate, Compared):
                own.setdefault(_key(estimate), []).append(estimate)
    for estimate in whole.estimates:
        if isinstance(estimate, Compared) and not isinstance(_error(estimate), Undefined):
            yield _of_estimate(estimate, own.get(_key(estimate), []), tuple(over))


def _which(table: ClusteredTable) -> tuple[str, str, str | None]:
    return table.kind, table.family, table.classification


def _key(estimate: Compared) -> bytes:
    return canonical_json([estimate.metric, estimate.group, estimate.reference, _told_apart(estimate)])


def _told_apart(estimate: Compared) -> dict[str, int | float | str]:
    """Parameters by which two estimates of one metric and group differ."""
    return {name: value for name, value in estimate.parameters.items() if name in DESIGN}


def _of_row(
    table: ClusteredTable, row: RateRow, parts: Sequence[ClusteredTable], over: tuple[str, ...]
) -> RatioHeterogeneity | None:
    if isinstance(table.comparator, Undefined) or isinstance(row.impact_ratio.value, Undefined):
        return None
    if row.label == table.comparator:
        return None
    (top,) = (other for other in table.rows if other.label == table.comparator)
    strata: list[TwoByTwo] = []
    for part in parts:
        counts = {other.label: (other.selected, other.n) for other in part.rows}
        strata.append((*counts[row.label], *counts[top.label]))
    rates = table.clusters.rates
    return RatioHeterogeneity(
        over=over,
        metric=row.impact_ratio.metric,
        table=table.kind,
        family=table.family,
        group=dict(row.category),
        reference=dict(top.category),
        label=row.label,
        comparator=top.label,
        strata=tuple(
            StratumCounts(stratum=dict(part.stratum), counts=counts)
            for part, counts in zip(parts, strata, strict=True)
        ),
        breslow_day=_one_odds_ratio(table, strata),
        cochran_q=_or_reason(
            lambda: (
                _log_ratios(strata)
                if rates is None
                else _clustered_log_ratios(table, row.label, top.label, parts, strata)
            )
        ),
        clustered_by=None if rates is None else table.clusters.unit,
        simpson=_or_reason(lambda: simpson_check(strata)),
    )


def _one_odds_ratio(table: ClusteredTable, strata: Sequence[TwoByTwo]) -> TestResult | Undefined:
    """Test one odds ratio by counts, which are a test of independent people only."""
    if table.clusters.rates is not None:
        return Undefined(f"people share a cluster, the {table.clusters.unit}: counts alone are no test")
    return _or_reason(lambda: breslow_day(strata))


def _clustered_log_ratios(
    table: ClusteredTable, label: str, top: str, parts: Sequence[ClusteredTable], strata: Sequence[TwoByTwo]
) -> TestResult:
    if sum(part.clusters.units for part in parts) != table.clusters.units:
        raise UndefinedMetricError(SHARED)
    logs, variances = [], []
    for part, (x, n, y, m) in zip(parts, strata, strict=True):
        if not x or not y or x + y == n + m:
            continue
        rates, places = part.clusters.rates, part.clusters.places
        try:
            own = (n - x) / (n * x) + (m - y) / (m * y)
            variances.append(own if rates is None else rates.variance_of_log(places[label], places[top]))
        except UndefinedMetricError:
            continue
        logs.append(math.log(x * m / (n * y)))
    if len(logs) < 2:
        raise UndefinedMetricError(f"{len(logs)} of {len(strata)} strata have a log ratio with a variance")
    return cochran_q(logs, variances)


def _log_ratios(strata: Sequence[TwoByTwo]) -> TestResult:
    used = [(x, n, y, m) for x, n, y, m in strata if x and y and x + y < n + m]
    if len(used) < 2:
        raise UndefinedMetricError(f"{len(used)} of {len(strata)} strata have a log ratio with a variance")
    return cochran_q(
        [math.log(x * m / (n * y)) for x, n, y, m in used],
        [(n - x) / (n * x) + (m - y) / (m * y) for x, n, y, m in used],
    )


def _of_estimate(whole: Compared, parts: Sequence[Compared], over: tuple[str, ...]) -> EstimateHeterogeneity:
    used = [
        (location, error)
        for location, error in ((part.location, _error(part)) for part in parts)
        if not isinstance(location, Undefined) and not isinstance(error, Undefined)
    ]

    def q() -> TestResult:
        _check(whole, parts, len(used))
        return cochran_q([location for location, _ in used], [error**2 for _, error in used])

    def simpson() -> EstimateSimpson:
        _check(whole, parts, len(used))
        weights = [1 / error**2 for _, error in used]
        centre = sum(w * location for w, (location, _) in zip(weights, used, strict=True)) / sum(weights)
        pooled = whole.location
        if isinstance(pooled, Undefined):
            raise UndefinedMetricError(pooled.reason)
        lower, higher = sum(at < 0 for at, _ in used), sum(at > 0 for at, _ in used)
        turned = pooled * centre < 0
        return EstimateSimpson(
            reversed=turned,
            complete=turned and (higher if pooled > 0 else lower) == 0,
            pooled=pooled,
            adjusted=centre,
            scale=whole.scale,
            lower=lower,
            equal=len(used) - lower - higher,
            higher=higher,
        )

    return EstimateHeterogeneity(
        over=over,
        metric=whole.metric,
        group=dict(whole.group),
        reference=dict(whole.reference),
        parameters=_told_apart(whole),
        strata=tuple(StratumValue(stratum=dict(part.stratum), value=part.value) for part in parts),
        cochran_q=_or_reason(q),
        simpson=_or_reason(simpson),
        spread=_or_reason(lambda: _spread(whole, parts, len(used)))
        if whole.metric == "standardised_effect"
        else None,
    )


def _spread(whole: Compared, parts: Sequence[Compared], used: int) -> StrataSpread:
    """Return how much effects differ between strata: normal effects with normal errors."""
    _check(whole, parts, used)
    found = [
        (dict(part.stratum), part.value, error)
        for part, error in ((part, _error(part)) for part in parts)
        if not isinstance(part.value, Undefined) and not isinstance(error, Undefined)
    ]
    level = next((one.interval.level for one in (*parts, whole) if isinstance(one.interval, Interval)), 0.95)
    z = z_quantile(level)
    spread = effect_spread([value for _, value, _ in found], [error for _, _, error in found], level)
    return StrataSpread(
        sd=spread.sd,
        interval=Interval(low=spread.low, high=spread.high, level=level, method="chi-squared, errors known"),
        n=len(found),
        method="variance of the estimates less that of their errors; values by normal shrinkage",
        effects=tuple(
            StratumEffect(
                stratum=stratum,
                value=value,
                standard_error=error,
                interval=Interval(
                    low=value - z * error, high=value + z * error, level=level, method="posterior, normal"
                ),
            )
            for (stratum, _, _), value, error in zip(
                found, spread.values.tolist(), spread.errors.tolist(), strict=True
            )
        ),
    )


def _error(one: Compared) -> float | Undefined:
    """Return the standard error by which strata differ: all of them show the same names."""
    return one.standard_error if one.these_names is None else one.these_names.standard_error


def _check(whole: Compared, parts: Sequence[Compared], used: int) -> None:
    if sum(part.clusters or 0 for part in parts) != whole.clusters:
        raise UndefinedMetricError(SHARED)
    if used < 2:
        raise UndefinedMetricError(f"{used} of {len(parts)} strata have an estimate with a standard error")


def _or_reason(work: Callable[[], T]) -> T | Undefined:
    try:
        return work()
    except UndefinedMetricError as error:
        return Undefined(str(error))
