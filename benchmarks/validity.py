"""Predictive validity: a simulated panel of ten models, its cost, and how often the intervals hold.

    python -m benchmarks.validity                  # the panel's figures; five runs of the command; the peer's numbers
    python -m benchmarks.validity --coverage       # intervals of correlations, and how often equal metrics "win"
    python -m benchmarks.validity --write FILE     # the panel as a table for `audit validity --table FILE`

The panel has 10 models x 4 jobs x 8 groups x 1,000 rounds. P(Yes) of a candidate is logistic in a normal merit plus
what the model adds for its group; models differ in how near to 0 their P(Yes) lie, and those nearest treat groups most
unequally. So a difference of mean P(Yes) looks smallest where groups differ most. Parameters and seed were chosen so
that the figures come near those of an earlier simulation whose generator is not known: r = .91 .95 .98 .98 .97 for
RABBI at k = 1 to 5 and .63 to .71 for the score gap, NDCG at 1 1.0 and .11.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import ndcg_score

from audit_lib.metrics import fairness_ndcg
from audit_lib.results import Interval
from audit_lib.stats import correlation_of_moments, fisher_interval, jackknife_interval
from audit_lib.validity import ScoredPanel, TableOptions, panel_of_table
from audit_lib.validity.correlations import correlations
from audit_lib.validity.model_selection import selections
from audit_lib.validity.points import PointTable, measured_points
from benchmarks.replication_page import table

MODELS, JOBS, ROUNDS, RUNS, SEED = 10, 4, 1000, 5, 2
BIAS, SPREAD = 0.11, 0.05
GROUPS = tuple(
    f"{race} {sex}" for sex in ("women", "men") for race in ("Asian", "Black", "Hispanic", "White")
)
REFERENCE = GROUPS[-1]
QUOTAS = (1, 2, 3, 4, 5)
METRICS = ("rabbi", "score_gap", "jensen_shannon_divergence", "earth_movers_distance")
UNDIRECTED = METRICS[2:]

Floats = NDArray[np.float64]


def simulated(seed: int = SEED) -> dict[tuple[str, str], Floats]:
    """P(Yes) by model and job: shape (rounds, groups)."""
    rng = np.random.Generator(np.random.PCG64(seed))
    scores = {}
    for m in range(MODELS):
        centre = -0.5 - 6.5 * (m + 0.5) / MODELS + rng.normal(0, 0.3)
        slope = rng.uniform(0.8, 1.6)
        bias = rng.normal(0, BIAS * (0.6 + m / MODELS), len(GROUPS))
        spread = np.exp(rng.normal(0, SPREAD, len(GROUPS)))
        for j in range(JOBS):
            merit = rng.normal(size=(ROUNDS, len(GROUPS))) * spread + bias
            scores[f"model {m + 1}", f"job {j + 1}"] = 1 / (1 + np.exp(-(centre + slope * merit)))
    return scores


def as_frame(scores: dict[tuple[str, str], Floats]) -> pd.DataFrame:
    """The panel as the table that the command reads."""
    frames = []
    for (model, job), own in scores.items():
        rounds, groups = np.indices(own.shape)
        frames.append(
            pd.DataFrame(
                {
                    "model": model,
                    "job": job,
                    "group": np.array(GROUPS)[groups.ravel()],
                    "candidate": [f"c{r}-{g}" for r, g in zip(rounds.ravel(), groups.ravel(), strict=True)],
                    "round": [f"r{r:04d}" for r in rounds.ravel()],
                    "score": own.ravel(),
                    "qualified": ((rounds * 7 + groups) % 2).ravel(),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def by_peer(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[tuple, float], dict[tuple, float]]:
    """Points, correlations and NDCG as people compute them: pandas, scipy, scikit-learn, and loops."""
    rank = frame.groupby(["model", "job", "round"])["score"].rank(ascending=False, method="average")
    chosen = {k: (rank <= k).astype(float) for k in QUOTAS}  # continuous scores: no ties
    rows = []
    for gap in ("demographic_parity_gap", "equal_opportunity_gap"):
        kept = frame if gap[0] == "d" else frame[frame["qualified"] == 1]
        for (model, job), own in kept.groupby(["model", "job"], sort=False):
            b = own.loc[own["group"] == REFERENCE]
            for group in GROUPS[:-1]:
                a = own.loc[own["group"] == group]
                x, y = a["score"].to_numpy(), b["score"].to_numpy()
                edges = np.linspace(min(x.min(), y.min()), max(x.max(), y.max()), 21)
                p, q = (np.histogram(v, edges)[0] / v.size for v in (x, y))
                rows.append(
                    {
                        "gap": gap, "model": model, "job": job, "group": group,
                        "rabbi": 2 * stats.mannwhitneyu(x, y).statistic / (x.size * y.size) - 1,
                        "score_gap": x.mean() - y.mean(),
                        "jensen_shannon_divergence": (stats.entropy(p, p + q) + stats.entropy(q, p + q)) / 2,
                        "earth_movers_distance": stats.wasserstein_distance(x, y),
                        **{f"k{k}": s[a.index].mean() - s[b.index].mean() for k, s in chosen.items()},
                    }
                )  # fmt: skip
    points = pd.DataFrame(rows)
    r, ndcg = {}, {}
    for gap, own in points.groupby("gap"):
        for k in QUOTAS:
            for metric in METRICS:
                y = own[f"k{k}"].abs() if metric in UNDIRECTED else own[f"k{k}"]
                r[gap, k, metric] = stats.pearsonr(own[metric], y)
                sizes = (own[[metric, f"k{k}"]] ** 2).groupby([own["job"], own["model"]]).mean() ** 0.5
                for n in range(1, MODELS + 1):
                    found = []
                    for _, job in sizes.groupby(level=0):
                        gains = MODELS - stats.rankdata(job[f"k{k}"])
                        found.append(ndcg_score([gains], [-job[metric]], k=n))
                    ndcg[gap, k, metric, n] = float(np.mean(found))
    return points, r, ndcg


def by_us(panel: ScoredPanel) -> tuple:
    """The same by the study's own parts, without draws and halves of rounds."""
    points = measured_points(panel)
    columns = PointTable.of(panel, points)
    return points, correlations(panel, columns), selections(panel, columns)


