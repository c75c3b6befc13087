"""14,425 recorded scores: resumes that match the job against others, and gaps between groups of names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics import ImpactRatios, impact_ratios, score_gap, scoring_rates, standardised_effects
from audit_lib.metrics.impact import ScoringRates
from audit_lib.results import Interval, TestResult, Undefined
from audit_lib.stats import (
    fisher_exact,
    mean_difference,
    rate_bounds,
    simultaneous_log_ratios,
    wilson,
)

FOLDER = "aihiringbias"
FILES = {
    "GPT-3.5": "3.5_turbo_evaluation_results.csv",
    "GPT-5.1, file 1": "5.1_evaluation_results1.csv",
    "GPT-5.1, file 2": "5.1_evaluation_results2.csv",
}
PARTS = ["Experience", "Skills", "Achievements", "Resume"]
INDUSTRIES = {"1": "administration", "2": "call centre", "3": "hospitality"}
GROUPS = ("Black women", "Black men", "White women", "White men")
THRESHOLDS = (50, 60, 70, 80)

T = TypeVar("T")


def load(data: Path, model: str) -> pd.DataFrame:
    """One row an answer: name, group, industries, pair (job and resume), the parts and their sum."""
    rows = pd.read_csv(data / FOLDER / FILES[model])
    race = rows["race"].map({"AA_US": "Black", "White_US": "White"})
    sex = rows["gender"].map({"female": "women", "male": "men"})
    industry = rows["job_file"].str[3].map(INDUSTRIES)
    return rows[["name", *PARTS]].assign(
        race=race,
        sex=sex,
        group=race + " " + sex,
        industry=industry,
        match=industry == rows["resume_file"].str[6].map(INDUSTRIES),
        pair=rows["job_file"] + "/" + rows["resume_file"],
        total=rows[PARTS].sum(axis=1),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """Answers that the published file lacks, of a set that should have come in equal numbers."""

    what: str
    expected: int
    missing: int
    interval: Interval


def dropped(rows: pd.DataFrame) -> list[Dropped]:
    """Missing answers by group, race, sex and industry of the job.

    Each name should meet each pair equally often: as often as the most frequent of them does.
    """
    repeats = int(rows.groupby(["name", "pair"]).size().max())
    names, pairs = rows.drop_duplicates("name"), rows.drop_duplicates("pair")
    found = []
    for column, of, others in (
        ("group", names, len(pairs)),
        ("race", names, len(pairs)),
        ("sex", names, len(pairs)),
        ("industry", pairs, len(names)),
        ("match", pairs, len(names)),
    ):
        for value, units in of.groupby(column).size().items():
            expected = int(units) * others * repeats
            missing = expected - int((rows[column] == value).sum())
            name = {True: "matching", False: "other"}[bool(value)] if column == "match" else str(value)
            found.append(
                Dropped(what=name, expected=expected, missing=missing, interval=wilson(missing, expected))
            )
    return found


def dropped_by_race(found: list[Dropped]) -> TestResult:
    """Fisher's test that answers to Black and White names were dropped equally often."""
    cells = {d.what: d for d in found}
    a, b = cells["Black"], cells["White"]
    return fisher_exact(a.missing, a.expected - a.missing, b.missing, b.expected - b.missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanGap:
    """A difference of mean totals, with the intervals that different ideas of independence give."""

    label: str
    n_group: int
    n_reference: int
    value: float | Undefined
    by_row: Interval | Undefined
    by_pair: Interval | Undefined
    by_name: Interval | Undefined


def _tried(function: Callable[[], T]) -> T | Undefined:
    try:
        return function()
    except UndefinedMetricError as error:
        return Undefined(str(error))


def _gap(rows: pd.DataFrame, group: pd.Series, reference: pd.Series, label: str) -> MeanGap:
    one, other = rows[group], rows[reference]
    x, y = one["total"].to_numpy(), other["total"].to_numpy()
    return MeanGap(
        label=label,
        n_group=len(x),
        n_reference=len(y),
        value=_tried(lambda: score_gap(x, y)),
        by_row=_tried(lambda: mean_difference(x, y)),
        by_pair=_tried(lambda: mean_difference(x, y, one["pair"], other["pair"])),
        by_name=_tried(lambda: mean_difference(x, y, one["name"], other["name"])),
    )


def match_gap(rows: pd.DataFrame) -> MeanGap:
    """Resumes of the job's own industry less the others: Welch's gap."""
    return _gap(rows, rows["match"], ~rows["match"], "matching less other")


def group_gaps(rows: pd.DataFrame) -> list[MeanGap]:
    """Black less White, women less men, and each group less White men."""
    white_men = rows["group"] == "White men"
    return [
        _gap(rows, rows["race"] == "Black", rows["race"] == "White", "Black less White"),
        _gap(rows, rows["sex"] == "women", rows["sex"] == "men", "women less men"),
        *(
            _gap(rows, rows["group"] == group, white_men, f"{group} less White men")
            for group in GROUPS
            if group != "White men"
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjusted:
    """An effect in points, each pair of job and resume with its own constant."""

    label: str
    value: float
    interval: Interval
    standardised: float


def adjusted_gaps(rows: pd.DataFrame) -> list[Adjusted]:
    """Race and sex by least squares with a constant for each pair: free of who was dropped where."""
    fit = standardised_effects(
        rows["total"],
        {"race": rows["race"], "sex": rows["sex"]},
        rows["pair"],
        references={"race": "White", "sex": "men"},
        fixed_effects=True,
    )
    found = []
    for effect in fit.effects:
        value = effect.estimate * fit.outcome_sd
        half = float(stdtrit(fit.degrees_of_freedom, 0.975)) * effect.standard_error * fit.outcome_sd
        interval = Interval(low=value - half, high=value + half, method="CR1, pair effects")
        label = f"{effect.level} less {effect.reference}"
        found.append(Adjusted(label=label, value=value, interval=interval, standardised=effect.estimate))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Impact ratios of one way to call an answer a success.

    Parameters
    ----------
    label : str
        The rule.
    ratios : ImpactRatios
        Exact.
    intervals : tuple of Interval
        Of each ratio, in the order of the rows; from sums over pairs of job and resume.
    scoring : ScoringRates or None
        The median and its ties, where the rule is the median.
    """

    label: str
    ratios: ImpactRatios
    intervals: tuple[Interval, ...]
    scoring: ScoringRates | None = None


def rates(rows: pd.DataFrame) -> list[Rates]:
    """Scoring rates above the median, and selection rates at fixed thresholds, by group."""
    scoring = scoring_rates(rows["total"].to_numpy(), rows["group"].to_numpy())
    above = rows["total"] > scoring.median
    found = [
        Rates(
            label=f"above the median ({scoring.median:g})",
            ratios=scoring.impact_ratios(),
            intervals=_intervals(rows, above, [str(row.category) for row in scoring.rows]),
            scoring=scoring,
        )
    ]
    for threshold in THRESHOLDS:
        chosen = rows["total"] >= threshold
        counts = chosen.groupby(rows["group"]).agg(["sum", "size"])
        found.append(
            Rates(
                label=f"{threshold} or more",
                ratios=impact_ratios(
                    {g: int(n) for g, n in counts["sum"].items()},
                    {g: int(n) for g, n in counts["size"].items()},
                ),
                intervals=_intervals(rows, chosen, [str(g) for g in counts.index]),
            )
        )
    return found


def _intervals(rows: pd.DataFrame, chosen: pd.Series, groups: list[str]) -> tuple[Interval, ...]:
    """Simultaneous intervals of each rate over the highest; all groups met the same jobs and resumes."""
    sums = pd.DataFrame(index=sorted(rows["pair"].unique()))
    p = []
    for group in groups:
        inside = rows["group"] == group
        values = chosen[inside].astype(float)
        p.append(values.mean())
        influence = (values - values.mean()) / len(values)
        sums[group] = influence.groupby(rows["pair"][inside]).sum()
    u = sums.fillna(0.0).to_numpy()
    n = len(u)
    return simultaneous_log_ratios(p, n / (n - 1) * u.T @ u, df=n - 1).to_highest


def scoring_by_part(rows: pd.DataFrame) -> dict[str, ScoringRates]:
    """Scoring rates of the total and of each of its parts, with the median and its ties."""
    return {
        column: scoring_rates(rows[column].to_numpy(), rows["group"].to_numpy())
        for column in ("total", *PARTS)
    }


def bounds_of_ratio(rows: pd.DataFrame, group: str, reference: str) -> tuple[Fraction, Fraction]:
    """What the dropped answers could make of the ratio of two groups' rates above the observed median.

    Whose answers were dropped is known, so each group's own missing answers bound its own rate.
    """
    scoring = {row.category: row for row in scoring_rates(rows["total"], rows["group"]).rows}
    missing = {d.what: d.missing for d in dropped(rows)}
    a, b = (rate_bounds(scoring[g].above, scoring[g].total, missing[g]) for g in (group, reference))
    return a.low / (b.high or 1), (a.high or 1) / b.low


def repeats(rows: pd.DataFrame) -> tuple[int, int, float]:
    """Prompts asked more than once, those always answered with one total, and the mean range of totals."""
    totals = rows.groupby(["name", "pair"])["total"].agg(["size", "min", "max"])
    asked = totals[totals["size"] > 1]
    spread = asked["max"] - asked["min"]
    return len(asked), int((spread == 0).sum()), float(np.mean(spread)) if len(asked) else 0.0
