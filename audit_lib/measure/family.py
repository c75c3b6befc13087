"""Multiplicity: every hypothesis that the audit tests is one member of one family."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from audit_lib.results import Undefined
from audit_lib.stats.multiplicity import benjamini_hochberg, holm

RULE = (
    "One test a hypothesis: the first test of each impact ratio and of each estimate, in every stratum, and of each "
    "comparison of strata Breslow-Day (counts) or Cochran Q. A second statistic of the same hypothesis, such as the "
    "number of standard deviations, is not counted again."
)


def adjust(document: Mapping[str, Any], alpha: float) -> dict[str, Any]:
    """Adjust the p-values of ``metrics.json`` for their number, and put them beside the tests.

    Each impact ratio, estimate and entry of ``heterogeneity`` whose test has a p-value gets the key
    ``multiplicity``: the test's name, and its adjusted p-values.

    Returns
    -------
    dict
        ``family_size``, the rule that makes the family, and how many findings each method leaves at `alpha`.
    """
    family = list(_hypotheses(document))
    p_values: list[float | Undefined] = [float(test["p_value"]) for _, test in family]
    adjusted = (holm(p_values), benjamini_hochberg(p_values))
    for number, (holder, test) in enumerate(family):
        holder["multiplicity"] = {
            "test": test["name"],
            "holm": adjusted[0].p_values[number],
            "benjamini_hochberg": adjusted[1].p_values[number],
        }
    kept = {"unadjusted": p_values, "holm": adjusted[0].p_values, "benjamini_hochberg": adjusted[1].p_values}
    return {
        "family_size": len(family),
        "rule": RULE,
        "methods": {"holm": adjusted[0].method, "benjamini_hochberg": adjusted[1].method},
        "alpha": alpha,
        "findings": {
            name: sum(1 for p in values if not isinstance(p, Undefined) and p < alpha)
            for name, values in kept.items()
        },
    }


def _hypotheses(document: Mapping[str, Any]) -> Iterable[tuple[dict[str, Any], Mapping[str, Any]]]:
    """Yield what was estimated, and the test of it, where that has a p-value."""
    for table in document["tables"]:
        for row in table["rows"]:
            yield from _first(row["impact_ratio"], row["impact_ratio"]["tests"][:1])
    for estimate in document["estimates"]:
        yield from _first(estimate, estimate["tests"][:1])
    for entry in document["heterogeneity"]:
        yield from _first(entry, [entry["breslow_day" if "table" in entry else "cochran_q"]])


def _first(holder: dict[str, Any], tests: list[Any]) -> Iterable[tuple[dict[str, Any], Mapping[str, Any]]]:
    return ((holder, test) for test in tests if isinstance(test.get("p_value"), float | int))
