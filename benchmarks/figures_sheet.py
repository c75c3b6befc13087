"""Every figure of `audit_lib.figures`, wide and narrow, as SVG files for docs/howto/figures.md.

Drawn from the recorded answers where the folder with them is at hand, else from seeded random numbers, which the
titles then say. A second run writes the same bytes.

    python -m benchmarks.figures_sheet                                    # ../shared/data, or $AUDIT_SHARED_DATA/data
    python -m benchmarks.figures_sheet --data DATA --out docs/images/figures
    python -m benchmarks.figures_sheet --synthetic --out /tmp/figures
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from audit_lib import figures
from audit_lib.errors import UndefinedMetricError
from audit_lib.metrics import (
    auc,
    earth_movers_distance,
    fairness_ndcg,
    jensen_shannon_divergence,
    predictive_validity_table,
    rabbi,
    score_gap,
    selection_shares,
)
from audit_lib.stats import auc_covariance, auc_gap_intervals, auc_interval
from benchmarks.replication_page import data_folder

WIDTHS = {"": 760, "-narrow": 360}
QUOTAS = (1, 2, 3, 4, 5)
SEED = 20_240_307
LIMIT = 60_000

Floats = NDArray[np.float64]
Draw = Callable[..., str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rounds:
    """Scores of rounds with one candidate of each group; the last group is the reference.

    Parameters
    ----------
    scores : dict of (model, task) to ndarray, shape (rounds, groups)
        Higher is better.
    groups : tuple of str
        Names of the columns.
    """

    scores: dict[tuple[str, str], Floats]
    groups: tuple[str, ...]

    @property
    def compared(self) -> range:
        return range(len(self.groups) - 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """Scores of single resumes: by model, the group and whether the resume matches the job."""

    scores: Floats
    groups: NDArray[np.str_]
    match: NDArray[np.bool_]
    pairs: NDArray[np.str_]


def recorded(data: Path) -> tuple[Rounds, dict[str, Answers]]:
    from benchmarks import replication_aihiringbias as hiring
    from benchmarks import replication_bloomberg as bloomberg

    rankings = bloomberg.load(data)
    rounds = {(model, job): part.scores.astype(float) for model, job, part in rankings.strata()}
    answers = {}
    for model in hiring.FILES:
        rows = hiring.load(data, model)
        answers[model] = Answers(
            scores=rows["total"].to_numpy(float),
            groups=rows["group"].to_numpy(str),
            match=rows["match"].to_numpy(bool),
            pairs=rows["pair"].to_numpy(str),
        )
    return Rounds(scores=rounds, groups=bloomberg.GROUPS), answers


def synthetic() -> tuple[Rounds, dict[str, Answers]]:
    """Made up, in the same shape: normal scores with a shift by model, task and group."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    groups = tuple(
        f"{race} {sex}" for sex in ("women", "men") for race in ("Asian", "Black", "Hispanic", "White")
    )
    rounds = {
        (model, task): np.round(rng.normal(rng.normal(0, 0.2, 8), 1, (1000, 8)), 2)
        for model in ("model A", "model B")
        for task in ("task 1", "task 2", "task 3", "task 4")
    }
    answers = {}
    for model, skill in (("model A", 1.5), ("model B", 0.7), ("model C", 1.0)):
        n = 2000
        group, match = (
            rng.choice(["Black women", "Black men", "White women", "White men"], n),
            rng.random(n) < 0.4,
        )
        shift = skill * match * np.where(np.char.startswith(group, "Black"), 0.8, 1.0)
        pairs = rng.integers(200, size=n).astype(str)
        scores = np.round(60 + 12 * (shift + rng.gamma(3.0, 0.5, n)))
        answers[model] = Answers(scores=scores, groups=group, match=match, pairs=pairs)
    return Rounds(scores=rounds, groups=groups), answers


METRICS: dict[str, Callable[[Floats, Floats, Floats], float]] = {
    "RABBI": lambda a, b, _: rabbi(a, b),
    "score gap": lambda a, b, _: score_gap(a, b),
    "JS divergence": lambda a, b, edges: jensen_shannon_divergence(a, b, bins=edges),
    "EMD": lambda a, b, _: earth_movers_distance(a, b),
}
UNDIRECTED = {"JS divergence", "EMD"}


def points(rounds: Rounds, metric: str) -> Floats:
    """The metric of each group against the reference: shape (models x tasks, groups)."""
    everything = np.concatenate(list(rounds.scores.values()))
    step = 1.0 if (everything == np.round(everything)).all() else (everything.max() - everything.min()) / 20
    edges = np.arange(everything.min() - step / 2, everything.max() + step, step)
    return np.array(
        [[METRICS[metric](s[:, g], s[:, -1], edges) for g in rounds.compared] for s in rounds.scores.values()]
    )


def parity_gaps(rounds: Rounds) -> Floats:
    """Selected share of each group less that of the reference: shape (quotas, models x tasks, groups)."""
    rates = np.array([selection_shares(s, k=QUOTAS).mean(axis=1) for s in rounds.scores.values()])
    gaps: Floats = np.moveaxis(rates[..., :-1] - rates[..., -1:], 1, 0)
    return gaps


def validity(metric: Floats, gap: Floats, name: str) -> tuple[float, float]:
    """Pearson's r and its p-value; NaN where there is none."""
    try:
        found = predictive_validity_table(
            metric.ravel(), np.abs(gap).ravel() if name in UNDIRECTED else gap.ravel()
        )
    except UndefinedMetricError:
        return np.nan, np.nan
    return found.correlation, found.p_value


