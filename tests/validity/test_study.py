"""The study's numbers against scipy, scikit-learn and a loop that shares no code with ours."""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import ndcg_score

from audit_lib.canonical import pretty_json
from audit_lib.documents.validity import BestMetric, ValidityStudy
from audit_lib.results import Interval, Undefined
from audit_lib.typed_json import decode
from audit_lib.validity import study_of, validity_files
from tests.validity.panels import GROUPS, lines, panel

COMPARED = [*GROUPS[:2]]

Scores = Callable[[np.random.Generator, int, float], Iterator[tuple[str, float]]]


def by_hand(
    rows: list[dict[str, Any]], quotas: tuple[int, ...] = (1, 2)
) -> dict[tuple[str, ...], dict[str, float]]:
    """(gap, model, job, group) -> metrics and gaps, by loops over candidates."""
    found: dict[tuple[str, ...], dict[str, float]] = {}
    cells = defaultdict(list)
    for row in rows:
        cells[row["model"], row["job"]].append(row)
    for (model, job), own in cells.items():
        rounds = defaultdict(list)
        for row in own:
            rounds[row["round"]].append(row)
        share = {}
        for pool in rounds.values():
            for row, k in itertools.product(pool, quotas):
                above = sum(float(o["score"]) > float(row["score"]) for o in pool)
                tied = sum(float(o["score"]) == float(row["score"]) for o in pool)
                share[row["round"], row["group"], k] = min(max((k - above) / tied, 0.0), 1.0)
        for gap in ("demographic_parity_gap", "equal_opportunity_gap"):

            def scores(group: str, gap: str = gap, own: list[dict[str, Any]] = own) -> np.ndarray:
                kept = [r for r in own if r["group"] == group and (gap[0] == "d" or r["qualified"] == "yes")]
                return np.array([float(r["score"]) for r in kept])

            def rate(
                group: str, k: int, gap: str = gap, own: list[dict[str, Any]] = own, share: Any = share
            ) -> float:
                kept = [r for r in own if r["group"] == group and (gap[0] == "d" or r["qualified"] == "yes")]
                return float(np.mean([share[r["round"], group, k] for r in kept]))

            for group in COMPARED:
                a, b = scores(group), scores("White men")
                edges = np.linspace(min(a.min(), b.min()), max(a.max(), b.max()), 21)
                p, q = (np.histogram(x, edges)[0] / x.size for x in (a, b))
                m = (p + q) / 2
                found[gap, model, job, group] = {
                    "rabbi": 2 * stats.mannwhitneyu(a, b).statistic / (a.size * b.size) - 1,
                    "score_gap": a.mean() - b.mean(),
                    "earth_movers_distance": stats.wasserstein_distance(a, b),
                    "jensen_shannon_divergence": (stats.entropy(p, m) + stats.entropy(q, m)) / 2,
                } | {f"k{k}": rate(group, k) - rate("White men", k) for k in quotas}
    return found


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return list(lines())


@pytest.fixture(scope="module")
def study(rows: list[dict[str, Any]]) -> ValidityStudy:
    return study_of(panel(rows))


def test_each_point_is_what_a_loop_gives(rows: list[dict[str, Any]], study: ValidityStudy) -> None:
    expected = by_hand(rows)
    assert len(study.points) == len(expected) == 2 * 4 * 2 * 2
    for point in study.points:
        own = expected[point.gap, point.model, point.job, point.group]
        for name, value in {**point.metrics, **{f"k{k}": gap for k, gap in point.gaps.items()}}.items():
            assert value == pytest.approx(own[name], abs=1e-12), (name, point)


def test_r_and_p_are_scipy_s(rows: list[dict[str, Any]], study: ValidityStudy) -> None:
    expected = by_hand(rows)
    assert len(study.correlations) == 2 * 2 * 4 * (1 + 2 + 2)
    for one in study.correlations:
        kept = [
            own
            for (gap, _, job, group), own in expected.items()
            if gap == one.gap and one.job in (None, job) and one.group in (None, group)
        ]
        size = abs if one.undirected else float
        r, p = stats.pearsonr([o[one.metric] for o in kept], [size(o[f"k{one.k}"]) for o in kept])
        assert one.n == len(kept)
        assert one.r == pytest.approx(r, abs=1e-12)
        assert one.p_value == pytest.approx(p, abs=1e-12)


