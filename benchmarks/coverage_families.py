"""Coverage by simulation: error rates together, flips, calibration, exposure, skew and inequality of benefits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.estimates.odds import average_odds, equalised_odds
from audit_lib.measure.inference import Contrast
from audit_lib.measure.sides import Side
from audit_lib.results import Interval, Undefined
from benchmarks.coverage_tables import Cell, Study, Target, covers, simulate, simulated

LEVEL = 0.95
Simulated = Callable[[np.random.Generator], list[bool]]


@dataclass(frozen=True)
class Law:
    """What is simulated: how many units, the true value, one repeat, and the target if it is within the range."""

    metric: str
    law: str
    units: str
    truth: float
    once: Simulated
    target: Target


def families(scale: float) -> Study:
    repeats = int(1000 * scale)
    rows: list[list[str | Cell]] = []
    for number, law in enumerate(laws()):
        means, undefined = simulate(repeats, 131_000 + number, law.once)
        cells = simulated(means, undefined, repeats, [law.target])
        rows.append([f"`{law.metric}`", law.law, law.units, f"{law.truth:.3f}", *cells])
        print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Families: odds, flips, calibration, exposure, skew, benefits",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. {' '.join(RANGES)}",
        ["metric", "law", "units", "true value", "interval", "undefined, %"],
        rows,
    )


RANGES = [
    "Odds: half of the people are qualified; `shared` ones are shown in both groups, and their decisions share half of "
    "their variance. Range: 60 people a group (30 qualified, 30 not). The larger gap (`equalised_odds_gap`) is a "
    "distance: it aims at 93 or more, and so does the average where a rate of 3% leaves sides without spread.",
]


def laws() -> list[Law]:
    return [*odds()]


def held(found: Interval | Undefined, truth: float) -> list[bool]:
    """Whether the interval holds the truth; a repeat without one is undefined."""
    if isinstance(found, Undefined):
        raise UndefinedMetricError(found.reason)
    return [covers(found, truth)]


def two_sides(values: Sequence[np.ndarray], *, shared: bool) -> tuple[Side, Side]:
    """One row a unit on each side, the units the same ones or each side's own."""
    n = values[0].size
    units = n if shared else 2 * n
    sides = []
    for number, own in enumerate(values):
        clusters = np.arange(n, dtype=np.int32) + np.int32(0 if shared else number * n)
        occurs = np.zeros(units, dtype=bool)
        occurs[clusters] = True
        sides.append(Side(values=own, clusters=clusters, units=units, occurs=occurs))
    return sides[0], sides[1]


def pair(rng: np.random.Generator, n: int, *, shared: bool) -> np.ndarray:
    """Normal variables of two sides, half of the variance shared where the people are the same."""
    if not shared:
        return rng.normal(size=(2, n))
    return np.asarray((rng.normal(size=n) + rng.normal(size=(2, n))) * 0.5**0.5)


def odds() -> list[Law]:
    """True and false positive rates of the group and of the reference."""
    found = []
    for rates in (
        ((0.7, 0.3), (0.7, 0.3)),
        ((0.6, 0.3), (0.8, 0.3)),
        ((0.5, 0.03), (0.5, 0.03)),
        ((0.9, 0.5), (0.6, 0.2)),
    ):
        for shared in (False, True):
            for n in (30, 60, 200, 600):
                gaps = np.subtract(*rates)
                words = " and ".join("/".join(f"{rate:.0%}" for rate in side) for side in rates)
                law = f"TPR/FPR {words}{', shared' if shared else ''}"
                rare = min(min(side) for side in rates) * n / 2 < 5
                for name, truth, target in (
                    ("average_odds_gap", float(gaps.mean()), "conservative" if rare else "approximate"),
                    ("equalised_odds_gap", float(np.abs(gaps).max()), "conservative"),
                ):
                    once = _odds(name, rates, n, truth, shared=shared)
                    found.append(Law(name, law, str(n), truth, once, target if n >= 60 else "none"))  # type: ignore[arg-type]
    return sorted(found, key=lambda law: law.metric)


def _odds(
    name: str, rates: tuple[tuple[float, float], tuple[float, float]], n: int, truth: float, *, shared: bool
) -> Simulated:
    def once(rng: np.random.Generator) -> list[bool]:
        z = pair(rng, n, shared=shared)
        outcome = np.broadcast_to(rng.random(n) < 0.5, z.shape) if shared else rng.random(z.shape) < 0.5
        cuts = [np.where(y, *map(ndtri, rate)) for y, rate in zip(outcome, rates, strict=True)]
        codes = [(2 * y + (one < cut)).astype(np.int8) for y, one, cut in zip(outcome, z, cuts, strict=True)]
        estimator = average_odds if name == "average_odds_gap" else equalised_odds(int(rng.integers(2**32)))
        found: Contrast = estimator(*two_sides(codes, shared=shared), LEVEL)
        return held(found.interval, truth)

    return once
