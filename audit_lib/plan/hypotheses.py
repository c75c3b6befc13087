"""What an audit asks, sealed before the model is asked anything: hypotheses, margins, and how verdicts are given.

The law itself is `audit_lib.measure.verdicts`; here is what it is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from audit_lib.documents.plan import Hypothesis, PlannedVerdicts
from audit_lib.policies import Policy
from audit_lib.spec import AuditSpec
from audit_lib.translation import mark

TABLES: Final = ("impact_ratio", "scoring_rate_impact_ratio")
"""Metrics that are tables of ratios to the highest rate."""
WITHOUT_VERDICT: Final = "imputed_impact_ratio"
"""A metric of ratios that gives bounds alone: whether rates differ is asked of its gaps."""
RATIOS: Final = (*TABLES, "adverse_impact_ratio")
"""Metrics whose margin is the policy's guideline where the spec gives none."""

_SHARED: Final = {
    "selected": ("impact_ratio", "decision_rate_gap", "demographic_parity_gap"),
    "scored": (
        "scoring_rate_impact_ratio", "score_gap", "rabbi", "standardised_effect", "earth_movers_distance",
        "jensen_shannon_divergence",
    ),
    "odds": ("equalised_odds_gap", "average_odds_gap"),
}  # fmt: skip
"""Metrics that ask the same of the same two groups: are they selected as often, scored alike, judged as rightly."""

RULE: Final = mark(
    "Undecided: no number, or too few people in one of the two groups. Below the line: the adjusted test is below "
    "alpha, and the interval held against the margin of a ratio ends below it. Difference: the adjusted test is below "
    "alpha; where there is no test, the interval lies beyond the margin. Uninterpretable: neither, and the model did "
    "not tell the groups apart when asked. Equivalent: the interval lies inside the margin, by two one-sided tests at "
    "alpha shared among all numbers with a margin; not where another metric of the same question finds a difference. "
    "Undecided: the rest."
)


def question_of(metric: str) -> str:
    """Return what a metric asks; its own name where no other asks the same.

    Examples
    --------
    >>> question_of("rabbi"), question_of("score_gap"), question_of("auc_gap")
    ('scored', 'scored', 'auc_gap')
    """
    return next((question for question, metrics in _SHARED.items() if metric in metrics), metric)


def margins_of(spec: AuditSpec, policy: Policy) -> dict[str, float]:
    """Return the margin of each metric that has one: of the spec, else of ratios the policy's guideline."""
    guideline = float(policy.guidance.threshold)
    return {name: guideline for name in spec.measure.metrics if name in RATIOS} | spec.measure.margins


def fewest_people(spec: AuditSpec, policy: Policy) -> int:
    """Return how many people each of two groups must have for a finding: of the policy and of the spec the more."""
    return max(policy.cells.small, spec.measure.small_cell)


def planned_verdicts(spec: AuditSpec, policy: Policy) -> PlannedVerdicts:
    """Return what is asked, with which margins, and by which rule verdicts are given."""
    margins = margins_of(spec, policy)
    return PlannedVerdicts(
        rule=RULE,
        fewest_people=fewest_people(spec, policy),
        hypotheses=tuple(
            Hypothesis(
                metric=name,
                question=question_of(name),
                compared="each_category_with_the_highest"
                if name in TABLES
                else "each_group_with_its_reference",
                margin=margins.get(name, margins.get(f"{name}_gap")),
            )
            for name in spec.measure.metrics
            if name != WITHOUT_VERDICT
        ),
    )


def lines(planned: PlannedVerdicts, alpha: float) -> Iterator[str]:
    """Print what is asked, for ``audit plan``."""
    for one in planned.hypotheses:
        against = "the highest rate, whichever it is" if one.compared.endswith("highest") else "its reference"
        if one.margin is None:
            margin = "no margin, so that groups are never called equivalent (measure.margins)"
        elif one.metric in RATIOS:
            high = 1 / one.margin
            margin = f"margin {one.margin:g} (below it: below the line; up to {high:g}: equivalent)"
        else:
            margin = f"margin {one.margin:g} (inside it: equivalent)"
        yield f"verdicts   {one.metric}: each against {against}; {margin}"
    yield (
        f"           by tests adjusted for all tests, at {alpha:g}; no finding rests on fewer than "
        f"{planned.fewest_people} people a group"
    )
