"""Coverage by simulation: distances between two groups' scores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from audit_lib import stats
from audit_lib.metrics import earth_movers_distance, jensen_shannon_divergence
from benchmarks.coverage_tables import Cell, Study, Target, covers, simulate, simulated

DRAWS = 499
SHARED = 0.5  # of a score's variance, between the versions of an application
NORMAL = {5: np.array([-0.84, -0.25, 0.25, 0.84]), 20: np.linspace(-2.7, 2.7, 19)}  # inner edges of bins
SKEWED = {5: np.linspace(0, 10, 6)[1:-1], 20: np.linspace(0, 10, 21)[1:-1]}


@dataclass(frozen=True)
class Law:
    """Scores made of a normal variable, the group's `shift` higher than the reference's."""

    name: str
    shift: float
    kind: str
    cuts: Sequence[float] = ()

    def scores(self, z: np.ndarray) -> np.ndarray:
        if self.kind == "ratings":
            return np.searchsorted(np.array(self.cuts), z) + 1.0
        return np.exp(z) if self.kind == "skewed" else z

    def distance(self) -> float:
        if self.kind == "ratings":
            cuts = np.array(self.cuts)
            return float(np.abs(ndtr(cuts) - ndtr(cuts - self.shift)).sum())
        # The group's distribution lies above the reference's throughout: the distance is that of the means.
        return float(np.exp(0.5) * np.expm1(self.shift)) if self.kind == "skewed" else self.shift

    def bins(self) -> dict[int, np.ndarray]:
        """Inner edges of 5 and of 20 bins, on the normal variable's scale."""
        if self.kind == "ratings":
            return {5: np.array(self.cuts)}
        return {count: np.log(edges) for count, edges in SKEWED.items()} if self.kind == "skewed" else NORMAL

    def divergence(self, edges: np.ndarray) -> float:
        p, q = (np.diff(ndtr(np.concatenate([[-np.inf], edges - s, [np.inf]]))) for s in (self.shift, 0.0))
        return float(0.5 * (p * np.log(2 * p / (p + q)) + q * np.log(2 * q / (p + q))).sum())


EVEN, HIGH = (
    (-1.2, -0.4, 0.4, 1.2),
    (-2.2, -1.6, -0.8, -0.2),
)  # five ratings, of which most are 5 in the second
LAWS = (
    *(Law("normal", shift, "normal") for shift in (0.0, 0.5, 1.5)),
    *(Law("skewed (lognormal)", shift, "skewed") for shift in (0.0, 0.5)),
    *(Law("five ratings", shift, "ratings", EVEN) for shift in (0.0, 0.5, 1.5)),
    *(Law("five ratings, mostly 5", shift, "ratings", HIGH) for shift in (0.0, 0.5)),
)
SIZES = ((10, 10), (30, 30), (30, 90), (30, 300), (100, 100), (500, 500), (2000, 2000))


def distances(scale: float) -> Study:
    repeats = int(1000 * scale)
    rows: list[list[str | Cell]] = []
    for n, m in SIZES:
        in_range = n >= 30 and m <= 3 * n
        for k, (shared, law) in enumerate((s, law) for s in (False, True) for law in LAWS):
            means, undefined = simulate(repeats, 70_000 + 100 * n + 10 * m + k, _once(n, m, shared, law))
            targets: list[Target] = ["conservative" if law.shift else "approximate"]
            targets += ["conservative" for _ in law.bins()]
            cells = simulated(means, undefined, repeats, targets if in_range else ["none" for _ in targets])
            if law.kind == "ratings":
                cells.insert(2, "-")
            of = "the same" if shared else "their own"
            rows.append([f"{n}, {m}", of, law.name, f"{law.distance():.2f}", *cells])
            print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Earth mover's distance and Jensen-Shannon divergence",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Scores of applications "
        "of their own or of the same ones (half of the variance shared; the larger group has applications beside "
        "them). The intervals are conservative, as they bound the error by its norm: the target is 93 or more. Only at "
        "parity (true distance 0) is the earth mover's error the distance itself, and the target 93 to 97; there the "
        "divergence's stays conservative while bins hold fewer than 20 scores of a group. Bins are fixed. Range: "
        "from 30 independent units a side, none with over three times as many as the other: with ten times as many "
        "the smaller side's own spread decides, and it is drawn too short where scores are skewed.",
        ["n of group, reference", "applications", "scores", "true distance", "earth mover's", "divergence, 5 bins",
         "20 bins", "undefined, %"],
        rows,
    )  # fmt: skip


def _once(n: int, m: int, shared: bool, law: Law) -> Callable[[np.random.Generator], list[bool]]:
    distance = law.distance()
    divergences = [(edges, law.divergence(edges)) for edges in law.bins().values()]
    ids = (np.arange(n), np.arange(m)) if shared else (None, None)

    def once(rng: np.random.Generator) -> list[bool]:
        part = rng.normal(scale=SHARED**0.5, size=(2, max(n, m)))
        own = rng.normal(scale=(1 - SHARED) ** 0.5, size=(2, max(n, m)))
        z = (part[0] if shared else part) + own + np.array([[law.shift], [0.0]])
        seed = int(rng.integers(2**32))
        sides = z[0, :n], z[1, :m]
        x, y = (law.scores(side) for side in sides)
        errors = stats.earth_movers_errors(x, y, *ids, seed=seed, draws=DRAWS)
        hits = [covers(stats.distance_interval(earth_movers_distance(x, y), errors), distance)]
        for edges, truth in divergences:
            a, b = (np.searchsorted(edges, side) for side in sides)
            count = edges.size + 1
            value = jensen_shannon_divergence(a, b, bins=np.arange(count + 1) - 0.5)
            errors = stats.jensen_shannon_errors(a, b, count, *ids, seed=seed, draws=DRAWS)
            hits.append(covers(stats.distance_interval(value, errors), truth))
        return hits

    return once
