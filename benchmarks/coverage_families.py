"""Coverage by simulation: error rates together, flips, calibration, exposure, skew and inequality of benefits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.estimates.bounded_means import bounded_mean
from audit_lib.measure.estimates.linear import inferred_from
from audit_lib.measure.estimates.odds import average_odds, equalised_odds
from audit_lib.measure.inference import Contrast, mean_gap
from audit_lib.measure.metrics.conditional_demographic_disparity import disparity
from audit_lib.measure.metrics.theil_index import index_of
from audit_lib.measure.sides import Side
from audit_lib.metrics.exposure import divergences, exposures, skew_of_shares
from audit_lib.metrics.inequality import theil_of_groups
from audit_lib.results import Interval, Undefined
from audit_lib.stats.distances import distance_interval
from audit_lib.stats.group_shares import group_share_errors
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
    rows: list[list[str | Cell]] = []
    for number, law in enumerate(laws()):
        repeats = int((600 if law.metric in DEAR else 3000) * scale)
        means, undefined = simulate(repeats, 131_000 + number, law.once)
        cells = simulated(means, undefined, repeats, [law.target])
        rows.append([f"`{law.metric}`", law.law, law.units, f"{law.truth:.3f}", *cells])
        print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Families: odds, flips, calibration, exposure, skew, benefits",
        f"{int(3000 * scale):,} repeats a row, Monte Carlo error {_error(3000 * scale)}; {int(600 * scale):,} of odds "
        f"and NDKL, {_error(600 * scale)}. {' '.join(RANGES)}",
        ["metric", "law", "units", "true value", "interval", "undefined, %"],
        rows,
    )


DEAR = ("average_odds_gap", "equalised_odds_gap", "ndkl_excess")
"""Metrics whose intervals take long: draws of a norm, or all orders of a round."""


def _error(repeats: float) -> str:
    return f"{100 * (0.0475 / repeats) ** 0.5:.1f}"


RANGES = [
    "Odds: half of the people are qualified; `shared` ones are shown in both groups, and their decisions share half of "
    "their variance. Range: 60 people a group (30 qualified, 30 not). The larger gap (`equalised_odds_gap`) is a "
    "distance: it aims at 93 or more, and so does the average where a rate of 3% leaves sides without spread.",
    "Calibration: scores from 0.2 to 0.9; range: 30 people a group. Rankings: candidates of rounds of ten, four of the "
    "group; range: 30 rounds, 100 for NDKL. Theil index: range 200 people a group; between groups a distance, which "
    "aims at 93 or more, from 60. Conditional disparity: range 300 people in three strata. Flips: applications in two "
    "prompts whose chances share half of their variance; where fewer than 10 flip it aims at 93 or more.",
]


def laws() -> list[Law]:
    return [
        *odds(), *calibration(), *rankings(), *benefit_laws(), *disparities(), *flip_laws(),
    ]  # fmt: skip


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
        ((0.6, 0.3), (0.8, 0.3)),
        ((0.5, 0.03), (0.5, 0.03)),
    ):
        for shared in (False, True):
            for n in (30, 60, 200):
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


def calibration(beta: tuple[float, float] = (2.0, 2.0)) -> list[Law]:
    """Scores from a beta law; outcomes as often as the score says, and in the group `shift` less often."""
    found = []
    for shift in (0.0, 0.15):
        for shared in (False, True):
            for n in (15, 30, 100):

                def once(
                    rng: np.random.Generator, n: int = n, shift: float = shift, shared: bool = shared
                ) -> list[bool]:
                    ability = ndtr(pair(rng, n, shared=shared))
                    score = 0.2 + 0.7 * ability
                    outcome = rng.random((2, n)) < score - np.array([[shift], [0.0]])
                    return held(
                        mean_gap(*two_sides(list(score - outcome), shared=shared), LEVEL).interval, shift
                    )

                law = f"outcomes {shift:.0%} rarer in the group{', shared' if shared else ''}"
                found.append(
                    Law("calibration_gap", law, str(n), shift, once, "approximate" if n >= 30 else "none")
                )
    return found


def rankings() -> list[Law]:
    """Rounds of ten, four of the group with normal scores `shift` higher; what is true is simulated once at length."""
    found = []
    for shift in (0.0, -0.5):
        truth = _long_run(shift)
        for name, least in (("exposure_gap", 30), ("skew_at_k", 30), ("ndkl_excess", 100)):
            for rounds in (30, 100):

                def once(
                    rng: np.random.Generator, name: str = name, rounds: int = rounds, shift: float = shift,
                    truth: dict[str, float] = truth,
                ) -> list[bool]:  # fmt: skip
                    return held(_of_rounds(name, _places(rng, rounds, shift))[1], truth[name])

                law = f"rounds of 10, group {shift:+.1f} SD{', k = 3' if name == 'skew_at_k' else ''}"
                found.append(
                    Law(
                        name,
                        law,
                        str(rounds),
                        truth[name],
                        once,
                        "approximate" if rounds >= least else "none",
                    )
                )
    return sorted(found, key=lambda law: law.metric)


def _places(rng: np.random.Generator, rounds: int, shift: float) -> np.ndarray:
    """Place of each candidate, from 0; the first four columns are the group's."""
    scores = rng.normal(size=(rounds, 10)) + np.where(np.arange(10) < 4, shift, 0.0)
    return np.asarray((-scores).argsort(axis=1).argsort(axis=1))