def agreement(frame: pd.DataFrame, panel: ScoredPanel) -> tuple[float, float, float]:
    """The largest differences from the peer: of points, of r and p, of NDCG."""
    points, found, listed = by_us(panel)
    theirs, r, ndcg = by_peer(frame)
    theirs = theirs.set_index(["gap", "model", "job", "group"])
    of_points = max(
        abs(value - theirs.at[(p.gap, p.model, p.job, p.group), name])
        for p in points
        for name, value in {**p.metrics, **{f"k{k}": gap for k, gap in p.gaps.items()}}.items()
    )
    whole = [c for c in found if c.job is None and c.group is None]
    of_r = max(
        max(abs(c.r - r[c.gap, c.k, c.metric].statistic), abs(c.p_value - r[c.gap, c.k, c.metric].pvalue))
        for c in whole
    )
    of_ndcg = max(abs(s.ndcg - ndcg[s.gap, s.k, s.metric, s.length]) for s in listed if s.gain == "distance")
    return of_points, of_r, of_ndcg


def figures(panel: ScoredPanel) -> str:
    """r by quota, and NDCG at 1 over all jobs together and by job."""
    points, found, listed = by_us(panel)
    rows = []
    for metric in METRICS:
        gap = "demographic_parity_gap"
        r = [c.r for c in found if (c.gap, c.metric, c.job, c.group) == (gap, metric, None, None)]
        own = [p for p in points if p.gap == gap]
        sizes = {label: [p.metrics[metric] for p in own if p.model == label] for label in panel.labels}
        gaps = {label: [p.gaps["1"] for p in own if p.model == label] for label in panel.labels}
        together = fairness_ndcg(sizes, gaps, n=1)
        by_job = next(
            s.ndcg for s in listed
            if (s.gap, s.k, s.metric, s.gain, s.length) == (gap, 1, metric, "distance", 1)
        )  # fmt: skip
        rows.append((metric.replace("_", " "), *(f"{v:.3f}" for v in r), f"{together:.2f}", f"{by_job:.2f}"))
    return table(
        ["metric", *(f"r, k = {k}" for k in QUOTAS), "NDCG@1, jobs together", "NDCG@1, mean of jobs"], rows
    )


def cost(frame: pd.DataFrame, path: Path, panel: ScoredPanel) -> str:
    """Wall time and memory of the whole command, and CPU seconds of the same numbers by peer and by us."""
    walls, cpus, peaks, theirs, ours = [], [], [], [], []
    for run in range(RUNS):
        with tempfile.TemporaryDirectory() as out:
            start = time.perf_counter()
            command = [
                sys.executable,
                "-c",
                _MEASURED,
                "validity",
                "--table",
                str(path),
                "--reference",
                REFERENCE,
            ]
            done = subprocess.run([*command, "--out", out], capture_output=True, text=True, check=True)
            walls.append(time.perf_counter() - start)
            cpu, peak = done.stderr.split()[-2:]
            cpus.append(float(cpu))
            peaks.append(int(peak) / 2**20)
            if run == 0:
                print(done.stdout.splitlines()[-1], "\n")
        for work, seconds in ((lambda: by_peer(frame), theirs), (lambda: by_us(panel), ours)):
            start = time.process_time()
            work()
            seconds.append(time.process_time() - start)
    rows = [
        ("`audit validity`, reading to files, wall s", _range(walls)),
        ("its CPU s", _range(cpus)),
        ("its peak memory, GiB", _range(peaks, 2)),
        ("points, correlations, NDCG: pandas, scipy and scikit-learn in loops, CPU s", _range(theirs)),
        ("the same by us, with intervals, by group and by job too, CPU s", _range(ours)),
    ]
    return table(["what", f"range of {RUNS} runs"], rows)


