"""How often do the intervals of `audit_lib.stats` cover the truth?

Writes docs/coverage.md. Two independent binomials are small enough to be added up exactly; the rest
is simulated with fixed seeds, so a second run writes the same file. Ends with status 1 if any
interval misses its target inside the range that its docstring states.

    python -m benchmarks.coverage                 # half an hour on one core
    python -m benchmarks.coverage --repeats 0.1   # a quick look: ten times fewer repeats, so noisy
    python -m benchmarks.coverage --only texts    # one study again; the page's other tables stay
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from scipy.stats import binom

from audit_lib import stats
from audit_lib.results import Interval, Undefined
from benchmarks.coverage_checks import checks
from benchmarks.coverage_clusters import ratios_of_rates, single_rates, uneven_clusters
from benchmarks.coverage_distances import distances
from benchmarks.coverage_effects import effects
from benchmarks.coverage_families import families
from benchmarks.coverage_imputed import imputed_groups
from benchmarks.coverage_missing import missing_outcomes
from benchmarks.coverage_names import job_effects, other_designs, other_names
from benchmarks.coverage_simulated import (
    auc_gap,
    bootstrap,
    clusters,
    highest_comparator,
    rank_index,
    strata,
)
from benchmarks.coverage_subgroups import overlapping_aucs, random_rounds
from benchmarks.coverage_tables import Cell, Study, Target, covers, span
from benchmarks.coverage_texts import texts
from benchmarks.coverage_weights import weights
from benchmarks.coverage_wins import scoring_rates, win_gaps
from benchmarks.picking import no_difference, planted_difference
from benchmarks.verdicts_at_margin import verdicts


def one_proportion() -> Study:
    rates = np.linspace(0.01, 0.99, 197)
    methods = {
        "Wilson": stats.wilson,
        "Clopper-Pearson": stats.clopper_pearson,
        "its mid-p": lambda x, n: stats.clopper_pearson(x, n, midp=True),
    }
    rows: list[list[str | Cell]] = []
    for n in (5, 10, 20, 30, 50, 100, 200, 500):
        expected = np.minimum(n * rates, n * (1 - rates))
        row: list[str | Cell] = [str(n)]
        for name, method in methods.items():
            limits = [method(x, n) for x in range(n + 1)]
            inside = np.array([[covers(i, p) for i in limits] for p in rates])
            cover = (inside * binom.pmf(np.arange(n + 1), n, rates[:, None])).sum(axis=1)
            if name == "Clopper-Pearson":
                row.append(span(cover, expected > 0, "at least"))
            else:
                row += [
                    span(cover, expected >= 10, "approximate"),
                    span(cover, expected < 10, "none"),
                    f"{100 * cover.mean():.1f}",
                ]
        rows.append(row)
    return Study(
        "One proportion",
        "Coverage at each of 197 rates from 0.01 to 0.99, added up exactly: the lowest and highest. "
        "Range of Wilson's and of the mid-p interval: at least 10 expected selected and 10 not "
        "selected. Outside it they dip at single rates, though their mean over all rates stays near "
        "95. Clopper-Pearson's has no such range: it never falls below 95.",
        ["n", "Wilson, in range", "outside", "mean", "Clopper-Pearson, all rates", "its mid-p, in range",
         "outside", "mean"],
        rows,
    )  # fmt: skip


def two_proportions() -> Study:
    rates = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95])
    methods: dict[str, tuple[Callable[..., Interval], str, np.ndarray]] = {
        "Koopman": (stats.ratio_of_proportions, "koopman", np.divide.outer(rates, rates)),
        "MOVER": (stats.ratio_of_proportions, "mover", np.divide.outer(rates, rates)),
        "Newcombe": (stats.difference_of_proportions, "newcombe", np.subtract.outer(rates, rates)),
        "Miettinen-Nurminen": (
            stats.difference_of_proportions,
            "miettinen-nurminen",
            np.subtract.outer(rates, rates),
        ),
    }
    rows: list[list[str | Cell]] = []
    for n1, n2 in ((5, 5), (10, 10), (20, 20), (10, 40), (50, 50), (20, 200), (100, 100), (30, 500)):
        group, reference = (binom.pmf(np.arange(n + 1), n, rates[:, None]) for n in (n1, n2))
        expected = np.minimum.outer(*(n * np.minimum(rates, 1 - rates) for n in (n1, n2)))
        row: list[str | Cell] = [f"{n1}, {n2}"]
        for method, name, truth in methods.values():
            limits = [[method(a, n1, b, n2, method=name) for b in range(n2 + 1)] for a in range(n1 + 1)]
            low, high = (
                np.array([[getattr(i, s) for i in line] for line in limits]) for s in ("low", "high")
            )
            cover = np.empty(truth.shape)
            for i, j in np.ndindex(truth.shape):
                t = truth[i, j]
                inside = (low <= t * (1 + 1e-12) + 1e-15) & (t <= high * (1 + 1e-12) + 1e-15)
                cover[i, j] = group[i] @ inside @ reference[j]
            row += [span(cover, expected >= 5, "approximate"), span(cover, expected < 5, "none")]
        rows.append(row)
    columns = ["n of group, comparator"]
    for name in methods:
        columns += [f"{name}, in range", "outside"]
    return Study(
        "Ratio and difference of two proportions",
        "All 100 pairs of ten rates from 0.02 to 0.95, added up exactly: the lowest and highest "
        "coverage. Koopman and MOVER are for the ratio, Newcombe and Miettinen-Nurminen for the "
        "difference. Range: at least 5 expected in each of the four cells (group and comparator, "
        "selected and not).",
        columns,
        rows,
    )


def exact_tests() -> Study:
    rates = np.linspace(0.0, 1.0, 401)
    tests: dict[str, tuple[Callable[..., float], Target]] = {
        "Fisher": (lambda a, b, c, d: stats.fisher_exact(a, b, c, d).p_value, "at least"),
        "Fisher, mid-p": (lambda a, b, c, d: stats.fisher_exact(a, b, c, d, midp=True).p_value, "none"),
        "Boschloo": (lambda a, b, c, d: stats.boschloo(a, b, c, d).p_value, "at least"),
        "Boschloo, mid-p": (lambda a, b, c, d: stats.boschloo(a, b, c, d, midp=True).p_value, "none"),
        "two standard deviations": (_two_sd, "none"),
    }
    rows: list[list[str | Cell]] = []
    for n1, n2 in ((10, 10), (20, 20), (10, 30)):
        pmf = [binom.pmf(np.arange(n + 1), n, rates[:, None]) for n in (n1, n2)]
        row: list[str | Cell] = [f"{n1}, {n2}"]
        for test, target in tests.values():
            kept = np.array(
                [[test(a, n1 - a, b, n2 - b) > 0.05 for b in range(n2 + 1)] for a in range(n1 + 1)]
            )
            accepted = np.einsum("ri,ij,rj->r", pmf[0], kept, pmf[1])
            row.append(Cell(float(accepted.min()), float(accepted.max()), target))
        rows.append(row)
    return Study(
        "Tests of equal rates, level 5%",
        "How often equal rates are found equal, over 401 rates, added up exactly. Exact tests never "
        "fall below 95; mid-p versions and the normal approximation give that guarantee up to come "
        "nearer to 95 at most rates, and so have no range here: use them knowing the lowest figure.",
        ["n of group, comparator", *tests],
        rows,
    )


def _two_sd(a: int, b: int, c: int, d: int) -> float:
    if a + c == 0 or b + d == 0:
        return 1.0
    p_value = stats.two_standard_deviations(a, a + b, c, c + d).p_value
    return 1.0 if isinstance(p_value, Undefined) else p_value


HEADER = """# How often the intervals cover