def test_ndcg_is_scikit_learn_s(rows: list[dict[str, Any]], study: ValidityStudy) -> None:
    expected = by_hand(rows)
    assert len(study.selection) == 2 * 2 * 4 * 2 * 4
    models = sorted({r["model"] for r in rows})
    for one in study.selection:
        found = []
        for job in ("job 1", "job 2"):

            def size(model: str, key: str, job: str = job, gap: str = one.gap) -> float:
                return math.sqrt(np.mean([expected[gap, model, job, g][key] ** 2 for g in COMPARED]))

            ideal = stats.rankdata([size(m, f"k{one.k}") for m in models])
            gains = len(models) + (one.gain == "rank") - ideal
            found.append(ndcg_score([gains], [[-size(m, one.metric) for m in models]], k=one.length))
        assert one.ndcg == pytest.approx(np.mean(found), abs=1e-12)
        assert (one.low, one.high) == (
            pytest.approx(min(found), abs=1e-12),
            pytest.approx(max(found), abs=1e-12),
        )


def test_the_chance_of_a_random_list_is_that_of_all_lists(study: ValidityStudy) -> None:
    for one in study.selection[:16]:
        gains = [4 - r + (one.gain == "rank") for r in (1, 2, 3, 4)]
        every = [
            ndcg_score([gains], [order], k=one.length) for order in itertools.permutations([4.0, 3, 2, 1])
        ]
        assert one.chance == pytest.approx(np.mean(every), abs=1e-12)


def test_the_interval_over_models_leaves_out_each(rows: list[dict[str, Any]], study: ValidityStudy) -> None:
    expected = by_hand(rows)
    (one,) = [
        c for c in study.correlations
        if (c.gap, c.k, c.metric, c.job, c.group) == ("demographic_parity_gap", 1, "rabbi", None, None)
    ]  # fmt: skip
    points = [(m, o["rabbi"], o["k1"]) for (gap, m, _, _), o in expected.items() if gap == one.gap]
    z = [
        math.atanh(stats.pearsonr(*np.array([(x, y) for m, x, y in points if m != out]).T).statistic)
        for out in sorted({m for m, _, _ in points})
    ]
    reach = stats.t.ppf(0.975, 3) * math.sqrt(3 / 4 * sum((v - np.mean(z)) ** 2 for v in z))
    assert isinstance(one.interval, Interval) and isinstance(one.r, float)
    assert one.interval.low == pytest.approx(math.tanh(math.atanh(one.r) - reach), abs=1e-12)
    assert one.interval.high == pytest.approx(math.tanh(math.atanh(one.r) + reach), abs=1e-12)
    points_low = math.tanh(math.atanh(one.r) - stats.norm.ppf(0.975) / math.sqrt(one.n - 3))
    assert isinstance(one.interval_of_points, Interval)
    assert one.interval_of_points.low == pytest.approx(points_low, abs=1e-12)


def test_the_best_has_the_highest_mean_and_its_share_is_that_of_the_draws(study: ValidityStudy) -> None:
    means = {}
    for metric in study.points[0].metrics:
        own = [c.r for c in study.correlations if c.metric == metric and c.job is None and c.group is None]
        means[metric] = np.mean([r for r in own if isinstance(r, float)])
    best = study.best
    assert best.metric == max(means, key=lambda name: means[name]) == best.contenders[0].metric
    assert [c.mean_r for c in best.contenders] == pytest.approx(
        sorted(means.values(), reverse=True), abs=1e-12
    )
    assert sum(c.share_best or 0 for c in best.contenders) == pytest.approx(1, abs=1e-12)
    assert best.settings == 4 and best.undefined_settings == 0