_MEASURED = """\
import resource, sys
from audit_lib.cli.main import main
code = main(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
raise SystemExit(code)
"""


def _range(values: list[float], digits: int = 1) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


# Intervals.


def _moments(x: Floats, y: Floats) -> Floats:
    """Sums by model: shape (panels, models, 6), of points of shape (panels, models, points)."""
    parts = (np.ones_like(x), x, y, x * x, y * y, x * y)
    return np.stack([part.sum(axis=2) for part in parts], axis=-1)


def _points(
    rng: np.random.Generator, panels: int, models: int, between: float, r: float
) -> tuple[Floats, Floats]:
    """Points of 4 jobs x 7 groups a model; `between` of the variance is the model's, a fifth is its jobs'."""
    x, y = np.zeros((2, panels, models, JOBS, 7))
    for share, shape in (
        (between, (panels, models, 1, 1)),
        (0.2, (panels, models, JOBS, 1)),
        (0.8 - between, (panels, models, JOBS, 7)),
    ):
        a, b = rng.normal(size=(2, *shape))
        x = x + math.sqrt(share) * a
        y = y + math.sqrt(share) * (r * a + math.sqrt(1 - r * r) * b)
    return x.reshape(panels, models, -1), y.reshape(panels, models, -1)


def coverage(panels: int = 2000) -> str:
    """How often 95% intervals hold the correlation."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    rows = []
    for models in (3, 5, 10, 20):
        for between in (0.0, 0.3, 0.6):
            for r in (0.0, 0.7, 0.97):
                moments = _moments(*_points(rng, panels, models, between, r))
                total = moments.sum(axis=1)
                found, without = (
                    correlation_of_moments(total),
                    correlation_of_moments(total[:, None] - moments),
                )
                own = [
                    jackknife_interval(v, w, scale="fisher_z")
                    for v, w in zip(found.tolist(), without, strict=True)
                ]
                points = [fisher_interval(v, models * 28) for v in found.tolist()]
                weights = rng.multinomial(models, np.full(models, 1 / models), size=400)
                some = correlation_of_moments(np.einsum("bm,pms->pbs", weights, moments[:400]))
                low, high = np.nanquantile(some, [0.025, 0.975], axis=1)
                rows.append(
                    (
                        models,
                        between,
                        r,
                        _held(own, r),
                        _held(points, r),
                        f"{np.mean((low <= r) & (r <= high)):.1%}",
                    )
                )
    return table(
        ["models", "variance between models", "r", "jackknife", "Fisher, points", "bootstrap of models, percentiles"],
        rows,
    )  # fmt: skip


def _held(intervals: list[Interval], r: float) -> str:
    return f"{np.mean([one.low <= r <= one.high for one in intervals]):.1%}"


def false_winners(panels: int = 1000) -> str:
    """How often one of several metrics of equal validity is called the best for sure."""
    rng = np.random.Generator(np.random.PCG64(SEED + 1))
    rows = []
    for models in (3, 5, 10):
        for metrics in (2, 4):
            sure = 0
            for _ in range(panels):
                truth, _ = _points(rng, 1, models, 0.3, 0.0)
                x = [
                    0.9 * truth + math.sqrt(0.19) * _points(rng, 1, models, 0.3, 0.0)[0]
                    for _ in range(metrics)
                ]
                moments = np.stack([_moments(one, truth)[0] for one in x])
                found = correlation_of_moments(moments.sum(axis=1))
                best, rival = np.argsort(-found)[:2]
                rest = np.arctanh(correlation_of_moments(moments.sum(axis=1, keepdims=True) - moments))
                own = jackknife_interval(
                    float(np.arctanh(found[best]) - np.arctanh(found[rival])), rest[best] - rest[rival]
                )
                draws = correlation_of_moments(
                    np.einsum(
                        "bm,kms->kbs", rng.multinomial(models, np.full(models, 1 / models), size=500), moments
                    )
                )
                leads = np.nanmean(draws[best] >= draws.max(axis=0))
                sure += own.low > 0 and leads >= 0.95
            rows.append((models, metrics, f"{sure / panels:.1%}"))
    return table(["models", "metrics of equal validity", "one is called the best for sure"], rows)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--coverage", action="store_true", help="intervals instead of the panel")
    parser.add_argument("--write", type=Path, help="write the panel as CSV and stop")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if options.coverage:
        print(coverage(), false_winners(), sep="\n\n")
        return
    frame = as_frame(simulated())
    if options.write is not None:
        frame.to_csv(options.write, index=False)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "panel.csv"
        frame.to_csv(path, index=False)
        panel = panel_of_table(path.read_bytes(), TableOptions(reference=REFERENCE))
        print(figures(panel), "\n")
        of_points, of_r, of_ndcg = agreement(frame, panel)
        print(
            f"largest difference from the peer: points {of_points:.1e}, r and p {of_r:.1e}, NDCG {of_ndcg:.1e}\n"
        )
        print(cost(frame, path, panel))


if __name__ == "__main__":
    main()
