"""Is a difference in rates adverse impact? Four fifths, read together with significance and practical tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from audit_lib.policies.policy import Policy
from audit_lib.translation import mark

AdverseImpactVerdict = Literal["indicated", "not indicated", "too few to tell", "look closer", "undefined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdverseImpactTests:
    """What a pack's tests say of one row, taken together.

    Parameters
    ----------
    verdict : str
        ``indicated``: below the threshold, significant, and no single selection reverses either.
        ``too few to tell``: below, but not significant, reversed by one selection, or on few people.
        ``look closer``: above, yet significantly lower; practical terms decide.
        ``not indicated``: above, and not significantly lower. ``undefined``: there is no ratio.
    reasons : tuple of str
        One for each of the pack's tests, with its paragraph.
    """

    verdict: AdverseImpactVerdict
    reasons: tuple[str, ...]


def adverse_finding(policy: Policy, row: Mapping[str, Any], alpha: float) -> AdverseImpactTests | None:
    """Read one row of a rate table (as in ``metrics.json``) by the pack's practical tests; None without any.

    29 CFR 1607.4(D): smaller differences may be adverse impact where significant statistically and
    practically; greater ones may not be where they rest on small numbers and are not significant.

    Parameters
    ----------
    policy : Policy
        With `practical_tests`.
    row : mapping
        A row of a table of ``metrics.json``.
    alpha : float
        Significance level of the spec.
    """
    if not policy.practical_tests:
        return None
    below, flips = row["four_fifths_flag"], row["adverse_impact"]["flip_flop"]
    tests = row["impact_ratio"]["tests"]
    p = tests[0]["p_value"] if tests else None
    if below is None:
        return AdverseImpactTests(verdict="undefined", reasons=(mark("there is no ratio"),))
    if not isinstance(p, float | int) or "undefined" in flips:
        reason = mark("it is the highest rate") if not tests else mark("significance is undefined")
        return AdverseImpactTests(verdict="not indicated" if not tests else "undefined", reasons=(reason,))
    significant = p < alpha
    reversed_ = flips["threshold_reverses"] if below else flips["significance_reverses"]
    few = "small_cell" in row["impact_ratio"]["flags"]
    threshold = (
        mark("below {threshold} of the highest rate ({cite})")
        if below
        else mark("not below {threshold} of the highest rate ({cite})")
    )
    significance = (
        mark("significant at {alpha} ({cite})")
        if significant
        else mark("not significant at {alpha} ({cite})")
    )
    flip_flop = (
        mark("one selection more or less turns the finding round ({cite})")
        if reversed_
        else mark("one selection more or less does not turn the finding round ({cite})")
    )
    small_numbers = mark("{n} people, too few ({cite})") if few else mark("{n} people ({cite})")
    said = {
        "threshold": threshold,
        "significance": significance,
        "flip_flop": flip_flop,
        "small_numbers": small_numbers,
    }
    values = {"threshold": policy.guidance.threshold, "alpha": alpha, "n": row["n"]}
    verdict: AdverseImpactVerdict
    if below:
        firm = (
            significant and not few and not flips["threshold_reverses"] and not flips["significance_reverses"]
        )
        verdict = "indicated" if firm else "too few to tell"
    else:
        verdict = "look closer" if significant else "not indicated"
    return AdverseImpactTests(
        verdict=verdict,
        reasons=tuple(said[test.name].format(cite=test.cite, **values) for test in policy.practical_tests),
    )
