"""Impact ratio of scoring rates: the share of a category strictly above the full sample's median."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.statutory.rate_tables import rate_tables
from audit_lib.metrics.median import median_split
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "scoring_rate_impact_ratio",
    title="Impact ratio of scoring rates",
    parity=1.0,
    meaning="The scoring rate of a category divided by the highest.",
    better="parity",
    unit="ratio",
    columns=("score",),
    cite="6 RCNY 5-300 and 5-301(b)",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Make the scoring tables, with the median and the number of scores that equal it.

    A tied coarse score can put far fewer than half above the median; the count shows it.
    """
    rows.need_scores()
    above, sample, context = above_median(rows, policy)
    return Measured(
        tables=rate_tables(
            "scoring", "scoring_rate_impact_ratio", rows, spec, policy, above, sample, **context
        )
    )


def above_median(
    rows: Rows, policy: Policy
) -> tuple[NDArray[np.int8], NDArray[np.bool_] | None, dict[str, float | int]]:
    """Return who scored above the median of a sample (-1: no score), whose it is, and it with the scores it ties."""
    known, scored = rows.known(), ~np.isnan(rows.score)
    above = np.full(rows.score.shape, -1, dtype=np.int8)
    of: Literal["all", "known"] = "known" if policy.median == "known" else "all"
    if not (scored & known if of == "known" else scored).any():
        return above, None, {}
    split = median_split(rows.score, known, of)
    above[scored] = split.above[scored]
    return above, split.sample, {"median": split.median.value, "median_ties": int(split.tied.sum())}