Written by `python -m benchmarks.coverage`; do not edit. Figures are percentages of the times in which
a 95% interval (or a test at 5%) held the truth.

Targets: an approximate interval covers 93 to 97% within the range stated above its table, which its
docstring repeats; one called conservative 93% or more; an exact one at least 95%, less twice the Monte
Carlo error where there is one.
_Italics_ mark what lies outside the stated range, or has no target: published so that nobody relies on
it. **Bold** would mark a miss inside the range. Repeats in which an estimate did not exist are counted
in the last column and left out of the coverage.

"""


STUDIES: dict[str, tuple[str, Callable[[float], Study]]] = {
    "one_proportion": ("One proportion", lambda _: one_proportion()),
    "two_proportions": ("Ratio and difference of two proportions", lambda _: two_proportions()),
    "exact_tests": ("Tests of equal rates, level 5%", lambda _: exact_tests()),
    "rank_index": ("Rank index", rank_index),
    "clusters": ("Clusters: means, rates and the rank index", clusters),
    "single_rates": ("A rate, where people share rounds or applications", single_rates),
    "ratios_of_rates": ("Ratio of two rates, where one of a round wins", ratios_of_rates),
    "uneven_clusters": ("Rates and ratios, where clusters differ in size or are few", uneven_clusters),
    "effects": ("Effects of an experiment, where few applications show a level", effects),
    "names": ("Effects for other names like those that were shown", other_names),
    "name-designs": ("The same in other designs", other_designs),
    "jobs": ("How much effects differ between jobs", job_effects),
    "bootstrap": ("Cluster bootstrap of an impact ratio", bootstrap),
    "distances": ("Earth mover's distance and Jensen-Shannon divergence", distances),
    "texts": ("Texts and lists", texts),
    "families": ("Families: odds, flips, calibration, exposure, skew, benefits", families),
    "missing_outcomes": ("Gaps where true outcomes are missing", missing_outcomes),
    "imputed_groups": ("Rates of imputed groups", imputed_groups),
    "weights": ("Sampling weights", weights),
    "checks": ("Checks of an experiment, and words near those of a group", checks),
    "auc_gap": ("AUC and the AUC gap", auc_gap),
    "overlapping_aucs": ("AUC gap of overlapping subgroups", overlapping_aucs),
    "random_rounds": ("Selection gaps over rounds drawn at random", random_rounds),
    "highest_comparator": ("Impact ratios to the highest rate", highest_comparator),
    "win_gaps": ("Pairwise win gap", win_gaps),
    "scoring_rates": ("Ratio of scoring rates, whose median is that of the sample", scoring_rates),
    "no_difference": ("Findings where nothing differs", no_difference),
    "planted_difference": ("Findings where something differs", planted_difference),
    "verdicts": ("Verdicts at the margin", verdicts),
    "strata": ("Strata: common odds ratio and its homogeneity", strata),
}
"""Title of each table and what makes it, in the order of the page."""


def page(studies: Iterable[Study], earlier: str = "") -> str:
    """Return the page with the tables of `studies`, and all others as they stand on the earlier page.

    Sections of other programs keep the place after the one that they follow.
    """
    parts = {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in earlier.split("\n## ")[1:]}
    parts |= {study.title: study.markdown() for study in studies}
    order = [title for title, _ in STUDIES.values() if title in parts]
    after = ""
    for title in (part.partition("\n")[0] for part in earlier.split("\n## ")[1:]):
        if title not in order:
            order.insert(order.index(after) + 1 if after else 0, title)
        after = title
    shown = [parts[title] for title in order]
    missed = sum(part.count("| **") for part in shown)
    return HEADER + f"Misses inside the stated ranges: {missed}.\n\n" + "\n".join(shown)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "coverage.md")
    parser.add_argument("--repeats", type=float, default=1.0, help="times the number of repeats")
    parser.add_argument("--only", nargs="+", choices=STUDIES, help="studies to run; others stay on the page")
    options = parser.parse_args()
    studies = []
    for name in options.only or STUDIES:
        studies.append(STUDIES[name][1](options.repeats))
        print(name, f"missed: {studies[-1].missed()}", file=sys.stderr, flush=True)
    earlier = options.out.read_text() if options.only and options.out.exists() else ""
    options.out.write_text(page(studies, earlier))
    return 1 if any(study.missed() for study in studies) else 0


if __name__ == "__main__":
    sys.exit(main())
