"""Intervals, exact tests and whatever else says how sure a number is.

Arrays and counts in, :mod:`audit_lib.results` out; first the group, then the reference. What does
not exist raises :class:`~audit_lib.errors.UndefinedMetricError` with the reason. Every method names
its source and is tested against an independent implementation; how often its intervals cover the
truth is measured in ``docs/coverage.md``.

=================  ==============================================================================
file               question
=================  ==============================================================================
intervals          how sure is a rate, a ratio of two rates, a difference of two?
exact              could two rates be equal? (Fisher, Boschloo) Do pairs lean one way? (McNemar)
adverse_impact     four fifths without rounding, standard deviations, shortfall, flip-flop
ranks              how sure is the rank index?
clusters           ... when rows share an application?
few_clusters       ... when there are few, or few in which a group occurs?
crossed            ... when rows share a name too, and it shall hold for other names?
distances          how sure is a distance between two groups' scores?
group_shares       ... between groups' shares of a total and of the people?
largest_gap        ... about the larger of two error rates' gaps?
correlations       ... a correlation whose points come from a few models?
bootstrap          ... for any function of sums over applications?
spread             how much do answers to the same question differ?
auc                how sure are AUCs of overlapping subgroups, and the gap between them?
simultaneous       ... when the largest of many differences was picked?
ratios             ... when the comparator is whichever rate is highest?
clustered_rates    ... when candidates compete in rounds or share applications?
effective_wilson   ... of one rate, from its variance?
estimated_median   ... when they are rates above a median that was itself estimated?
equal_rates        could all rates be equal, and which could be the highest?
clustered_equal_rates  ... when candidates compete in rounds or share applications?
win_gaps           how much more often does one side win, of pairs in rounds?
multiplicity       what is left of p-values after so many tests?
heterogeneity      do positions agree, and does pooling them turn the finding round?
shrinkage          how much do effects differ between positions, less what noise adds?
power              how large must the audit be; what could it have found?
weighted           how sure is a rate by sampling weights, a ratio of two?
missing            what could the unknown demographics change?
imputed            ... demographics that are known as probabilities?
leakage            how well can an attribute be told from the material?
exchange           what would a distance be had the two sides changed places?
cells              which cells are small, and which comparisons are impossible?
=================  ==============================================================================
"""

from audit_lib.stats.adverse_impact import (
    FindingReversal,
    exact_ratio,
    flip_flop,
    is_below,
    shortfall,
    two_standard_deviations,
)
from audit_lib.stats.auc import AucCovariance, auc_covariance, auc_gap_intervals, auc_interval
from audit_lib.stats.bootstrap import (
    bootstrap_rank_indices,
    bootstrap_totals,
    bootstrap_weights,
    percentile_interval,
)
from audit_lib.stats.cells import class_reason, flags, pair_reason
from audit_lib.stats.clustered_equal_rates import clustered_equal_rates
from audit_lib.stats.clustered_rates import ClusteredRates
from audit_lib.stats.clusters import cluster_interval, mean_difference
from audit_lib.stats.correlations import (
    cluster_moments,
    correlation_of_moments,
    fisher_interval,
    jackknife_interval,
)
from audit_lib.stats.distances import (
    ErrorDraws,
    distance_interval,
    distance_test,
    earth_movers_errors,
    jensen_shannon_errors,
)
from audit_lib.stats.effective_wilson import effective_wilson, flat_limit
from audit_lib.stats.equal_rates import EqualRates, equal_rates
from audit_lib.stats.estimated_median import MedianRates, rates_above_median
from audit_lib.stats.exact import boschloo, fisher_exact, sign_test
from audit_lib.stats.few_clusters import Coefficient, least_squares_cr2
from audit_lib.stats.heterogeneity import (
    MantelHaenszel,
    SimpsonCheck,
    breslow_day,
    cochran_q,
    mantel_haenszel,
    simpson_check,
)
from audit_lib.stats.imputed import CellShares, ImputedRates
from audit_lib.stats.intervals import (
    clopper_pearson,
    difference_of_proportions,
    ratio_of_proportions,
    wilson,
)
from audit_lib.stats.missing import ValueBounds, rate_bounds, ratio_bounds, ratio_bounds_joint
from audit_lib.stats.multiplicity import AdjustedPValues, benjamini_hochberg, holm
from audit_lib.stats.power import (
    SampleSize,
    design_effect,
    power_of_two_proportions,
    sample_size_for_means,
    sample_size_for_proportions,
    smallest_detectable_ratio,
)
from audit_lib.stats.ranks import placements, rank_index_interval
from audit_lib.stats.ratios import AllRatios, simultaneous_log_ratios, simultaneous_ratios
from audit_lib.stats.simultaneous import AllPairs, PairInterval, max_t_quantile, simultaneous_differences
from audit_lib.stats.spread import left_out_error, spread_without_each
from audit_lib.stats.t_intervals import t_interval
from audit_lib.stats.two_sided import TwoSidedVariance, two_sided_variance
from audit_lib.stats.weighted import (
    kish_effective_size,
    linearised_mean,
    log_ratio_interval,
    logit_rate_interval,
)
from audit_lib.stats.win_gaps import win_gap_interval

__all__ = [
    "AdjustedPValues",
    "AllPairs",
    "AllRatios",
    "AucCovariance",
    "CellShares",
    "ClusteredRates",
    "Coefficient",
    "EqualRates",
    "ErrorDraws",
    "FindingReversal",
    "ImputedRates",
    "MantelHaenszel",
    "MedianRates",
    "PairInterval",
    "SampleSize",
    "SimpsonCheck",
    "TwoSidedVariance",
    "ValueBounds",
    "auc_covariance",
    "auc_gap_intervals",
    "auc_interval",
    "benjamini_hochberg",
    "bootstrap_rank_indices",
    "bootstrap_totals",
    "bootstrap_weights",
    "boschloo",
    "breslow_day",
    "class_reason",
    "clopper_pearson",
    "cluster_interval",
    "cluster_moments",
    "clustered_equal_rates",
    "cochran_q",
    "correlation_of_moments",
    "design_effect",
    "difference_of_proportions",
    "distance_interval",
    "distance_test",
    "earth_movers_errors",
    "effective_wilson",
    "equal_rates",
    "exact_ratio",
    "fisher_exact",
    "fisher_interval",
    "flags",
    "flat_limit",
    "flip_flop",
    "holm",
    "is_below",
    "jackknife_interval",
    "jensen_shannon_errors",
    "kish_effective_size",
    "least_squares_cr2",
    "left_out_error",
    "linearised_mean",
    "log_ratio_interval",
    "logit_rate_interval",
    "mantel_haenszel",
    "max_t_quantile",
    "mean_difference",
    "pair_reason",
    "percentile_interval",
    "placements",
    "power_of_two_proportions",
    "rank_index_interval",
    "rate_bounds",
    "rates_above_median",
    "ratio_bounds",
    "ratio_bounds_joint",
    "ratio_of_proportions",
    "sample_size_for_means",
    "sample_size_for_proportions",
    "shortfall",
    "sign_test",
    "simpson_check",
    "simultaneous_differences",
    "simultaneous_log_ratios",
    "simultaneous_ratios",
    "smallest_detectable_ratio",
    "spread_without_each",
    "t_interval",
    "two_sided_variance",
    "two_standard_deviations",
    "wilson",
    "win_gap_interval",
]
