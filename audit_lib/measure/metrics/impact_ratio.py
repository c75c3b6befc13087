"""Impact ratio of selection rates, by the policy's categories."""

from __future__ import annotations

import numpy as np

from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.statutory.classification import classification_tables
from audit_lib.measure.statutory.rate_tables import rate_tables
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec


@metric(
    "impact_ratio",
    title="Impact ratio",
    parity=1.0,
    meaning="The rate of a category divided by the highest.",
    better="parity",
    unit="ratio",
    cite="6 RCNY 5-300 and 5-301(b)",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Make the selection tables; rounds whose last place was drawn by lot are counted.

    A tool that classifies people gets the tables again for each group.
    """
    decisions = rows.decisions
    lots = undersized = None
    if spec.decision.rule == "top_k":
        lots = int(np.unique(rows.round[decisions.tied_at_cutoff]).size)
        # Rounds with no more scored candidates than places select everybody, whatever the scores.
        size = rows.pools.size
        undersized = int(np.unique(rows.round[(size > 0) & (size <= (spec.decision.k or 1))]).size)
    tables = rate_tables(
        "selection", "impact_ratio", rows, spec, policy, decisions.selected,
        tied_rounds=lots, undersized_rounds=undersized,
    )  # fmt: skip
    return Measured(tables=tables + classification_tables("impact_ratio", rows, spec, policy))
