"""Every registered metric has rows in docs/coverage.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit_lib.measure.metric import METRICS

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
OF_MEANS = "Clusters: means, rates and the rank index"
OF_RATES = "A rate, where people share rounds or applications"
OF_RATIOS = "Ratio of two rates, where one of a round wins"
OF_TEXTS = "Texts and lists"
UNDER = {
    "adverse_impact_ratio": OF_RATIOS,
    "auc_gap": "AUC and the AUC gap",
    "counterfactual_bleu": OF_TEXTS,
    "counterfactual_cosine": OF_TEXTS,
    "counterfactual_rouge_l": OF_TEXTS,
    "decision_rate_gap": OF_TEXTS,
    "demographic_parity_gap": "Selection gaps over rounds drawn at random",
    "earth_movers_distance": "Earth mover's distance and Jensen-Shannon divergence",
    "equal_opportunity_gap": "Selection gaps over rounds drawn at random",
    "expected_maximum": OF_MEANS,
    "false_discovery_rate_gap": OF_TEXTS,
    "false_negative_rate_gap": OF_TEXTS,
    "false_omission_rate_gap": OF_TEXTS,
    "false_positive_rate_gap": OF_TEXTS,
    "fraction": OF_TEXTS,
    "impact_ratio": "Impact ratios to the highest rate",
    "jaccard_at_k": OF_TEXTS,
    "jensen_shannon_divergence": "Earth mover's distance and Jensen-Shannon divergence",
    "ndkl": "Families: odds, flips, calibration, exposure, skew, benefits",
    "pairwise_win_gap": "Pairwise win gap",
    "prag_at_k": OF_TEXTS,
    "probability_of_any": OF_TEXTS,
    "rabbi": "Rank index",
    "score_gap": OF_MEANS,
    "scoring_rate_impact_ratio": "Ratio of scoring rates, whose median is that of the sample",
    "sentiment_parity_strict": OF_TEXTS,
    "sentiment_parity_weak": OF_TEXTS,
    "serp_at_k": OF_TEXTS,
    "standardised_effect": "Effects of an experiment, where few applications show a level",
    "stereotypical_associations": OF_TEXTS,
}
"""Metrics whose rows go by what their interval is of: the section that has them. Others have rows by their name."""


@pytest.mark.parametrize("name", [one for one in METRICS.names() if one not in METRICS.plugins.names()])
def test_it_has_rows(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    if name in UNDER:
        assert f"\n## {UNDER[name]}\n" in page
    else:
        assert f"| `{name}` |" in page, "add rows to benchmarks/coverage_families.py, or a study of their own"


def test_the_list_names_registered_metrics_only() -> None:
    assert {*UNDER} <= set(METRICS.names())
