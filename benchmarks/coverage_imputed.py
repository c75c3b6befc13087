"""Coverage by simulation: bounds of rates of groups whose members are known as probabilities only."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from audit_lib.stats.imputed import CellShares, ImputedRates
from benchmarks.coverage_tables import Cell, Study, covers, simulate, simulated

Floats = np.ndarray
LINKS: Final = ("as many as can be", "as few as can be", "chance alone")
"""How many of the first group are among the selected of people with the same probabilities."""


@dataclass(frozen=True)
class Population:
    """Cells of people with the same probabilities, as frequent as each other, and the rate of each."""

    name: str
    shares: Floats
    rate: Floats
    counted: int | None = None
    """People of each label whose group is known; None where the probabilities are right."""
    per_cluster: int = 1

    def rates(self, link: str) -> Floats:
        """True rate of each group: the first as the link says, the last ones before the second."""
        first = self.shares[:, 0]
        chosen = {
            LINKS[0]: np.minimum(first, self.rate),
            LINKS[1]: np.maximum(0.0, first + self.rate - 1.0),
            LINKS[2]: first * self.rate,
        }[link]
        left, both = self.rate - chosen, np.zeros_like(self.shares)
        both[:, 0] = chosen
        for group in range(self.shares.shape[1] - 1, 0, -1):
            both[:, group] = np.minimum(self.shares[:, group], left)
            left = left - both[:, group]
        return both.sum(axis=0) / self.shares.sum(axis=0)

    def drawn(self, rng: np.random.Generator, people: int, seed: int) -> ImputedRates:
        """Draw people; half of a cluster's fortune is common to it."""
        units = people // self.per_cluster
        cells = np.repeat(rng.integers(0, len(self.rate), units), self.per_cluster)
        luck = np.where(
            rng.random(people) < 0.5, np.repeat(rng.random(units), self.per_cluster), rng.random(people)
        )
        shares = CellShares(value=self.shares)
        if self.counted is not None:
            shares = CellShares.of_counts(
                np.array([rng.multinomial(self.counted, own) for own in self.shares])
            )
        return ImputedRates(
            (luck < self.rate[cells]).astype(float), cells, np.repeat(np.arange(units), self.per_cluster), shares, seed
        )  # fmt: skip


def populations() -> list[Population]:
    """Return those of the study: many cells are as good as a probability of one's own for each person."""
    rng = np.random.default_rng(2027)
    own = rng.dirichlet([0.6, 0.6], 5_000)
    of_four = rng.dirichlet([0.5] * 4, 5_000)
    labels = np.array([[0.85, 0.1, 0.05], [0.15, 0.8, 0.05], [0.1, 0.2, 0.7]])
    few = np.array([[0.95, 0.05], [0.7, 0.3], [0.3, 0.7], [0.05, 0.95]])
    rate = np.array([0.2, 0.35, 0.45, 0.5])
    return [
        Population("2 groups, 4 cells", few, rate),
        Population("2 groups, 4 cells, p + rate = 1 in all", few, 1.0 - few[:, 0]),
        Population("2 groups, 4 cells, 4 people a cluster", few, rate, per_cluster=4),
        Population("2 groups, own probabilities", own, 0.25 + 0.3 * own[:, 0]),
        Population("4 groups, own probabilities", of_four, 0.15 + 0.3 * of_four[:, 0]),
        Population("3 labels, 50 counted of each", labels, np.array([0.2, 0.4, 0.3]), counted=50),
        Population("3 labels, 500 counted of each", labels, np.array([0.2, 0.4, 0.3]), counted=500),
    ]


def imputed_groups(scale: float) -> Study:
    repeats = int(500 * scale)
    rows: list[list[str | Cell]] = []
    for number, (one, people, link) in enumerate(product(populations(), (200, 1000), LINKS)):
        rates = one.rates(link)
        truth = (rates[0], rates[0] - rates[1], rates[0] / rates.max())

        def once(rng: np.random.Generator, one=one, people=people, truth=truth) -> list[bool | float]:
            drawn = one.drawn(rng, people, int(rng.integers(2**32)))
            found = (drawn.interval(0, 0.95), drawn.gap_interval(0, 1, 0.95), drawn.ratio_interval(0, 0.95))
            held = [covers(interval, value) for interval, value in zip(found, truth, strict=True)]
            low, high = drawn.bounds(0)
            return [*held, high - low, found[0].high - found[0].low]

        means, undefined = simulate(repeats, 97_000 + number, once)
        for k, name in enumerate(("imputed_rate", "imputed_rate_gap", "imputed_impact_ratio")):
            told = [f"{means[3]:.2f}", f"{means[4]:.2f}"] if k == 0 else ["", ""]
            cells = simulated(means[k : k + 1], undefined, repeats, ["conservative"])
            rows.append(
                [one.name, str(people), link, f"`{name}`", f"{truth[k]:.3f}", cells[0], *told, cells[1]]
            )
            print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Rates of imputed groups",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. How often the interval "
        "of the bounds holds the true number of the first group. Among people with the same probabilities as many of "
        "the selected are of that group as can be, or as few, which puts its rate at an end of the bounds, or group "
        "and decision go together by chance. Intervals hold all that lies between the bounds, so that they are "
        "conservative: 93% or more is asked. In one population every cell's p + rate is 1, where it is hardest to tell "
        "which bound holds. Range: 20 people who are selected and 20 who are not.",
        ["population", "people", "of the first group are selected", "number", "truth", "held", "length of the bounds",
         "of the interval", "undefined, %"],
        rows,
    )  # fmt: skip
