"""Multiplicity: every hypothesis that the audit tests is one member of one family."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from audit_lib.results import Undefined
from audit_lib.stats.multiplicity import benjamini_hochberg, holm

NOT_ALLOWED_FOR = (
    "Adjusted for the number of tests, but not for the comparator of an impact ratio being the highest rate, picked by "
    "the data: of simulated tables of 2 to 14 equal groups, 50 to 200 people in each, 3 to 16% had a false finding by "
    "Fisher's test, and 5 to 20% by the normal one."
)
"""What an adjusted p-value does not allow for; the figure is of ``python -m benchmarks.promises``."""

RULE = (
    "One test a hypothesis: the first test of each impact ratio and of each estimate, in every stratum, and of each "
    "comparison of strata Breslow-Day (counts of independent people) or Cochran Q. A second statistic of the same "
    "hypothesis, such as the number of standard deviations, is not counted again. Where people share rounds or "
    "applications the first test of an impact ratio is that of the clusters, and Fisher's, which takes rows as "
    "independent, is beside it. Strata that hold the rows of another one are not measured again, and statistics that "
    "have the very same numbers of the same comparison (the share of texts flagged and of prompts with one, where each "
    "prompt has one text) are one hypothesis."
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
    place_of: dict[str, int] = {}
    places: list[int] = []
    p_values: list[float | Undefined] = []
    family = list(_hypotheses(document))
    for same, _, test in family:
        if same not in place_of:
            place_of[same] = len(p_values)
            p_values.append(float(test["p_value"]))
        places.append(place_of[same])
    adjusted = (holm(p_values), benjamini_hochberg(p_values))
    for number, (_, holder, test) in zip(places, family, strict=True):
        holder["multiplicity"] = {
            "test": test["name"],
            "holm": adjusted[0].p_values[number],
            "benjamini_hochberg": adjusted[1].p_values[number],
        }
    kept = {"unadjusted": p_values, "holm": adjusted[0].p_values, "benjamini_hochberg": adjusted[1].p_values}
    return {
        "family_size": len(p_values),
        "rule": RULE,
        "methods": {"holm": adjusted[0].method, "benjamini_hochberg": adjusted[1].method},
        "not_allowed_for": NOT_ALLOWED_FOR,
        "alpha": alpha,
        "findings": {
            name: sum(1 for p in values if not isinstance(p, Undefined) and p < alpha)
            for name, values in kept.items()
        },
    }


Hypothesis = tuple[str, dict[str, Any], Mapping[str, Any]]


def _hypotheses(document: Mapping[str, Any]) -> Iterable[Hypothesis]:
    """Yield what was estimated, and the test of it, where it has a p-value; equal first entries are one hypothesis."""
    about: tuple[Any, ...]
    for table in document["tables"]:
        counts = [(row["n"], row["selected"]) for row in table["rows"]]
        for row in table["rows"]:
            about = (
                "table",
                table["family"],
                table["stratum"],
                table.get("classification"),
                row["label"],
                counts,
            )
            yield from _first(about, row["impact_ratio"], row["impact_ratio"]["tests"][:1])
    for estimate in document["estimates"]:
        about = tuple(
            estimate[key] for key in ("group", "reference", "stratum", "value", "n", "n_group", "n_reference")
        )
        yield from _first(("estimate", *about), estimate, estimate["tests"][:1])
    for entry in document["heterogeneity"]:
        of_counts = "table" in entry and "clustered_by" not in entry
        test = entry["breslow_day" if of_counts else "cochran_q"]
        about = (entry.get("split"), entry.get("group"), entry.get("reference"), test.get("statistic"))
        yield from _first(("strata", *about), entry, [test])


def _first(about: tuple[Any, ...], holder: dict[str, Any], tests: list[Any]) -> Iterable[Hypothesis]:
    for test in tests:
        if isinstance(test.get("p_value"), float | int):
            yield repr((*about, test["p_value"])), holder, test
