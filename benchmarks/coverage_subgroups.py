"""Coverage by simulation: the AUC gap of overlapping subgroups, and gaps over rounds drawn at random."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from audit_lib import metrics, stats
from audit_lib.metrics.random_pools import expected_shares
from audit_lib.results import Interval
from audit_lib.stats.clusters import difference_interval
from audit_lib.stats.random_rounds import DrawnShares, random_rounds_gap, random_rounds_variance
from benchmarks.coverage_tables import Cell, Study, Target, covers, simulate, simulated

DRAWS = 4000
LEVELS = ((0.5, 0.5), (0.15, 0.85), (0.2, 0.3, 0.5))
"""Shares of the levels of three attributes: the smallest full intersection holds 1.5% of people."""
LARGE = 200_000


def _people(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.column_stack([rng.choice(len(shares), n, p=shares) for shares in LEVELS])


def _members(people: np.ndarray) -> np.ndarray:
    """Every level, every intersection of two attributes, and of all three."""
    found = [
        (people[:, axes] == cell).all(axis=1)
        for size in (1, 2, 3)
        for axes in combinations(range(3), size)
        for cell in product(*(range(len(LEVELS[axis])) for axis in axes))
    ]
    return np.column_stack(found)


def _scores(
    people: np.ndarray, outcome: np.ndarray, law: tuple[float, float], rng: np.random.Generator
) -> np.ndarray:
    """Normal scores; `law` is how far apart the classes are, and how far in one intersection of two attributes."""
    planted = (people[:, 0] == 0) & (people[:, 1] == 0)
    return rng.normal(outcome * np.where(planted, law[1], law[0]))


def overlapping_aucs(scale: float) -> Study:
    repeats = int(400 * scale)
    laws = {
        "equal, AUC 0.76": (1.0, 1.0),
        "equal, AUC 0.92": (2.0, 2.0),
        "one of two attributes 0.5, others 0.9": (1.8, 0.0),
    }
    rows: list[list[str | Cell]] = []
    for number, (n, (name, law)) in enumerate(product((300, 1000, 3000), laws.items())):
        rng = np.random.default_rng(number)
        many = _people(LARGE, rng)
        true = rng.integers(0, 2, LARGE)
        scores = _scores(many, true, law, rng)
        own = _members(many)
        truth = np.zeros(own.shape[1])
        if law[0] != law[1]:
            truth = np.array([metrics.auc(scores[own[:, g]], true[own[:, g]]) for g in range(own.shape[1])])

        def once(rng: np.random.Generator, n=n, law=law, truth=truth) -> list[bool]:
            people = _people(n, rng)
            outcome = rng.integers(0, 2, n)
            members = _members(people)
            sides = [(members & (outcome == side)[:, None]).sum(axis=0) for side in (0, 1)]
            kept = (members.sum(axis=0) >= 5) & (np.minimum(*sides) >= 2)
            scores = _scores(people, outcome, law, rng)
            result = stats.auc_gap_intervals(scores, outcome, members[:, kept], np.arange(n), draws=DRAWS)
            top = result.largest
            gaps = np.subtract.outer(truth[kept], truth[kept])
            assert isinstance(top.conditional, Interval)
            return [
                covers(result.gap, np.ptp(truth[kept])),
                result.gap.low > 0.0,
                covers(top.conditional, gaps[top.first, top.second]),
            ]

        means, undefined = simulate(repeats, 300 + number, once)
        cells = simulated(means, undefined, repeats, ["conservative", "none", "none"])
        rows.append([f"{n:,}", name, *cells])
    return Study(
        "AUC gap of overlapping subgroups",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Three attributes of 2, 2 "
        "and 3 uneven levels: their 7 levels, 16 intersections of two and 12 of three, as far as they have 5 people "
        "and 2 of each class; the smallest holds 1.5% of all. Everybody's row is a cluster of its own. `excludes 0` is "
        "how "
        "often the gap's interval says that there is one.",
        ["people", "true AUCs", "AUC gap", "excludes 0", "largest pair, conditional", "undefined, %"],
        rows,
    )


def random_rounds(scale: float) -> Study:
    repeats = int(600 * scale)
    rows: list[list[str | Cell]] = []
    designs = (
        ([8] * 11, 10, 200), ([8] * 11, 10, 1000), ([20] * 11, 10, 200), ([20] * 11, 10, 1000), ([40] * 4, 10, 1000),
        ([100, 20], 8, 1000),
    )  # fmt: skip
    for number, ((sizes, size, count), (shift, graded)) in enumerate(
        product(designs, ((0.0, False), (0.8, False), (-0.8, True)))
    ):
        group = np.repeat(np.arange(len(sizes)), sizes)
        many = np.repeat(np.arange(len(sizes)), np.array(sizes) * (40_000 // group.size))

        def draw(who: np.ndarray, rng: np.random.Generator, shift=shift, graded=graded) -> np.ndarray:
            scores = rng.normal(shift * (who == 0))
            return np.clip(np.round(scores + 3), 1, 5) if graded else scores

        everybody = draw(many, np.random.default_rng(number))
        _, code, equal = np.unique(everybody, return_inverse=True, return_counts=True)
        above = everybody.size - np.cumsum(equal)[code]
        shares = expected_shares(above, equal[code], everybody.size, size, 3)
        truth = float(shares[many == 0].mean() - shares[many == 1].mean())

        def once(
            rng: np.random.Generator, group=group, size=size, count=count, draw=draw, truth=truth
        ) -> list[bool]:
            scores = draw(group, rng)
            members = np.array([rng.choice(group.size, size, replace=False) for _ in range(count)])
            drawn = DrawnShares(
                members=members, shares=metrics.selection_shares(scores[members], k=3), k=3,
                round_pool=np.zeros(count, dtype=np.int64), rank=np.unique(scores, return_inverse=True)[1],
                pool=np.zeros(group.size, dtype=np.int64),
            )  # fmt: skip
            sides = group == 0, group == 1
            value = random_rounds_gap(drawn, *sides)
            interval = difference_interval(
                value, random_rounds_variance(drawn, *sides, np.arange(group.size)), 0.95
            )
            return [covers(interval, truth), abs(value - truth) <= 1.96 * _by_round(drawn, *sides)]

        means, undefined = simulate(repeats, 500 + number, once)
        good: Target = "conservative" if len(set(sizes)) == 1 else "none"
        cells = simulated(means, undefined, repeats, [good, "none"])
        name = f"{len(sizes)} groups of {sizes[0]}" if len(set(sizes)) == 1 else " and ".join(map(str, sizes))
        scale_of = "grades 1 to 5" if graded else "no ties"
        rows.append([name, f"{size}", f"{count:,}", scale_of, f"{truth:+.2f}", *cells])
    return Study(
        "Selection gaps over rounds drawn at random",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Candidates of one pool "
        "are drawn into many rounds, k = 3; the gap of the first group to the second, against that of a pool without "
        "end. "
        "Range: groups of one size, at least 8 candidates each, in pools of at least 8 rounds; a small group "
        "next to a large one is covered less, the fewer of it are selected the less: in another simulation (1,000 "
        "repeats, rounds of 10, normal scores) 86% for 12 next to 84 with no gap at k = 1, 84% half a standard "
        "deviation behind at k = 2, and 82% for 20 next to 100 one behind. `rounds as independent` takes each round "
        "for a new one, which is what an interval clustered by round would do: it must not be read as covering.",
        ["candidates", "a round", "rounds", "scores", "true gap", "candidates as units", "rounds as independent",
         "undefined, %"],
        rows,
    )  # fmt: skip


def _by_round(drawn: DrawnShares, group: np.ndarray, reference: np.ndarray) -> float:
    parts = []
    for mask in (group, reference):
        counted = mask[drawn.members]
        rate = (drawn.shares * counted).sum() / counted.sum()
        parts.append(((drawn.shares - rate) * counted).sum(axis=1) / counted.sum())
    return float(np.sqrt(((parts[0] - parts[1]) ** 2).sum()))
