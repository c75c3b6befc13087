"""Figures as SVG text: arrays in, one accessible, self-contained `<svg>` out.

Colours come from the page's CSS classes, so that light, dark and print agree; `standalone` makes a file of a
figure. Every figure carries a title and a description; values that are undefined are left out and counted.
"""

from audit_lib.figures.auc import ModelAuc, auc_gap_figure
from audit_lib.figures.boxes import score_boxes
from audit_lib.figures.bump import rank_bump
from audit_lib.figures.by_group import correlation_by_group
from audit_lib.figures.curves import correlation_by_k, fairness_ndcg_curve
from audit_lib.figures.distributions import score_distributions
from audit_lib.figures.dots import Dot, dot_chart
from audit_lib.figures.forest import forest
from audit_lib.figures.moments import score_moments
from audit_lib.figures.reliability import ReliabilityPoint, reliability_diagram
from audit_lib.figures.scatter import metric_against_gap
from audit_lib.figures.sequence import sequence
from audit_lib.figures.style import figure_style, standalone
from audit_lib.figures.trend import trend

__all__ = [
    "Dot",
    "ModelAuc",
    "ReliabilityPoint",
    "auc_gap_figure",
    "correlation_by_group",
    "correlation_by_k",
    "dot_chart",
    "fairness_ndcg_curve",
    "figure_style",
    "forest",
    "metric_against_gap",
    "rank_bump",
    "reliability_diagram",
    "score_boxes",
    "score_distributions",
    "score_moments",
    "sequence",
    "standalone",
    "trend",
]
