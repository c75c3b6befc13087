"""Impact ratio of scoring rates: the share of a category strictly above the full sample's median."""

from __future__ import annotations

import numpy as np

from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.statutory.rate_tables import rate_tables
from audit_lib.metrics.median import Median
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "scoring_rate_impact_ratio",
    title="Impact ratio of scoring rates",
    parity=1.0,
    meaning="The scoring rate of a category divided by the highest.",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Make the scoring tables, with the median and the number of scores that equal it.

    A tied coarse score can put far fewer than half above the median; the count shows it.
    """
    rows.need_scores()
    scored = ~np.isnan(rows.score)
    base = scored & rows.known() if policy.median == "known" else scored
    if not base.any():
        nothing = np.full(rows.score.shape, -1, dtype=np.int8)
        return Measured(
            tables=rate_tables("scoring", "scoring_rate_impact_ratio", rows, spec, policy, nothing)
        )
    median = Median.of(rows.score[base])
    above = np.where(scored, median.above(rows.score), np.int8(-1)).astype(np.int8, copy=False)
    return Measured(
        tables=rate_tables(
            "scoring", "scoring_rate_impact_ratio", rows, spec, policy, above,
            median=median.value, median_ties=int(median.tied(rows.score[scored]).sum()),
        )
    )  # fmt: skip
