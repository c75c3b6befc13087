"""Metrics and their uncertainty against what people use instead: agreement and speed, same data, one run.

    python benchmarks/measure.py [--pyfixest-python ENV/bin/python] [--stage-rows 10000000] [--only rabbi,ols]
    python benchmarks/measure.py --busy 2      the same while two other processes work

Prints a Markdown table. Seconds are CPU seconds of the process (all its threads). Each row is measured in five runs,
in each of which the peer and ours take turns; the row has the range of the five. Where a peer is too slow to run
whole, a part of its work is timed and scaled, and the row says so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from audit_lib.metrics import (
    demographic_parity_gap,
    rank_counts_by_group,
    selection_shares,
    standardised_effects,
)
from audit_lib.metrics.selection import column_selection_rates
from audit_lib.results import Interval
from audit_lib.stats import auc_gap_intervals, bootstrap_rank_indices, bootstrap_weights, rank_index_interval
from benchmarks.measure_stage import stage
from benchmarks.timing import RUNS, in_turn, row, scaled


def rabbi(options: argparse.Namespace) -> None:
    """RABBI of seven groups against the eighth."""
    from scipy.stats import mannwhitneyu

    # Small data twice: single calls in turn, each finding the processor's caches full of the other's work,
    # and calls in a row, as when many metrics or models are gone through.
    for n, repeats, calls, needed in (
        (10_000, 40, 1, "20x"),
        (10_000, 1, 20, "20x"),
        (1_000_000, 1, 1, "3x"),
    ):
        rng = np.random.Generator(np.random.PCG64(1))
        groups = np.tile(np.arange(8), n // 8)
        scores = rng.normal(size=n) + 0.05 * groups

        def scipy_way(scores: np.ndarray = scores, groups: np.ndarray = groups) -> list[float]:
            reference = scores[groups == 7]
            members = [scores[groups == g] for g in range(7)]
            return [
                2 * mannwhitneyu(x, reference, method="asymptotic").statistic / (x.size * reference.size) - 1
                for x in members
            ]

        def ours(scores: np.ndarray = scores, groups: np.ndarray = groups) -> list[float]:
            return [found.index for found in rank_counts_by_group(scores, groups, 7).values()]

        (theirs, slow), (mine, fast) = in_turn(scipy_way, ours, repeats=repeats, calls=calls)
        difference = np.abs(np.subtract(theirs, mine)).max()
        row(
            f"RABBI, 8 groups, {n:,} rows" + (f", {calls} calls in a row" if calls > 1 else ""),
            "scipy mannwhitneyu",
            slow,
            fast,
            needed,
            f"largest difference {difference:.1e}",
        )


def bootstrap(options: argparse.Namespace) -> None:
    """Cluster bootstrap of RABBI: 12,000 applications in 8 versions, 2,000 resamples."""
    from scipy.stats import mannwhitneyu

    applications, resamples, some = 12_000, 2_000, 10
    rng = np.random.Generator(np.random.PCG64(2))
    names, m = np.array([f"application-{i:05d}" for i in range(applications)]), applications
    labels = [
        f"{sex}, {race}" for sex in ("female", "male") for race in ("Asian", "Black", "Hispanic", "White")
    ]
    scores = rng.normal(size=applications)[:, None] + rng.normal(size=(applications, 8))
    frame = pd.DataFrame(
        {
            "application": np.repeat(names, 8),
            "group": np.tile(labels, applications),
            "score": scores.ravel(),
        }
    ).set_index("application")
    # The peer gets our draws, so that its replicates can be compared one by one.
    drawn = [np.repeat(names, weights) for weights in bootstrap_weights(applications, some, seed=3)]

    def pandas_way() -> list[list[float]]:
        replicates = []
        for applicants in drawn:
            sample = frame.loc[applicants]
            by_group = {g: part.to_numpy() for g, part in sample.groupby("group")["score"]}
            replicates.append(
                [
                    2 * mannwhitneyu(by_group[g], by_group[labels[7]], method="asymptotic").statistic / m**2
                    - 1
                    for g in labels[:7]
                ]
            )
        return replicates

    def ours() -> np.ndarray:
        return bootstrap_rank_indices(list(scores.T[:7]), scores[:, 7], [names] * 7, names, resamples, seed=3)

    def influence() -> list[Interval]:
        return [rank_index_interval(x, scores[:, 7], names, names) for x in scores.T[:7]]

    (theirs, slow), (mine, fast), (analytic, faster) = in_turn(pandas_way, ours, influence)
    difference = np.abs(np.array(theirs) - mine[:some]).max()
    percentiles = np.quantile(mine, [0.025, 0.975], axis=0).T.tolist()
    apart = max(max(abs(i.low - a), abs(i.high - b)) for i, (a, b) in zip(analytic, percentiles, strict=True))
    row(
        f"cluster bootstrap of RABBI, {8 * applications:,} rows x {resamples:,}",
        f"pandas `loc` of the drawn applications, groupby, scipy mannwhitneyu ({some} resamples timed, "
        f"x {resamples // some})",
        scaled(resamples / some, slow), fast, "200x", f"largest difference of {some} x 7 replicates {difference:.1e}",
    )  # fmt: skip
    row(
        "the same intervals by influence function (the default)", "as above",
        scaled(resamples / some, slow), faster, "200x",
        f"limits within {apart:.4f} of the bootstrap's percentiles",
    )  # fmt: skip


def selection(options: argparse.Namespace) -> None:
    """Demographic parity gaps of 100,000 rounds of 8 at k = 1 .. 5, absolute."""
    rounds, quotas, some = 100_000, [1, 2, 3, 4, 5], 1_000
    rng = np.random.Generator(np.random.PCG64(4))
    scores = np.round(rng.normal(size=(rounds, 8)), 1)  # one decimal: many ties

    def ours() -> np.ndarray:
        rates = column_selection_rates(scores, quotas)
        return rates[:, :7] - rates[:, 7:]

    def plainly() -> np.ndarray:
        gaps = []
        for k in quotas:
            shares = np.array([_shares_of_round(pool, k) for pool in scores[:some].tolist()])
            gaps.append(shares[:, :7].mean(axis=0) - shares[:, 7].mean())
        return np.array(gaps)

    (mine, fast), (theirs, slow) = in_turn(ours, plainly)
    own = column_selection_rates(scores[:some], quotas)
    difference = np.abs(own[:, :7] - own[:, 7:] - theirs).max()
    one = demographic_parity_gap(selection_shares(scores, k=3)[:, 0], selection_shares(scores, k=3)[:, 7])
    assert abs(one - mine[2, 0]) < 1e-12
    row(
        f"selection gaps, {rounds:,} rounds of 8, k = 1..5", f"a loop over rounds ({some:,} timed, x {rounds // some})",
        scaled(rounds / some, slow), fast, "10 ms", f"largest difference over those rounds {difference:.1e}",
    )  # fmt: skip


def _shares_of_round(pool: list[float], k: int) -> list[float]:
    shares = []
    for score in pool:
        above, tied = sum(other > score for other in pool), sum(other == score for other in pool)
        shares.append(min(max((k - above) / tied, 0.0), 1.0))
    return shares


def ols(options: argparse.Namespace) -> None:
    """Main effects of sex and race on a rating, errors clustered on 125,000 applications in 8 versions."""
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    applications = 125_000
    rng = np.random.Generator(np.random.PCG64(5))
    n = 8 * applications
    sex, race = np.tile(np.repeat([0, 1], 4), applications), np.tile(np.arange(4), 2 * applications)
    application = np.repeat(np.arange(applications), 8)
    rating = np.clip(
        np.round(3 + rng.normal(size=applications)[application] + 0.1 * sex + rng.normal(size=n)), 1, 5
    )
    frame = pd.DataFrame({"rating": rating, "sex": sex, "race": race, "application": application})
    columns = np.column_stack([np.ones(n), sex == 1, race == 1, race == 2, race == 3]).astype(float)

    def ours() -> Any:
        return standardised_effects(rating, {"sex": sex, "race": race}, application)

    def arrays() -> Any:
        fit = sm.OLS(rating, columns).fit(cov_type="cluster", cov_kwds={"groups": application})
        return fit.params[1:], fit.bse[1:]

    def formula() -> Any:
        fit = smf.ols("rating ~ C(sex) + C(race)", frame).fit(
            cov_type="cluster", cov_kwds={"groups": frame["application"]}
        )
        return fit.params.to_numpy()[1:], fit.bse.to_numpy()[1:]

    works = {"statsmodels, formula": formula, "statsmodels, arrays": arrays}
    with tempfile.TemporaryDirectory() as folder:
        peer = None
        if options.pyfixest_python:
            np.savez(Path(folder, "data.npz"), **{name: frame[name] for name in frame})
            peer = subprocess.Popen(
                [options.pyfixest_python, str(Path(__file__).with_name("peers_regression.py")), f"{folder}/data.npz"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": ""},
            )  # fmt: skip
        fits = in_turn(*works.values(), ours)
        fit, own = fits[-1]
        found = {name: result for name, (result, _) in zip(works, fits, strict=False)}
        taken = {name: seconds for name, (_, seconds) in zip(works, fits, strict=False)}
        if peer is not None and peer.stdin is not None and peer.stdout is not None:
            taken["pyfixest"], own_beside = [], []
            for _ in range(RUNS):
                peer.stdin.write("fit\n")
                peer.stdin.flush()
                answer = json.loads(peer.stdout.readline())
                taken["pyfixest"].append(answer["seconds"])
                start = time.process_time()
                ours()
                own_beside.append(time.process_time() - start)
            found["pyfixest"] = answer["coefficients"], answer["errors"]
            version = answer["version"]
            peer.communicate()
    mine = (
        np.array([[e.estimate for e in fit.effects], [e.standard_error for e in fit.effects]])
        * fit.outcome_sd
    )
    for name in (*works, "pyfixest"):
        if name not in found:
            print("| OLS | pyfixest | not measured: give --pyfixest-python | | | 25x | |")
            continue
        difference = np.abs(np.array(found[name]) / mine - 1).max()
        label = f"pyfixest {version}" if name == "pyfixest" else name
        row(
            f"OLS, clustered errors, {n:,} rows", label, taken[name], own_beside if name == "pyfixest" else own,
            "25x" if name == "pyfixest" else "300x",
            f"largest relative difference of coefficients and errors {difference:.1e}",
        )  # fmt: skip


def auc(options: argparse.Namespace) -> None:
    """Intervals of all pairwise AUC differences of eight groups, against a bootstrap around scikit-learn."""
    from sklearn.metrics import roc_auc_score

    n, resamples, some = 20_000, 2_000, 20
    rng = np.random.Generator(np.random.PCG64(6))
    groups, outcome = rng.integers(8, size=n), rng.integers(2, size=n)
    scores = rng.normal(size=n) + outcome * np.linspace(0.6, 1.4, 8)[groups]
    members = groups[:, None] == np.arange(8)

    def bootstrap_way(times: int) -> np.ndarray:
        draws = np.random.Generator(np.random.PCG64(7))
        replicates = []
        for _ in range(times):
            at = draws.integers(n, size=n)
            y, s, g = outcome[at], scores[at], groups[at]
            replicates.append([roc_auc_score(y[g == k], s[g == k]) for k in range(8)])
        return np.array(replicates)

    def ours() -> Any:
        return auc_gap_intervals(scores, outcome, members)

    (_, slow), (mine, fast) = in_turn(lambda: bootstrap_way(some), ours)
    exact = np.array([roc_auc_score(outcome[groups == k], scores[groups == k]) for k in range(8)])
    gap = float(exact.max() - exact.min())
    pair = mine.largest
    replicates = bootstrap_way(resamples)
    low, high = np.quantile(replicates[:, pair.first] - replicates[:, pair.second], [0.025, 0.975])
    row(
        f"AUC gap of 8 groups with intervals, {n:,} rows",
        f"scikit-learn, {resamples:,} resamples ({some} timed, x {resamples // some})",
        scaled(resamples / some, slow), fast, "1,000x",
        f"gap {abs(pair.value):.6f} (difference {abs(abs(pair.value) - gap):.1e}); same pair conditional "
        f"[{pair.conditional.low:.4f}, {pair.conditional.high:.4f}], bootstrap [{low:.4f}, {high:.4f}]",
    )  # fmt: skip


_BUSY = "import numpy as np\na = np.random.rand(600, 600)\nwhile True: a = a @ a / 1e3 % 1"
"""Another process's work: arithmetic and memory."""


PARTS = {
    "rabbi": rabbi,
    "bootstrap": bootstrap,
    "selection": selection,
    "ols": ols,
    "auc": auc,
    "stage": stage,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--pyfixest-python", help="python of an environment that has pyfixest; skipped without"
    )
    parser.add_argument(
        "--stage-rows", type=int, default=10_000_000, help="score rows of the stage's run, a multiple of 32"
    )
    parser.add_argument("--busy", type=int, default=0, help="measure while so many other processes work")
    parser.add_argument("--only", default=",".join(PARTS), help="parts to measure, with commas")
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
          f"numpy {np.__version__}; ranges of {RUNS} runs, {options.busy} other processes at work\n")  # fmt: skip
    print("| what | peer | peer | ours | ratio | needed | agreement |\n|---|---|---|---|---|---|---|")
    others = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(options.busy)]
    try:
        for name in options.only.split(","):
            PARTS[name](options)
    finally:
        for other in others:
            other.kill()


if __name__ == "__main__":
    main()
