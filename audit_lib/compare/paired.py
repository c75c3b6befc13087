"""Models tested against each other on the same applications or rounds, by every metric that allows it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from audit_lib.compare.contents import Contents, design_parameters, identity, stratum_key
from audit_lib.documents.comparison import ComparedFindings, PairedContrast, PairedDifference, PairedFamily
from audit_lib.documents.estimates import defined
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.influence import Influence, keeping
from audit_lib.measure.metric import METRICS
from audit_lib.measure.rows.scored import Rows, strata
from audit_lib.policies import policy_of
from audit_lib.results import Estimate, Interval, Undefined
from audit_lib.run import Run
from audit_lib.stats.multiplicity import holm
from audit_lib.stats.paired import UnitSums, paired_difference

RATIOS: Final = ("adverse_impact_ratio", "impact_ratio", "scoring_rate_impact_ratio")
"""Metrics that hand on influence values though their estimates have no standard error."""

RULE: Final = (
    "One test for each pair of models and each estimate of a metric that has influence values, in every stratum. "
    "Impact ratios of categories are those over the category of groups.reference, in every model. "
    "p_holm_models is adjusted for the pairs of models of one estimate, p_holm for all of these tests."
)
_METHOD: Final = (
    "cluster influence function of the difference: for each application (or round) the difference of what it moves the "
    "two models' estimates, summed; t of these units less one"
)
_NOT_KNOWN: Final = Undefined(
    "what each unit moves one of the two estimates is not known, as where a group has fewer than two members with a "
    "value"
)
_BY_ITS_OWN: Final = Undefined(
    "its intervals are not made of what each application moves, so nothing pairs two models"
)


def why_not_tested(contents: Contents, metric: str) -> Undefined | None:
    """Return why models are not tested against each other by a metric; None where they are."""
    found = [e for e in contents.printed(0) if e.metric == metric]
    if metric in RATIOS or any(isinstance(e.standard_error, float) for e in found):
        return None
    said = next((e.standard_error for e in found if isinstance(e.standard_error, Undefined)), None)
    return _BY_ITS_OWN if said is None or not any(e.is_defined for e in found) else said


def paired_family(contents: Contents, contrasts: Sequence[PairedContrast]) -> PairedFamily:
    """Adjust the tests of every pair of runs for their number."""
    p_values = [pair.p_value for one in contrasts for pair in one.pairs]
    adjusted = iter(holm([Undefined("no test") if p is None else p for p in p_values]).p_values)
    alpha = contents.runs[0].spec.measure.alpha
    told = tuple(
        replace(one, pairs=tuple(replace(pair, p_holm=defined(next(adjusted))) for pair in one.pairs))
        for one in contrasts
    )
    pairs = [pair for one in told for pair in one.pairs]
    return PairedFamily(
        family_size=sum(p is not None for p in p_values),
        method=_METHOD,
        rule=RULE,
        alpha=alpha,
        findings=ComparedFindings(
            p_value=sum(pair.p_value is not None and pair.p_value < alpha for pair in pairs),
            p_holm=sum(pair.p_holm is not None and pair.p_holm < alpha for pair in pairs),
        ),
        contrasts=told,
    )


def contrast_of(
    estimates: Sequence[Estimate | None], found: Sequence[Influence | None], level: float
) -> PairedContrast:
    """Test every pair of models by one estimate.

    Parameters
    ----------
    estimates : sequence of Estimate or None
        One a model, in order; None for a model that prints none.
    found : sequence of Influence or None
        What each unit moves them; None where nothing is known of that, as where all members of a group have one value.
    level : float
        Nominal coverage of the intervals.
    """
    named = next(one for one in estimates if one is not None)
    known = next((one for one in found if one is not None), None)
    aligned = _aligned(found)
    ratio = named.metric in RATIOS
    pairs = []
    for a, b in combinations(range(len(estimates)), 2):
        ours, theirs = estimates[a], estimates[b]
        if ours is None or theirs is None:
            continue
        if (first := aligned[a]) is None or (second := aligned[b]) is None:
            pairs.append(_untested(a, b, _apart(ours, theirs, ratio=ratio)))
        else:
            pairs.append(_pair(a, b, first, second, ratio=ratio, level=level))
    adjusted = holm([Undefined("no test") if pair.p_value is None else pair.p_value for pair in pairs])
    return PairedContrast(
        metric=named.metric,
        stratum=named.stratum,
        group=named.group,
        reference=named.reference,
        parameters=design_parameters(named),
        scale="ratio" if ratio else "difference",
        unit=None if known is None else known.unit,
        pairs=tuple(
            replace(pair, p_holm_models=defined(p)) for pair, p in zip(pairs, adjusted.p_values, strict=True)
        ),
    )


def _apart(ours: Estimate, theirs: Estimate, *, ratio: bool) -> float | Undefined:
    for one in (ours, theirs):
        if isinstance(one.value, Undefined):
            return one.value
    a, b = defined(ours.value), defined(theirs.value)
    if a is None or b is None or (ratio and b == 0):
        return Undefined("a ratio over nothing")
    return a / b if ratio else a - b


def _untested(a: int, b: int, value: float | Undefined) -> PairedDifference:
    return PairedDifference(
        first=a, second=b, value=value, interval=value if isinstance(value, Undefined) else _NOT_KNOWN, units=0,
        p_value=None, p_holm_models=None, p_holm=None,
    )  # fmt: skip


def metric_contrasts(contents: Contents, metrics: Sequence[str]) -> Iterator[PairedContrast]:
    """Test every pair of runs by each estimate of the metrics."""
    printed = [{identity(e): e for e in contents.printed(n)} for n in range(len(contents.runs))]
    level = contents.runs[0].spec.measure.level
    parts = [parts_of(run, rows) for run, rows in zip(contents.runs, contents.rows, strict=True)]
    for metric in metrics:
        wanted = dict.fromkeys(stratum_key(e.stratum) for e in printed[0].values() if e.metric == metric)
        for where in wanted:
            found = [
                _influences(metric, own[where], run) if where in own else {}
                for run, own in zip(contents.runs, parts, strict=True)
            ]
            for key, estimate in printed[0].items():
                if estimate.metric != metric or stratum_key(estimate.stratum) != where:
                    continue
                # What a run does not print, because a policy hides it, is not told by a difference either.
                told = [shown.get(key) for shown in printed]
                if sum(one is not None for one in told) < 2:
                    continue
                kept = [
                    one.get(key) if e is not None and e.is_defined else None
                    for one, e in zip(found, told, strict=True)
                ]
                yield contrast_of(told, kept, level)


def parts_of(run: Run, rows: Rows) -> dict[Any, Rows]:
    """Return the rows of each stratum that the spec asks for."""
    return {
        stratum_key(part.levels): part
        for names in run.spec.splits
        if all(name in rows.columns for name in names)
        for part in strata(rows, names)
    }


def _influences(metric: str, rows: Rows, run: Run) -> Mapping[Any, Influence]:
    """Compute a metric again, and keep what each unit moves its estimates."""
    with keeping() as found, suppress(UndefinedMetricError):
        METRICS.get(metric)(rows, run.spec, policy_of(run.spec))
    return {identity(one.estimate): one for one in found}


def _aligned(found: Sequence[Influence | None]) -> list[UnitSums | None]:
    """Put the units of all models in one order."""
    known = [one for one in found if one is not None]
    if not known:
        return [None] * len(found)
    if all(np.array_equal(one.names, known[0].names) for one in known[1:]):
        places = {id(one): (slice(None), one.names.size) for one in known}
    else:
        names = np.concatenate([one.names for one in known])
        union, back = np.unique(names.astype(str), return_inverse=True)
        ends = np.cumsum([0, *(one.names.size for one in known)])
        places = {
            id(one): (back[start:stop], union.size)  # type: ignore[misc]
            for one, start, stop in zip(known, ends[:-1], ends[1:], strict=True)
        }
    return [None if one is None else _placed(one, *places[id(one)]) for one in found]


def _placed(one: Influence, place: Any, units: int) -> UnitSums:
    def at(values: Any) -> Any:
        whole = np.zeros(units, dtype=values.dtype)
        whole[place] = values
        return whole

    value = one.estimate.value
    if isinstance(value, Undefined):
        raise UndefinedMetricError(value.reason)
    return UnitSums(
        estimate=math.log(value) if one.scale == "log" else value,
        group=at(one.group),
        reference=at(one.reference),
        group_rows=at(one.group_rows),
        reference_rows=at(one.reference_rows),
    )


def _pair(
    a: int, b: int, first: UnitSums, second: UnitSums, *, ratio: bool, level: float
) -> PairedDifference:
    value = first.estimate - second.estimate
    interval: Interval | Undefined
    p_value = None
    try:
        value, interval, test = paired_difference(first, second, level)
        p_value = defined(test.p_value)
    except UndefinedMetricError as error:
        interval = Undefined(str(error))
    if ratio:
        value = math.exp(value)
        if isinstance(interval, Interval):
            interval = replace(interval, low=math.exp(interval.low), high=math.exp(interval.high))
    return PairedDifference(
        first=a, second=b, value=value, interval=interval,
        units=int(np.count_nonzero(first.occurs & second.occurs)), p_value=p_value,
        p_holm_models=None, p_holm=None,
    )  # fmt: skip


def tested_by(contents: Contents, metric: str) -> str | Undefined:
    """Say how models are tested against each other by a metric, or why they are not."""
    return why_not_tested(contents, metric) or _METHOD
