"""Coverage by simulation: gaps, rates and ratios by sampling weights, of draws with unequal probabilities."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import product
from typing import Final

import numpy as np
import pyarrow as pa

from audit_lib.errors import UndefinedMetricError
from audit_lib.measure.metric import METRICS
from audit_lib.measure.rows.load import make_rows
from audit_lib.measure.rows.scored import Rows
from audit_lib.measure.rows.split_columns import WEIGHT
from audit_lib.policies import policy_of
from audit_lib.results import Undefined
from benchmarks.coverage_tables import Cell, Study, Target, covers, simulate, simulated
from benchmarks.picking import Design, loaded, spec_of, tables_of

SPEC: Final = (
    spec_of("self_reported", (), "{rule: recorded}", "decision_rate_gap, score_gap")
    .replace("strata: [[]]", f"strata: [[]], weights: {WEIGHT}")
    .replace("windowed: false", f"windowed: false, fields: [{WEIGHT}]")
)
DESIGN: Final = Design("weights", SPEC, (), lambda rng, planted: {}, {})
NAMES: Final = ("decision_rate_gap", "score_gap")
KEPT: Final = [
    "variant_id", "application_id", "position", "round_id", "qualified", "outcome", "recorded_selected", "sex",
]  # fmt: skip
SHARES: Final = np.array([[0.6, 0.4], [0.3, 0.7]])
"""Share of each sex (the first is the group) who are of each of two strata of the population."""
RATES: Final = np.array([[0.2, 0.6], [0.3, 0.7]])
"""Share of each sex and stratum who are selected."""
DRAWS: Final = {"4 : 1": (0.8, 0.2), "19 : 1": (0.95, 0.05)}
"""Share of the sample that is drawn from each stratum; the population has about as many in both."""


def truth() -> dict[str, float]:
    """Rates, gap and ratio of the population."""
    ours, theirs = (SHARES * RATES).sum(axis=1)
    return {"gap": ours - theirs, "rate": ours, "ratio": ours / theirs}


CELLS: Final = ((60, 1), (100, 1), (100, 3), (400, 3))
"""Clusters of each group, and people of a cluster."""
DOMINATED: Final = (0.3, 0.5)
"""Share of a group's weight that one of its clusters holds."""


def draw(
    rng: np.random.Generator, clusters: int, size: int, shares: tuple[float, float], fixed: bool
) -> dict[str, np.ndarray]:
    """Draw so many clusters of each sex; the people of a cluster share their fortune by halves."""
    counts = [round(clusters * share) for share in shares]
    stratum = (
        np.tile(np.repeat([0, 1], counts), 2) if fixed else (rng.random(2 * clusters) < shares[1]).astype(int)
    )
    sex = np.repeat([0, 1], clusters)
    rate = RATES[sex, stratum]
    together, shared = rng.random(2 * clusters) < 0.5, rng.random(2 * clusters)
    hit = np.where(together[:, None], shared[:, None], rng.random((2 * clusters, size))) < rate[:, None]
    score = rng.normal(size=(2 * clusters, 1)) + rng.normal(size=(2 * clusters, size)) + 2.0 * rate[:, None]
    weight = np.repeat(SHARES[sex, stratum] / np.array(shares)[stratum], size)
    return {"hit": hit.ravel(), "points": score.ravel(), "weight": weight}


def dominated(rng: np.random.Generator, made: dict[str, np.ndarray], size: int, share: float) -> None:
    """Give one cluster of each group a share of the weight; it is picked by weight, so that means stay as they are."""
    for side in np.split(made["weight"], 2):
        totals = side.reshape(-1, size).sum(axis=1)
        one = slice(
            size * (place := int(rng.choice(totals.size, p=totals / totals.sum()))), size * (place + 1)
        )
        side[one] = 0.0
        side[one] = share / (1 - share) * side.sum() / size


