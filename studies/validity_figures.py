"""Figures and tables of predictive validity and of model selection, which several studies print."""

from __future__ import annotations

from string import Template
from typing import Final

from audit_lib.documents.validity import ValidityStudy
from audit_lib.report.blocks import Page
from audit_lib.report.numbers import count
from studies.results import Results

DP: Final = "Demographic parity gap"
EO: Final = "Equal opportunity gap"
MAPPING: Final = """\
The paper's pages are not at hand, so its figures are named by what they show, and not by number; Table 2 is the one of
output statistics.

| in the paper | here |
| --- | --- |
| scores by group against the reference | [scores by group](#scores-by-group) |
| metric against measured gap | [metric against gap](#metric-against-measured-gap) |
| Pearson's r by metric, task and quota, marked where p is above 0.01 | [by quota](#predictive-validity-by-quota) |
| r by group | [by group](#predictive-validity-by-group) |
| NDCG at N of models listed by a metric | [choosing the fairer model](#choosing-the-fairer-model) |
| ranks of models by metric and by gap (bump chart) | [the same](#choosing-the-fairer-model) |
| skewness and kurtosis of the scores | [shapes](#shapes-of-the-scores) |
| Table 2: output statistics by model, and who is left out | [answers](#output-statistics-over-models) |
| models and tasks | [the design](#the-design), [the runs](#make-it-again) |
"""
"""The tables and figures of Chen, Ji and Evans, and where a page has them."""
_PART: Final = """\
### Metric against measured gap

A metric that foretells the gap puts the points on a line.

$scatter_rabbi

$scatter_score_gap

$scatter_emd

### Predictive validity by quota

$by_quota_dp

$table_dp

$by_quota_eo

$table_eo

### Predictive validity by group

$by_group

### Choosing the fairer model

With $models models the curve has $models points; a list in random order has the line of its own.

$ndcg

$bump_rabbi

$bump_score_gap

### Shapes of the scores

$moments
"""


def validity_part(results: Results, page: Page) -> str:
    """Return the part of a page with what ``audit validity`` draws."""
    listed = "Does the metric list the fairest models first? Gain M \N{MINUS SIGN} rank"
    made = {
        f"scatter_{name}": results.chart(page, f"{title} against the measured gap", f"{name}-against-gap", DP)
        for name, title in (("rabbi", "RABBI"), ("score_gap", "Score gap"), ("emd", "Earth mover's distance"))
    }
    made |= {
        f"bump_{name}": results.chart(
            page, f"Models ranked by {title} and by the measured gap", f"bump-{name}", DP
        )
        for name, title in (("rabbi", "RABBI"), ("score_gap", "Score gap"))
    }
    for end, gap in (("dp", DP), ("eo", EO)):
        words = gap[0].lower() + gap[1:]
        made[f"by_quota_{end}"] = results.chart(
            page, f"Correlation with the {words}, by quota", f"by-quota-{end}"
        )
        made[f"table_{end}"] = results.table(page, f"{gap}: correlation by quota")
    by_group = "Correlation with the demographic parity gap at k = 1, by group"
    made |= {
        "by_group": results.chart(page, by_group, "by-group"),
        "ndcg": results.chart(page, listed, "ndcg", DP),
        "moments": results.chart(page, "Shape of the score distributions", "moments"),
        "models": count(len({one.label for one in results.validity(results.name).models})),
    }
    return Template(_PART.strip()).substitute(made)


def order_of(study: ValidityStudy) -> str:
    """Say whether the order of the metrics is sure here."""
    if study.best.decided:
        return "Here the order of the first two metrics is sure."
    return "Here the order of the metrics is not sure, as the sentence says."