def model_auc(model: str, answers: Answers, subgroups: list[str]) -> figures.ModelAuc:
    """How well scores tell matching resumes from others; answers on one job and resume are a cluster."""
    words = [set(group.split()) for group in answers.groups]
    members = np.array([[set(subgroup.split()) <= have for subgroup in subgroups] for have in words])
    data = (answers.scores, answers.match)
    limits = [auc_interval(*(x[rows] for x in (*data, answers.pairs))) for rows in members.T]
    fit = auc_covariance(*data, members, answers.pairs)
    gap = auc_gap_intervals(*data, members, answers.pairs).gap
    return figures.ModelAuc(
        model=model,
        overall=auc(*data),
        auc=fit.auc,
        low=[limit.low for limit in limits],
        high=[limit.high for limit in limits],
        gap_low=gap.low,
        gap_high=gap.high,
    )


def all_figures(
    rounds: Rounds, answers: dict[str, Answers], source: tuple[str, str]
) -> Iterator[tuple[str, Draw]]:
    """Name of each figure, and what draws it at a width."""
    rankings, texts = source
    groups, reference = rounds.groups, rounds.groups[-1]
    compared = groups[:-1]
    systems = [f"{model}, {task}" for model, task in rounds.scores]
    model = systems[0].split(",")[0]
    metric = {name: points(rounds, name) for name in METRICS}
    gaps = parity_gaps(rounds)

    first = f"{sum(map(len, rounds.scores.values())):,} {rankings}"
    second = f"{sum(len(a.scores) for a in answers.values()):,} {texts}"
    pooled = np.concatenate([s for (m, _), s in rounds.scores.items() if m == model])
    yield (
        "score-distributions",
        partial(
            figures.score_distributions,
            {group: pooled[:, i] for i, group in enumerate(groups)},
            reference,
            title=f"Scores by group: {model}, {len(pooled):,} {rankings}",
        ),
    )
    yield (
        "metric-against-gap",
        partial(
            figures.metric_against_gap,
            metric["RABBI"].ravel(),
            gaps[0].ravel(),
            series=np.repeat([m for m, _ in rounds.scores], len(compared)).tolist(),
            title=f"RABBI against the parity gap at k = 1: {first}",
            metric_name=f"RABBI against {reference}",
            gap_name="demographic parity gap, k = 1",
        ),
    )
    found = {name: [validity(metric[name], gap, name) for gap in gaps] for name in METRICS}
    yield (
        "correlation-by-k",
        partial(
            figures.correlation_by_k,
            QUOTAS,
            {name: [r for r, _ in values] for name, values in found.items()},
            {name: [p for _, p in values] for name, values in found.items()},
            title=f"Correlation with the parity gap, by quota: {first}",
        ),
    )
    found = {n: [validity(metric[n][:, g], gaps[0][:, g], n) for g in rounds.compared] for n in METRICS}
    yield (
        "correlation-by-group",
        partial(
            figures.correlation_by_group,
            compared,
            {name: [r for r, _ in values] for name, values in found.items()},
            {name: [p for _, p in values] for name, values in found.items()},
            title=f"Correlation with the parity gap at k = 1, by group, {len(systems)} points each: {first}",
        ),
    )
    truth = dict(zip(systems, gaps[0], strict=True))
    lengths = range(1, len(systems) + 1)
    yield (
        "fairness-ndcg",
        partial(
            figures.fairness_ndcg_curve,
            lengths,
            {
                name: [fairness_ndcg(dict(zip(systems, values, strict=True)), truth, n) for n in lengths]
                for name, values in metric.items()
            },
            title=f"Does the metric list the fairest of {len(systems)} systems first? {first}",
        ),
    )
    yield (
        "rank-bump",
        partial(
            figures.rank_bump,
            systems,
            np.sqrt((metric["RABBI"] ** 2).mean(axis=1)),
            np.sqrt((gaps[0] ** 2).mean(axis=1)),
            title=f"Systems ranked by RABBI and by the parity gap at k = 1: {first}",
            metric_name="RABBI",
            gap_name="parity gap, k = 1",
        ),
    )
    yield (
        "score-moments",
        partial(
            figures.score_moments,
            {
                name: {str(group): a.scores[a.groups == group] for group in np.unique(a.groups)}
                for name, a in answers.items()
            },
            title=f"Shape of the score distributions: {second}",
        ),
    )
    # One file holds matching resumes only: it has no AUC.
    judged = {name: a for name, a in answers.items() if 0 < a.match.sum() < a.match.size}
    answered = sum(a.match.size for a in judged.values())
    subgroups = ["women", "men", "Black", "White", *np.unique(next(iter(answers.values())).groups).tolist()]
    yield (
        "auc-gap",
        partial(
            figures.auc_gap_figure,
            subgroups,
            [model_auc(name, a, subgroups) for name, a in judged.items()],
            title=f"Do scores tell matching resumes from others? {answered:,} {texts}",
        ),
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", help="folder that holds bloomberg/ and aihiringbias/")
    parser.add_argument("--synthetic", action="store_true", help="draw seeded random numbers")
    parser.add_argument("--out", type=Path, default=Path("docs/images/figures"))
    options = parser.parse_args(arguments)
    data = data_folder(options.data)
    if options.synthetic or not (data / "bloomberg").is_dir():
        inputs, source = synthetic(), ("synthetic rankings", "synthetic answers")
    else:
        inputs, source = recorded(data), ("recorded rankings", "recorded answers")
    options.out.mkdir(parents=True, exist_ok=True)
    for name, draw in all_figures(*inputs, source):
        for ending, width in WIDTHS.items():
            file = figures.standalone(draw(width=width))
            if len(file) > LIMIT:
                raise SystemExit(f"{name}{ending}: {len(file)} bytes, more than {LIMIT}")
            (options.out / f"{name}{ending}.svg").write_text(file, encoding="utf-8")
            print(f"{len(file):6d}  {name}{ending}.svg")


if __name__ == "__main__":
    main()
