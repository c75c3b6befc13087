"""The metric ``above_median_gap``."""

from __future__ import annotations

import numpy as np

from audit_lib.measure.inference import compare, mean_gap
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.sides import Variable, score_unit
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "above_median_gap",
    title="Above-median gap",
    parity=0.0,
    better="parity",
    unit="share",
    meaning="Share of the group above the median score, minus that of the reference.",
    cite="Acme (2026), How we compare shares",
    columns=("score",),
    signed=True,
    figure="plain_list",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compare the shares above the median of all scores of the stratum."""
    rows.need_scores()
    known = rows.score[~np.isnan(rows.score)]
    above = np.where(np.isnan(rows.score), np.nan, rows.score > (np.median(known) if known.size else 0.0))
    shares = Variable.of(rows, above, score_unit(spec))
    return Measured(
        estimates=compare("above_median_gap", shares, spec, mean_gap, method="difference of shares")
    )
