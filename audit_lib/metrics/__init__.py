"""Metrics as pure functions: arrays in, numbers out, `UndefinedMetricError` with a reason where none exists.

The first group is always the protected one, the second the reference. ``*_gap``: signed difference, 0 at
parity. ``*_ratio``: 1 at parity. ``*_index``: in [-1, 1]. ``*_share``: a proportion. Similarities: 1 for
identical. How sure a number is, is for `audit_lib.stats` to say.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from audit_lib.metrics.allocation import (
    earth_movers_distance,
    jensen_shannon_divergence,
    rabbi,
    rank_counts_by_group,
    score_gap,
)
from audit_lib.metrics.calibration import calibration_gap
from audit_lib.metrics.correspondence import standardised_effects
from audit_lib.metrics.effects import FactorEffect, StandardisedEffects
from audit_lib.metrics.error_rates import (
    average_odds_gap,
    decision_rate_gap,
    equalised_odds_gap,
    false_discovery_rate_gap,
    false_negative_rate_gap,
    false_omission_rate_gap,
    false_positive_rate_gap,
)
from audit_lib.metrics.exposure import exposure_gap, exposures, ndkl, ndkl_at_random, skew_at_k
from audit_lib.metrics.flips import decision_flip_share
from audit_lib.metrics.group_auc import AucRow, AucTable, auc, auc_by_group, auc_gap
from audit_lib.metrics.impact import (
    ImpactRatios,
    ImpactRow,
    ScoringRates,
    ScoringRow,
    impact_ratios,
    scoring_rates,
)
from audit_lib.metrics.imputed import imputed_gap_bounds, imputed_rate_bounds, imputed_ratio_bounds
from audit_lib.metrics.inequality import (
    conditional_demographic_disparity,
    theil_between,
    theil_index,
)
from audit_lib.metrics.median import Median, MedianSplit, median_split
from audit_lib.metrics.pairwise import (
    PairwiseStatistics,
    consistent_winner,
    paired_answers,
    pairwise_output_statistics,
    pairwise_win_gap,
)
from audit_lib.metrics.rounding import as_fraction, printed_agreement, round_half_up
from audit_lib.metrics.selection import (
    column_selection_rates,
    demographic_parity_gap,
    equal_opportunity_gap,
    fractional_shares,
    selection_shares,
)
from audit_lib.metrics.standing import Standing, pool_standing
from audit_lib.metrics.validity import (
    Validity,
    fairness_ndcg,
    predictive_validity,
    predictive_validity_table,
)

# Metrics of text and of ranked lists lean on optional libraries: looked up when first used.
_LAZY: Final[dict[str, str]] = {
    name: module
    for module, names in {
        "audit_lib.metrics.text": (
            "cooccurrence_bias_score",
            "counterfactual_bleu",
            "counterfactual_cosine",
            "counterfactual_rouge_l",
            "expected_maximum",
            "fraction",
            "fractional_shares",
            "probability_of_any",
            "sentiment_parity_strict",
            "sentiment_parity_weak",
            "stereotypical_associations",
        ),
        "audit_lib.metrics.recommendation": ("jaccard_at_k", "prag_at_k", "serp_at_k"),
    }.items()
    for name in names
}

__all__ = [
    "AucRow",
    "AucTable",
    "FactorEffect",
    "ImpactRatios",
    "ImpactRow",
    "Median",
    "MedianSplit",
    "PairwiseStatistics",
    "ScoringRates",
    "ScoringRow",
    "StandardisedEffects",
    "Standing",
    "Validity",
    "as_fraction",
    "auc",
    "auc_by_group",
    "auc_gap",
    "average_odds_gap",
    "calibration_gap",
    "column_selection_rates",
    "conditional_demographic_disparity",
    "consistent_winner",
    "cooccurrence_bias_score",
    "counterfactual_bleu",
    "counterfactual_cosine",
    "counterfactual_rouge_l",
    "decision_flip_share",
    "decision_rate_gap",
    "demographic_parity_gap",
    "earth_movers_distance",
    "equal_opportunity_gap",
    "equalised_odds_gap",
    "expected_maximum",
    "exposure_gap",
    "exposures",
    "fairness_ndcg",
    "false_discovery_rate_gap",
    "false_negative_rate_gap",
    "false_omission_rate_gap",
    "false_positive_rate_gap",
    "fraction",
    "fractional_shares",
    "impact_ratios",
    "imputed_gap_bounds",
    "imputed_rate_bounds",
    "imputed_ratio_bounds",
    "jaccard_at_k",
    "jensen_shannon_divergence",
    "median_split",
    "ndkl",
    "ndkl_at_random",
    "paired_answers",
    "pairwise_output_statistics",
    "pairwise_win_gap",
    "pool_standing",
    "prag_at_k",
    "predictive_validity",
    "predictive_validity_table",
    "printed_agreement",
    "probability_of_any",
    "rabbi",
    "rank_counts_by_group",
    "round_half_up",
    "score_gap",
    "scoring_rates",
    "selection_shares",
    "sentiment_parity_strict",
    "sentiment_parity_weak",
    "serp_at_k",
    "skew_at_k",
    "standardised_effects",
    "stereotypical_associations",
    "theil_between",
    "theil_index",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
