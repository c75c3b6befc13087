"""Coverage by simulation: rates and their ratios where people share rounds or applications."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from audit_lib.errors import UndefinedMetricError
from audit_lib.stats.clustered_rates import ClusteredRates
from audit_lib.stats.intervals import wilson
from audit_lib.stats.koopman import koopman_limits
from benchmarks.coverage_tables import Cell, Study, Target, covers, simulate, simulated

Z = 1.959964
Counts = tuple[np.ndarray, np.ndarray]


def single_rates(scale: float) -> Study:
    repeats = int(4000 * scale)
    rows: list[list[str | Cell]] = []
    for count in (10, 30, 100, 300):
        for rate in (0.02, 0.1, 0.5):
            for k, (size, icc) in enumerate((s, i) for s in ("4", "2 to 12, skewed") for i in (0.2, 0.8)):

                def once(rng: np.random.Generator, count=count, rate=rate, size=size, icc=icc) -> list[bool]:
                    x, n = versions(rng, count, rate, size, icc)
                    naive = wilson(int(x.sum()), int(n.sum()))
                    return [covers(ClusteredRates.of(x, n).rate(0, 0.95), rate), covers(naive, rate)]

                means, undefined = simulate(repeats, 90_000 + 100 * count + int(1000 * rate) + k, once)
                # Applications that decide alike are worth little more than one person each.
                good: Target = "approximate" if count >= 30 and count * rate >= 10 else "conservative"
                cells = simulated(means, undefined, repeats, [good, "none"])
                rows.append(["versions", str(count), size, str(icc), str(rate), *cells])
                print(*rows[-1], file=sys.stderr, flush=True)
    for count in (30, 100, 300):
        for own in (1, 2):

            def place(rng: np.random.Generator, count=count, own=own) -> list[bool]:
                # One of eight wins; the category has `own` of the eight.
                x = (rng.integers(8, size=count) < own).astype(int)[None]
                n = np.full_like(x, own)
                naive = wilson(int(x.sum()), int(n.sum()))
                return [covers(ClusteredRates.of(x, n).rate(0, 0.95), 1 / 8), covers(naive, 1 / 8)]

            means, undefined = simulate(repeats, 95_000 + 10 * count + own, place)
            good = "approximate" if count >= 100 else "conservative"
            cells = simulated(means, undefined, repeats, [good, "none"])
            rows.append(["rounds of 8, 1 wins", str(count), str(own), "-", "0.125", *cells])
            print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "A rate, where people share rounds or applications",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Wilson's interval with "
        "n over the design effect, and Clopper-Pearson's over clusters where nobody or everybody is selected. "
        "`icc` is the share of the variance that the versions of an application have in common. Range: at least 30 "
        "clusters, and clusters times the rate at least 10; with fewer the interval is conservative. Both were stated "
        "before this run, after another with other seeds. `rows as independent` is Wilson's interval with the clusters "
        "ignored.",
        ["what is shared", "clusters", "people each", "icc", "rate", "interval", "rows as independent",
         "undefined, %"],
        rows,
    )  # fmt: skip


def ratios_of_rates(scale: float) -> Study:
    repeats = int(4000 * scale)
    rows: list[list[str | Cell]] = []
    for groups in (2, 8):
        for size in (30, 60, 120, 500):
            for weight in (1.0, 0.8, 0.5):
                weights = [weight, *[1.0] * (groups - 1)]

                def once(rng: np.random.Generator, size=size, weights=weights, weight=weight) -> list[bool]:
                    rates = ClusteredRates.of(*rounds(rng, size, weights))
                    low, high = koopman_limits(rates.selected[0], size, rates.selected[1], size, Z)
                    test = rates.test(0, 1).p_value
                    return [
                        covers(rates.ratio(0, 1, 0.95), weight),
                        isinstance(test, float) and test > 0.05,
                        low <= weight <= high,
                    ]

                means, undefined = simulate(
                    repeats, 96_000 + 100 * size + 10 * groups + int(10 * weight), once
                )
                good: Target = "approximate" if size >= 60 else "conservative"
                targets: list[Target] = [good, good if weight == 1 else "none", "none"]
                cells = simulated(means, undefined, repeats, targets)
                if weight != 1:
                    cells[1] = "-"
                rows.append([f"1 of {groups}", str(size), str(weight), *cells])
                print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Ratio of two rates, where one of a round wins",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Each round has one "
        "candidate of each group; the first group's chance is the ratio times that of any other. Koopman's interval, "
        "with the design effect of the rounds. Range: at least 60 rounds; with fewer, conservative; stated before this "
        "run, after another with other seeds. `test` is how often equal rates are found "
        "equal at 5%; `rows as independent` is Koopman's interval with the rounds ignored: too short, as who wins "
        "takes the place from the others.",
        ["who wins", "rounds", "true ratio", "interval", "test", "rows as independent", "undefined, %"],
        rows,
    )  # fmt: skip


_ZIPF = np.maximum(np.rint(100 / np.arange(1, 101)), 1).astype(int)
_SIZES: tuple[tuple[str, np.ndarray], ...] = (
    ("5 of 10", np.full(5, 10)),
    ("10 of 10", np.full(10, 10)),
    ("75 of 10", np.full(75, 10)),
    ("300 of 10", np.full(300, 10)),
    ("100 by Zipf's law, the largest of 100", _ZIPF),
    ("30 of 5 and one of 100", np.append(np.full(30, 5), 100)),
    ("30 of 5 and one of 150", np.append(np.full(30, 5), 150)),
    ("30 of 5 and one of 3,000", np.append(np.full(30, 5), 3000)),
)


def uneven_clusters(scale: float) -> Study:
    repeats, together = int(2000 * scale), int(500 * scale)
    rows: list[list[str | Cell]] = []
    for number, (label, sizes) in enumerate(_SIZES):
        for rates, icc in (
            ((0.3, 0.3, 0.3, 0.3), 0.02),
            ((0.3, 0.3, 0.3, 0.3), 0.2),
            ((0.21, 0.3, 0.3, 0.3), 0.2),
            ((0.02, 0.02, 0.02, 0.02), 0.2),
        ):
            if max(rates) * sizes.sum() < 10:
                continue
            place = int(100 * rates[0]) + int(100 * icc)
            rng = np.random.Generator(np.random.PCG64([98_000, number, place]))
            held = [
                _held(*apart(rng, sizes, rates, icc), np.array(rates), whole=at < together)
                for at in range(repeats)
            ]
            cells = [_share([one[k] for one in held], "conservative") for k in range(3)]
            undefined = np.mean([one[0] is None for one in held])
            rows.append(
                [
                    label,
                    str(icc),
                    str(rates[0]),
                    str(rates[1]),
                    *cells,
                    _share([one[3] for one in held], "none"),
                    f"{100 * undefined:.1f}",
                ]
            )
            print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Rates and ratios, where clusters differ in size or are few",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}; the intervals over the "
        f"highest rate {together:,}, {100 * (0.0475 / max(together, 1)) ** 0.5:.1f}. Four categories, each in clusters "
        "of its own, of the sizes that are named; a cluster's chance is drawn by a beta law around the category's "
        "rate, with a share `icc` of the variance in common. The first category's rate; its ratio to the second; and "
        "all four ratios to the highest rate at once. Range: all of these, conservative; stated before this run, after "
        "others with other seeds. Where clusters are worth fewer than three of one size there is no interval. "
        "`rows as independent` is Koopman's interval of the ratio with the clusters ignored.",
        ["clusters a category", "icc", "first rate", "other rates", "rate", "ratio", "to the highest, at once",
         "ratio, rows as independent", "undefined, %"],
        rows,
    )  # fmt: skip


def apart(rng: np.random.Generator, sizes: np.ndarray, rates: Sequence[float], icc: float) -> Counts:
    """Categories in clusters of their own: selected and all of each."""
    k, own = len(rates), len(sizes)
    people = np.zeros((k, k * own), dtype=int)
    selected = np.zeros_like(people)
    for place, rate in enumerate(rates):
        scale = (1 - icc) / icc
        there = slice(place * own, (place + 1) * own)
        people[place, there] = sizes
        selected[place, there] = rng.binomial(sizes, rng.beta(scale * rate, scale * (1 - rate), own))
    return selected, people


def _held(x: np.ndarray, n: np.ndarray, truth: np.ndarray, *, whole: bool) -> list[bool | None]:
    """Whether a rate, a ratio, all over the highest, and the ratio of independent rows are held; None: undefined."""
    rates = ClusteredRates.of(x, n)
    low, high = koopman_limits(rates.selected[0], rates.totals[0], rates.selected[1], rates.totals[1], Z)
    ratio = truth[0] / truth[1]
    naive = low <= ratio <= high
    try:
        found = [covers(rates.rate(0, 0.95), truth[0]), covers(rates.ratio(0, 1, 0.95), ratio)]
        if not whole:
            return [*found, None, naive]
        tops = rates.ratios(0.95, draws=20_000).to_highest
    except UndefinedMetricError:
        return [None, None, None, naive]
    return [*found, all(map(covers, tops, truth / truth.max())), naive]


def _share(held: list[bool | None], target: Target) -> str | Cell:
    known = [one for one in held if one is not None]
    if not known:
        return "-"
    share = float(np.mean(known))
    return Cell(share, share, target, (0.0475 / len(known)) ** 0.5)


def versions(rng: np.random.Generator, count: int, rate: float, size: str, icc: float) -> Counts:
    """Versions of `count` applications, of which a share `rate` is selected: selected and all of each."""
    sizes = np.minimum(1 + rng.geometric(0.25, count), 12) if "skewed" in size else np.full(count, int(size))
    of = np.repeat(np.arange(count), sizes)
    score = rng.normal(0, icc**0.5, count)[of] + rng.normal(0, (1 - icc) ** 0.5, of.size)
    return np.bincount(of, score < ndtri(rate), count).astype(int)[None], sizes[None]


def rounds(rng: np.random.Generator, size: int, weights: list[float]) -> Counts:
    """Rounds of one candidate of each category, one of whom wins, by weight."""
    won = np.argmax(rng.gumbel(size=(size, len(weights))) + np.log(weights), axis=1)
    selected = (won == np.arange(len(weights))[:, None]).astype(int)
    return selected, np.ones_like(selected)