def _of_rounds(name: str, places: np.ndarray) -> tuple[float, Interval | Undefined]:
    rounds = places.shape[0]
    of = np.repeat(np.arange(rounds, dtype=np.int32), 10)
    mine = np.tile(np.arange(10) < 4, rounds)
    above, tied = places.ravel(), np.ones(places.size, dtype=np.int64)
    if name == "exposure_gap":
        shown, there = exposures(above, tied), np.ones(rounds, dtype=bool)
        group, reference = (
            Side(values=shown[side], clusters=of[side], units=rounds, occurs=there) for side in (mine, ~mine)
        )
        found = mean_gap(group, reference, LEVEL)
        return found.value, found.interval
    if name == "skew_at_k":
        won, due = (above[mine] < 3).astype(float), np.full(int(mine.sum()), 0.3)
        value = skew_of_shares(won, due, 3)
        return value, inferred_from(value, won / won.sum() - due / due.sum(), of[mine], LEVEL).interval
    found_rounds = divergences(above, tied, of, (~mine).astype(np.int64))
    excess = found_rounds.value - found_rounds.at_random
    value = float(excess.mean())
    return value, inferred_from(
        value, (excess - value) / rounds, np.arange(rounds, dtype=np.int32), LEVEL
    ).interval


def _long_run(shift: float) -> dict[str, float]:
    """What the numbers are in 100,000 rounds (NDKL: 10,000), and at parity by symmetry."""
    names = ("exposure_gap", "skew_at_k", "ndkl_excess")
    if shift == 0.0:
        return dict.fromkeys(names, 0.0)
    places = _places(np.random.Generator(np.random.PCG64(77)), 100_000, shift)
    return {name: _of_rounds(name, places[:10_000] if name == "ndkl_excess" else places)[0] for name in names}


def benefit_laws() -> list[Law]:
    """Benefits 0, 1 and 2 with these chances in two groups of equal size; applications of one person each."""
    found = []
    for chances in (((0.1, 0.8, 0.1), (0.1, 0.8, 0.1)), ((0.25, 0.65, 0.1), (0.1, 0.7, 0.2))):
        means = [one[1] + 2 * one[2] for one in chances]
        both = np.mean(chances, axis=0)
        mean = float(np.mean(means))
        whole = float(2 * np.log(2) * both[2] / mean - np.log(mean))
        between = float(sum(m / mean * np.log(m / mean) for m in means) / 2)
        law = " and ".join("/".join(f"{chance:.0%}" for chance in side) for side in chances)
        for name, truth in (("theil_index", whole), ("theil_index_between", between)):
            for n in (60, 200, 600):

                def once(
                    rng: np.random.Generator, n: int = n, name: str = name, truth: float = truth,
                    chances: tuple[tuple[float, ...], ...] = chances,
                ) -> list[bool]:  # fmt: skip
                    benefit = np.concatenate([rng.choice(3, n, p=one) for one in chances]).astype(float)
                    if name == "theil_index":
                        return held(
                            index_of(benefit, np.arange(2 * n, dtype=np.int32), LEVEL)[1].interval, truth
                        )
                    people = np.repeat(np.eye(2), n, axis=0)
                    errors = group_share_errors(
                        people, people * benefit[:, None], seed=int(rng.integers(2**32)), draws=499
                    )
                    totals = np.array([benefit[:n].sum(), benefit[n:].sum()])
                    return held(distance_interval(theil_of_groups(np.array([n, n]), totals), errors), truth)

                aim: Target = "approximate" if name == "theil_index" else "conservative"
                found.append(
                    Law(
                        name,
                        f"benefits 0/1/2: {law}",
                        str(n),
                        truth,
                        once,
                        aim if n >= (200 if name == "theil_index" else 60) else "none",
                    )
                )
    return sorted(found, key=lambda one: one.metric)


def disparities() -> list[Law]:
    """Three strata with 20, 40 and 60% selected, and other shares of the group in each; `gap` less in the group."""
    found = []
    for gap in (0.0, 0.15):
        rate, share = np.array([0.2, 0.4, 0.6]), np.array([0.3, 0.5, 0.6])
        chosen = (share * (rate - gap), (1 - share) * rate)
        selected = chosen[0] + chosen[1]
        truth = float(((share - chosen[0]) / (1 - selected) - chosen[0] / selected).mean())
        for n in (120, 300, 900):

            def once(
                rng: np.random.Generator, n: int = n, gap: float = gap, truth: float = truth,
                rate: np.ndarray = rate, share: np.ndarray = share,
            ) -> list[bool]:  # fmt: skip
                stratum = rng.integers(0, 3, n)
                mine = rng.random(n) < share[stratum]
                made = rng.random(n) < rate[stratum] - gap * mine
                codes, of = 2 * stratum + made, np.arange(n, dtype=np.int32)
                sides = [
                    Side(values=codes[side], clusters=of[side], units=n, occurs=side)
                    for side in (mine, ~mine)
                ]
                return held(disparity(*sides, LEVEL).interval, truth)

            law = f"three strata, the group {gap:.0%} less often"
            aim: Target = "approximate" if n >= 300 else "none"
            found.append(Law("conditional_demographic_disparity", law, str(n), truth, once, aim))
    return found


def flip_laws() -> list[Law]:
    """Applications in two prompts, one version a group in each; decisions by a latent score that prompts share."""
    found = []
    for often in (0.02, 0.1, 0.3):
        for n in (30, 100):

            def once(rng: np.random.Generator, n: int = n, often: float = often) -> list[bool]:
                lean = ndtr((ndtri(often) + 0.5**0.5 * rng.normal(size=(n, 1))) / 0.5**0.5)
                flipped = (rng.random((n, 2)) < lean).astype(float).ravel()
                found = bounded_mean(flipped, np.repeat(np.arange(n), 2), n, LEVEL, (0.0, 1.0))
                return held(found.interval, often)

            rare = often * n < 10
            found.append(Law("decision_flip_share", f"{often:.0%} of pairs flip", str(n), often, once,
                             "conservative" if rare else "approximate"))  # fmt: skip
    return found
