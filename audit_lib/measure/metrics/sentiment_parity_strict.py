"""Strict counterfactual sentiment parity (SCSP): do the answers' sentiments have the same distribution?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.estimates.texts import NO_PAIR, Sides, TextMean, described, judged, need_texts, paired
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.metrics.text.sentiment import sentiment_parity_strict
from audit_lib.policies import Policy
from audit_lib.results import Estimate, Interval, TestResult, Undefined
from audit_lib.seeds import derive_seed
from audit_lib.spec import AuditSpec
from audit_lib.stats.distances import distance_interval, distance_test, earth_movers_errors
from audit_lib.stats.exchange import exchange_test

_DEVIATION = Undefined("a distance is biased away from 0: no standard error describes it; see its interval")


@metric(
    "sentiment_parity_strict",
    title="Sentiment parity, strict",
    parity=0.0,
    meaning="A distance of two distributions of sentiment: above 0 on any sample.",
    better="lower",
    unit="share",
    needs=("sentiment",),
    languages="classifier",
    cite="Bouchard (2024), arXiv:2407.10853; Huang et al. (2020)",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the Wasserstein-1 distance of the two sides' sentiments over their counterfactual pairs.

    On a sample it is above 0 even at parity; its interval bounds the error by the error's norm, over applications.
    Two tests go with it. The first exchanges group and reference, application by application: at parity each
    exchange is as likely as what was seen, whatever the number of applications. The second agrees with the interval.
    """
    texts = need_texts(rows)
    found: list[Estimate] = []
    for one in judged(texts, "sentiment"):
        for group, reference, pairs in paired(texts, rows, spec):
            sides = [one.values[side] for side in (pairs.group, pairs.reference)]
            known = ~np.isnan(sides[0]) & ~np.isnan(sides[1])
            ours, theirs = (side[known] for side in sides)
            clusters, units = compact(rows.application[texts.row[pairs.group[known]]])
            value: float | Undefined = Undefined(NO_PAIR)
            interval: Interval | Undefined = Undefined(NO_PAIR)
            tests: tuple[TestResult, ...] = ()
            if ours.size:
                value = sentiment_parity_strict(ours, theirs)
                interval, tests = _inference(value, ours, theirs, clusters, units, spec)
            found.append(
                described(
                    "sentiment_parity_strict",
                    TextMean(
                        value=value,
                        interval=interval,
                        standard_error=interval if isinstance(interval, Undefined) else _DEVIATION,
                        n=ours.size,
                        clusters=units,
                        tests=tests,
                    ),
                    rows,
                    spec,
                    sides=Sides(group=group, reference=reference),
                    method="Wasserstein-1 distance of the sentiments over pairs",
                    parameters={"classifier": one.name, "label": one.label, "unpaired": pairs.unpaired},
                    flags=("undirected",),
                )
            )
    return Measured(estimates=found)


def _inference(
    value: float,
    ours: NDArray[np.float64],
    theirs: NDArray[np.float64],
    clusters: NDArray[np.int32],
    units: int,
    spec: AuditSpec,
) -> tuple[Interval | Undefined, tuple[TestResult, ...]]:
    seed = derive_seed(spec.seed, "sentiment_parity_strict")
    exchanged = exchange_test(ours, theirs, clusters, units, spec.texts.resamples, seed)
    tests = () if exchanged is None else (exchanged,)
    try:
        errors = earth_movers_errors(ours, theirs, clusters, clusters, seed=seed)
    except UndefinedMetricError as undefined:
        return Undefined(str(undefined)), tests
    return distance_interval(value, errors, spec.measure.level), (*tests, distance_test(value, errors))
