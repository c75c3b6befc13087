"""Coverage by simulation: pairwise win gaps, and scoring rates whose median is that of the sample."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, t

from audit_lib.stats import ratio_of_proportions, win_gap_interval
from audit_lib.stats.estimated_median import rates_above_median
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


@dataclass(frozen=True)
class Scored:
    """Two groups whose scores are normal; some of one person, or rounded."""

    sizes: tuple[int, int]
    spread: float
    shift: float = 0.33
    each: int = 1
    step: float = 0.0

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of both groups, one after the other; half the variance of a person's is shared."""
        found = []
        for n, mean, sd in zip(self.sizes, (0.0, self.shift), (1.0, self.spread), strict=True):
            if self.each == 1:
                found.append(rng.normal(mean, sd, n))
                continue
            own = np.repeat(rng.normal(size=n // self.each), self.each) + rng.normal(size=n)
            found.append(mean + sd * own / 2**0.5)
        both = np.concatenate(found)
        return (np.round(both / self.step) * self.step if self.step else both), np.repeat([0, 1], self.sizes)

    def above(self, at: float) -> tuple[float, float]:
        """Share of each group strictly above a value that scores can have."""
        edge = at + self.step / 2
        return float(norm.sf(edge)), float(norm.sf(edge, self.shift, self.spread))

    def median(self) -> float:
        """Return the population's, by bisection, or of rounded scores the lowest with no more than half above."""
        share = lambda at: float(np.dot(self.sizes, self.above(at))) / sum(self.sizes)  # noqa: E731
        if self.step:
            values = self.step * np.arange(-1000, 1000)
            return float(next(value for value in values if share(value) <= 0.5))
        low, high = -50.0, 50.0
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if share(middle) > 0.5 else (low, middle)
        return low


SCORED = [
    *(Scored((n, n), spread) for n in (100, 400) for spread in (1.0, 3.0, 15.0)),
    Scored((50, 50), 3.0, shift=-0.8), Scored((30, 300), 3.0), Scored((300, 30), 3.0), Scored((20, 20), 3.0),
    Scored((400, 400), 3.0, each=4), Scored((120, 120), 15.0, each=4),
    *(Scored((200, 200), 3.0, step=step) for step in (0.05, 0.1, 0.2, 1.0)),
]  # fmt: skip


def scoring_rates(scale: float) -> Study:
    repeats = int(3000 * scale)
    rows: list[list[str | Cell]] = []
    for number, one in enumerate(SCORED):
        at = one.median()
        true = one.above(at)[0] / one.above(at)[1]

        def once(rng: np.random.Generator, one=one, at=at, true=true) -> list[bool]:
            scores, group = one.draw(rng)
            people = np.arange(scores.size) // one.each if one.each > 1 else None
            held = [covers(rates_above_median(scores, group, 2, people).ratios().pairs[0].interval, true)]
            for median in (float(np.median(scores)), at):
                counts = [int((scores[group == side] > median).sum()) for side in (0, 1)]
                fixed = ratio_of_proportions(
                    counts[0], one.sizes[0], counts[1], one.sizes[1], method="koopman"
                )
                held.append(covers(fixed, true))
            return held

        means, undefined = simulate(repeats, 80_000 + number, once)
        few, tied = min(one.sizes) < 50, 0.1 < one.step < 1.0
        cells = simulated(
            means, undefined, repeats, ["none" if few or tied else "approximate", "none", "none"]
        )
        what = [f"{one.sizes[0]} and {one.sizes[1]}", str(one.each), f"{one.step:g}" if one.step else "-"]
        rows.append([*what, f"1 to {one.spread:g}", f"{true:.2f}", *cells])
        print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Ratio of scoring rates, whose median is that of the sample",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Two groups; intervals of "
        "the ratio of their shares above the median, held against the ratio of shares above the population's median. "
        "`at the population's median` allows for the median having been estimated. Range: 50 people a group. Scores "
        "rounded to steps (standard deviations are 1 and more) are tied: where the median may be one of few values "
        "there is mostly no interval, and the few that exist are too short. `median as fixed` is the interval of the "
        "law's ratio, which is that at the sample's median; it is for independent people, and too short for the "
        "population's ratio where scores vary more in one group than in the other. In the next column the median is "
        "the population's. Where people have four scores each, half of whose variance they share, only the first "
        "column allows for it.",
        ["people", "scores each", "step", "standard deviations", "true ratio", "at the population's median",
         "median as fixed", "median known", "undefined, %"],
        rows,
    )  # fmt: skip