def skeleton(clusters: int, size: int) -> Rows:
    """The rows of a draw, whose decisions, scores and weights are put in later."""
    number = np.repeat(np.arange(2 * clusters), size)
    n = number.size
    made = {"sex": np.repeat(["Female", "Male"], clusters * size), "application": number, "round": number,
            "race": np.full(n, "none"), "hit": np.ones(n, dtype=bool)}  # fmt: skip
    variants, scores = tables_of(DESIGN, made)
    place = scores.schema.get_field_index("score")
    scores = scores.set_column(place, scores.schema.field(place), pa.array(np.linspace(0.0, 0.5, n)))
    return make_rows(variants.select(KEPT), [scores], loaded(SPEC))[0]


def weights(scale: float) -> Study:
    repeats = int(1000 * scale)
    spec, real = loaded(SPEC), truth()
    policy = policy_of(spec)
    rows: list[list[str | Cell]] = []
    cases = [(*case, 0.0) for case in product((False, True), DRAWS, CELLS)]
    cases += [(False, "4 : 1", (100, 3), share) for share in DOMINATED]
    for number, (fixed, name, (clusters, size), share) in enumerate(cases):
        empty = skeleton(clusters, size)

        def once(
            rng: np.random.Generator,
            fixed=fixed,
            name=name,
            clusters=clusters,
            size=size,
            empty=empty,
            share=share,
        ) -> list[bool]:
            drawn = draw(rng, clusters, size, DRAWS[name], fixed)
            if share:
                dominated(rng, drawn, size, share)
            made = {key: own[empty.place] for key, own in drawn.items()}
            decisions = replace(empty.decisions, selected=made["hit"].astype(np.int8))
            people = replace(empty, decisions=decisions, score=made["points"], weights=made["weight"])
            gap, score = (METRICS.get(one)(people, spec, policy).estimates[0] for one in NAMES)
            plain = METRICS.get(NAMES[0])(replace(people, weights=None), spec, policy).estimates[0]
            own = gap.weighted
            pairs = [
                (plain.interval, real["gap"]), (gap.interval, real["gap"]), (score.interval, 2.0 * real["gap"]),
                (own.rate_group.interval, real["rate"]), (own.ratio_interval, real["ratio"]),
            ]  # fmt: skip
            if any(isinstance(found, Undefined) for found, _ in pairs):
                raise UndefinedMetricError("nobody or everybody")
            return [covers(found, value) for found, value in pairs]

        means, undefined = simulate(repeats, 96_000 + number, once)
        inside = clusters * DRAWS[name][1] >= 20
        target: Target = ("conservative" if fixed or share else "approximate") if inside else "none"
        cells = simulated(means, undefined, repeats, ["none", *([target] * 4)])
        drawn = f"{name}, {'fixed numbers' if fixed else 'by chance'}"
        drawn += f"; one cluster has {share:.0%} of the weight" if share else ""
        rows.append([drawn, str(clusters), str(size), *cells])
        print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Sampling weights",
        f"{repeats:,} repeats a row, Monte Carlo error {100 * (0.0475 / repeats) ** 0.5:.1f}. Two groups, each of two "
        "strata of the population that differ in their rates; clusters are drawn from the strata by 4 : 1 or 19 : 1, "
        "by chance or in fixed numbers. People of a cluster share half of their fortune. "
        f"The true gap is {real['gap']:.2f}, the group's rate {real['rate']:.2f}, the ratio {real['ratio']:.3f}. `rows "
        "alone` is the interval of the gap without weights. The variance does not use strata, and errs on the long "
        "side where their numbers are fixed, or where one cluster holds much of the weight: there 93% or more is "
        "asked. Range: 20 clusters of each group from the stratum that is drawn least.",
        ["drawn", "clusters a group", "people a cluster", "rows alone", "`decision_rate_gap`", "`score_gap`",
         "weighted rate", "weighted ratio", "undefined, %"],
        rows,
    )  # fmt: skip
