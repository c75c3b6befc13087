"""Coverage by simulation: metrics of texts and lists, three answers a group in each application."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr, ndtri

from audit_lib import stats
from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.estimates.bounded_means import bounded_gap, bounded_mean
from audit_lib.measure.inference import mean_gap
from audit_lib.measure.sides import Side
from audit_lib.metrics import earth_movers_distance
from audit_lib.results import Interval, Undefined
from audit_lib.stats.shares import share_errors
from benchmarks.coverage_tables import Cell, Study, Target, covers, simulate, simulated

EACH = 3  # answers a group in each application
ICC = 0.5
DRAWS = 499

Once = Callable[[np.random.Generator], list[bool]]


def texts(scale: float) -> Study:
    repeats = int(1500 * scale)
    rows: list[list[str | Cell]] = []
    for count in (10, 30, 100, 300):
        for k, (name, law, truth, once, target, least) in enumerate(_laws(count)):
            means, undefined = simulate(repeats, 98_000 + 100 * count + k, once)
            in_range = count >= least and target != "none"
            targets: list[Target] = [target if in_range else "none", "none"]
            cells = simulated(means, undefined, repeats, targets[: means.size])
            if means.size == 1:
                cells.insert(1, "-")
            rows.append([name, law, str(count), f"{truth:.3f}", *cells])
            print(*rows[-1], file=sys.stderr, flush=True)
    rows.sort(key=lambda row: (str(row[0]), str(row[1])))
    return Study(
        "Texts and lists",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. {EACH} answers of each "
        "group in each application, which share half of their variance. Conservative intervals (of distances, and "
        "where a group has no flagged text) aim at 93 or more, all others at 93 to 97. Range: 30 applications; 100 for "
        "stereotypical associations, 300 for the mean of similarities as skewed as those of 0.9 and 0.98. "
        "`normal` is what an interval of plain influence values covers, which has no limits where nothing varies: "
        "such repeats count as misses.",
        ["metric", "law", "applications", "true value", "interval", "normal", "undefined, %"],
        rows,
    )  # fmt: skip


def _laws(count: int) -> list[tuple[str, str, float, Once, Target, int]]:
    """Metric, law, truth, one repeat, target, and the number of applications from which it is held to it."""
    found: list[tuple[str, str, float, Once, Target, int]] = []
    for shift in (0.0, 0.5):
        once, truth = _strict(count, shift)
        target: Target = "conservative" if shift else "approximate"
        found.append(("strict sentiment parity", f"shift {shift}", truth, once, target, 30))
    for share, often in ((0.5, 0.5), (0.7, 0.5), (0.7, 0.1), (0.95, 0.5), (0.95, 0.1)):
        once, truth = _associations(count, share, often)
        law = f"{share:.0%} she, word in {often:.0%} of texts"
        found.append(("stereotypical associations", law, truth, once, "conservative", 100))
    for rates, least in (((0.02, 0.02), 30), ((0.02, 0.2), 30), ((0.2, 0.2), 30), ((0.5, 0.3), 30)):
        law = f"{rates[0]:.0%} and {rates[1]:.0%} flagged"
        rare: Target = "conservative" if min(rates) * count < 10 else "approximate"
        found.append(("gap of flagged texts", law, rates[0] - rates[1], _flagged(count, rates), rare, least))
    for mean, least in ((0.5, 30), (0.9, 300), (0.98, 300)):
        once, truth = _similarity(count, 1 - mean)
        found.append(
            ("mean similarity", f"1 less {1 - mean:.2g} chi-square", truth, once, "approximate", least)
        )
    return found


def _answers(rng: np.random.Generator, count: int, sides: int) -> np.ndarray:
    """Normal variables by side and answer; what an application shares is shared by both sides."""
    part = rng.normal(scale=ICC**0.5, size=count)
    return np.repeat(part, EACH) + rng.normal(scale=(1 - ICC) ** 0.5, size=(sides, count * EACH))


def _strict(count: int, shift: float) -> tuple[Once, float]:
    of = np.repeat(np.arange(count), EACH)
    grid = np.linspace(-9, 9, 20001)
    # The group's sentiment lies above throughout: the distance is that of the means.
    weights = np.exp(-(grid**2) / 2) / np.exp(-(grid**2) / 2).sum()
    truth = float(((ndtr(grid + shift) - ndtr(grid)) * weights).sum())

    def once(rng: np.random.Generator) -> list[bool]:
        z = _answers(rng, count, 2)
        x, y = ndtr(z[0] + shift), ndtr(z[1])
        errors = stats.earth_movers_errors(x, y, of, of, seed=int(rng.integers(2**32)), draws=DRAWS)
        return [covers(stats.distance_interval(earth_movers_distance(x, y), errors), truth)]

    return once, truth


def _associations(count: int, share: float, often: float) -> tuple[Once, float]:
    """Five target words and two groups; the words that a text holds are named beside one pronoun or two."""
    words, truth = 5, abs(share - 0.5)

    def once(rng: np.random.Generator) -> list[bool]:
        # Pronouns lean to one side by application; on average over applications their share is `share`.
        lean = ndtr((ndtri(share) + ICC**0.5 * rng.normal(size=(count, 1, 1))) / (1 - ICC) ** 0.5)
        held = rng.random((count, EACH, words)) < often
        said = np.broadcast_to(rng.integers(1, 3, size=(count, EACH, 1)), held.shape)
        she = rng.binomial(said, np.broadcast_to(lean, held.shape)) * held
        counts = np.stack([she.sum(axis=1), (said * held).sum(axis=1) - she.sum(axis=1)], axis=2)
        errors = share_errors(counts, seed=int(rng.integers(2**32)), draws=DRAWS, bound=0.5)
        total = counts.sum(axis=0)
        total = total[total.sum(axis=1) > 0]
        value = float(np.abs(total[:, 0] / total.sum(axis=1) - 0.5).mean())
        return [covers(stats.distance_interval(value, errors), truth)]

    return once, truth


def _flagged(count: int, rates: tuple[float, float]) -> Once:
    of = np.repeat(np.arange(count, dtype=np.int32), EACH)
    occurs, truth, estimator = np.ones(count, dtype=bool), rates[0] - rates[1], bounded_gap((0.0, 1.0))

    def once(rng: np.random.Generator) -> list[bool]:
        z = _answers(rng, count, 2)
        sides = [
            Side(values=(one < ndtri(rate)).astype(float), clusters=of, units=count, occurs=occurs)
            for one, rate in zip(z, rates, strict=True)
        ]
        found, plain = (make(*sides, 0.95).interval for make in (estimator, mean_gap))
        if isinstance(found, Undefined):
            raise UndefinedMetricError(found.reason)
        return [covers(found, truth), isinstance(plain, Interval) and covers(plain, truth)]

    return once


def _similarity(count: int, scale: float) -> tuple[Once, float]:
    """1 less a chi-square of one degree of freedom, scaled and cut at 1: many pairs alike, few far apart."""
    of = np.repeat(np.arange(count), EACH)
    cut = scale**-0.5
    density = np.exp(-(cut**2) / 2) / (2 * np.pi) ** 0.5
    truth = float(1 - scale * (2 * ndtr(cut) - 1 - 2 * cut * density) - 2 * ndtr(-cut))

    def once(rng: np.random.Generator) -> list[bool]:
        values = 1 - np.minimum(_answers(rng, count, 1)[0] ** 2 * scale, 1.0)
        found = bounded_mean(values, of, count, 0.95, (0.0, 1.0)).interval
        if isinstance(found, Undefined):
            raise UndefinedMetricError(found.reason)
        plain = stats.cluster_interval((values - values.mean()) / values.size, of, values.mean())
        return [covers(found, truth), covers(plain, truth)]

    return once, truth
