"""The section on pointwise scores: the gap that ought to be there, those that ought not, ratios and ties."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from audit_lib.metrics import scoring_rates
from audit_lib.results import Interval
from benchmarks.replication_aihiringbias import (
    FILES,
    GROUPS,
    adjusted_gaps,
    bounds_of_ratio,
    dropped,
    dropped_by_race,
    group_gaps,
    load,
    match_gap,
    rates,
    repeats,
    scoring_by_part,
)
from benchmarks.replication_page import estimate, excludes, limits, number, percent, probability, table

PART_NAMES = {"total": "sum of the four", "Resume": "Resume quality"}


def section(data: Path) -> str:
    """The section of the page."""
    files = {model: load(data, model) for model in FILES}
    parts = [
        f"""## 3. Scores of resumes by GPT-3.5 and GPT-5.1

Data: `aihiringbias/`, from jderbysh/AIHiringBias (MIT). Command: as above.

{sum(map(len, files.values())):,} answers score one of 9 resumes (3 industries) for one of 9 jobs (the same 3) under
one of 36 first names, 9 each of Black and White women and men. Four parts from 0 to 25; the score here is their sum.
File 1 of GPT-5.1 has only resumes of the job's own industry. Its two files ask each prompt three times.""",
        _matching(files),
        _groups(files),
        _ratios(files),
        _dropped(files["GPT-3.5"]),
    ]
    return "\n\n".join(parts)


def _matching(files: dict[str, pd.DataFrame]) -> str:
    rows, wider = [], []
    for model, answers in files.items():
        gap = match_gap(answers)
        shown = (
            (number(gap.value, 2), limits(gap.by_row, 1), limits(gap.by_pair, 1))
            if isinstance(gap.value, float)
            else ("undefined: all resumes match", "none", "none")
        )
        rows.append((model, f"{gap.n_group:,}", f"{gap.n_reference:,}", *shown))
        if isinstance(gap.by_row, Interval) and isinstance(gap.by_pair, Interval):
            width = (gap.by_pair.high - gap.by_pair.low) / (gap.by_row.high - gap.by_row.low)
            wider.append(f"{width:.1f}")
    columns = ["file", "n, matching", "n, other", "gap of means", "Welch", "clustered on the pair"]
    return f"""### Matching resumes against others

Welch's interval takes every answer as independent. There are only 81 pairs of a job and a resume (27 of them
matching), and an answer's score is mostly its pair's; the interval clustered on the pair is the one to use.

{table(columns, rows)}

Welch's interval is {" and ".join(wider)} times too short."""


def _groups(files: dict[str, pd.DataFrame]) -> str:
    found = [(model, gap) for model, answers in files.items() for gap in group_gaps(answers)]
    rows = [
        (
            model,
            gap.label,
            f"{gap.n_group:,}, {gap.n_reference:,}",
            number(gap.value, 2, signed=True),
            *(limits(interval, 2, signed=True) for interval in (gap.by_row, gap.by_pair, gap.by_name)),
        )
        for model, gap in found
    ]
    effects = [
        (
            model,
            effect.label,
            estimate(effect.value, effect.interval, 2, signed=True),
            number(effect.standardised, 3, signed=True),
        )
        for model, answers in files.items()
        for effect in adjusted_gaps(answers)
    ]
    clear = [gap for _, gap in found if excludes(gap.by_pair, 0.0)]
    above = sum(isinstance(gap.value, float) and gap.value > 0 for gap in clear)
    largest = max(abs(gap.value) for _, gap in found if isinstance(gap.value, float))
    asked, same, spread = repeats(files["GPT-5.1, file 2"])
    columns = ["file", "gap", "n", "points", "Welch", "clustered on the pair", "clustered on the name"]
    return f"""### Gaps between groups

In points of 100. All groups met the same pairs. *Pair*: would the gap hold for other jobs and resumes? *Name*: would
it hold for other names? There are 18 names a side, or 9: fewer than the 30 clusters for which coverage is shown, so
read those limits as rough. File 1 has 27 pairs, also fewer.

{table(columns, rows, 2)}

Here Welch's interval errs the other way: it counts the spread between pairs, which both groups share, and hides what
the clustered ones show. Clustered on the pair, {len(clear)} of {len(found)} gaps differ from 0, {above} of them in
favour of Black names or women. No gap exceeds {largest:.2f} points. No correction for {len(found)} comparisons is
made in this table.

Race and sex together, with a constant for each pair, so that answers dropped for some pairs do not matter; the last
column is in standard deviations of the score:

{table(["file", "effect", "points, clustered on the pair", "SD"], effects, 2)}

The model itself is less steady than that. GPT-5.1 gave {same} of {asked:,} prompts of file 2 the same total all
three times; the mean range of the three totals is {spread:.1f} points."""


