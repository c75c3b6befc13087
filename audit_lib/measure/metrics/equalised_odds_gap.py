"""Equalised odds gap: are the qualified, and the others, selected as often in one group as in another?"""

from __future__ import annotations

from audit_lib.measure.estimates.odds import equalised_odds, odds_gaps
from audit_lib.measure.metric import Measured, metric
from audit_lib.measure.rows.scored import Rows
from audit_lib.policies import Policy
from audit_lib.seeds import derive_seed
from audit_lib.spec import AuditSpec


@metric(
    "equalised_odds_gap",
    title="Equalised odds gap",
    parity=0.0,
    meaning="The larger of the gaps of the true and the false positive rate; a distance: above 0 on any sample.",
    better="lower",
    unit="share",
    columns=("qualified",),
    cite="Hardt, Price and Srebro (2016), arXiv:1610.02413",
)
def estimate(rows: Rows, spec: AuditSpec, policy: Policy) -> Measured:
    """Compute the distance of every group from its reference, of rows with a decision and an outcome; undirected."""
    method = "larger of the differences of P(selected given qualified) and P(selected given not qualified)"
    estimator = equalised_odds(derive_seed(spec.seed, "measure", "equalised_odds_gap"))
    return Measured(
        estimates=odds_gaps("equalised_odds_gap", rows, spec, estimator, method=method, flags=("undirected",))
    )