def of_ranks(rng: np.random.Generator, model: int, shift: float) -> Iterator[tuple[str, float]]:
    """Scores in an order that foretells, in a skewed unit of each model's own, which hides it from a mean."""
    for g, group in enumerate(GROUPS):
        yield group, float(np.exp((model + 1) * (rng.normal() + shift * (g == 0) - shift * (g == 1))))


def of_few_high_scores(rng: np.random.Generator, model: int, shift: float) -> Iterator[tuple[str, float]]:
    """Few high scores win every place and make the mean; the order of all the others says nothing."""
    others = 0.3 * (-1) ** model
    for g, group in enumerate(GROUPS):
        side = (g == 0) - (g == 1)
        for _ in range(5):
            high = rng.uniform() < 0.5 + 0.3 * math.tanh(shift) * side
            yield group, 10 + rng.normal() if high else 0.1 * rng.normal() + others * side


def of_one_spread(rng: np.random.Generator, model: int, shift: float) -> Iterator[tuple[str, float]]:
    """Normal scores of one spread: mean and order say the same."""
    for g, group in enumerate(GROUPS):
        yield group, rng.normal() + shift * (g == 0) - shift * (g == 1)


def best_of(scores: Scores) -> BestMetric:
    rng = np.random.default_rng(3)
    rows = []
    for m in range(8):
        shift = rng.normal(0, 0.6)
        for r in range(120):
            for group, score in scores(rng, m, shift):
                rows.append({"model": f"m{m}", "group": group, "round": f"r{r}", "score": repr(float(score))})
    return study_of(panel(rows, quotas=(1,))).best


@pytest.mark.parametrize(
    ("scores", "metric", "said", "decided"),
    [
        (of_ranks, "rabbi", "RABBI foretells", True),
        (of_few_high_scores, "score_gap", "Score gap has the highest mean correlation", False),
    ],
    ids=["rabbi", "score_gap"],
)
def test_whichever_wins_is_named(scores: Scores, metric: str, said: str, decided: bool) -> None:
    found = best_of(scores)
    assert (found.metric, found.decided) == (metric, decided) and found.sentence.startswith(said)
    r = {one.metric: one.mean_r for one in found.contenders}
    other = {"rabbi": "score_gap", "score_gap": "rabbi"}[metric]
    assert r[metric] > r[other] + 0.2, "the scores were made so that one of the two foretells"


def test_where_two_say_the_same_no_winner_is_claimed() -> None:
    found = best_of(of_one_spread)
    assert not found.decided and "but the choice is not sure" in found.sentence


def test_two_models_have_no_interval_and_no_sure_winner() -> None:
    study = study_of(panel(list(lines(models=2))))
    one = study.correlations[0]
    assert isinstance(one.r, float) and isinstance(one.interval, Undefined)
    assert one.interval.reason == "2 models: an interval over models needs at least 3"
    assert not study.best.decided and "cannot be told from these 2" in study.best.sentence


def test_a_metric_that_is_constant_is_undefined_with_the_reason() -> None:
    rows = [row | {"score": "0.5"} for row in lines()]
    study = study_of(panel(rows))
    assert {str(c.r) for c in study.correlations} == {str(Undefined("metric: all 16 values are equal")), *(
        str(c.r) for c in study.correlations if c.group or c.job
    )}  # fmt: skip
    assert isinstance(study.best.metric, Undefined)
    assert study.best.sentence == (
        "No metric can be said to foretell the gaps here, because no correlation is defined."
    )
    assert b"no correlation is defined" in validity_files(study, panel(rows))["validity.html"]


def test_inconsistent_models_are_left_out_and_counted() -> None:
    rows = [
        row | {"inconsistent_share": {"m1": "0.6", "m2": "0.52"}.get(row["model"], "")} for row in lines()
    ]
    study = study_of(panel(rows))
    assert [m.left_out_of_validity for m in study.models] == [True, False, False, False]
    assert [m.left_out_of_selection for m in study.models] == [True, True, False, False]
    whole = [c for c in study.correlations if c.job is None and c.group is None]
    assert {(c.n, c.models, c.left_out) for c in whole} == {(12, 3, 4)}
    assert {(s.models, s.left_out) for s in study.selection} == {(2, 2)}


