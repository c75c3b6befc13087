"""Stereotypical associations (SA): in whose company do target words appear?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.estimates.texts import Sides, TextMean, described, need_texts
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.metrics.cooccurrence_bias_score import words_of
from audit_lib.measure.rows.scored import Rows, compact
from audit_lib.metrics.text.associations import association_sums, stereotypical_associations
from audit_lib.metrics.text.tokens import Corpus, encode
from audit_lib.policies import Policy
from audit_lib.results import Estimate, Interval, Undefined
from audit_lib.seeds import derive_seed
from audit_lib.spec import AuditSpec
from audit_lib.stats.distances import distance_interval
from audit_lib.stats.shares import share_errors

_DEVIATION = Undefined("a distance is biased away from 0: no standard error describes it; see its interval")


@metric(
    "stereotypical_associations",
    title="Stereotypical associations",
    parity=0.0,
    meaning="A distance from equal shares, or from those of texts.shares: above 0 on any sample.",
    better="lower",
    unit="share",
    needs=("words",),
    languages="spaced",
    cite="Bouchard (2024), arXiv:2407.10853; Liang et al. (2023)",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute it over all texts of the stratum, for each attribute over all its levels; parity is equal shares,
    or those of ``texts.shares``.

    It is a mean of distances, above 0 on any sample; its interval bounds the error by the mean of the errors'
    norms, over applications. It is for the target words that have a value.
    """
    texts = need_texts(rows)
    clusters, units = compact(rows.application[texts.row])
    found: list[Estimate] = []
    said: Corpus | None = None
    for axis, levels in spec.groups.attributes.items():
        value: float | Undefined
        interval: Interval | Undefined
        defined = 0
        try:
            lexicons = {level: words_of(texts, axis, level) for level in levels}
            if not len(texts):
                raise UndefinedMetricError("no text")
            said = said or encode(texts.text.tolist())
            table = stereotypical_associations(
                said, lexicons, texts.words.targets, spec.texts.shares.get(axis)
            )
            defined = len(table.words) - table.undefined
            value = table.mean
            counts = association_sums(said, clusters.astype(np.int64), lexicons, texts.words.targets)
            interval = _interval(value, counts, min(table.reference), spec)
        except UndefinedMetricError as error:
            value = interval = Undefined(str(error))
        found.append(
            described(
                "stereotypical_associations",
                TextMean(
                    value=value,
                    interval=interval,
                    standard_error=interval if isinstance(interval, Undefined) else _DEVIATION,
                    n=len(texts),
                    clusters=units,
                ),
                rows,
                spec,
                sides=Sides(own=False),
                method="mean over target words of the total variation distance from the shares of texts.shares"
                if axis in spec.texts.shares
                else "mean over target words of the total variation distance from equal shares",
                parameters={
                    "attribute": axis,
                    "words": len(texts.words.targets),
                    "words_defined": defined,
                },
                flags=("undirected",),
            )
        )
    return Measured(estimates=found)


def _interval(value: float, counts: NDArray[np.int64], least: float, spec: AuditSpec) -> Interval | Undefined:
    seed = derive_seed(spec.seed, "stereotypical_associations")
    try:
        errors = share_errors(counts, seed=seed, draws=spec.texts.resamples, bound=1.0 - least)
    except UndefinedMetricError as undefined:
        return Undefined(str(undefined))
    return distance_interval(value, errors, spec.measure.level)
