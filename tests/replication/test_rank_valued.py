"""The rankings' page, computed a second time: other parsing, and pandas, numpy and scipy only."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon

from benchmarks import replication_bloomberg as bloomberg
from benchmarks import replication_rank_valued as rank_valued
from benchmarks.replication_page import data_folder

LOG = data_folder() / bloomberg.LOG
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not LOG.exists(), reason=f"no recorded rankings at {LOG}; set AUDIT_SHARED_DATA"),
]


@pytest.fixture(scope="module")
def rankings() -> bloomberg.Rankings:
    return bloomberg.load(data_folder())


@pytest.fixture(scope="module")
def strata(rankings: bloomberg.Rankings) -> list[bloomberg.Stratum]:
    return bloomberg.measure(rankings)


@pytest.fixture(scope="module")
def contests(rankings: bloomberg.Rankings) -> dict[int, rank_valued.Contest]:
    return rank_valued.contests(rankings)


@pytest.fixture(scope="module")
def candidates() -> pd.DataFrame:
    """One row a candidate, ranked by where the text first has the name; who is not in it comes last."""
    rows: list[dict[str, Any]] = []
    with gzip.open(LOG, "rt", encoding="utf-8") as log:
        for number, line in enumerate(log):
            answer = json.loads(line)
            text = answer["response"].lower()
            for shown in answer["candidates"]:
                place = text.find(shown["name"].lower())
                people = {"female": "women", "male": "men"}[shown["sex"]]
                rows.append(
                    {
                        "round": number,
                        "model": answer["model"],
                        "job": answer["job"],
                        "group": f"{shown['race']} {people}",
                        "shown": shown["position_shown"],
                        "named": place >= 0,
                        "place": place if place >= 0 else len(text) + shown["position_shown"],
                    }
                )
    table = pd.DataFrame(rows)
    return table.assign(rank=table.groupby("round")["place"].rank(method="first").astype(int))


@pytest.fixture(scope="module")
def ranks(candidates: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """Ranks by round and group, for each model and job."""
    return {
        key: part.pivot_table(index="round", columns="group", values="rank")[list(bloomberg.GROUPS)]
        for key, part in candidates.groupby(["model", "job"])
    }


def test_two_ways_to_read_the_answers_agree(rankings: bloomberg.Rankings, candidates: pd.DataFrame) -> None:
    wide = candidates.pivot_table(index="round", columns="group", values="rank")[list(bloomberg.GROUPS)]
    assert rankings.rank.shape == (8_000, 8)
    # A text may name candidates before it ranks them, and only a list's lines count then.
    differ = (rankings.rank != wide.to_numpy()).any(axis=1)
    assert differ.sum() == 0
    assert ((rankings.rank == 1) == (wide.to_numpy() == 1)).all()


def test_first_places_are_those_that_were_published(
    strata: list[bloomberg.Stratum], ranks: dict[tuple[str, str], pd.DataFrame]
) -> None:
    assert len(strata) == len(ranks) == 8
    for s in strata:
        counted = tuple((ranks[s.model, s.job] == 1).sum())
        assert s.first == counted == bloomberg.PUBLISHED_FIRST_PLACES[s.model, s.job]
        assert sum(s.first) == s.rounds == 1_000


def test_impact_ratios(strata: list[bloomberg.Stratum]) -> None:
    for s in strata:
        best = max(s.first)
        assert list(s.ratios.ratios.values()) == [x / best for x in s.first]
        low, high, wide, fixed = bloomberg.smallest_ratio(s)
        x, y = min(s.first), best
        assert (s.ratios[low].selected, s.ratios[high].selected) == (x, y)
        # The variance of the log ratio of two multinomial rates.
        half = stats.norm.ppf(0.975) * np.sqrt(1 / x + 1 / y)
        np.testing.assert_allclose(np.log([fixed.low, fixed.high]), np.log(x / y) + half * np.array([-1, 1]))
        assert wide.low < fixed.low < x / y <= wide.high


def test_unnamed_candidates(rankings: bloomberg.Rankings, candidates: pd.DataFrame) -> None:
    counts = bloomberg.unnamed(rankings)
    left_out = candidates[~candidates["named"]]
    by_group = left_out.groupby(["model", "group"]).size()
    answers = left_out.groupby("model")["round"].nunique()
    assert answers.to_dict() == {"gpt-3.5-turbo": 452, "gpt-4": 78}
    for model in bloomberg.MODELS:
        assert counts[model, "answers", "either"] == answers[model]
        for group in bloomberg.GROUPS:
            found = counts[model, group, "absent"] + counts[model, group, "misspelt"]
            assert found == by_group.get((model, group), 0)


def test_the_first_shown_is_often_the_first_ranked(
    rankings: bloomberg.Rankings, candidates: pd.DataFrame
) -> None:
    first = candidates[candidates["shown"] == 1]
    assert set(first.groupby(["model", "job", "group"]).size()) == {125}
    share = (first["rank"] == 1).groupby(first["model"]).mean().to_dict()
    assert share == {"gpt-3.5-turbo": 0.56075, "gpt-4": 0.28325}
    counted = bloomberg.first_by_position(rankings)
    assert {model: counts[0] / 4_000 for model, counts in counted.items()} == share


def test_every_comparison_with_white_men(
    strata: list[bloomberg.Stratum], rankings: bloomberg.Rankings
) -> None:
    for s, (_, _, part) in zip(strata, rankings.strata(), strict=True):
        score = {group: 9 - part.rank[:, i] for i, group in enumerate(bloomberg.GROUPS)}
        y = score["White men"]
        for c in s.comparisons:
            x = score[c.group]
            u = stats.mannwhitneyu(x, y).statistic
            assert c.rabbi == pytest.approx(2 * u / (x.size * y.size) - 1, abs=1e-15)
            assert c.rabbi_interval.low < c.rabbi < c.rabbi_interval.high
            _same_as_paired_t(c.score_gap, x, y)
            for k, gap in enumerate(c.parity, start=1):
                _same_as_paired_t(gap, (x > 8 - k).astype(float), (y > 8 - k).astype(float))
            counts = [np.bincount(side, minlength=9)[1:] / side.size for side in (x, y)]
            assert c.jensen_shannon == pytest.approx(jensenshannon(*counts) ** 2, abs=1e-12)
            assert c.earth_movers == pytest.approx(stats.wasserstein_distance(x, y), abs=1e-12)


def _same_as_paired_t(gap: bloomberg.Gap, x: np.ndarray, y: np.ndarray) -> None:
    expected = stats.ttest_rel(x, y)
    limits = expected.confidence_interval(0.95)
    assert gap.value == pytest.approx(float((x - y).mean()), abs=1e-12)
    assert gap.test.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    np.testing.assert_allclose([gap.interval.low, gap.interval.high], [limits.low, limits.high], atol=1e-12)


def test_the_score_gap_is_the_sum_of_the_parity_gaps(
    strata: list[bloomberg.Stratum], ranks: dict[tuple[str, str], pd.DataFrame], rankings: bloomberg.Rankings
) -> None:
    for s, (_, _, part) in zip(strata, rankings.strata(), strict=True):
        for column, c in enumerate(s.comparisons):
            gaps = [(part.rank[:, column] <= k).mean() - (part.rank[:, 7] <= k).mean() for k in range(1, 9)]
            assert sum(gaps) == pytest.approx(c.score_gap.value, abs=1e-12)


def test_multiplicity(strata: list[bloomberg.Stratum]) -> None:
    p = np.array([[[g.test.p_value for g in c.parity] for c in s.comparisons] for s in strata]).ravel()
    order = np.argsort(p)
    expected = np.empty(p.size)
    expected[order] = np.maximum.accumulate(p[order] * (p.size - np.arange(p.size)))
    np.testing.assert_allclose(bloomberg.adjusted_p_values(strata).ravel(), np.minimum(expected, 1))


@pytest.mark.parametrize("k", bloomberg.QUOTAS)
@pytest.mark.parametrize("metric", rank_valued.METRICS)
def test_predictive_validity(strata: list[bloomberg.Stratum], metric: str, k: int) -> None:
    x, y = rank_valued.points(strata, metric), rank_valued.gaps(strata, k)
    assert x.shape == y.shape == (8, 7)
    undirected = metric in {"jensen_shannon", "earth_movers"}
    expected = stats.pearsonr(x.ravel(), (np.abs(y) if undirected else y).ravel())
    found = rank_valued.validity(strata, metric, k)
    assert found.n == 56
    assert found.correlation == pytest.approx(expected.statistic, abs=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6)
    assert not found.is_weak()  # the page prints no mark
    in_order = sum(
        (np.square(x[job]).sum() < np.square(x[4 + job]).sum())
        == (np.square(y[job]).sum() < np.square(y[4 + job]).sum())
        for job in range(4)
    )
    jobs, ndcg = rank_valued.models_in_order(strata, metric, k)
    assert (jobs, ndcg) == (in_order, in_order / 4)
    assert in_order == (3 if k == 1 else 4)  # all four metrics alike, as the page says


def test_rabbi_does_not_win_on_ranks(
    strata: list[bloomberg.Stratum], contests: dict[int, rank_valued.Contest]
) -> None:
    for k, contest in contests.items():
        r = {metric: rank_valued.validity(strata, metric, k).correlation for metric in contest.held_out}
        assert contest.difference == pytest.approx(r["rabbi"] - r["score_gap"], abs=1e-12)
        assert (contest.difference < 0) == (k <= 3)
        assert abs(contest.difference) < 0.01
        assert contest.interval.low < 0 < contest.interval.high
        assert contest.lead < rank_valued.SPLITS / 2
        assert contest.held_out["rabbi"] < contest.held_out["score_gap"] < r["score_gap"]


def test_held_out_validity_with_other_splits(
    rankings: bloomberg.Rankings, contests: dict[int, rank_valued.Contest]
) -> None:
    rng = np.random.default_rng(1)
    found = []
    for _ in range(60):
        x, y = [], []
        for _, _, part in rankings.strata():
            order = rng.permutation(1_000)
            one, other = 9 - part.rank[order[:500]], 9 - part.rank[order[500:]]
            x.append(one[:, :7].mean(axis=0) - one[:, 7].mean())
            y.append((other[:, :7] > 5).mean(axis=0) - (other[:, 7] > 5).mean())
        found.append(np.corrcoef(np.ravel(x), np.ravel(y))[0, 1])
    assert contests[3].held_out["score_gap"] == pytest.approx(np.mean(found), abs=4 * np.std(found) / 60**0.5)


def test_tables_of_counts_give_what_the_scores_give(
    strata: list[bloomberg.Stratum], rankings: bloomberg.Rankings
) -> None:
    tables = np.stack([rank_valued.rank_tables(part).sum(axis=0) for _, _, part in rankings.strata()])
    tables = tables.reshape(8, 8, 8).astype(float)
    np.testing.assert_allclose(rank_valued.rabbi_of(tables), rank_valued.points(strata, "rabbi"), atol=1e-12)
    np.testing.assert_allclose(
        rank_valued.score_gap_of(tables), rank_valued.points(strata, "score_gap"), atol=1e-12
    )
    for k in bloomberg.QUOTAS:
        np.testing.assert_allclose(
            rank_valued.parity_of(tables)[..., k - 1], rank_valued.gaps(strata, k), atol=1e-12
        )


def test_rules_for_unnamed_candidates_change_little(rankings: bloomberg.Rankings) -> None:
    tied, dropped = bloomberg.largest_change_without_rule(rankings)
    complete = (rankings.place == "named").all(axis=1)
    largest = 0.0
    for _, _, part in rankings.strata():
        kept = part.rank[(part.place == "named").all(axis=1)]
        for k in bloomberg.QUOTAS:
            base, other = (part.rank <= k).mean(axis=0), (kept <= k).mean(axis=0)
            largest = max(largest, np.abs((other - other[7]) - (base - base[7])).max())
    assert (~complete).sum() == 530
    assert dropped == pytest.approx(largest, abs=1e-12)
    assert 0 < tied < dropped
