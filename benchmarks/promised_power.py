"""Is what the plan promises found? Audits with a difference of the promised size, through the metric stage.

    python -m benchmarks.promised_power        # twenty minutes on one core
    python -m benchmarks.promised_power 0.2    # with a fifth of the audits
    python -m benchmarks.promised_power 0.3 3 8    # some of the rows

The people are made here, and not by the engine of `audit_lib.plan.power`: other draws, other seeds, and the size of a
difference turned into scores by a simulation of this file. What is found is read off the document of the stage.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.special import ndtri

from audit_lib.plan.power.planned_design import PlannedDesign, family_of
from audit_lib.plan.power.simulated_comparison import PlannedTest
from audit_lib.plan.power.smallest_found import Limit, limit_of
from benchmarks.coverage_tables import Cell, Study
from benchmarks.picking import (
    ALPHA,
    COMPETE,
    RACES,
    SEXES,
    Columns,
    Design,
    document_of,
    loaded,
    spec_of,
    without_intervals,
)

POWER: Final = 0.8
EXPERIMENT: Final = "impact_ratio, standardised_effect, rabbi, score_gap, decision_rate_gap"


@dataclass(frozen=True, kw_only=True)
class Promise:
    """One design, and the difference that is promised.

    Parameters
    ----------
    name : str
        What the page calls it.
    metric : str
        Whose difference it is.
    axes : tuple of str
        Attributes of the comparison: the first level of each is lower.
    units, races : int
        Rounds or applications, and races (1: sexes only).
    k : int
        Of each round that is selected; 0: above the median of all.
    """

    name: str
    metric: str
    axes: tuple[str, ...]
    units: int
    races: int
    k: int
    version_sd: float = 1.0

    @property
    def design(self) -> Design:
        """The spec, as the stage reads it."""
        named = RACES[: self.races] if self.races > 1 else ()
        rule = f"{{rule: top_k, k: {self.k}, round: round_id}}" if self.k else "{rule: above_median}"
        return Design(
            self.name,
            spec_of("assigned", named, rule, COMPETE if self.k else EXPERIMENT),
            named,
            self.made,
            {},
        )

    def planned(self) -> PlannedDesign:
        """The same, as the plan knows it."""
        spec = loaded(self.design.spec)
        groups = len(spec.groups.cells())
        return PlannedDesign(
            levels=tuple((axis, tuple(levels)) for axis, levels in spec.groups.attributes.items()),
            applications=self.units, copies=1, within=True, rule="top_k" if self.k else "above_median",
            k=self.k or 1, competes="one_per_group" if self.k else None, rate=None, by_round=False,
            version_sd=self.version_sd, name_sd=0.0, names=None, metrics=tuple(spec.measure.metrics),
            quotas=tuple(k for k in spec.measure.quotas if k < groups),
            tests=family_of(spec, groups if self.k else None), seed=spec.seed,
        )  # fmt: skip

    def made(self, rng: np.random.Generator, planted: Mapping[tuple[str, str], float]) -> Columns:
        """Scores of applications in a version of each group; pools take one of each group, of other applications."""
        cells = [(sex, race) for sex in SEXES for race in RACES[: self.races]]
        merit = rng.normal(size=(self.units, 1)) + np.zeros((1, len(cells)))
        scores = merit + rng.normal(0, self.version_sd, (self.units, len(cells)))
        scores += np.array([planted.get(cell, 0.0) for cell in cells])
        number = np.arange(self.units)
        rounds = np.column_stack([rng.permutation(number) for _ in cells])
        return {
            "sex": np.tile([sex for sex, _ in cells], self.units),
            "race": np.tile([race for _, race in cells], self.units),
            "application": np.repeat(number, len(cells)), "round": rounds.ravel(), "score": scores.ravel(),
        }  # fmt: skip

    def cells(self) -> list[tuple[str, str]]:
        """Who is lower."""
        return [
            (sex, race)
            for sex in SEXES
            for race in RACES[: self.races]
            if ("sex" not in self.axes or sex == SEXES[0]) and ("race" not in self.axes or race == RACES[0])
        ]

    def lower(self, value: float) -> float:
        """How much lower scores are where the metric has this value: by a long simulation, or a formula."""
        total = float(np.hypot(1.0, self.version_sd))
        if self.metric in ("score_gap", "standardised_effect"):
            return value * total
        if self.metric == "rabbi":
            return float(ndtri((value + 1) / 2)) * 2**0.5 * total
        long = Promise(**{**vars(self), "units": 200_000})
        low, high = 0.0, 4.0
        for _ in range(12):
            middle = (low + high) / 2
            low, high = (middle, high) if long.reached(middle, value) else (low, middle)
        return high

    def reached(self, lower: float, value: float) -> bool:
        """Whether a lower shift of scores still gives less of a difference than `value`."""
        made = self.made(np.random.default_rng(5), dict.fromkeys(self.cells(), -lower))
        if self.k:
            scores = made["score"][np.argsort(made["round"], kind="stable")].reshape(self.units, -1)
            places = (-scores).argsort(axis=1).argsort(axis=1)
            hit = np.empty(scores.size, dtype=bool)
            hit[np.argsort(made["round"], kind="stable")] = (places < self.k).ravel()
        else:
            hit = made["score"] > np.median(made["score"])
        mine = np.ones(hit.size, dtype=bool)
        for axis, level in (("sex", SEXES[0]), ("race", RACES[0])):
            mine &= (made[axis] == level) | (axis not in self.axes)
        own, others = hit[mine].mean(), hit[~mine].mean()
        return bool(own / others > value) if self.metric == "impact_ratio" else bool(others - own < value)


_POOLS: Final = "pools, {k} of {groups}, {units} rounds"
_VERSIONS: Final = "experiment, {units} applications in {groups} versions"


def _promise(metric: str, axes: tuple[str, ...], units: int, races: int, k: int) -> Promise:
    name = (_POOLS if k else _VERSIONS).format(k=k, groups=2 * races, units=units)
    return Promise(
        name=name, metric=metric, axes=axes, units=units, races=races, k=k, version_sd=1.0 if k else 0.5
    )


PROMISES: Final = (
    _promise("impact_ratio", ("sex",), 300, 1, 1),
    _promise("rabbi", ("sex",), 300, 1, 1),
    _promise("impact_ratio", ("sex",), 60, 4, 4),
    _promise("impact_ratio", ("sex", "race"), 60, 4, 4),
    _promise("score_gap", ("race",), 60, 4, 4),
    _promise("demographic_parity_gap", ("race",), 60, 4, 4),
    _promise("impact_ratio", ("race",), 60, 4, 0),
    _promise("standardised_effect", ("race",), 60, 4, 0),
    _promise("rabbi", ("sex", "race"), 60, 4, 0),
    _promise("decision_rate_gap", ("sex",), 150, 1, 0),
)


def found_of(promise: Promise, lower: float, repeats: int, number: int) -> float:
    """Share of audits in which the stage finds the difference, adjusted for all its tests."""
    design, found = promise.design, 0
    levels = {"sex": SEXES[0], "race": RACES[0]}
    group = {axis: levels[axis] for axis in promise.axes}
    with without_intervals():
        for repeat in range(repeats):
            rng = np.random.Generator(np.random.MT19937([16, number, repeat]))
            document = document_of(design, promise.made(rng, dict.fromkeys(promise.cells(), -lower)), repeat)
            found += _adjusted(document, promise, group) < ALPHA
    return found / repeats


def _adjusted(document: dict[str, Any], promise: Promise, group: Mapping[str, str]) -> float:
    if promise.metric == "impact_ratio":
        rows = (row for table in document["tables"] for row in table["rows"] if row["category"] == group)
        row = next(rows)["impact_ratio"]
        return float(row["multiplicity"]["holm"]) if "multiplicity" in row else 1.0
    ours = (
        one
        for one in document["estimates"]
        if one["metric"] == promise.metric and one["group"] == group
        and one["parameters"].get("k", promise.k) == promise.k and "multiplicity" in one
    )  # fmt: skip
    return min((float(one["multiplicity"]["holm"]) for one in ours), default=1.0)


def promised(scale: float, chosen: Sequence[int] = range(len(PROMISES))) -> Study:
    repeats = round(2000 * scale)
    error = (POWER * (1 - POWER) / repeats) ** 0.5
    rows: list[list[str | Cell]] = []
    for number in chosen:
        promise = PROMISES[number]
        quota = promise.k if promise.metric == "demographic_parity_gap" else 0
        limit = limit_of(promise.planned(), PlannedTest(promise.metric, promise.axes, quota), POWER)
        if not isinstance(limit, Limit):
            raise SystemExit(f"{promise.name}, {promise.metric}: {limit.reason}")
        share = found_of(promise, promise.lower(limit.value), repeats, number)
        rows.append([
            promise.name, f"`{promise.metric}`", " x ".join(promise.axes),
            f"{limit.value:.3f} +/- {limit.error:.3f}", f"{repeats:,}", _cell(share, error),
        ])  # fmt: skip
        print(*rows[-1], file=sys.stderr, flush=True)
    return Study(
        "Promised power",
        f"Audits through the metric stage (with {repeats:,} a row the Monte Carlo error is {100 * error:.1f}): "
        "how often a difference of the size that the plan promises to find in 80% of audits is found, "
        "adjusted for all tests of the audit. Their people are made without the plan's engine: other draws "
        "and seeds. One category is lower than all others; of ratios the comparator is picked. A row between "
        "77 and 83 has kept the promise; the plan's own Monte Carlo error is up to 1 more.",
        ["design", "metric", "comparison", "promised", "audits", "found, %"],
        rows,
    )


def _cell(share: float, error: float) -> str:
    shown = f"{100 * share:.1f}"
    return shown if abs(share - POWER) <= 0.03 + 2 * error else f"**{shown}**"


if __name__ == "__main__":
    scale, *chosen = sys.argv[1:] or ["1"]
    print(promised(float(scale), [int(one) for one in chosen] or range(len(PROMISES))).markdown())