def _ratios(files: dict[str, pd.DataFrame]) -> str:
    found = [(model, rule) for model, answers in files.items() for rule in rates(answers)]
    rows = []
    for model, rule in found:
        low = min(rule.ratios.rows, key=lambda row: row.rate)
        rows.append(
            (
                model,
                rule.label,
                ", ".join(map(str, rule.ratios.comparators)),
                low.category,
                f"{low.selected:,} of {low.total:,}",
                estimate(float(low.ratio), rule.intervals[rule.ratios.rows.index(low)]),
            )
        )
    ties, parts_further, parts = [], 0, 0
    for model, answers in files.items():
        by_part = scoring_by_part(answers)
        total = min(row.ratio for row in by_part["total"].impact_ratios().rows)
        for part, scoring in by_part.items():
            low = min(scoring.impact_ratios().rows, key=lambda row: row.rate)
            parts += part != "total"
            parts_further += part != "total" and low.ratio < total
            ties.append(
                (
                    model,
                    PART_NAMES.get(part, part),
                    f"{scoring.median:g}",
                    percent(scoring.tied, scoring.sample),
                    percent(scoring.above, scoring.sample),
                    f"{number(float(low.ratio))} ({low.category})",
                )
            )
    below = sum(row.is_below("0.8") for _, rule in found for row in rule.ratios.rows)
    rare = [i for _, rule in found if rule.label.startswith("80") for i in rule.intervals]
    wide = sum(i.low < 0.8 for i in rare)
    columns = ["file", "success", "highest", "lowest", "n", "ratio"]
    return f"""### Impact ratios

Each row calls an answer a success if it is above the median of its file or reaches a threshold. Lowest rate of the
four groups over the highest; the interval is simultaneous and clustered on the pair.

{table(columns, rows, 4)}

{below} of {sum(len(rule.ratios.rows) for _, rule in found)} ratios are below four fifths. That is no proof of
parity where successes are rare: at 80 or more, {wide} of {len(rare)} intervals reach below four fifths.

**Ties at the median.** A score equal to the median is not above it. The sum of the four parts is fine enough for
this to matter little. The parts are coarse, so that fewer than half of all answers are above the median, and in
{parts_further} of {parts} cases the smallest ratio of a part is lower than that of the sum:

{table(["file", "score", "median", "tied with it", "above it", "smallest ratio"], ties, 2)}"""


def _dropped(answers: pd.DataFrame) -> str:
    found = dropped(answers)
    rows = [
        (
            cell.what,
            f"{cell.missing} of {cell.expected:,}",
            f"{percent(cell.missing, cell.expected)} "
            f"[{100 * cell.interval.low:.1f}%, {100 * cell.interval.high:.1f}%]",
        )
        for cell in found
    ]
    missing = sum(cell.missing for cell in found if cell.what in GROUPS)
    expected = sum(cell.expected for cell in found if cell.what in GROUPS)
    race = dropped_by_race(found)
    p = race.p_value if isinstance(race.p_value, float) else 1.0
    rate = {row.category: row.rate for row in scoring_rates(answers["total"], answers["group"]).rows}
    low, high = bounds_of_ratio(answers, "Black women", "White men")
    return f"""### Answers that the authors dropped

GPT-3.5's file lacks {missing} of {expected:,} answers: the authors kept only those that are four numbers. GPT-5.1's
files lack none.

{table(["GPT-3.5", "dropped", "share (Wilson)"], rows)}

Black names lost more answers than White ones, though not beyond chance (Fisher, p = {probability(p)}; rows taken as
independent). By the job's industry the losses are far more uneven. They are no small matter for a ratio near 1:
above the median, Black women over White men is {float(rate["Black women"] / rate["White men"]):.3f} as observed, and
could be anything from {float(low):.3f} to {float(high):.3f} had all answers come (the median held)."""
