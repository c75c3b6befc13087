"""Coverage by simulation: pairwise win gaps, and scoring rates whose median is that of the sample."""

from __future__ import annotations

import sys

import numpy as np
from scipy.stats import norm, t

from audit_lib.stats import ratio_of_proportions, win_gap_interval
from benchmarks.coverage_tables import Cell, Study, Target, covers, simulate, simulated


def win_gaps(scale: float) -> Study:
    repeats = int(2000 * scale)
    rows: list[list[str | Cell]] = []
    for rounds in (10, 20, 30, 60, 100, 300):
        for pairs in (1, 4):
            for k, (wins, losses) in enumerate(((0.9, 0.02), (0.5, 0.4), (0.3, 0.1), (0.1, 0.05))):

                def once(
                    rng: np.random.Generator, rounds=rounds, pairs=pairs, wins=wins, losses=losses
                ) -> list[bool]:
                    # Rounds differ: a Dirichlet's shares, with a correlation of 0.2 between pairs of a round.
                    shares = rng.dirichlet(4 * np.array([wins, losses, 1 - wins - losses]), rounds).cumsum(
                        axis=1
                    )
                    u = rng.random((rounds, pairs))
                    outcomes = np.where(u < shares[:, :1], 1, np.where(u < shares[:, 1:2], -1, 0))
                    found = win_gap_interval(outcomes.ravel(), np.repeat(np.arange(rounds), pairs))
                    means = outcomes.mean(axis=1)
                    half = t.ppf(0.975, rounds - 1) * means.std(ddof=1) / rounds**0.5
                    truth = wins - losses
                    return [covers(found, truth), bool(abs(means.mean() - truth) <= half)]

                means, undefined = simulate(repeats, 70_000 + 100 * rounds + 10 * pairs + k, once)
                good: Target = "conservative" if rounds >= 20 else "none"
                cells = simulated(means, undefined, repeats, [good, "none"])
                rows.append([str(rounds), str(pairs), str(wins), str(losses), *cells])
                print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Pairwise win gap",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Rounds of one or four "
        "pairs between a group and its reference, whose outcomes have a correlation of 0.2 within a round. Range: at "
        "least 20 rounds, conservative: where few pairs are decided, or nearly all, each share's own interval is long. "
        "`plus or minus t` is the gap with its standard error over rounds, as printed before.",
        ["rounds", "pairs each", "won", "lost", "Wilson's limits joined", "plus or minus t", "undefined, %"],
        rows,
    )


def scoring_rates(scale: float) -> Study:
    repeats = int(3000 * scale)
    rows: list[list[str | Cell]] = []
    for n in (100, 400):
        for spread in (1.0, 3.0, 15.0):
            # A third of a standard deviation of the first group apart; the median of both together, by bisection.
            low, high = -50.0, 50.0
            for _ in range(200):
                middle = (low + high) / 2
                share = norm.sf(middle) + norm.sf(middle, 0.33, spread)
                low, high = (middle, high) if share > 1 else (low, middle)
            true = norm.sf(low) / norm.sf(low, 0.33, spread)

            def once(rng: np.random.Generator, n=n, spread=spread, low=low, true=true) -> list[bool]:
                a, b = rng.normal(size=n), rng.normal(0.33, spread, n)
                held = []
                for median in (float(np.median(np.concatenate([a, b]))), low):
                    counts = int((a > median).sum()), int((b > median).sum())
                    held.append(
                        covers(ratio_of_proportions(counts[0], n, counts[1], n, method="koopman"), true)
                    )
                return held

            means, undefined = simulate(repeats, 80_000 + n + int(spread), once)
            cells = simulated(means, undefined, repeats, ["approximate" if spread == 1.0 else "none", "none"])
            rows.append([str(n), f"1 to {spread:g}", f"{true:.2f}", *cells])
            print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Ratio of scoring rates, whose median is that of the sample",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Two groups of n people; "
        "the interval of the ratio of their shares above the sample's median, as the law has it, held against the "
        "ratio of shares above the population's median. The interval takes the median as fixed. Range: scores that "
        "vary as much in one group as in the other; where they do not, it is too short for the population's ratio, as "
        "the page says. In the next column the median is the population's.",
        ["n", "standard deviations", "true ratio", "interval", "median known", "undefined, %"],
        rows,
    )