def test_a_quota_beyond_the_pool_is_undefined() -> None:
    study = study_of(panel(quotas=(1, 4)))
    beyond = [c for c in study.correlations if c.k == 4]
    assert beyond and all(isinstance(c.r, Undefined) for c in beyond)
    point = study.points[0].gaps["4"]
    assert isinstance(point, Undefined) and point.reason == "no round has 4 scored candidates"
    assert study.best.settings == 2 and study.best.undefined_settings == 2


def test_on_rounds_not_seen_shared_noise_is_gone() -> None:
    # Pure noise: what metric and gap of the same rounds share makes a correlation, of others there is none.
    rng = np.random.default_rng(8)
    rows = [
        {"model": f"m{m}", "group": g, "round": f"r{r}", "score": repr(float(rng.normal()))}
        for m in range(40) for r in range(20) for g in GROUPS
    ]  # fmt: skip
    first = study_of(panel(rows)).best.contenders[0]
    assert isinstance(first.mean_r, float) and isinstance(first.held_out, float)
    assert first.mean_r > 0.7 > 0.3 > first.held_out


def without_bias(seed: int, models: int = 10, rounds: int = 60) -> list[dict[str, Any]]:
    """Skewed scores of noise alone: no model prefers any group."""
    rng = np.random.default_rng(seed)
    return [
        {"model": f"m{m}", "job": f"j{j}", "group": g, "round": f"r{r}", "score": repr(float(score))}
        for m in range(models)
        for j in range(2)
        for r in range(rounds)
        for g, score in zip(GROUPS, 1 / (1 + np.exp(m - rng.normal(size=3))), strict=True)
    ]


def test_models_without_any_bias_have_no_metric_that_foretells() -> None:
    lead = 0
    for seed in range(4):
        best = study_of(panel(without_bias(seed))).best
        first = best.contenders[0]
        assert isinstance(best.interval, Interval) and isinstance(first.mean_r, float)
        lead += best.interval.low > 0 and (first.share_best or 0) >= 0.95
        assert first.mean_r > 0.6
        assert (
            not best.decided and "may be noise that metric and gap of the same rounds share" in best.sentence
        )
    assert lead >= 2, "in the same rounds the lead is clear, so this tests nothing"


def test_the_interval_on_rounds_not_seen_leaves_out_each_model(rows: list[dict[str, Any]]) -> None:
    whole = study_of(panel(rows, quotas=(1,))).best
    (rabbi,) = (one for one in whole.contenders if one.metric == "rabbi")
    z = []
    for out in sorted({r["model"] for r in rows}):
        rest = study_of(panel([r for r in rows if r["model"] != out], quotas=(1,))).best
        (one,) = (c for c in rest.contenders if c.metric == "rabbi")
        assert isinstance(one.held_out, float)
        z.append(math.atanh(one.held_out))
    assert isinstance(rabbi.held_out, float) and isinstance(rabbi.held_out_interval, Interval)
    n = len(z)
    reach = stats.t.ppf(0.975, n - 1) * math.sqrt((n - 1) / n * sum((v - np.mean(z)) ** 2 for v in z))
    middle = math.atanh(rabbi.held_out)
    assert (rabbi.held_out_interval.low, rabbi.held_out_interval.high) == (
        pytest.approx(math.tanh(middle - reach), abs=1e-9),
        pytest.approx(math.tanh(middle + reach), abs=1e-9),
    )


def test_rounds_too_few_to_halve_leave_the_choice_unsure() -> None:
    best = study_of(panel(list(lines(models=8, rounds=3)), quotas=(1,))).best
    assert not best.decided and "cannot be told: 3 rounds: too few to halve" in best.sentence


def test_the_same_scores_give_the_same_bytes_and_the_document_is_read_again() -> None:
    one, other = (validity_files(study_of(panel()), panel()) for _ in range(2))
    assert one == other
    content = one["validity.json"]
    assert pretty_json(decode(ValidityStudy, content, "validity.json").as_dict()) == content
    assert json.loads(content)["schema"] == "audit-validity/1"
