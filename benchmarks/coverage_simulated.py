"""Coverage by simulation: ranks, clusters, resampling, strata, and pairs chosen by the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from scipy.special import ndtr, ndtri

from audit_lib import stats
from audit_lib.errors import UndefinedMetricError
from audit_lib.results import Interval, Undefined
from benchmarks.coverage_tables import Cell, Study, Target, covers, simulate, simulated

DRAWS = 4000  # of each max-|t| quantile: its error is small beside that of the repeats


def rank_index(scale: float) -> Study:
    repeats = int(8000 * scale)
    rows: list[list[str | Cell]] = []
    for n, m in ((5, 5), (10, 10), (10, 50), (20, 20), (30, 30), (30, 300), (100, 100)):
        for k, (name, draw_x, draw_y, truth, mild) in enumerate(_score_laws()):
            in_range = min(n, m) >= 30 and mild

            def once(
                rng: np.random.Generator, n=n, m=m, draw_x=draw_x, draw_y=draw_y, truth=truth
            ) -> list[bool]:
                x, y = draw_x(rng, n), draw_y(rng, m)
                return [
                    covers(stats.rank_index_interval(x, y, transform=t), truth) for t in ("logit", "none")
                ]

            means, undefined = simulate(repeats, 1000 * n + m + k, once)
            targets: list[Target] = ["approximate" if in_range else "none", "none"]
            rows.append([f"{n}, {m}", name, f"{truth:.2f}", *simulated(means, undefined, repeats, targets)])
    return Study(
        "Rank index",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Range of the "
        "logit interval (the default): at least 30 a side, an index between -0.8 and 0.8, and, where scores "
        "are coarse, at least 3 expected on either side outside the most frequent score. Below 30 a "
        "side it errs on the long side. The untransformed interval falls short towards -1 and 1; it is "
        "there for comparison with published figures.",
        ["n of group, reference", "scores", "true index", "logit", "untransformed", "undefined, %"],
        rows,
    )


ScoreLaw = tuple[
    str, Callable[[np.random.Generator, int], np.ndarray], Callable[[np.random.Generator, int], np.ndarray],
    float, bool,
]  # fmt: skip


def _score_laws() -> Iterator[ScoreLaw]:
    for shift in (0.0, 0.5, 1.5, 2.5):
        index = float(2 * ndtr(shift / 2**0.5) - 1)
        yield (
            "normal",
            lambda rng, n, shift=shift: rng.normal(shift, 1, n),
            lambda rng, n: rng.normal(0, 1, n),
            index,
            abs(index) <= 0.8,
        )
    yield (
        "normal, spread 3 : 1",
        lambda rng, n: rng.normal(1.5, 3, n),
        lambda rng, n: rng.normal(0, 1, n),
        float(2 * ndtr(1.5 / 10**0.5) - 1),
        True,
    )
    for name, p, q, mild in (
        ("five values", [0.1, 0.2, 0.2, 0.25, 0.25], [0.25, 0.25, 0.2, 0.2, 0.1], True),
        ("two values, 70% : 30%", [0.3, 0.7], [0.7, 0.3], True),
        ("two values, 95% : 80%", [0.05, 0.95], [0.2, 0.8], False),
    ):
        wins = np.sign(np.subtract.outer(np.arange(len(p)), np.arange(len(q))))
        yield (
            name,
            lambda rng, n, p=p: rng.choice(len(p), n, p=p),
            lambda rng, n, q=q: rng.choice(len(q), n, p=q),
            float(np.array(p) @ wins @ np.array(q)),
            mild,
        )


_UNEVEN: Final = {
    "Zipf's law, the largest 60": np.maximum(np.round(60 / np.arange(1, 31)), 1).astype(int),
    "Zipf's law, the largest 100": np.maximum(np.round(100 / np.arange(1, 101)), 1).astype(int),
    "5, and one of 100": np.array([100, *[5] * 30]),
    "5, and one of 150": np.array([150, *[5] * 30]),
    "5, and one of 3,000": np.array([3000, *[5] * 30]),
}
"""Rows of each application, where few hold much of all."""


def _side(shared: bool) -> str:
    return "both sides" if shared else "one side"


def clusters(scale: float) -> Study:
    repeats = int(3000 * scale)
    rows: list[list[str | Cell]] = []
    for shared in (True, False):
        for count in (5, 10, 30, 60, 100):
            for size in ("1", "4", "2 to 12, skewed"):
                for icc in (0.2, 0.8):
                    seed = count * 100 + len(size) * 10 + int(icc * 10) + 7 * shared
                    once = _clustered(shared, count, size, icc)
                    means, undefined = simulate(repeats, seed, once)
                    good: Target = "approximate" if count >= 30 else "none"
                    rate: Target = good if count >= 60 or "skewed" not in size else "none"
                    cells = simulated(means, undefined, repeats, [good, rate, good, "none"])
                    rows.append([_side(shared), str(count), size, str(icc), *cells])
        for number, size in enumerate(_UNEVEN):
            for icc in (0.02, 0.2, 0.8):
                seed = 151_000 + number * 100 + int(icc * 100) + 7 * shared
                once = _clustered(shared, _UNEVEN[size].size, size, icc)
                means, undefined = simulate(repeats, seed, once)
                few: Target = "none" if _UNEVEN[size].size < 60 else "conservative"
                held: list[Target] = ["conservative", few, "conservative", "none"]
                row: list[str | Cell] = [_side(shared), str(_UNEVEN[size].size), size, str(icc)]
                none = undefined == repeats
                row += [*"----", "100.0"] if none else simulated(means, undefined, repeats, held)
                rows.append(row)
    return Study(
        "Clusters: means, rates and the rank index",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Normal scores, "
        "half a standard deviation apart, with a shared part of variance `icc` in each application; "
        "rates are the share of scores above 1. `count` is applications in all where they stand on both "
        "sides, and on each side otherwise. Range: at least 30 applications a side; for rates of clusters "
        "of unequal sizes, 60, and applications of a side times the rate, or what is left of 1, at least 4 (of .02 in "
        "30 applications next to 100, differences covered 86%); where few hold much of the rows, 93% or more, or no "
        "interval where they are worth fewer than two of one size. The last was stated before this run. `clusters "
        "ignored` shows "
        "what happens to the rank index when clusters are ignored: far too long where applications are "
        "compared with themselves, far too short where they are not.",
        ["application on", "count", "rows each", "icc", "difference of means", "difference of rates",
         "rank index, logit", "clusters ignored", "undefined, %"],
        rows,
    )  # fmt: skip


def _clustered(
    shared: bool, count: int, size: str, icc: float
) -> Callable[[np.random.Generator], list[bool]]:
    shift, cut = 0.5, 1.0
    index = float(2 * ndtr(shift / 2**0.5) - 1)
    gap = float(ndtr(shift - cut) - ndtr(-cut))
    # with both sides sharing their application, the shared part does not change who ranks higher
    # across applications, and pairs within one application are too few to matter

    def codes(rng: np.random.Generator, first: int) -> np.ndarray:
        if size in _UNEVEN:
            return np.repeat(np.arange(first, first + count), _UNEVEN[size])
        sizes = (
            np.minimum(1 + rng.geometric(0.25, count), 12) if "skewed" in size else np.full(count, int(size))
        )
        return np.repeat(np.arange(first, first + count), sizes)

    def once(rng: np.random.Generator) -> list[bool]:
        part = rng.normal(0, icc**0.5, 2 * count)
        left = codes(rng, 0)
        right = left if shared else codes(rng, count)
        x = shift + part[left] + rng.normal(0, (1 - icc) ** 0.5, left.size)
        y = part[right] + rng.normal(0, (1 - icc) ** 0.5, right.size)
        return [
            covers(stats.mean_difference(x, y, left, right), shift),
            covers(stats.mean_difference(x > cut, y > cut, left, right), gap),
            covers(stats.rank_index_interval(x, y, left, right), index),
            covers(stats.rank_index_interval(x, y), index),
        ]

    return once


def bootstrap(scale: float) -> Study:
    repeats = int(1000 * scale)
    rows: list[list[str | Cell]] = []
    for count in (20, 50, 200):
        for rate in (0.2, 0.5):

            def once(rng: np.random.Generator, count=count, rate=rate) -> list[bool]:
                part = rng.normal(0, 0.6**0.5, (count, 1))
                own = rng.normal(0, 0.4**0.5, (2, count, 3))
                selected = (part + own < ndtri([[[0.8 * rate]], [[rate]]])).sum(axis=2)
                if not selected.sum(axis=1).all():
                    raise UndefinedMetricError("nobody selected")
                seed = int(rng.integers(2**31))
                totals = stats.bootstrap_totals(selected.T, 999, seed)
                total = selected.sum(axis=1)
                estimate, rates = total[0] / total[1], total / (3 * count)
                influence = (selected - selected.mean(axis=1, keepdims=True)) / (3 * count)
                relative = influence[0] / rates[0] - influence[1] / rates[1]
                with np.errstate(divide="ignore", invalid="ignore"):
                    ratios = totals[:, 0] / totals[:, 1]
                bca = stats.percentile_interval(
                    ratios, method="bca", estimate=estimate, influence=estimate * relative
                )
                covariance = influence @ influence.T * count / (count - 1)
                logs = stats.simultaneous_log_ratios(rates, covariance, df=count - 1)
                wald = logs.pairs[0].interval
                return [
                    covers(stats.percentile_interval(ratios), 0.8),
                    covers(bca, 0.8),
                    isinstance(wald, Interval) and covers(wald, 0.8),
                ]

            means, undefined = simulate(repeats, 10 * count + int(10 * rate), once)
            good: Target = "approximate" if count >= 50 else "none"
            rows.append([str(count), str(rate), *simulated(means, undefined, repeats, [good, good, good])])
    return Study(
        "Cluster bootstrap of an impact ratio",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}; 999 resamples "
        "each. Applications stand on both sides with three rows a side, the true ratio is 0.8. Range: at "
        "least 50 applications. The last interval needs no resampling: the delta method with cluster "
        "sums of influence values, on the log scale.",
        ["applications", "rate of comparator", "percentile", "BCa", "log ratio, influence", "undefined, %"],
        rows,
    )


def auc_gap(scale: float) -> Study:
    repeats = int(1500 * scale)
    laws: dict[str, list[float]] = {
        "2 equal": [1.0] * 2, "3 equal": [1.0] * 3, "7 equal": [1.0] * 7,
        "3 spread": [0.5, 1.0, 1.5], "3 equal, AUC 0.92": [2.0] * 3,
    }  # fmt: skip
    rows: list[list[str | Cell]] = []
    for n in (20, 40, 100, 400):
        for k, (name, separations) in enumerate(laws.items()):
            shift = np.array(separations)
            truth = ndtr(shift / 2**0.5)

            def once(rng: np.random.Generator, n=n, shift=shift, truth=truth) -> list[bool]:
                group = np.arange(n * shift.size) % shift.size
                outcome = rng.integers(0, 2, group.size)
                scores = rng.normal(shift[group] * outcome)
                members = np.arange(shift.size) == group[:, None]
                result = stats.auc_gap_intervals(scores, outcome, members, draws=DRAWS)
                gaps = np.subtract.outer(truth, truth)
                first = group == 0
                top = result.largest
                return [
                    covers(stats.auc_interval(scores[first], outcome[first]), truth[0]),
                    all(
                        isinstance(p.interval, Interval) and covers(p.interval, gaps[p.first, p.second])
                        for p in result.pairs
                    ),
                    covers(result.gap, np.ptp(truth)),
                    isinstance(top.conditional, Interval)
                    and covers(top.conditional, gaps[top.first, top.second]),
                ]

            means, undefined = simulate(repeats, 100 * n + k, once)
            one: Target = "approximate" if n >= 100 else "none"
            every: Target = "approximate" if n >= 400 else "conservative"
            cells = simulated(means, undefined, repeats, [one, every, "none", "none"])
            rows.append([str(n), name, *cells])
    return Study(
        "AUC and the AUC gap",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Normal scores, "
        "half of the rows positive. Range of one AUC: at least 50 positives and 50 negatives; of all pairs: 100 of "
        "each in every subgroup. Below that the intervals of pairs are longer than they need be. The interval of the "
        "gap itself never does worse than all pairs together, and covers more often than 95% where true AUCs differ. "
        "`largest pair, conditional` is the interval of the largest observed difference taken as if its pair had been "
        "fixed beforehand: it must not be read as covering.",
        ["rows a subgroup", "subgroups", "one AUC, logit", "all pairs at once", "AUC gap",
         "largest pair, conditional", "undefined, %"],
        rows,
    )  # fmt: skip


def highest_comparator(scale: float) -> Study:
    rows: list[list[str | Cell]] = []
    for k, n in (
        (2, 20),
        (2, 50),
        (2, 200),
        (3, 20),
        (3, 50),
        (3, 200),
        (7, 20),
        (7, 50),
        (7, 200),
        (14, 50),
    ):
        repeats = int((3000 if k < 7 else 1000 if k < 14 else 600) * scale)
        for name, rates, totals in (
            ("all 0.5", np.full(k, 0.5), np.full(k, n)),
            ("all 0.2", np.full(k, 0.2), np.full(k, n)),
            ("0.3 to 0.7", np.linspace(0.3, 0.7, k), np.full(k, n)),
            (
                "0.5 to 0.4, n / 4 to 10 n",
                np.linspace(0.5, 0.4, k),
                np.geomspace(n / 4, 10 * n, k).astype(int),
            ),
        )[: 4 if k < 14 else 1]:

            def once(rng: np.random.Generator, rates=rates, totals=totals) -> list[bool]:
                selected = rng.binomial(totals, rates)
                result = stats.simultaneous_ratios(selected.tolist(), totals.tolist(), draws=DRAWS)
                order = np.argsort(selected / totals)
                worst, best = int(order[0]), int(order[-1])
                fixed = stats.ratio_of_proportions(
                    int(selected[worst]), int(totals[worst]), int(selected[best]), int(totals[best])
                )
                return [
                    all(
                        isinstance(p.interval, Interval)
                        and covers(p.interval, rates[p.first] / rates[p.second])
                        for p in result.pairs
                    ),
                    all(map(covers, result.to_highest, rates / rates.max())),
                    covers(fixed, rates[worst] / rates[best]),
                ]

            means, undefined = simulate(repeats, 1000 * k + n + len(name), once)
            expected = (totals * np.minimum(rates, 1 - rates)).min()
            good: Target = "approximate" if expected >= 5 else "none"
            cells = simulated(means, undefined, repeats, [good, "none", "none"])
            rows.append([str(k), str(n), name, str(repeats), *cells])
    return Study(
        "Impact ratios to the highest rate",
        "Categories with n people each, or from n / 4 to 10 n. Range: at least 5 expected selected and 5 not "
        "selected in each category. `to the highest` asks that the intervals of all categories hold at "
        "once for the ratio to the truly highest rate; it covers at least as often as all pairs do, and "
        "more often where rates differ. The last figure is Koopman's interval of the lowest observed rate "
        "over the highest observed, as if both had been fixed beforehand.",
        ["categories", "n", "true rates", "repeats", "all pairs at once", "to the highest",
         "lowest over highest, conditional", "undefined, %"],
        rows,
    )  # fmt: skip


def strata(scale: float) -> Study:
    repeats = int(4000 * scale)
    rows: list[list[str | Cell]] = []
    for count, n in ((2, 20), (2, 100), (5, 20), (5, 100), (20, 10)):
        for odds_ratio in (1.0, 0.5):
            reference = np.linspace(0.2, 0.6, count)
            odds = odds_ratio * reference / (1 - reference)
            group = odds / (1 + odds)

            def once(
                rng: np.random.Generator, n=n, group=group, reference=reference, odds_ratio=odds_ratio
            ) -> list[bool]:
                x, y = rng.binomial(n, group).tolist(), rng.binomial(n, reference).tolist()
                tables = [(a, n, b, n) for a, b in zip(x, y, strict=True)]
                interval = stats.mantel_haenszel(tables).interval
                if isinstance(interval, Undefined):
                    raise UndefinedMetricError(interval.reason)
                p_value = stats.breslow_day(tables).p_value
                return [covers(interval, odds_ratio), isinstance(p_value, float) and p_value > 0.05]

            means, undefined = simulate(repeats, 100 * count + n + int(10 * odds_ratio), once)
            good: Target = "approximate"
            rows.append(
                [str(count), str(n), str(odds_ratio), *simulated(means, undefined, repeats, [good, good])]
            )
    return Study(
        "Strata: common odds ratio and its homogeneity",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. n people of each "
        "group in each stratum, comparator's rates from 0.2 to 0.6. `Breslow-Day` is how "
        "often the Breslow-Day test with Tarone's correction, at 5%, finds equal odds ratios equal. Range: "
        "all of these, down to 20 strata of 10 a group.",
        ["strata", "n a group", "odds ratio", "Mantel-Haenszel interval", "Breslow-Day", "undefined, %"],
        rows,
    )
